"""Loops that save states: the policies of `sourcead/checkpoints.py` but "auto" and "store".

    states                          segments                             revolve
    for t in range(n):              for t in range(n):                   for t in range(n):
        hs.append(h)                    if t % k == 0: hs.append(h)          if t == due: save (t, h); due = the next place
        h = f(h)                        h = f(h)                             h = f(h)
    reverse                         reverse                              reverse
    for t in reversed(range(n)):    for s in reversed(range(0, n, k)):   for t in reversed(range(n)):
        h = hs.pop()                    h = hs.pop()                         (s, h) = the last that was saved
        the adjoint of f at h           the loop over this segment,          the loop from s up to t, which saves in the same way
                                        and its reverse                      the adjoint of f at h

"recompute" is revolve with the state on entry alone, which needs no list.  A budget is revolve with as many states as fit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

from sourcead.ad.parts import SettledLoop
from sourcead.ad.ranges import begun_range, reversed_range
from sourcead.ad.reruns import Rerun
from sourcead.ad.sweep import ReverseLoop, Sweep
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import (
    Append,
    Atom,
    Block,
    Branch,
    Build,
    Const,
    Index,
    Loop,
    Policy,
    Pop,
    Range,
    Stmt,
    Var,
    free_vars,
    fresh,
)
from sourcead.ir.types import BOOL, INT, ListT, Sym, TupleT, syms, with_dims
from sourcead.runtime_checkpoints import next_snapshot, snapshots_within

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


def checkpointed_loop(settler, stmt: Stmt, raw: Stmt, undone: set[Var], policy: Policy) -> SettledLoop:
    """A loop that saves states, and its reverse, which runs again from them."""
    if policy.name == "states" or policy.name == "segments" and is_one(policy.number):
        return States(settler, stmt, raw, undone).settled()
    if policy.name == "segments":
        return Segmented(settler, stmt, raw, undone, policy.number).settled()
    rerun = Rerun(settler, stmt, raw, undone, stmt.op.body, raw.op.sweep, {})
    if not rerun.state:
        return States(settler, stmt, raw, undone).settled()
    if policy.name == "recompute" and not rerun.written & set(rerun.state):
        return FromStart(rerun).settled()
    return Revolved(rerun, policy).settled()


def is_one(number: Atom | None) -> bool:
    return isinstance(number, Const) and number.value == 1 and not number.live


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
        self.lists: dict[Var, Carried] = {}
        self.kept: list[Carried] = []  # what else the forward loop carries

    def made_list(self, name: str, item, *items: Atom) -> Carried:
        """A list for the forward sweep to fill."""
        made = self.start.emit(Build("list", items, residual=self.save_everywhere), ListT(item), name)
        return Carried(made, fresh(made))

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
        domain = self.op.domain
        if self.rerun.is_plain:
            return domain.stop
        if not hasattr(self, "_total"):
            length = self.start.call(range, domain.start, domain.stop, domain.step)
            self._total = self.start.call(len, length, type=INT, name="n")
        return self._total

    def index_name(self, default: str) -> str:
        """The user's name for the place of an iteration."""
        index = self.op.index
        return index.name if self.rerun.is_plain and not index.temp and index.name.strip("_") else default

    def place(self) -> Atom:
        """The place of an iteration of the forward sweep."""
        return self.op.index if self.rerun.is_plain else self.counted().param

    def forward(self, head: list[Stmt]) -> Stmt:
        """The loop, with statements at the beginning of an iteration and what it carries for them."""
        build = Builder()
        build.origin = self.stmt.origin
        build.stmts += head
        if self.count is not None:
            self.count.end = build.call(operator.add, self.count.param, ONE, type=INT, name="n")
        more = [*self.lists.values(), *self.kept, *([self.count] if self.count else [])]
        body = self.op.body
        op = replace(
            self.op, params=(*self.op.params, *(c.param for c in more)), inits=(*self.op.inits, *(c.init for c in more)),
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

    def done(self, forward: Stmt, reverse: list[Stmt], restored: dict[Var, Carried], note: str) -> SettledLoop:
        origin = self.stmt.origin
        where = f"line {origin.line}, `{origin.text.splitlines()[0].strip()}`" if origin else "a loop"
        self.rerun.settler.notes.append(f"{where}: {note}")
        entry = {c: self.op.inits[k] for c, k in self.rerun.restored.items()}
        return SettledLoop(list(self.start.stmts), forward, reverse, {c: v.out for c, v in restored.items()}, entry)

    def names(self) -> str:
        return ", ".join(dict.fromkeys(p.name for p in self.rerun.params))

    def lists_to_pop(self) -> dict[Var, Carried]:
        """The lists as the reverse loop carries them."""
        return {p: Carried(c.out, fresh(c.param)) for p, c in self.lists.items()}


def syms_of(variables: tuple[Var, ...]) -> set[Sym]:
    """The dims in the types of variables that are known only at run time."""
    return set().union(*(syms(v.type) for v in variables))


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

    def settled(self) -> SettledLoop:
        rerun, op = self.rerun, self.op
        head = self.builder()
        head.adjoint_of = None
        for p in rerun.params:
            saved = self.lists[p] = self.made_list(f"{p.name}s", p.type)
            saved.end = appended(head, saved.param, rerun.kept(head, p, p))
        if rerun.is_counted:
            self.counted()
        forward = self.forward(head.stmts)
        setup, inside = self.builder(), self.builder()
        stacks = self.lists_to_pop()
        entry = {p: popped(inside, stacks[p], p) for p in rerun.params}
        values = dict(entry)
        domain, index = Range(ZERO, self.total, ONE), Var("_", INT, True)
        if isinstance(op.domain, Range):
            domain = reversed_range(setup, begun_range(setup, op.domain, self.total) if rerun.is_counted else op.domain)
            index = values[op.index] = fresh(op.index)
        results = rerun.reversal(inside, values)
        read = set(free_vars(rerun.again))
        exits = [replace(c, end=entry[c.end]) for c in self.left.values() if c.param in read]
        restored = self.put_back(entry.__getitem__)
        carried = [*exits, *restored.values(), *stacks.values()]
        note = f"saves {self.names()} on entry to each iteration; runs the rest of the iteration again" if rerun.state else "saves nothing"
        return self.done(forward, self.reverse(domain, index, carried, setup, inside, results), restored, note)


class Segmented(Checkpointed):
    """The state every so many iterations; a segment runs again as a loop of its own, which saves as it likes."""

    def __init__(self, settler, stmt: Stmt, raw: Stmt, undone: set[Var], every: Atom):
        self.every = every
        self.first = Var("start", INT, True)
        varying = syms_of(stmt.op.params) - syms_of(stmt.targets)  # dims that differ from one iteration to the next
        dims = {dim: Sym(dim.least) for dim in varying}
        self.entry = tuple(fresh(p, type=with_dims(p.type, dims)) for p in stmt.op.params)
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

    def settled(self) -> SettledLoop:
        rerun, op, every = self.rerun, self.op, self.every
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
        note = f"saves {self.names()} every {shown(every)} iterations; runs a segment again at a time"
        carried = [*restored.values(), *stacks.values()]
        reverse = self.reverse(domain, self.first, carried, setup, inside, results, self.cotangents)
        return self.done(forward, reverse, restored, note)


class FromStart(Checkpointed):
    """Nothing but the state on entry to the loop, which is still in scope; each iteration is reached from there."""

    def settled(self) -> SettledLoop:
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
        note = f"saves nothing; computes {self.names()} again from the start for each iteration"
        return self.done(forward, self.reverse(domain, here, list(restored.values()), setup, inside, results), restored, note)


class Revolved(Checkpointed):
    """At most so many states at a time, where the binomial schedule places them; on one list, with their places."""

    def __init__(self, rerun: Rerun, policy: Policy):
        super().__init__(rerun)
        self.policy = policy
        self.snapshots: Atom = ONE if policy.name == "recompute" else policy.number
        self.item = TupleT((INT, *(p.type for p in rerun.params)))

    def settled(self) -> SettledLoop:
        rerun, op = self.rerun, self.op
        inits = {p: op.inits[k] for p, k in zip(rerun.params, rerun.state)}
        if self.policy.name == "budget":
            at_once = Const(values_at_once(self))
            self.snapshots = self.start.call(
                snapshots_within, self.policy.number, at_once, *inits.values(), type=INT, name="snapshots"
            )
        if rerun.is_counted:  # how many there are is not known yet: the reverse sweep begins with the first state
            self.counted()
            first = self.packed(self.start, ZERO, inits)
            states = Carried(ZERO, self.start.emit(Build("list", (first,)), ListT(self.item), "states"))
            states.out = states.param
            forward = self.forward([])
        else:
            states = self.made_list("states", self.item)
            due = Carried(ZERO, Var("due", INT, True))
            head = self.builder()
            head.adjoint_of = None
            last = self.start.call(operator.sub, self.total, ONE, type=INT, name="last")
            self.save_when_due(head, self.place(), last, due, states, {p: p for p in rerun.params})
            self.kept = [states, due]
            forward = self.forward(head.stmts)

        setup, inside = self.builder(), self.builder()
        domain, here = self.backward(setup)
        stack = Carried(states.out, fresh(states.param))
        item = popped(inside, stack, Var("state", self.item, True))
        place = inside.index(item, ZERO, name="place")
        state = {p: self.unpacked(inside, item, p, k + 1) for k, p in enumerate(rerun.params)}
        entry = self.approach(inside, place, here, state, stack)
        values = dict(entry)
        if isinstance(op.domain, Range):
            values[op.index] = rerun.index_at(inside, here)
        results = rerun.reversal(inside, values)
        restored = self.put_back(entry.__getitem__)
        reverse = self.reverse(domain, here, [*restored.values(), stack], setup, inside, results)
        if self.policy.name == "budget":
            most = f"as many states ({self.names()}) as fit into {shown(self.policy.number)} bytes, "
        else:
            most = f"at most {shown(self.snapshots)} states ({self.names()}) at a time, "
        return self.done(forward, reverse, restored, f"saves {most}placed by the binomial schedule; runs again from them")

    def packed(self, build: Builder, place: Atom, state: dict[Var, Atom]) -> Var:
        """A state with its place, to be put on the list."""
        kept = tuple(self.rerun.kept(build, p, a) for p, a in state.items())
        return build.emit(Build("tuple", (place, *kept)), self.item, "state")

    def unpacked(self, build: Builder, item: Var, p: Var, k: int) -> Var:
        """A variant of a state that was taken off the list."""
        return build.emit(Index(item, Const(k)), p.type, p.name, p.temp)

    def save_when_due(self, build: Builder, here: Atom, last: Atom, due: Carried, states: Carried, state: dict[Var, Atom]) -> None:
        """Emits `if here == due:` the state is put on the list, and the next place is chosen."""
        now = build.call(operator.eq, here, due.param, type=BOOL)
        with build.block() as stmts:
            longer = appended(build, states.param, self.packed(build, here, state))
            used = build.call(len, longer, type=INT)
            free = build.call(operator.sub, self.snapshots, used, type=INT)
            following = build.call(next_snapshot, here, last, free, type=INT, name="due")
        then, orelse = Block(tuple(stmts), (longer, following)), Block((), (states.param, due.param))
        states.end, due.end = fresh(states.param), fresh(due.param)
        build.add(Stmt((states.end, due.end), Branch(now, then, orelse, "if")))

    def approach(self, build: Builder, place: Var, here: Var, state: dict[Var, Atom], stack: Carried) -> dict[Var, Atom]:
        """Emits the way from the last saved state to the one on entry to the iteration at `here`, which it returns."""
        rerun = self.rerun
        due = Carried(place, Var("due", INT, True))
        values = {p: Carried(state[p], fresh(p)) for p in rerun.params}
        states = Carried(stack.end, fresh(stack.param))
        at = Var(self.index_name("i"), INT, True)
        with build.block() as stmts:
            self.save_when_due(build, at, here, due, states, {p: c.param for p, c in values.items()})
            index = rerun.index_at(build, at)
            after = rerun.advanced(build, {p: c.param for p, c in values.items()}, index)
            for p in rerun.params:
                values[p].end = after[p]
        carried = [due, states, *values.values()]
        loop = Loop(
            Range(place, here, ONE), at, tuple(c.param for c in carried), tuple(c.init for c in carried),
            Block(tuple(stmts), tuple(c.end for c in carried)),
        )  # fmt: skip
        build.add(Stmt(tuple(c.out for c in carried), loop))
        stack.end = states.out
        return {p: values[p].out for p in rerun.params}


def save_if(build: Builder, due: Var, rerun: Rerun, lists: dict[Var, Carried]) -> None:
    """Emits the branch that puts the state on its lists."""
    with build.block() as stmts:
        ends = [(lists[p], appended(build, lists[p].param, rerun.kept(build, p, p))) for p in rerun.params]
    for c, _ in ends:
        c.end = fresh(c.param)
    then, orelse = Block(tuple(stmts), tuple(end for _, end in ends)), Block((), tuple(c.param for c, _ in ends))
    build.add(Stmt(tuple(c.end for c, _ in ends), Branch(due, then, orelse, "if")))


def values_at_once(loop: Revolved) -> int:
    """About how many values of the size of the largest one there are at once in the reverse of an iteration."""
    body = loop.op.body
    return 4 + 2 * len([t for s in body.stmts for t in s.targets if not is_number(t)])


def is_number(v: Var) -> bool:
    return type(atom_type(v)).__name__ == "Scalar"


def shown(number: Atom) -> str:
    return str(number.value) if isinstance(number, Const) else number.name
