"""A loop and its reverse, which carry more than the program's loop: lists, states, arrays that are put back, a counter.

    out = loop (p = init) for i in r: B yielding q

    forward     out, x_out = loop (p = init, x = x_init) for i in r: head; B yielding q, x_end
    reverse     d_init, z_out = loop (d_p = d_out, z = z_init) for i in reversed(r): ... yielding d_p, z_end
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import reversed_range
from sourcead.ir.nodes import Append, Atom, Block, Call, Const, Loop, Pop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT

ZERO, ONE = Const(0), Const(1)


@dataclass(frozen=True, eq=False)
class LoopTask:
    """A loop that is written together with its reverse.

    Attributes:
        maker: the `SweepMaker`, which writes the loops inside and knows the versions of each array.
        stmt: the loop.
        raw: its reverse as the rules wrote it.
        undone: the chains of the arrays whose writes the reverse undoes.
    """

    maker: Any
    stmt: Stmt
    raw: Stmt
    undone: set[Var]

    @property
    def op(self) -> Loop:
        """Return the loop."""
        return self.stmt.op

    @property
    def is_plain(self) -> bool:
        """Return whether the index of an iteration is its place, counted from 0."""
        domain = self.op.domain
        return isinstance(domain, Range) and number(domain.start) == 0 and number(domain.step) == 1

    @property
    def is_counted(self) -> bool:
        """Return whether the number of iterations is known only after the loop."""
        return not isinstance(self.op.domain, Range) or self.op.leave is not None

    def restored(self) -> dict[Var, int]:
        """Return the chains of the loop's arrays that its reverse leaves as they were on entry, with the numbers of their variants."""
        return {c: k for c, k in self.maker.chains.carried_by(self.stmt).items() if c in self.undone}


@dataclass(eq=False)
class Carried:
    """A variable that a loop carries: its value on entry, inside, at the end of an iteration, and after the loop."""

    init: Atom
    param: Var
    end: Atom | None = None
    out: Var | None = None

    def __post_init__(self):
        self.end = self.end or self.param
        self.out = self.out or fresh(self.param)

    def taken_off(self) -> Carried:
        """Return a list that the forward loop filled, as the reverse loop carries it."""
        return Carried(self.out, fresh(self.param))


class LoopWriter:
    """Writes a loop and its reverse.

    Attributes:
        start: statements before the loop.
        count: the number of iterations, which the forward loop carries if it is not known before the loop.
    """

    def __init__(self, task: LoopTask):
        self.task, self.op = task, task.op
        self.start = self.builder()
        self.start.adjoint_of = None
        self.count = Carried(ZERO, Var("n", INT, True)) if task.is_counted else None

    def builder(self) -> Builder:
        """Return a builder for statements of the reverse sweep."""
        build = Builder()
        build.origin = build.adjoint_of = self.task.stmt.origin
        return build

    def forward_loop(self, head: Sequence[Stmt], body: Block, carried: list[Carried]) -> Stmt:
        """Return the loop over `body`, with statements at the beginning of an iteration and what it carries for them."""
        op, stmt, counting = self.op, self.task.stmt, []
        if self.count is not None:
            self.count.end = fresh(self.count.param)
            counting = [Stmt((self.count.end,), Call(operator.add, (self.count.param, ONE)))]
            carried = [*carried, self.count]
        new = replace(
            op, params=(*op.params, *(c.param for c in carried)), inits=(*op.inits, *(c.init for c in carried)),
            body=Block((*head, *counting, *body.stmts), (*body.results, *(c.end for c in carried))), policy=None,
        )  # fmt: skip
        return replace(stmt, targets=(*stmt.targets, *(c.out for c in carried)), op=new)

    def reverse_loop(
        self, domain: Range, index: Var, body: Block, carried: list[Carried], params: tuple[Var, ...] = ()
    ) -> Stmt:
        """Return the loop of the reverse sweep; `params` are its cotangents, if not those that the iterations read."""
        raw = self.task.raw
        op = Loop(
            domain, index, (*(params or raw.op.params), *(c.param for c in carried)), (*raw.op.inits, *(c.init for c in carried)),
            Block(body.stmts, (*body.results, *(c.end for c in carried))),
        )  # fmt: skip
        return replace(raw, targets=(*raw.targets, *(c.out for c in carried)), op=op)

    def backward(self, setup: Builder, index_matters: bool) -> Any:
        """Return the domain of the reverse loop: the values of the index, last first, if they matter, else only their number.

        Statements that compute the range are emitted to `setup`.
        """
        domain = self.op.domain
        if not index_matters or not isinstance(domain, Range):
            return domain if self.count is None else Range(ZERO, self.count.out, ONE)
        if self.count is not None:
            domain = Range(domain.start, number_at(setup, domain, self.count.out), domain.step)
        return reversed_range(setup, domain)


def popped(build: Builder, stack: Carried, like: Var) -> Var:
    """Emit a pop from a list that a loop carries, and return the item."""
    rest, item = fresh(stack.param), fresh(like)
    build.add(Stmt((rest, item), Pop(stack.end)))
    stack.end = rest
    return item


def appended(build: Builder, stack: Atom, item: Atom) -> Var:
    """Emit an append to a list, and return the new list."""
    new = fresh(stack)
    build.add(Stmt((new,), Append(stack, item), saves=True))
    return new


def number_at(build: Builder, domain: Range, place: Atom) -> Atom:
    """Return the number at a place of a range, counted from 0."""
    if number(domain.step) == -1:
        return build.call(operator.sub, domain.start, place, type=INT)
    offset = place if number(domain.step) == 1 else build.call(operator.mul, place, domain.step, type=INT)
    return offset if number(domain.start) == 0 else build.call(operator.add, domain.start, offset, type=INT)
