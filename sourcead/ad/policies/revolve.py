"""Loops that keep a bounded number of states, in the places that the binomial schedule gives.

    forward                                             reverse
    for t in range(n):                                  for t in reversed(range(n)):
        if t >= due:                                        if not hs:
            if the rest does not fit:                           start, h = states.pop()
                states.append((t, h))                           while the iterations start to t do not fit:
                due = the place of the next                         states.append((start, h))
            else:                                                   h = f(h), up to the place of the next
                hs.append(h)                                    hs.append(h); h = f(h), up to t
        h = f(h)                                            h = hs.pop()
                                                            the adjoint of f at h

Iterations fit if all of their states may be kept: these lie on lists of their own, without places, so that most iterations
cost no more than under the policy "states".
"""

import operator

from sourcead.ad.policies.checkpointed_loops import shown
from sourcead.ad.policies.fixed_states import States
from sourcead.ad.residuals.branches import Arm, emit_branch, emit_if
from sourcead.ad.residuals.costs import values_with_names
from sourcead.ad.residuals.loop_pair import ONE, ZERO, Carried, LoopTask, appended
from sourcead.ad.residuals.notes import amount, rebuilt
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Block, Branch, Build, Const, Index, Loop, Policy, Pop, Range, Stmt, Var, fresh
from sourcead.ir.types import BOOL, INT, Scalar, TupleT
from sourcead.ir.walk import copied
from sourcead.runtime.checkpoint_schedules import next_snapshot, snapshots_within


class Revolved(States):
    """Keeps a bounded number of states: some with their places on one list, and those of the next iterations on others."""

    save_everywhere = False

    def __init__(self, task: LoopTask, policy: Policy):
        super().__init__(task)
        self.policy = policy
        self.item = TupleT((INT, *(p.type for p in self.rerun.params)))
        self.snapshots = self.number_of_snapshots()

    def number_of_snapshots(self) -> Atom:
        """Return how many states may be kept beside the current one, after a check before the loop if it is known only at run time."""
        number = self.policy.number
        match self.policy.name:
            case "recompute":
                return ONE
            case "budget":
                at_once = Const(self.values_at_once())
                return self.start.call(snapshots_within, number, at_once, *self.measured(), type=INT, name="snapshots")
        return self.checked(number, "snapshots")

    def measured(self) -> list[Atom]:
        """Return the state whose size is measured: that on entry, or that after one iteration if numbers may become arrays."""
        rerun, op = self.rerun, self.op
        inits = rerun.inits
        if not self.task.maker.numbers & inits.keys():
            return list(inits.values())
        sizes = [fresh(p) for p in rerun.params]
        with self.start.block() as stmts:
            if isinstance(op.domain, Range):
                begins = self.start.call(operator.gt, self.length, ZERO, type=BOOL)
                first = op.domain.start
            else:
                domain = copied(op.domain, dict(zip(op.params, op.inits)))
                self.start.stmts += domain.stmts
                (begins,), first = domain.results, ZERO
            with self.start.block() as inside:
                after = rerun.advanced(self.start, inits, first)
            then, orelse = Block(tuple(inside), tuple(after.values())), Block((), tuple(inits.values()))
            self.start.add(Stmt(tuple(sizes), Branch(begins, then, orelse, "if")))
        self.start.stmts += stmts
        return sizes

    def values_at_once(self) -> int:
        """Estimate how many values of the largest size exist at once beside the states that are kept."""
        carried = [*self.rerun.params, *self.task.raw.op.params, *(c.param for c in self.left.values())]
        unnamed = 3  # the value that is computed, and those that it is computed from
        return values_with_names(self.rerun.again) + sum(not isinstance(v.type, Scalar) for v in carried) + unnamed

    # -- forward -----------------------------------------------------------------------------------------------------------

    def saving(self, head: Builder) -> None:
        rerun = self.rerun
        self.lists = {p: self.made_list(f"{p.name}s", p.type) for p in rerun.params}
        if self.task.is_counted:  # how many there are is not known yet: the reverse sweep begins with the state on entry
            self.states = self.made_list("states", self.item, self.packed(self.start, ZERO, rerun.inits))
            for c in (self.states, *self.lists.values()):
                c.out = c.init
        else:
            self.states = self.made_list("states", self.item)
            self.kept = [self.states, Carried(self.snapshots, Var("free", INT, True)), Carried(ZERO, Var("due", INT, True))]
            self.save_when_due(head, *self.kept)

    def carried(self) -> list[Carried]:
        return [] if self.task.is_counted else super().carried()

    def save_when_due(self, build: Builder, states: Carried, free: Carried, due: Carried) -> None:
        """Emit `if t >= due:` save the state, with its place, or without it if the states of all remaining iterations fit."""
        rerun, carried = self.rerun, [states, free, due, *self.lists.values()]
        last = self.start.call(operator.sub, self.total, ONE, type=INT, name="last")
        here = self.place()
        now = build.call(operator.ge, here, due.param, type=BOOL)
        before = dict(enumerate(c.param for c in carried))
        state, inner = dict(before), dict(before)
        with build.block() as stmts:
            far = does_not_fit(build, here, last, free.param)
            with build.block() as placed:
                found = self.placed(build, here, last, states.param, free.param, {p: p for p in rerun.params})
            with build.block() as listed:
                longer = [appended(build, c.param, rerun.kept(build, p, p)) for p, c in self.lists.items()]
            then, orelse = before | dict(enumerate(found)), before | dict(enumerate(longer, 3))
            emit_branch(build, far, Arm(placed, (), then), Arm(listed, (), orelse), inner)
        emit_if(build, now, stmts, state, inner)
        for k, c in enumerate(carried):
            c.end = state[k]

    def placed(
        self, build: Builder, start: Atom, last: Atom, states: Atom, free: Atom, state: dict[Var, Atom]
    ) -> tuple[Var, Var, Var]:
        """Emit the saving of a state with its place; return the longer list, the number of free states, and the place of the next."""
        longer = appended(build, states, self.packed(build, start, state))
        fewer = build.call(operator.sub, free, ONE, type=INT, name="free")
        return longer, fewer, build.call(next_snapshot, start, last, fewer, type=INT, name="due")

    def packed(self, build: Builder, place: Atom, state: dict[Var, Atom]) -> Var:
        """Return a state with its place, to be put on the list."""
        kept = tuple(self.rerun.kept(build, p, a) for p, a in state.items())
        return build.emit(Build("tuple", (place, *kept)), self.item, "state")

    # -- reverse -----------------------------------------------------------------------------------------------------------

    def walk(self, setup: Builder, inside: Builder) -> tuple[Range, Var, dict[Var, Atom], dict[Var, Atom]]:
        domain, here = self.places_backward(setup)
        inside.adjoint_of = None  # what runs again is no adjoint
        self.refill(inside, here)
        inside.adjoint_of = self.task.stmt.origin
        values = {self.op.index: self.rerun.index_at(inside, here)} if isinstance(self.op.domain, Range) else {}
        return domain, here, self.popped_state(inside), values

    def refill(self, build: Builder, here: Var) -> None:
        """Emit `if not hs:` compute the states up to the iteration at `here` again, as many as fit."""
        self.stack = self.states.taken_off()
        self.more = [self.stack]
        carried = [self.stack, *self.stacks.values()]
        empty = build.call(operator.not_, carried[1].param, type=BOOL)
        state = dict(enumerate(c.param for c in carried))
        with build.block() as stmts:
            start, states, found = self.last_placed(build, here)
            ends = states, *self.listed(build, start, here, found)
        emit_if(build, empty, stmts, state, dict(enumerate(ends)))
        for k, c in enumerate(carried):
            c.end = state[k]

    def last_placed(self, build: Builder, here: Var) -> tuple[Var, Var, dict[Var, Var]]:
        """Emit the iterations from the last listed state until the rest fits; return the place reached, the list, and the state."""
        rerun = self.rerun
        states, item = fresh(self.stack.param), Var("state", self.item, True)
        build.add(Stmt((states, item), Pop(self.stack.param)))
        place = build.index(item, ZERO, name="start")
        found = [build.emit(Index(item, Const(k + 1)), p.type, p.name, p.temp) for k, p in enumerate(rerun.params)]
        used = build.call(len, states, type=INT)
        left = build.call(operator.sub, self.snapshots, used, type=INT, name="free")
        start, more, free, state = fresh(place), fresh(states), fresh(left), rerun.anew()
        with build.block() as test:
            far = does_not_fit(build, start, here, free)
        with build.block() as stmts:
            longer, fewer, following = self.placed(build, start, here, more, free, state)
            after = rerun.advance(build, rerun.part(build, start, following), state)
        body = Block(tuple(stmts), (following, longer, fewer, *after.values()))
        params, inits = (start, more, free, *state.values()), (place, states, left, *found)
        outs = fresh(start), fresh(more), rerun.anew()
        build.add(Stmt((*outs[:2], fresh(free), *outs[2].values()), Loop(Block(tuple(test), (far,)), None, params, inits, body)))
        return outs

    def listed(self, build: Builder, start: Var, here: Var, state: dict[Var, Var]) -> list[Var]:
        """Emit the loop that puts the states from `start` to the one at `here` on the lists, and return the lists."""
        rerun = self.rerun
        index, params = fresh(rerun.plain.op.index), rerun.anew()
        longer = {p: fresh(c.param) for p, c in self.stacks.items()}
        with build.block() as stmts:
            ends = [appended(build, longer[p], rerun.kept(build, p, params[p])) for p in rerun.params]
            after = rerun.advanced(build, params, index)
        loop = Loop(
            rerun.part(build, start, here), index, (*longer.values(), *params.values()),
            (*(c.param for c in self.stacks.values()), *state.values()), Block(tuple(stmts), (*ends, *after.values())),
        )  # fmt: skip
        outs, last = [fresh(v) for v in longer.values()], rerun.anew()
        build.add(Stmt((*outs, *last.values()), loop))
        return [appended(build, out, last[p]) for out, p in zip(outs, rerun.params)]

    def note(self) -> tuple[str, ...]:
        if self.policy.name == "budget":
            most = f"as many states as fit into {amount(self.policy.number.value)}"
        else:
            most = f"at most {shown(self.snapshots)} states at a time"
        return f"saves {most}, placed by the binomial schedule: {{}}", "runs again from them", *rebuilt(self.rerun.rebuilt)


def does_not_fit(build: Builder, start: Atom, last: Atom, free: Atom) -> Var:
    """Emit and return whether the states of iterations `start` to `last`, the last not counted, are too many to keep."""
    return build.call(operator.gt, build.call(operator.sub, last, start, type=INT), free, type=BOOL)
