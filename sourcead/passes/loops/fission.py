"""Sums of products over the iterations of a reverse loop become one product after it.

    for t in reversed(range(n)):             for t in reversed(range(n)):
        d_z = ...                                d_zs[t] = ...
        h = hs.pop()                             h = hs[t]
        d_u += np.outer(d_z, h)              d_u = d_zs.T @ hs
        d_b += d_z                           d_b = np.sum(d_zs, axis=0)

The factors of all iterations are stacked, a row for each, or a row for each sample of a batch (`d_u += d_z.T @ h`).  A factor
`xs[t]` is in a stack already; what the forward sweep saved on a list is saved in an array instead.  This is done where the shapes
of the factors are known to be the same in each iteration and can be written down before the loop; it takes the memory of the
stacks, so not if the user named a policy that saves memory.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.analysis.sizes import dims_in, least, rank
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Loop, Stmt, Update, Var
from sourcead.ir.walk import bound_vars, map_op, op_blocks
from sourcead.passes.loops.stacked_factors import Known, OneLoop, Term


def sum_after_loops(function: Function, notes: list[str]) -> Function:
    """The function with sums of products taken out of the loops of its reverse sweep; says so in `notes`."""
    known = Known(function, notes)
    body = Fission(known).block(function.body, list(function.params))
    return replace(function, body=body) if known.done else function


class Fission:
    """Splits the loops of one function."""

    def __init__(self, known: Known):
        self.known = known

    def block(self, block: Block, scope: list[Var]) -> Block:
        """The block with its loops split; `scope`: what is defined around it."""
        stmts, inner = [], list(scope)
        for stmt in block.stmts:
            if op_blocks(stmt.op):
                around = [*inner, *bound_vars(stmt.op)]
                stmt = replace(stmt, op=map_op(stmt.op, lambda a: a, lambda b, around=around: self.block(b, around)))
            stmts.append(stmt)
            inner += stmt.targets
        for stmt in [s for s in stmts if s.adjoint_of is not None and isinstance(s.op, Loop)]:
            stmts = self.split(stmt, stmts, scope)
        return Block(tuple(stmts), block.results)

    def split(self, stmt: Stmt, stmts: list[Stmt], scope: list[Var]) -> list[Stmt]:
        """The statements of a block with one of its loops split, if that pays."""
        counted = self.known.counting.of(stmt.op)
        if counted is None:
            return stmts
        terms = self.terms(stmt.op)
        if not any(len(t.factors) == 2 for t in terms):
            return stmts
        at = stmts.index(stmt)
        before = [*scope, *(t for s in stmts[:at] for t in s.targets)]
        return OneLoop(self.known, stmt, counted, stmts, at, before).split(terms)

    # -- what it sums --------------------------------------------------------------------------------------------------

    def terms(self, loop: Loop) -> list[Term]:
        """The sums of a loop that can be done after it: those of products, and of rows that have a stack then."""
        found = []
        here = {t: s for s in loop.body.stmts for t in s.targets}
        for k, result in enumerate(loop.body.results):
            chain, version = [], result
            while isinstance(version, Var) and version is not loop.params[k]:
                update = here.get(version)
                if (
                    update is None
                    or not isinstance(update.op, Update)
                    or update.op.mode != "add"
                    or self.known.uses[version] != 1
                ):
                    break
                chain.append(update)
                version = update.op.base
            if version is not loop.params[k] or self.known.uses[version] != 1:
                continue
            for update in chain:
                if not update.op.path and isinstance(update.op.value, Var):
                    term = self.term(update, k, here)
                    if term is not None:
                        found.append(term)
        stacked = {f for t in found if len(t.factors) == 2 for f in t.factors}
        return [t for t in found if len(t.factors) == 2 or t.factors[0] in stacked]

    def term(self, update: Stmt, k: int, here: dict[Var, Stmt]) -> Term | None:
        """What an update adds to a sum."""
        value = update.op.value
        dims = dims_in(value)
        stmt = here.get(value)
        if not same_shape(update.op.base, value):
            return None
        op = stmt.op if stmt is not None and self.known.uses[value] == 1 else None
        match op:
            case Call(np.outer, (Var() as a, Var() as b), ()) if rank(a) == rank(b) == 1:
                return Term(update, k, (a, b))
            case Call(operator.matmul | np.matmul | np.dot, (Var() as a, Var() as b), ()) if rank(a) == rank(b) == 2:
                if self.transposed(a, here) is not None:
                    return Term(update, k, (self.transposed(a, here), b))
                if self.transposed(b, here) is not None:
                    return Term(update, k, (a, self.transposed(b, here)), axis=1)
                return None
            case Call(np.sum, (Var() as a,), (("axis", Const(axis)),)) if rank(a) == 2 and axis in (0, 1):
                return Term(update, k, (a,), axis)
        return Term(update, k, (value,)) if len(dims) == 1 else None

    def transposed(self, atom: Var, here: dict[Var, Stmt]) -> Var | None:
        """a, if the atom is its transpose."""
        match here[atom].op if atom in here else None:
            case Call(np.transpose, (Var() as a,), ()):
                return a
        return None


def same_shape(sum_: Atom, value: Atom) -> bool:
    """Whether what is added to a sum is surely not broadcast, and has its dtype."""
    a, b = dims_in(sum_), dims_in(value)
    if a is None or b is None or len(a) != len(b) or atom_type(sum_).dtype != atom_type(value).dtype:
        return False
    return all(m is n or m == n or least(m) > 1 and least(n) > 1 for m, n in zip(a, b))
