"""The walk over a block, last statement first, and the choice of the rule of each statement.

    B:  s1; s2; ...; sn yielding y          reverse(B, d_y):  adjoint of sn; ...; adjoint of s2; adjoint of s1

A statement whose results have no cotangent has no adjoint, unless it contains a block that the user wrote for the reverse sweep.

What an adjoint calculates and the block has already calculated, as the cosine in the adjoint of a sine, is read, not calculated twice.
A system of a matrix whose inverse the block has is solved by that: solve(a.T, d) is inv(a).T @ d.
"""

import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

import numpy as np

from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.residuals.costs import is_cheap
from sourcead.ad.reverse.sweep import Sweep
from sourcead.analysis.builder import Builder
from sourcead.analysis.sizes import equal_after
from sourcead.frontend.lower import Lowered
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import AdjointBlock, Atom, Block, Call, Let, Op, Stmt, Var, fresh
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import rank
from sourcead.ir.walk import walk
from sourcead.passes.cleanup.common_subexpressions import is_pure
from sourcead.passes.equality import operand_key
from sourcead.primitives.table import record_of

Rule = Callable[["Reverse", Stmt, Cotangents], None]


class Reverse:
    """The facts about the differentiated function that the rules of the reverse sweep use.

    Attributes:
        active: variables that get cotangents.
        build: the builder of the sweep, with what the frontend knows.
        rules: the rule of each kind of statement; it emits the adjoint of a statement, given the cotangents known so far.
        as_function: returns both sweeps of a recursive function as one function.
        adjoint_blocks: the statements that are or hold a block of the user's for the reverse sweep.
        made: the statements of the block that is walked, by their targets.
        counting: arrays whose elements are all different, `arange(n)`.
    """

    def __init__(
        self, block: Block, active: set[Var], build: Builder, rules: Mapping[type[Op], Rule], as_function: Callable[[Pair], Lowered]
    ):
        self.active, self.build, self.rules, self.as_function = active, build, rules, as_function
        self.adjoint_blocks = with_adjoint_blocks(block)
        self.made: dict[Var, Stmt] = {}
        calls = (s for s in walk(block) if isinstance(s.op, Call))
        self.counting = {s.targets[0] for s in calls if s.op.fn in (np.arange, range) and len(s.op.args) == 1 and not s.op.kwargs}

    def block(self, block: Block, cots: Cotangents, finish: Callable[[], tuple] = tuple) -> Sweep:
        """Return the reverse of a block whose results' cotangents are in `cots`; it yields what `finish()` returns."""
        steps = []
        first, around, equal = self.build.stmts, self.made, self.build.equal
        self.build.equal = EqualSizes(equal.names)
        for stmt in block.stmts:  # which have all run when the reverse begins
            for a, b in equal_after(stmt):
                self.build.equal.learn(a, b)
        if first:
            steps.append((None, tuple(first)))
        here, results_of = {t: s for s in block.stmts for t in s.targets}, costly_results(block)
        inverses = {s.op.args[0]: s.targets[0] for s in block.stmts if isinstance(s.op, Call) and s.op.fn is np.linalg.inv}
        for stmt in reversed(block.stmts):
            self.made = here
            with self.build.block() as stmts:
                self.build.origin = self.build.adjoint_of = stmt.origin
                self.build.within = stmt.within
                if stmt in self.adjoint_blocks or any(cots.has(t) for t in stmt.targets):
                    self.rules[type(stmt.op)](self, stmt, cots)
            if stmts:
                steps.append((stmt, tuple(shared(s, results_of) for s in by_inverses(stmts, inverses))))
        self.made, self.build.equal = around, equal
        with self.build.block() as stmts:
            results = finish()
        if stmts:
            steps.append((None, tuple(stmts)))
        return Sweep(tuple(steps), results)


def costly_results(block: Block) -> dict[Hashable, Var]:
    """Return the results of the calls of a block that cost too much to be made again, by function and operands."""
    return {call_key(s.op): s.targets[0] for s in block.stmts if is_costly(s)}


def is_costly(stmt: Stmt) -> bool:
    """Return whether a statement is a call that always has the same result, and is not cheap."""
    op = stmt.op
    if not isinstance(op, Call) or isinstance(op.fn, (Var, Pair)) or len(stmt.targets) != 1:
        return False
    known = record_of(op.fn)
    return not is_cheap(op) and (known.elementwise and not op.effect or is_pure(op) and known.view is None)


def call_key(call: Call) -> Hashable:
    """Return a key that two calls share only if they have the same function and operands."""
    return call.fn, operand_key(call.args), tuple((name, operand_key(value)) for name, value in call.kwargs)


def shared(stmt: Stmt, results: dict[Hashable, Var]) -> Stmt:
    """Return a statement of the reverse sweep; it reads the result of an equal call of the forward sweep, if there is one."""
    found = results.get(call_key(stmt.op)) if results and is_costly(stmt) else None
    return stmt if found is None else replace(stmt, op=Let(found))


def by_inverses(stmts: list[Stmt], inverses: dict[Atom, Var]) -> list[Stmt]:
    """Return statements of the reverse sweep with products with the inverses of matrices in place of the solutions of their systems."""
    transposed: dict[Atom, Var] = {}  # the inverses of matrices whose transposes have a name
    out: list[Stmt] = []
    for s in stmts:
        match s.op:
            case Call(np.transpose, (Var() as a,), ()) if a in inverses and rank(a.type) == 2:
                transposed[s.targets[0]] = inverses[a]
            case Call(np.linalg.solve, (a, b), ()) if a in transposed:
                inverse = fresh(a)
                out.append(replace(s, targets=(inverse,), op=Call(np.transpose, (transposed[a],))))
                s = replace(s, op=Call(operator.matmul, (inverse, b)))
        out.append(s)
    return out


def with_adjoint_blocks(block: Block) -> set[Stmt]:
    """Return the statements that are, or contain, a block that the user wrote for the reverse sweep."""
    return {s for s in walk(block) if any(isinstance(inner.op, AdjointBlock) for inner in walk(Block((s,))))}
