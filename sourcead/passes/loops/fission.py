"""Turns the sums of products over the iterations of a reverse loop into one product after the loop.

    r, s = loop (u = u0, b = b0, l = l0) for t ...:      zs1 = loop (zs = zs0) for t ...:
        l1, h = pop l                                        zs2 = zs with [t] = z;  yield zs2
        u1 = u with all += outer(z, h)                   r = u0 with all += matmul(transpose(zs1), hs)
        b1 = b with all += z;  yield u1, b1, l1          s = b0 with all += sum(zs1, axis=0)

The factors of all iterations are stacked, a row for each, or a row for each sample of a batch (`d_u += d_z.T @ h`).  A factor `xs[t]` lies
in a stack already; what the forward sweep saved on a list is saved in an array instead.  This is legal if nothing else in the loop reads
the sums, what is added to them is not broadcast, and the shapes of the factors are known to be the same in each iteration and can be
computed before the loop.  It takes the memory of the stacks, so it is not done under a policy that saves memory.  The result differs by
rounding, as the order of sums does.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.analysis.sizes import dims_in, least, rank
from sourcead.ir.nodes import Atom, Block, Call, Const, Function, Loop, Stmt, Var
from sourcead.ir.walk import bound_vars, map_blocks
from sourcead.passes.loops.factor_arrays import FunctionFacts, Term, chain_of
from sourcead.passes.loops.stacked_factors import SplitLoop
from sourcead.passes.peephole import with_body, with_stmts


def sum_after_loops(function: Function, notes: list[str]) -> Function:
    """Return the function with sums of products taken out of the loops of its reverse sweep, and add a line to `notes` for each loop."""
    return with_body(function, LoopFission(FunctionFacts(function, notes)).block(function.body, list(function.params)))


class LoopFission:
    """Splits the loops of one function."""

    def __init__(self, facts: FunctionFacts):
        self.facts = facts

    def block(self, block: Block, scope: list[Var]) -> Block:
        """Return the block with its loops split; `scope` holds the variables that are defined around it."""
        stmts, inner = [], list(scope)
        for stmt in block.stmts:
            around = [*inner, *bound_vars(stmt.op)]
            stmts.append(map_blocks(stmt, lambda b, around=around: self.block(b, around)))
            inner += stmt.targets
        for stmt in [s for s in stmts if s.adjoint_of is not None and isinstance(s.op, Loop)]:
            stmts = self.split(stmt, stmts, scope)
        return with_stmts(block, stmts)

    def split(self, stmt: Stmt, stmts: list[Stmt], scope: list[Var]) -> list[Stmt]:
        """Return the statements of a block with one of its loops split if that is legal and useful."""
        counted = self.facts.counting.of(stmt.op)
        if counted is None:
            return stmts
        terms = self.terms(stmt.op)
        if not any(len(t.factors) == 2 for t in terms):
            return stmts
        before = [*scope, *(t for s in stmts[: stmts.index(stmt)] for t in s.targets)]
        return SplitLoop(self.facts, stmt, counted, stmts, before).split(terms)

    # -- sums of a loop -------------------------------------------------------------------------------------------------

    def terms(self, loop: Loop) -> list[Term]:
        """Return the sums that can be computed after a loop: sums of products, and of rows that are stacked for a product anyway."""
        found = []
        here = {t: s for s in loop.body.stmts for t in s.targets}
        for k, result in enumerate(loop.body.results):
            chain = chain_of(loop, k, here)
            if all(s.op.mode == "add" and self.facts.uses[s.op.base] == 1 for s in chain) and self.facts.uses[result] == 1:
                plain = (s for s in reversed(chain) if not s.op.path and isinstance(s.op.value, Var))
                found += filter(None, (self.term(s, k, here) for s in plain))
        stacked = {f for t in found if len(t.factors) == 2 for f in t.factors}
        return [t for t in found if len(t.factors) == 2 or t.factors[0] in stacked]

    def term(self, update: Stmt, k: int, here: dict[Var, Stmt]) -> Term | None:
        """Return the term that an update adds to a sum, or None if it cannot be computed after the loop."""
        value = update.op.value
        dims = dims_in(value)
        stmt = here.get(value)
        if not same_shape(update.op.base, value):
            return None
        op = stmt.op if stmt is not None and self.facts.uses[value] == 1 else None
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
        """Return `a` if the atom is the transpose of `a`, else None."""
        match here[atom].op if atom in here else None:
            case Call(np.transpose, (Var() as a,), ()):
                return a
        return None


def same_shape(sum_: Atom, value: Atom) -> bool:
    """Return whether a value that is added to a sum is known to have the shape and dtype of the sum."""
    a, b = dims_in(sum_), dims_in(value)
    if a is None or b is None or len(a) != len(b) or atom_type(sum_).dtype != atom_type(value).dtype:
        return False
    return all(m is n or m == n or least(m) > 1 and least(n) > 1 for m, n in zip(a, b))
