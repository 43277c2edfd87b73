"""The memory of loops, with the parameters that may share memory at the start of an iteration.

A *slot* is a level of a parameter: its own memory, or that of its elements.  The state at the start of an iteration is, for each slot,
the outer regions that it may reach, and the sets of slots that may share memory which the loop made or got from the initial values.
One walk over the body gives the state at its end, which is joined with that at the start until nothing changes.
"""

from dataclasses import dataclass, field, replace

from sourcead.analysis.builder import operand_type
from sourcead.emit.memory.memory_regions import Memory, element, may_hold_twice
from sourcead.emit.memory.sharing import is_plain
from sourcead.ir.nodes import Block, Loop, Range, Stmt, Var
from sourcead.ir.walk import bound_vars

Slot = tuple[int, str]
_LEVELS = ("own", "inner")


@dataclass
class _State:
    """The outer regions that the slots may reach, and the sets of slots that may share other memory."""

    outer: dict[Slot, frozenset[int]] = field(default_factory=dict)
    groups: set[frozenset[Slot]] = field(default_factory=set)
    facts: tuple[tuple[bool, bool], ...] | None = None  # `distinct` and `whole` of each parameter, as in `Memory`

    def absorb(self, memories: list[Memory], is_outer) -> bool:
        """Join the state with one in which the parameters have these memories, and return whether the state changes."""
        before = dict(self.outer), set(self.groups), self.facts
        slots: dict[int, set[Slot]] = {}
        for i, memory in enumerate(memories):
            for level in _LEVELS:
                for region in getattr(memory, level):
                    if is_outer(region):
                        self.outer[i, level] = self.outer.get((i, level), frozenset()) | {region}
                    else:
                        slots.setdefault(region, set()).add((i, level))
        self.groups |= {frozenset(s) for s in slots.values()}
        if len(self.groups) > 8 * len(memories) + 16:
            self.groups = {frozenset().union(*self.groups)}
        facts = tuple((m.distinct, m.whole) for m in memories)
        if self.facts is not None:
            facts = tuple((a and c, b and d) for (a, b), (c, d) in zip(self.facts, facts))
        self.facts = facts
        return before != (self.outer, self.groups, self.facts)

    def memories(self, count: int, new) -> list[Memory]:
        """Return the memories of the parameters in this state, with new regions for the groups."""
        regions: dict[Slot, set[int]] = {}
        for group in self.groups:
            region = new()
            for slot in group:
                regions.setdefault(slot, set()).add(region)

        def at(i, level):
            return self.outer.get((i, level), frozenset()) | frozenset(regions.get((i, level), ()))

        return [Memory(at(i, "own"), at(i, "inner"), None, *self.facts[i]) for i in range(count)]

    def is_exclusive(self, i: int, level: int) -> bool:
        """Return whether no other slot and nothing outside shares the parameter's memory."""
        slots = {(i, name) for name in _LEVELS[:level]}
        return not any(self.outer.get(s) for s in slots) and all(g <= slots for g in self.groups if g & slots)


def allocate_loop(walk, stmt: Stmt, live, dying: list[Var], out: list[Stmt]) -> None:
    """Append the loop to `out`, after copies of the initial values that it overwrites and that something else may reach."""
    op: Loop = stmt.op
    inside = walk.reads.free(op.body)
    if isinstance(op.domain, Block):
        inside |= walk.reads.free(op.domain)
    elif isinstance(op.domain, Var):
        inside |= {op.domain}
    walk.kill(*(v for v in dying if v not in inside))
    written = walk.reads.written(op.body)
    first = [walk.of(init) for init in op.inits]
    copies = {
        i: written[p]
        for i, p in enumerate(op.params)
        if written.get(p) and first[i].all
        and (written[p] > 1 and may_hold_twice(first[i], p.type) or not _is_exclusive(walk, first, i, written[p]))
    }
    while True:
        state, body, cond = _fixpoint(walk, op, inside, live, first, copies)
        shared = [i for i in copies if not state.is_exclusive(i, copies[i])]
        if not shared:
            break
        for i in shared:  # the body yields memory that something else reaches, and so has to copy anyway
            del copies[i]
    inits = list(op.inits)
    for i, level in copies.items():
        inits[i], _ = walk.copy(inits[i], level, replace(stmt, targets=(op.params[i],)), out, first[i])
    domain = cond if isinstance(op.domain, Block) else op.domain
    out.append(replace(stmt, op=replace(op, domain=domain, inits=tuple(inits), body=body)))
    for target, memory in zip(stmt.targets, state.memories(len(op.params), walk.new)):
        walk.bind(target, memory)


def _is_exclusive(walk, first: list[Memory], i: int, level: int) -> bool:
    """Return whether only the loop can reach the memory of an initial value, if necessary after views of it are copied."""
    mine = first[i].level(level)
    shared = any(mine & other.all for k, other in enumerate(first) if k != i)
    return not shared and not (level == 2 and first[i].own & first[i].inner) and walk.may_write(mine)


def _fixpoint(walk, op: Loop, inside: frozenset[Var], live, first: list[Memory], copies: dict[int, int]):
    """Return the state at the start of any iteration, and the body and the condition with the copies that they need in that state."""
    limit = walk.new()
    state = _State()
    entry = []
    for i, memory in enumerate(first):
        if i in copies:
            memory = Memory(frozenset((walk.new(),)), memory.inner if copies[i] == 1 else frozenset((walk.new(),)))
            memory = memory if first[i].inner else Memory(memory.own)
            memory = replace(memory, distinct=first[i].distinct or copies[i] > 1, whole=True)
        entry.append(memory)
    state.absorb(entry, lambda r: r == 0 or bool(walk.holders.get(r)))

    def inside_live(v):
        return v in inside_outer or live(v)

    inside_outer = inside.difference(bound_vars(op))
    while True:
        for param, memory in zip(op.params, state.memories(len(op.params), walk.new)):
            walk.bind(param, memory)
        cond = None
        if isinstance(op.domain, Block):
            cond = Block(*walk.block(op.domain, lambda v: True))
        elif not isinstance(op.domain, Range):
            memory, t = walk.of(op.domain), operand_type(op.domain)
            walk.bind(op.index, memory if is_plain(t) else element(memory, t))
        walk.kill(*(p for p in op.params if p not in walk.reads.last(op.body)))
        yields: list[Memory] = []
        body = Block(*walk.block(op.body, inside_live, yields))
        walk.kill(*bound_vars(op))
        if not state.absorb(yields, lambda r: r < limit):
            return state, body, cond
