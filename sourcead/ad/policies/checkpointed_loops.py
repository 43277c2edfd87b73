"""What the policies share that save states: a loop that saves some states, and a reverse that runs again from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sourcead.ad.policies.reruns import Rerun
from sourcead.ad.residuals.backward_ranges import reversed_range
from sourcead.ad.residuals.branches import emit_if
from sourcead.ad.residuals.loop_writer import ONE, ZERO, Carried, LoopWriter, appended
from sourcead.ad.residuals.notes import Kept, LoopNote
from sourcead.ad.residuals.regions import LoopPair
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Build, Const, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import substitute
from sourcead.runtime.schedules import positive_number


class Checkpointed(LoopWriter):
    """The parts that the policies share.

    Attributes:
        rerun: what runs again in the reverse sweep.
        lists: for each variant of the state, the list of what is saved of it, as the forward loop carries it.
        kept: what else the forward loop carries.
    """

    save_everywhere = False

    def __init__(self, rerun: Rerun):
        super().__init__(rerun.task)
        self.rerun = rerun
        self.named: Var | None = None  # see `place`
        self.whole: Var | None = None  # see `length`
        self.lists: dict[Var, Carried] = {}
        self.kept: list[Carried] = []

    def made_list(self, name: str, item, *items: Atom) -> Carried:
        """Return a list for the forward sweep to fill."""
        made = self.start.emit(Build("list", items, residual=self.save_everywhere), ListT(item), name)
        return Carried(made, fresh(made))

    def checked(self, number: Atom, name: str) -> Atom:
        """Return the number of a policy; one that is known only at run time is checked before the loop."""
        return number if isinstance(number, Const) else self.start.call(positive_number, number, type=INT, name=name)

    @property
    def total(self) -> Atom:
        """The number of iterations, after the loop."""
        return self.length() if self.count is None else self.count.out

    def length(self) -> Atom:
        """Return the number of iterations of a loop over a range, if none of them ends it; it is computed before the loop."""
        domain = self.op.domain
        if self.task.is_plain:
            return domain.stop
        if self.whole is None:
            numbers = self.start.call(range, domain.start, domain.stop, domain.step)
            self.whole = self.start.call(len, numbers, type=INT, name="n")
        return self.whole

    def place(self) -> Atom:
        """Return the place of an iteration of the forward sweep; an index that the user did not name gets a name."""
        if not self.task.is_plain:
            self.count = self.count or Carried(ZERO, Var("n", INT, True))
            return self.count.param
        index = self.op.index
        if not index.name.strip("_"):
            index = self.named = self.named or fresh(index, name="i", temp=True)
        return index

    def forward(self, head: list[Stmt]) -> Stmt:
        """Return the loop, with statements at the beginning of an iteration."""
        body = self.op.body
        if self.named is not None:
            body = substitute(body, {self.op.index: self.named})
        loop = self.forward_loop(head, body, self.carried())
        return loop if self.named is None else replace(loop, op=replace(loop.op, index=self.named))

    def carried(self) -> list[Carried]:
        """Return what the forward loop carries."""
        return [*self.lists.values(), *self.kept]

    def places_backward(self, build: Builder) -> tuple[Range, Var]:
        """Return the places of the iterations, last first, and the name of one: the user's, if it is the index."""
        index = self.op.index
        named = self.task.is_plain and not index.temp and index.name.strip("_")
        return reversed_range(build, Range(ZERO, self.total, ONE)), Var(index.name if named else "i", INT, True)

    def put_back(self, entry: Callable[[Var], Atom]) -> dict[Var, Carried]:
        """Return the arrays that are put back, by chain: the states of an iteration, handed from one to the one before it."""
        params, targets = self.op.params, self.task.stmt.targets
        return {c: Carried(targets[k], fresh(params[k]), entry(params[k])) for c, k in self.task.restored().items()}

    def pair(self, forward: Stmt, reverse: list[Stmt], restored: dict[Var, Carried], told: tuple[str, ...]) -> LoopPair:
        """Return the loop with its reverse; `told`: the note for people, with the state in place of `{}`."""
        maker, kept = self.task.maker, tuple(Kept(p.name, p.type) for p in self.rerun.params)
        maker.notes += [*self.rerun.notes, LoopNote(self.task.stmt.origin, told[0], kept, told[1:])]
        entry = {c: self.op.inits[k] for c, k in self.task.restored().items()}
        return LoopPair(self.start.stmts, forward, reverse, {c: v.out for c, v in restored.items()}, entry)

    def save_if(self, build: Builder, due: Var) -> None:
        """Emit the branch that puts the state on its lists."""
        state = {p: c.param for p, c in self.lists.items()}
        with build.block() as stmts:
            longer = {p: appended(build, c.param, self.rerun.kept(build, p, p)) for p, c in self.lists.items()}
        emit_if(build, due, stmts, state, longer)
        for p, c in self.lists.items():
            c.end = state[p]


def shown(number: Atom) -> str:
    """Return the number of a policy as it is told."""
    return str(number.value) if isinstance(number, Const) else number.name
