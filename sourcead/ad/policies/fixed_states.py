"""Loops that save states in fixed places: at each entry, every so many iterations, or on entry to the loop alone."""

from __future__ import annotations

import operator
from dataclasses import replace

from sourcead.ad.policies.checkpointed_loops import ONE, ZERO, Carried, Checkpointed, appended, popped, save_if, shown
from sourcead.ad.policies.reruns import Rerun, anew
from sourcead.ad.residuals.backward_ranges import begun_range, reversed_range
from sourcead.ad.residuals.notes import rebuilt
from sourcead.ad.residuals.regions import LoopPair
from sourcead.ad.reverse.sweep import ReverseLoop, Sweep
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Block, Loop, Policy, Range, Stmt, Var, fresh
from sourcead.ir.types import BOOL, INT
from sourcead.ir.walk import free_vars


class States(Checkpointed):
    """The state on entry to each iteration."""

    save_everywhere = True

    def __init__(self, settler, stmt: Stmt, raw: Stmt, undone: set[Var]):
        op: Loop = stmt.op
        rerun = Rerun(settler, stmt, raw, undone, op.body, raw.op.sweep, {})
        # what an iteration leaves is the state on entry to the next: it is carried backward, not computed again
        self.left: dict[Var, Carried] = {}
        for p, k in zip(rerun.params, rerun.state):
            q = op.body.results[k]
            if isinstance(q, Var) and q not in op.params and k not in rerun.written and q not in self.left:
                self.left[q] = Carried(stmt.targets[k], fresh(q, name=p.name, temp=p.temp), p)
        if self.left:
            rerun = Rerun(settler, stmt, raw, undone, op.body, raw.op.sweep, {q: c.param for q, c in self.left.items()})
        super().__init__(rerun)

    def settled(self) -> LoopPair:
        rerun = self.rerun
        head = self.builder()
        head.adjoint_of = None
        self.saving(head)
        if rerun.is_counted:
            self.counted()
        forward = self.forward(head.stmts)
        setup, inside = self.builder(), self.builder()
        self.stacks = self.lists_to_pop()
        values: dict[Var, Atom] = {}
        domain, index = self.walk(setup, inside, values)
        entry = {p: popped(inside, self.stacks[p], p) for p in rerun.params}
        results = rerun.reversal(inside, {**values, **entry})
        read = set(free_vars(rerun.again))
        exits = [replace(c, end=entry[c.end]) for c in self.left.values() if c.param in read]
        restored = self.put_back(entry.__getitem__)
        carried = [*exits, *restored.values(), *self.stacks.values(), *self.also_carried()]
        reverse = self.reverse(domain, index, carried, setup, inside, results)
        return self.done(forward, reverse, restored, *self.note(), *rebuilt(rerun.rebuilt))

    def saving(self, head: Builder) -> None:
        """Emits what the forward sweep saves at the beginning of an iteration."""
        for p in self.rerun.params:
            saved = self.lists[p] = self.made_list(f"{p.name}s", p.type)
            saved.end = appended(head, saved.param, self.rerun.kept(head, p, p))

    def walk(self, setup: Builder, inside: Builder, values: dict[Var, Atom]) -> tuple[Range, Var]:
        """What the reverse loop runs over; `values` gets what stands for the index of an iteration."""
        op, rerun = self.op, self.rerun
        if not isinstance(op.domain, Range):
            return Range(ZERO, self.total, ONE), Var("_", INT, True)
        index = values[op.index] = fresh(op.index)
        if op.index not in free_vars(rerun.again):  # then their order does not matter
            return Range(ZERO, self.total, ONE) if rerun.is_counted else op.domain, index
        begun = begun_range(setup, op.domain, self.total) if rerun.is_counted else op.domain
        return reversed_range(setup, begun), index

    def also_carried(self) -> list[Carried]:
        """What the reverse loop carries beside the lists."""
        return []

    def note(self) -> tuple[str, ...]:
        """What people are told of what is saved."""
        return ("saves {} on entry to each iteration" if self.rerun.state else "saves nothing",)


class Segmented(Checkpointed):
    """The state every so many iterations; a segment runs again as a loop of its own, which saves as it likes."""

    def __init__(self, settler, stmt: Stmt, raw: Stmt, undone: set[Var], every: Atom):
        self.every = every
        self.first = Var("start", INT, True)
        self.entry = tuple(anew(stmt, stmt.op.params))
        self.cotangents = tuple(map(fresh, raw.op.params))  # of the loop over the segments
        self.indices = Var("first", INT, True), Var("end", INT, True)
        op: Loop = stmt.op
        whole = op.domain if isinstance(op.domain, Range) else Range(ZERO, ZERO, ONE)
        own = replace(
            op, domain=Range(*self.indices, whole.step), index=op.index or Var("_", INT, True), inits=self.entry, leave=None,
            policy=Policy("auto"),
        )  # fmt: skip
        segment = Stmt(tuple(map(fresh, stmt.targets)), own, stmt.origin)
        outs = tuple(map(fresh, raw.op.params))
        adjoint = replace(raw, targets=outs, op=ReverseLoop(segment, raw.op.params, self.cotangents, raw.op.sweep))
        block, sweep = Block((segment,), ()), Sweep(((segment, (adjoint,)),), outs)
        super().__init__(Rerun(settler, stmt, raw, undone, block, sweep, {}, self.entry))

    def settled(self) -> LoopPair:
        rerun, op, every = self.rerun, self.op, self.checked(self.every, "every")
        head = self.builder()
        head.adjoint_of = None
        here = self.place()
        left = head.call(operator.mod, here, every, type=INT)
        due = head.call(operator.eq, left, ZERO, type=BOOL)
        for p in rerun.params:
            self.lists[p] = self.made_list(f"{p.name}s", p.type)
        save_if(head, due, rerun, self.lists)
        if rerun.is_counted:
            self.counted()
        forward = self.forward(head.stmts)

        setup, inside = self.builder(), self.builder()
        total = self.total
        domain = reversed_range(setup, Range(ZERO, total, every))
        stacks = self.lists_to_pop()
        entry = {p: popped(inside, stacks[p], p) for p in rerun.params}
        last = inside.call(operator.add, self.first, every, type=INT)
        stop = inside.call(min, last, total, type=INT, name="stop")
        part = rerun.part(inside, self.first, stop)
        values = {e: entry[p] for e, p in zip(self.entry, op.params) if p in entry}
        values.update(zip(self.indices, (part.start, part.stop)))
        results = rerun.reversal(inside, values)
        restored = self.put_back(entry.__getitem__)
        head = f"saves {{}} every {shown(every)} iterations" if rerun.state else "saves nothing"
        carried = [*restored.values(), *stacks.values()]
        reverse = self.reverse(domain, self.first, carried, setup, inside, results, self.cotangents)
        return self.done(forward, reverse, restored, head, "runs a segment again at a time")


class FromStart(Checkpointed):
    """Nothing but the state on entry to the loop, which is still in scope; each iteration is reached from there."""

    def settled(self) -> LoopPair:
        rerun, op = self.rerun, self.op
        if rerun.is_counted:
            self.counted()
        _ = self.total
        forward = self.forward([])
        setup, inside = self.builder(), self.builder()
        domain, here = self.backward(setup)
        inits = {p: op.inits[k] for p, k in zip(rerun.params, rerun.state)}
        entry = rerun.advance(inside, rerun.part(inside, ZERO, here), inits)
        values = dict(entry)
        if isinstance(op.domain, Range):
            values[op.index] = rerun.index_at(inside, here)
        results = rerun.reversal(inside, values)
        restored = self.put_back(entry.__getitem__)
        reverse = self.reverse(domain, here, list(restored.values()), setup, inside, results)
        told = "computes {} again from the start for each iteration"
        return self.done(forward, reverse, restored, f"saves nothing; {told}", *rebuilt(rerun.rebuilt))
