"""Loops that save states in fixed places: at each entry, every so many iterations, or on entry to the loop alone."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from sourcead.ad.policies.checkpointed_loops import Checkpointed, shown
from sourcead.ad.policies.reruns import Rerun, anew
from sourcead.ad.residuals.backward_ranges import reversed_range
from sourcead.ad.residuals.loop_writer import ONE, ZERO, Carried, LoopTask, appended, popped
from sourcead.ad.residuals.notes import rebuilt
from sourcead.ad.residuals.regions import LoopPair
from sourcead.ad.reverse.sweep import ReverseLoop, Sweep
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Block, Policy, Range, Stmt, Var, fresh
from sourcead.ir.types import BOOL, INT
from sourcead.ir.walk import free_vars


class States(Checkpointed):
    """The state on entry to each iteration.

    Attributes:
        left: what an iteration leaves that is the state on entry to the next: carried backward, not computed again.
    """

    save_everywhere = True

    def __init__(self, task: LoopTask):
        op, sweep = task.op, task.raw.op.sweep
        rerun = Rerun(task, op.body, sweep)
        self.left: dict[Var, Carried] = {}
        for p, k in zip(rerun.params, rerun.state):
            q = op.body.results[k]
            if isinstance(q, Var) and q not in op.params and k not in rerun.written and q not in self.left:
                self.left[q] = Carried(task.stmt.targets[k], fresh(q, name=p.name, temp=p.temp), p)
        if self.left:
            rerun = Rerun(task, op.body, sweep, {q: c.param for q, c in self.left.items()})
        super().__init__(rerun)

    def written(self) -> LoopPair:
        """Return the loop and its reverse."""
        rerun, head = self.rerun, self.builder()
        head.adjoint_of = None
        self.saving(head)
        forward = self.forward(head.stmts)
        setup, inside = self.builder(), self.builder()
        self.stacks = {p: c.taken_off() for p, c in self.lists.items()}
        values: dict[Var, Atom] = {}
        domain, index = self.walk(setup, inside, values)
        entry = {p: popped(inside, self.stacks[p], p) for p in rerun.params}
        results = rerun.reversal(inside, {**values, **entry})
        read = set(free_vars(rerun.again))
        exits = [replace(c, end=entry[c.end]) for c in self.left.values() if c.param in read]
        restored = self.put_back(entry.__getitem__)
        carried = [*exits, *restored.values(), *self.stacks.values(), *self.also_carried()]
        loop = self.reverse_loop(domain, index, Block(tuple(inside.stmts), results), carried)
        return self.pair(forward, [*setup.stmts, loop], restored, (*self.note(), *rebuilt(rerun.rebuilt)))

    def saving(self, head: Builder) -> None:
        """Emit what the forward sweep saves at the beginning of an iteration."""
        for p in self.rerun.params:
            saved = self.lists[p] = self.made_list(f"{p.name}s", p.type)
            saved.end = appended(head, saved.param, self.rerun.kept(head, p, p))

    def walk(self, setup: Builder, inside: Builder, values: dict[Var, Atom]) -> tuple[Any, Var]:
        """Return what the reverse loop runs over; `values` gets what stands for the index of an iteration."""
        if not isinstance(self.op.domain, Range):
            return self.backward(setup, False), Var("_", INT, True)
        index = values[self.op.index] = fresh(self.op.index)
        return self.backward(setup, self.op.index in free_vars(self.rerun.again)), index

    def also_carried(self) -> list[Carried]:
        """Return what the reverse loop carries beside the lists."""
        return []

    def note(self) -> tuple[str, ...]:
        """Return what people are told of what is saved."""
        return ("saves {} on entry to each iteration" if self.rerun.state else "saves nothing",)


class Segmented(Checkpointed):
    """The state every so many iterations; a segment runs again as a loop of its own, which saves as it likes.

    In the reverse sweep the loop is strip-mined:

        for s in reversed(range(0, n, k)):  h = hs.pop();  for t in range(s, min(s + k, n)): B;  its reverse

    The forward sweep stays one loop, which may end at any iteration.
    """

    def __init__(self, task: LoopTask, every: Atom):
        op, raw = task.op, task.raw
        self.every = every
        self.first = Var("start", INT, True)
        self.entry = tuple(anew(task.stmt, op.params))
        self.cotangents = tuple(map(fresh, raw.op.params))  # of the loop over the segments
        self.indices = Var("first", INT, True), Var("end", INT, True)
        step = op.domain.step if isinstance(op.domain, Range) else ONE
        own = replace(
            op, domain=Range(*self.indices, step), index=op.index or Var("_", INT, True), inits=self.entry, leave=None,
            policy=Policy("auto"),
        )  # fmt: skip
        segment = Stmt(tuple(map(fresh, task.stmt.targets)), own, task.stmt.origin)
        outs = tuple(map(fresh, raw.op.params))
        adjoint = replace(raw, targets=outs, op=ReverseLoop(segment, raw.op.params, self.cotangents, raw.op.sweep))
        super().__init__(Rerun(task, Block((segment,), ()), Sweep(((segment, (adjoint,)),), outs), own=self.entry))

    def written(self) -> LoopPair:
        """Return the loop and its reverse."""
        rerun, op, every = self.rerun, self.op, self.checked(self.every, "every")
        head = self.builder()
        head.adjoint_of = None
        left = head.call(operator.mod, self.place(), every, type=INT)
        due = head.call(operator.eq, left, ZERO, type=BOOL)
        self.lists = {p: self.made_list(f"{p.name}s", p.type) for p in rerun.params}
        self.save_if(head, due)
        forward = self.forward(head.stmts)

        setup, inside = self.builder(), self.builder()
        total = self.total
        domain = reversed_range(setup, Range(ZERO, total, every))
        stacks = {p: c.taken_off() for p, c in self.lists.items()}
        entry = {p: popped(inside, stacks[p], p) for p in rerun.params}
        last = inside.call(operator.add, self.first, every, type=INT)
        stop = inside.call(min, last, total, type=INT, name="stop")
        part = rerun.part(inside, self.first, stop)
        values = {e: entry[p] for e, p in zip(self.entry, op.params) if p in entry}
        values.update(zip(self.indices, (part.start, part.stop)))
        results = rerun.reversal(inside, values)
        restored = self.put_back(entry.__getitem__)
        body, carried = Block(tuple(inside.stmts), results), [*restored.values(), *stacks.values()]
        loop = self.reverse_loop(domain, self.first, body, carried, self.cotangents)
        told = f"saves {{}} every {shown(every)} iterations" if rerun.state else "saves nothing"
        return self.pair(forward, [*setup.stmts, loop], restored, (told, "runs a segment again at a time"))


class FromStart(Checkpointed):
    """Nothing but the state on entry to the loop, which is still in scope; each iteration is reached from there."""

    def written(self) -> LoopPair:
        """Return the loop and its reverse."""
        rerun, op = self.rerun, self.op
        forward = self.forward([])
        setup, inside = self.builder(), self.builder()
        domain, here = self.places_backward(setup)
        inits = {p: op.inits[k] for p, k in zip(rerun.params, rerun.state)}
        entry = rerun.advance(inside, rerun.part(inside, ZERO, here), inits)
        values = dict(entry)
        if isinstance(op.domain, Range):
            values[op.index] = rerun.index_at(inside, here)
        results = rerun.reversal(inside, values)
        restored = self.put_back(entry.__getitem__)
        loop = self.reverse_loop(domain, here, Block(tuple(inside.stmts), results), list(restored.values()))
        told = "saves nothing; computes {} again from the start for each iteration"
        return self.pair(forward, [*setup.stmts, loop], restored, (told, *rebuilt(rerun.rebuilt)))
