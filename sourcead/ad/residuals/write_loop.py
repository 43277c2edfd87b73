"""A loop and its reverse, with what passes between them.

    program             out = loop (p = init) for i in range(n): B yielding q

    forward sweep       hs = []
                        out, hs = loop (p = init, hs = hs) for i in range(n): hs = hs ++ [what is saved]; B yielding q, hs
    reverse sweep       d_init, hs = loop (d_p = d_out, hs = hs) for i in reversed(range(n)):
                            hs, value = pop hs; what is rebuilt from it; reverse(B) yielding d_p, hs

A loop that does not know the number of its iterations counts them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from sourcead.ad.residuals.backward_ranges import begun_range, reversed_range
from sourcead.ad.residuals.branches import Arm, joined
from sourcead.ad.residuals.notes import Kept, LoopNote, rebuilt
from sourcead.ad.residuals.plan import LoopPlan, Storage
from sourcead.ad.residuals.regions import LoopPair, Region
from sourcead.ad.residuals.write_iteration import IterationWriter, WrongVersion
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Append, Atom, Block, Build, Call, Const, Loop, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import free_vars


def write_loop(plan: LoopPlan) -> LoopPair:
    """Return a loop and its reverse as planned."""
    while True:
        storage = plan.storage()
        try:
            return LoopWriter(plan, storage).written()
        except WrongVersion as error:  # this version of an array is not there when it is read: it is saved instead
            plan.kept.add(error.version)


@dataclass(eq=False)
class CarriedBack:
    """What the reverse loop carries beside cotangents and lists: the value on entry to it, inside an iteration, and what that yields."""

    init: Atom
    param: Var
    end: Callable[[], Atom]


class LoopWriter:
    """Writes a loop that saves what its plan says, and its reverse.

    Attributes:
        made: the lists before the loop; `filled`: the same after it.
        count: the number of iterations, of a loop that does not know it before; `total`: after the loop.
    """

    def __init__(self, plan: LoopPlan, storage: Storage):
        self.plan, self.storage, self.op = plan, storage, plan.op
        self.made = {v: Var(f"{v.name}s", ListT(v.type), v.temp) for v in storage.listed}
        self.filled = {v: fresh(made) for v, made in self.made.items()}
        self.count = None if isinstance(self.op.domain, Range) and self.op.leave is None else Var("n", INT, True)
        self.total = None if self.count is None else fresh(self.count)
        self.left = dict(zip(self.op.body.results, plan.stmt.targets))  # values on leaving, as they are after the loop

    def written(self) -> LoopPair:
        plan, storage = self.plan, self.storage
        before = [Stmt((made,), Build("list", (), residual=True), plan.stmt.origin) for made in self.made.values()]
        forward = self.forward()
        reverse, again, restored = self.reverse()
        plan.maker.notes.append(note_for_people(plan, storage, again))
        return LoopPair(before, forward, reverse, restored, {c: self.op.inits[k] for c, k in storage.restored.items()})

    def forward(self) -> Stmt:
        """Return the loop, which saves."""
        plan, op = self.plan, self.op
        variants = {v: fresh(made) for v, made in self.made.items()}
        state = dict(variants)
        stmts = forward_region(plan, plan.body, state)
        params, inits = [*op.params, *variants.values()], [*op.inits, *self.made.values()]
        yields, targets = [*op.body.results, *state.values()], [*plan.stmt.targets, *self.filled.values()]
        if self.count is not None:
            inside, more = fresh(self.count), fresh(self.count)
            stmts.insert(0, Stmt((more,), Call(operator.add, (inside, Const(1)))))
            params.append(inside)
            inits.append(Const(0))
            yields.append(more)
            targets.append(self.total)
        op = replace(op, params=tuple(params), inits=tuple(inits), body=Block(tuple(stmts), tuple(yields)), policy=None)
        return replace(plan.stmt, targets=tuple(targets), op=op)

    def reverse(self) -> tuple[list[Stmt], list[Var], dict[Var, Var]]:
        """Return the reverse of the loop, what it rebuilds, and the arrays that it has put back, by chain."""
        plan, raw = self.plan, self.plan.raw
        setup = Builder()
        setup.origin = setup.adjoint_of = plan.stmt.origin
        domain, index = self.backward(setup)
        writer = IterationWriter(plan, {v: fresh(made) for v, made in self.made.items()})
        if self.op.index is not None:
            writer.env[self.op.index] = index
        carried = self.carried_back(writer)
        lists = list(writer.lists.values())
        results = writer.region(plan.body)
        ends = [c.end() for c in carried]
        writer.drain(plan.body)
        body = Block(tuple(writer.stmts), (*results, *ends, *writer.lists.values()))
        if index not in free_vars(Block(body.stmts, (*results, *ends))):  # then the order of its values does not matter
            setup.stmts, domain = [], self.op.domain if self.count is None else Range(Const(0), self.total, Const(1))
        params = (*raw.op.params, *(c.param for c in carried), *lists)
        inits = (*raw.op.inits, *(c.init for c in carried), *self.filled.values())
        outs = [fresh(c.param) for c in carried]
        targets = (*raw.targets, *outs, *map(fresh, lists))
        loop = replace(raw, targets=targets, op=Loop(domain, index, params, inits, body))
        restored = dict(zip(self.storage.restored, outs[len(outs) - len(self.storage.restored) :]))
        return [*setup.stmts, loop], writer.rebuilt, restored

    def backward(self, setup: Builder) -> tuple[Range, Var]:
        """Return the range of the reverse loop, and its index."""
        op = self.op
        if not isinstance(op.domain, Range):
            return Range(Const(0), self.total, Const(1)), Var("_", INT, True)
        begun = op.domain if self.count is None else begun_range(setup, op.domain, self.total)
        return reversed_range(setup, begun), fresh(op.index)

    def carried_back(self, writer: IterationWriter) -> list[CarriedBack]:
        """Return the values that the reverse loop carries, and tell its writer what stands for them."""
        carried = []
        for q, p in self.storage.carried.items():
            writer.env[q] = fresh(q, name=p.name)
            carried.append(CarriedBack(self.left[q], writer.env[q], partial(writer.value, p)))
        flag, leave = self.storage.flag, self.op.leave
        if flag is not None:
            writer.env[flag] = fresh(flag, name=leave.name, temp=leave.temp)
            carried.append(CarriedBack(self.left[flag], writer.env[flag], partial(Const, False)))
        for chain, k in self.storage.restored.items():
            writer.now[chain] = fresh(self.op.params[k])
            carried.append(CarriedBack(self.plan.stmt.targets[k], writer.now[chain], partial(writer.now.__getitem__, chain)))
        return carried


def note_for_people(plan: LoopPlan, storage: Storage, again: list[Var]) -> LoopNote:
    """Return the note on what a loop saves, and that it rebuilds the values `again`."""
    arrays = {old: update.targets[0].name for region in plan.regions for update, old in reversed(region.olds.items())}
    listed = storage.listed
    values = [Kept(v.name, v.type) for v in listed if v not in plan.overwritten]
    values += [Kept(f"what is overwritten of {arrays.get(v, v.name)}", v.type) for v in listed if v in plan.overwritten]
    rest = []
    carried = sorted({p.name for p in storage.carried.values()})
    if carried:
        rest.append(f"carries {', '.join(carried)} backward, whose value on leaving an iteration is that on entering the next")
    if storage.restored:
        rest.append(f"puts back {', '.join(plan.op.params[k].name for k in storage.restored.values())} as it was")
    head = "saves in each iteration {}" if values else "saves nothing"
    return LoopNote(plan.stmt.origin, head, tuple(values), (*rest, *rebuilt(again)))


def forward_region(plan: LoopPlan, region: Region, state: dict[Var, Var]) -> list[Stmt]:
    """Return the statements of a region, which append what is saved; `state` holds the current version of each list."""
    stmts: list[Stmt] = []

    def save(variables: Iterable[Var]) -> None:
        for v in variables:
            if v in state and plan.definitions[v].region is region:
                longer = fresh(state[v])
                stmts.append(Stmt((longer,), Append(state[v], v), stmts[-1].origin if stmts else plan.stmt.origin))
                state[v] = longer

    if region is plan.body:
        save(plan.op.params)
    for stmt in region.block.stmts:
        before = region.old_reads.get(stmt, [])
        if stmt in region.loops:
            pair = region.loops[stmt]
            before, stmt = [*before, *pair.before], pair.forward
        elif stmt in region.arms:
            stmt = forward_branch(plan, stmt, region.arms[stmt], state)
        for s in (*before, stmt):
            stmts.append(s)
            save(s.targets)
    return stmts


def forward_branch(plan: LoopPlan, stmt: Stmt, arms: tuple[Region, Region], state: dict[Var, Var]) -> Stmt:
    """Return a branch whose arms append what is saved."""
    ends = []
    for region in arms:
        inner = dict(state)
        ends.append(Arm(forward_region(plan, region, inner), region.block.results, inner))
    return joined(stmt, stmt.op.cond, tuple(ends), state, stmt.op.kind)
