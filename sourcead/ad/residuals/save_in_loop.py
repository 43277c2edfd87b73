"""A loop and its reverse, and the lists that pass saved values between them.

    program             out = loop (p = init) for i in range(n): B yielding q

    forward sweep       hs = []
                        out, hs = loop (p = init, hs = hs) for i in range(n): hs = hs ++ [what is saved]; B yielding q, hs
    reverse sweep       d_init, hs = loop (d_p = d_out, hs = hs) for i in reversed(range(n)):
                            hs, value = pop hs; what is rebuilt from it; reverse(B) yielding d_p, hs

A loop that does not know the number of its iterations counts them.
"""

from collections.abc import Callable, Iterable
from functools import partial

from sourcead.ad.residuals.branches import Arm, joined
from sourcead.ad.residuals.code_regions import LoopPair, Region
from sourcead.ad.residuals.loop_pair import Carried, LoopWriter
from sourcead.ad.residuals.plan import LoopPlan
from sourcead.ad.residuals.storage import Storage
from sourcead.ad.residuals.write_iteration import IterationWriter, WrongVersion
from sourcead.ir.nodes import Append, Atom, Block, Build, Const, Range, Stmt, Var, fresh
from sourcead.ir.types import INT, ListT
from sourcead.ir.walk import free_vars


def write_loop(plan: LoopPlan) -> LoopPair:
    """Return a loop and its reverse, written as planned."""
    while True:
        storage = plan.storage()
        try:
            return SavingLoop(plan, storage).written()
        except WrongVersion as error:  # this version of an array no longer exists when it is read, so it is saved
            plan.kept.add(error.version)


class SavingLoop(LoopWriter):
    """Writes a loop that saves the values that its plan names, and its reverse.

    Attributes:
        lists: for each value that is saved, its list.
    """

    def __init__(self, plan: LoopPlan, storage: Storage):
        super().__init__(plan.task)
        self.plan, self.storage = plan, storage
        made = {v: Var(f"{v.name}s", ListT(v.type), v.temp) for v in storage.listed}
        self.lists = {v: Carried(m, fresh(m)) for v, m in made.items()}

    def written(self) -> LoopPair:
        """Return the loop and its reverse."""
        plan, storage = self.plan, self.storage
        before = [Stmt((c.init,), Build("list", (), residual=True), plan.stmt.origin) for c in self.lists.values()]
        forward = self.forward()
        reverse, again, restored = self.reverse()
        plan.maker.notes.append(storage.note(plan.stmt, again))
        return LoopPair(before, forward, reverse, restored, {c: self.op.inits[k] for c, k in storage.restored.items()})

    def forward(self) -> Stmt:
        """Return the forward loop, which saves values on lists."""
        state = {v: c.param for v, c in self.lists.items()}
        stmts = forward_region(self.plan, self.plan.body, state)
        for v, c in self.lists.items():
            c.end = state[v]
        return self.forward_loop((), Block(tuple(stmts), self.op.body.results), list(self.lists.values()))

    def reverse(self) -> tuple[list[Stmt], list[Var], dict[Var, Var]]:
        """Return the reverse of the loop, what it rebuilds, and the arrays that it has put back, by chain."""
        plan, op, setup = self.plan, self.op, self.builder()
        lists = {v: c.taken_off() for v, c in self.lists.items()}
        writer = IterationWriter(plan, {v: c.param for v, c in lists.items()})
        index = fresh(op.index) if isinstance(op.domain, Range) else Var("_", INT, True)
        if op.index is not None:
            writer.env[op.index] = index
        carried, ends = self.carried_back(writer)
        results = writer.region(plan.body)
        for c, end in zip(carried, ends):
            c.end = end()
        writer.drain(plan.body)
        for v, c in lists.items():
            c.end = writer.lists[v]
        body = Block(tuple(writer.stmts), results)
        index_matters = index in free_vars(Block(body.stmts, (*results, *(c.end for c in carried))))
        loop = self.reverse_loop(self.backward(setup, index_matters), index, body, [*carried, *lists.values()])
        put_back = carried[len(carried) - len(self.storage.restored) :]
        restored = {chain: c.out for chain, c in zip(self.storage.restored, put_back)}
        return [*setup.stmts, loop], writer.rebuilt, restored

    def carried_back(self, writer: IterationWriter) -> tuple[list[Carried], list[Callable[[], Atom]]]:
        """Return the values that the reverse loop carries, and for each a function that gives it at the end of an iteration.

        It also tells the writer which variables stand for them.
        """
        left = dict(zip(self.op.body.results, self.plan.stmt.targets))  # values on leaving, as they are after the loop
        carried, ends = [], []
        for q, p in self.storage.carried.items():
            writer.env[q] = fresh(q, name=p.name)
            carried.append(Carried(left[q], writer.env[q]))
            ends.append(partial(writer.value, p))
        flag, leave = self.storage.flag, self.op.leave
        if flag is not None:
            writer.env[flag] = fresh(flag, name=leave.name, temp=leave.temp)
            carried.append(Carried(left[flag], writer.env[flag]))
            ends.append(partial(Const, False))
        for chain, k in self.storage.restored.items():
            writer.now[chain] = fresh(self.op.params[k])
            carried.append(Carried(self.plan.stmt.targets[k], writer.now[chain]))
            ends.append(partial(writer.now.__getitem__, chain))
        return carried, ends


def forward_region(plan: LoopPlan, region: Region, state: dict[Var, Var]) -> list[Stmt]:
    """Return the statements of a region with the appends of saved values, and update `state`, the current version of each list."""
    stmts: list[Stmt] = []

    def save(variables: Iterable[Var]) -> None:
        for v in variables:
            if v in state and plan.definitions[v].region is region:
                longer = fresh(state[v])
                stmts.append(Stmt((longer,), Append(state[v], v), stmts[-1].origin if stmts else plan.stmt.origin, saves=True))
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
    """Return a branch whose arms append saved values to lists."""
    ends = []
    for region in arms:
        inner = dict(state)
        ends.append(Arm(forward_region(plan, region, inner), region.block.results, inner))
    return joined(stmt, stmt.op.cond, tuple(ends), state, stmt.op.kind)
