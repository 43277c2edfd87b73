"""Loops that save states in fixed places: on entry to each iteration, every k iterations, or only on entry to the loop."""

import operator
from dataclasses import replace
from typing import Any

from sourcead.ad.policies.checkpointed_loops import Checkpointed, shown
from sourcead.ad.policies.reruns import Rerun, anew
from sourcead.ad.residuals.loop_pair import ONE, ZERO, Carried, LoopTask, appended
from sourcead.ad.residuals.notes import rebuilt
from sourcead.ad.reverse.sweep import ReverseLoop, Sweep
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import reversed_range
from sourcead.ir.nodes import Atom, Block, Policy, Range, Stmt, Var, fresh
from sourcead.ir.types import BOOL, INT
from sourcead.ir.walk import free_vars


class States(Checkpointed):
    """Saves the state on entry to each iteration."""

    save_everywhere = True

    def __init__(self, task: LoopTask):
        op, sweep = task.op, task.raw.op.sweep
        rerun, left = Rerun(task, op.body, sweep), {}
        for p, k in zip(rerun.params, rerun.state):
            q = op.body.results[k]
            if isinstance(q, Var) and q not in op.params and k not in rerun.written and q not in left:
                left[q] = Carried(task.stmt.targets[k], fresh(q, name=p.name, temp=p.temp), p)
        if left:
            rerun = Rerun(task, op.body, sweep, {q: c.param for q, c in left.items()})
        super().__init__(rerun)
        self.left = left

    def saving(self, head: Builder) -> None:
        for p in self.rerun.params:
            saved = self.lists[p] = self.made_list(f"{p.name}s", p.type)
            saved.end = appended(head, saved.param, self.rerun.kept(head, p, p))

    def walk(self, setup: Builder, inside: Builder) -> tuple[Any, Var, dict[Var, Atom], dict[Var, Atom]]:
        entry = self.popped_state(inside)
        if not isinstance(self.op.domain, Range):
            return self.backward(setup, False), Var("_", INT, True), entry, {}
        index = fresh(self.op.index)
        return self.backward(setup, self.op.index in free_vars(self.rerun.again)), index, entry, {self.op.index: index}

    def note(self) -> tuple[str, ...]:
        told = "saves {} on entry to each iteration" if self.rerun.state else "saves nothing"
        return told, *rebuilt(self.rerun.rebuilt)


class Segmented(Checkpointed):
    """Saves the state every k iterations; each segment runs again as a loop of its own, which saves what its reverse reads.

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

    def saving(self, head: Builder) -> None:
        self.every = self.checked(self.every, "every")
        left = head.call(operator.mod, self.place(), self.every, type=INT)
        due = head.call(operator.eq, left, ZERO, type=BOOL)
        self.lists = {p: self.made_list(f"{p.name}s", p.type) for p in self.rerun.params}
        self.save_if(head, due)

    def walk(self, setup: Builder, inside: Builder) -> tuple[Any, Var, dict[Var, Atom], dict[Var, Atom]]:
        total = self.total
        domain = reversed_range(setup, Range(ZERO, total, self.every))
        entry = self.popped_state(inside)
        last = inside.call(operator.add, self.first, self.every, type=INT)
        stop = inside.call(min, last, total, type=INT, name="stop")
        part = self.rerun.part(inside, self.first, stop)
        values = {e: entry[p] for e, p in zip(self.entry, self.op.params) if p in entry}
        return domain, self.first, entry, {**values, self.indices[0]: part.start, self.indices[1]: part.stop}

    def note(self) -> tuple[str, ...]:
        told = f"saves {{}} every {shown(self.every)} iterations" if self.rerun.state else "saves nothing"
        return told, "runs a segment again at a time"


class FromStart(Checkpointed):
    """Saves nothing: each iteration is reached from the state on entry to the loop, which is still in scope."""

    def walk(self, setup: Builder, inside: Builder) -> tuple[Any, Var, dict[Var, Atom], dict[Var, Atom]]:
        rerun, op = self.rerun, self.op
        domain, here = self.places_backward(setup)
        entry = rerun.advance(inside, rerun.part(inside, ZERO, here), rerun.inits)
        return domain, here, entry, {op.index: rerun.index_at(inside, here)} if isinstance(op.domain, Range) else {}

    def note(self) -> tuple[str, ...]:
        return "saves nothing; computes {} again from the start for each iteration", *rebuilt(self.rerun.rebuilt)
