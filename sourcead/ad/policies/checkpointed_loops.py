"""The common part of the checkpoint policies that save states: a loop saves some states, and its reverse runs again from them."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from sourcead.ad.policies.reruns import Rerun
from sourcead.ad.residuals.branches import emit_if
from sourcead.ad.residuals.code_regions import LoopPair
from sourcead.ad.residuals.loop_pair import ONE, ZERO, Carried, LoopWriter, appended, popped
from sourcead.ad.residuals.notes import Kept, LoopNote
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import reversed_range
from sourcead.ir.nodes import Atom, Block, Build, Const, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import copied, free_vars, substitute
from sourcead.runtime.checkpoint_schedules import positive_number


class Checkpointed(LoopWriter):
    """Writes a loop that saves states; a policy says what the forward sweep saves and how the reverse sweep reaches the states.

    Attributes:
        rerun: what runs again in the reverse sweep.
        lists: for each variant of the state, the list of what is saved of it, as the forward loop carries it.
        stacks: the same lists, as the reverse loop carries them.
        kept: the other variables that the forward loop carries.
        left: results of an iteration that are the state on entry to the next, carried backward instead of computed again.
        more: the other variables that the reverse loop carries.
        cotangents: those that the reverse loop carries, if not those that its iterations read.
    """

    save_everywhere = False
    cotangents: tuple[Var, ...] = ()

    def __init__(self, rerun: Rerun):
        super().__init__(rerun.task)
        self.rerun = rerun
        self.named: Var | None = None  # see `place`
        self.lists: dict[Var, Carried] = {}
        self.stacks: dict[Var, Carried] = {}
        self.kept: list[Carried] = []
        self.left: dict[Var, Carried] = {}
        self.more: list[Carried] = []

    def saving(self, head: Builder) -> None:
        """Emit the statements that save at the beginning of an iteration of the forward sweep."""

    def walk(self, setup: Builder, inside: Builder) -> tuple[Any, Var, dict[Var, Atom], dict[Var, Atom]]:
        """Return the domain of the reverse loop, its index, the state on entry to an iteration, and other replacements of variables.

        Statements before the loop are emitted to `setup`, those of an iteration to `inside`.
        """
        raise NotImplementedError

    def note(self) -> tuple[str, ...]:
        """Return the notes for the user, in which `{}` is replaced by the state."""
        raise NotImplementedError

    def written(self) -> LoopPair:
        """Return the loop and its reverse."""
        rerun, task, head = self.rerun, self.task, self.builder()
        head.adjoint_of = None
        self.saving(head)
        forward = self.forward(head.stmts)
        setup, inside = self.builder(), self.builder()
        self.stacks = {p: c.taken_off() for p, c in self.lists.items()}
        domain, index, entry, values = self.walk(setup, inside)
        again = copied(rerun.again, {**values, **entry})
        read = set(free_vars(rerun.again))
        left = [replace(c, end=entry[c.end]) for c in self.left.values() if c.param in read]
        restored = {c: self.put_back(k, entry) for c, k in task.restored().items()}
        carried = [*left, *restored.values(), *self.stacks.values(), *self.more]
        loop = self.reverse_loop(domain, index, Block((*inside.stmts, *again.stmts), again.results), carried, self.cotangents)
        told, *rest = self.note()
        kept = tuple(Kept(p.name, p.type) for p in rerun.params)
        task.maker.notes += [*rerun.notes, LoopNote(task.stmt.origin, told, kept, tuple(rest))]
        outs, inits = {c: v.out for c, v in restored.items()}, {c: self.op.inits[k] for c, k in task.restored().items()}
        return LoopPair(self.start.stmts, forward, [*setup.stmts, loop], outs, inits)

    def put_back(self, k: int, entry: dict[Var, Atom]) -> Carried:
        """Return the carried variable of an array that each iteration restores and hands to the iteration before it."""
        return Carried(self.task.stmt.targets[k], fresh(self.op.params[k]), entry[self.op.params[k]])

    def popped_state(self, inside: Builder) -> dict[Var, Atom]:
        """Pop a state off the lists."""
        return {p: popped(inside, self.stacks[p], p) for p in self.rerun.params}

    def made_list(self, name: str, item, *items: Atom) -> Carried:
        """Return a list for the forward sweep to fill."""
        made = self.start.emit(Build("list", items, residual=self.save_everywhere), ListT(item), name)
        return Carried(made, fresh(made))

    def checked(self, number: Atom, name: str) -> Atom:
        """Return the number of a policy, after a check before the loop if the number is known only at run time."""
        return number if isinstance(number, Const) else self.start.call(positive_number, number, type=INT, name=name)

    @property
    def total(self) -> Atom:
        """Return the number of iterations, as it is known after the loop."""
        return self.length if self.count is None else self.count.out

    @cached_property
    def length(self) -> Atom:
        """Return the number of iterations of a loop over a range that does not end early, computed before the loop."""
        domain = self.op.domain
        if self.task.is_plain:
            return domain.stop
        numbers = self.start.call(range, domain.start, domain.stop, domain.step)
        return self.start.call(len, numbers, type=INT, name="n")

    def place(self) -> Atom:
        """Return the place of an iteration of the forward sweep, and name the index if the user did not."""
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
        """Return the places of the iterations, last first, and a variable for one, with the user's name if it is the index."""
        index = self.op.index
        named = self.task.is_plain and not index.temp and index.name.strip("_")
        return reversed_range(build, Range(ZERO, self.total, ONE)), Var(index.name if named else "i", INT, True)

    def save_if(self, build: Builder, due: Var) -> None:
        """Emit the branch that puts the state on its lists."""
        state = {p: c.param for p, c in self.lists.items()}
        with build.block() as stmts:
            longer = {p: appended(build, c.param, self.rerun.kept(build, p, p)) for p, c in self.lists.items()}
        emit_if(build, due, stmts, state, longer)
        for p, c in self.lists.items():
            c.end = state[p]


def shown(number: Atom) -> str:
    """Return the number of a policy as text for notes."""
    return str(number.value) if isinstance(number, Const) else number.name
