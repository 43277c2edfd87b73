"""The parts of a loop that saves states, and of its reverse, which the policies of `states.py` and `revolve.py` share."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from sourcead.ad.policies.reruns import Rerun
from sourcead.ad.residuals.backward_ranges import reversed_range
from sourcead.ad.residuals.notes import Kept, LoopNote
from sourcead.ad.residuals.regions import LoopPair
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Append, Atom, Block, Branch, Build, Const, Loop, Pop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import substitute
from sourcead.runtime.schedules import positive_number

ZERO, ONE = Const(0), Const(1)


@dataclass
class Carried:
    """A variable that a loop carries beside its own variants: its value on entry, inside, and on leaving."""

    init: Atom
    param: Var
    end: Atom | None = None
    out: Var | None = None

    def __post_init__(self):
        self.end = self.end or self.param
        self.out = self.out or fresh(self.param)


class Checkpointed:
    """The parts that the policies share.

    Attributes:
        before: statements before the loop.
        lists: for each variant of the state, the list of what is saved of it, as the forward sweep leaves it.
        count: the number of iterations: carried by a loop that does not know it before.
        total: the number of iterations, after the loop.
    """

    save_everywhere = False

    def __init__(self, rerun: Rerun):
        self.rerun, self.op, self.stmt, self.raw = rerun, rerun.op, rerun.stmt, rerun.raw
        self.start = Builder()
        self.start.origin = self.stmt.origin
        self.count: Carried | None = None
        self.named: Var | None = None  # see `place`
        self.whole: Var | None = None  # see `length`
        self.lists: dict[Var, Carried] = {}
        self.kept: list[Carried] = []  # what else the forward loop carries

    def made_list(self, name: str, item, *items: Atom) -> Carried:
        """A list for the forward sweep to fill."""
        made = self.start.emit(Build("list", items, residual=self.save_everywhere), ListT(item), name)
        return Carried(made, fresh(made))

    def checked(self, number: Atom, name: str) -> Atom:
        """The number of a policy; one that is known only at run time is checked before the loop."""
        return number if isinstance(number, Const) else self.start.call(positive_number, number, type=INT, name=name)

    def counted(self) -> Carried:
        """The number of iterations so far, carried by the forward loop."""
        if self.count is None:
            self.count = Carried(ZERO, Var("n", INT, True))
        return self.count

    @property
    def total(self) -> Atom:
        """The number of iterations, after the loop."""
        if self.count is not None or self.rerun.is_counted:
            return self.counted().out
        return self.length()

    def length(self) -> Atom:
        """The number of iterations of a loop over a range, if none of them ends it; asked before the loop."""
        domain = self.op.domain
        if self.rerun.is_plain:
            return domain.stop
        if self.whole is None:
            numbers = self.start.call(range, domain.start, domain.stop, domain.step)
            self.whole = self.start.call(len, numbers, type=INT, name="n")
        return self.whole

    def index_name(self, default: str) -> str:
        """The user's name for the place of an iteration."""
        index = self.op.index
        return index.name if self.rerun.is_plain and not index.temp and index.name.strip("_") else default

    def place(self) -> Atom:
        """The place of an iteration of the forward sweep; an index that the user did not name gets a name."""
        if not self.rerun.is_plain:
            return self.counted().param
        index = self.op.index
        if not index.name.strip("_"):
            index = self.named = self.named or fresh(index, name="i", temp=True)
        return index

    def carried(self) -> list[Carried]:
        """What the forward loop carries beside the user's variants."""
        return [*self.lists.values(), *self.kept, *([self.count] if self.count else [])]

    def forward(self, head: list[Stmt]) -> Stmt:
        """The loop, with statements at the beginning of an iteration and what it carries for them."""
        build = Builder()
        build.origin = self.stmt.origin
        build.stmts += head
        if self.count is not None:
            self.count.end = build.call(operator.add, self.count.param, ONE, type=INT, name="n")
        more, index, body = self.carried(), self.op.index, self.op.body
        if self.named is not None:
            index, body = self.named, substitute(body, {index: self.named})
        op = replace(
            self.op, index=index, params=(*self.op.params, *(c.param for c in more)), inits=(*self.op.inits, *(c.init for c in more)),
            body=Block((*build.stmts, *body.stmts), (*body.results, *(c.end for c in more))), policy=None,
        )  # fmt: skip
        return replace(self.stmt, targets=(*self.stmt.targets, *(c.out for c in more)), op=op)

    def backward(self, build: Builder) -> tuple[Range, Var]:
        """The places of the iterations, last first."""
        domain = Range(ZERO, self.total, ONE)
        return reversed_range(build, domain), Var(self.index_name("i"), INT, True)

    def reverse(
        self, domain: Range, index: Var, carried: list[Carried], setup: Builder, inside: Builder, results: tuple, params=None
    ) -> list[Stmt]:
        """The loop of the reverse sweep; `params`: its cotangents, if not those that the iterations read."""
        raw = self.raw
        op = Loop(
            domain, index, (*(params or raw.op.params), *(c.param for c in carried)), (*raw.op.inits, *(c.init for c in carried)),
            Block(tuple(inside.stmts), (*results, *(c.end for c in carried))),
        )  # fmt: skip
        return [*setup.stmts, replace(raw, targets=(*raw.targets, *(c.out for c in carried)), op=op)]

    def builder(self) -> Builder:
        """A builder for statements of the reverse sweep."""
        build = Builder()
        build.origin = build.adjoint_of = self.stmt.origin
        return build

    def put_back(self, entry: Callable[[Var], Atom]) -> dict[Var, Carried]:
        """The arrays that are put back: the states of an iteration, handed from one to the one before it."""
        found = {}
        for chain, k in self.rerun.restored.items():
            p = self.op.params[k]
            found[chain] = Carried(self.stmt.targets[k], fresh(p), entry(p))
        return found

    def done(self, forward: Stmt, reverse: list[Stmt], restored: dict[Var, Carried], head: str, *rest: str) -> LoopPair:
        """What the settler takes; `head` and `rest`: what people are told, the state in place of `{}`."""
        note = LoopNote(self.stmt.origin, head, tuple(Kept(p.name, p.type) for p in self.rerun.params), rest)
        self.rerun.settler.notes += [*self.rerun.notes, note]
        entry = {c: self.op.inits[k] for c, k in self.rerun.restored.items()}
        return LoopPair(list(self.start.stmts), forward, reverse, {c: v.out for c, v in restored.items()}, entry)

    def names(self) -> str:
        return ", ".join(dict.fromkeys(p.name for p in self.rerun.params))

    def lists_to_pop(self) -> dict[Var, Carried]:
        """The lists as the reverse loop carries them."""
        return {p: Carried(c.out, fresh(c.param)) for p, c in self.lists.items()}


def popped(build: Builder, stack: Carried, like: Var) -> Var:
    """Takes the last item off a list that a loop carries."""
    rest, item = fresh(stack.param), fresh(like)
    build.add(Stmt((rest, item), Pop(stack.end)))
    stack.end = rest
    return item


def appended(build: Builder, stack: Atom, item: Atom) -> Var:
    """Puts an item on a list."""
    new = fresh(stack)
    build.add(Stmt((new,), Append(stack, item)))
    return new


def save_if(build: Builder, due: Var, rerun: Rerun, lists: dict[Var, Carried]) -> None:
    """Emits the branch that puts the state on its lists."""
    with build.block() as stmts:
        ends = [(lists[p], appended(build, lists[p].param, rerun.kept(build, p, p))) for p in rerun.params]
    for c, _ in ends:
        c.end = fresh(c.param)
    then, orelse = Block(tuple(stmts), tuple(end for _, end in ends)), Block((), tuple(c.param for c, _ in ends))
    build.add(Stmt(tuple(c.end for c, _ in ends), Branch(due, then, orelse, "if")))


def shown(number: Atom) -> str:
    return str(number.value) if isinstance(number, Const) else number.name
