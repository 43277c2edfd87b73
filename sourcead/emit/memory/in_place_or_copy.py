"""Decides which updates may be done in place, and inserts copies where they may not.

    a1 = a0 with [i] = v;  y = f(a0)        c = copy(a0);  a1 = c with [i] = v;  y = f(a0)

After this pass every `Update`, `Append` and `Pop` may be carried out in place.  Writing `b` in place is legal when

    the memory of b was made by this function (it is not that of a parameter, a constant or a global), and
    no variable that is still to be read shares it, except the result of the statement itself.

Memory is followed as *regions*, one for each statement that makes some; `Memory.own` is that of a value itself, `Memory.inner` that
of its elements.  A loop gives its parameters symbolic regions, shared among those that may share memory at the start of any iteration;
the sharing is found by iterating to a fixpoint from that of the initial values.  So two buffers that a stencil swaps stay apart, and a
parameter that is written is copied once, before the loop.
"""

import itertools
import operator
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import operand_type
from sourcead.analysis.liveness import Live, Reads, written_level
from sourcead.analysis.unassigned import may_be_none, with_saved
from sourcead.emit.memory.loops import allocate_loop
from sourcead.emit.memory.memory_regions import (
    FOREIGN, NOTHING, Memory, copy_call, element, fitted, fresh_memory, is_memory, joined_items, may_hold_twice,
    result_memory, union
)
from sourcead.emit.memory.results import owned_results
from sourcead.emit.memory.saved_parts import saved_parts
from sourcead.emit.memory.sharing import is_container
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Call, Closure, Const, Function, Index, Let, Loop, Op, Pop, Stmt, Update,
    Var, fresh, operand_atoms
)
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Type, is_known_container, same_dtype
from sourcead.passes.equality import equal_types
from sourcead.passes.peephole import Facts, peephole

ATTEMPTS = 6  # how often to start again with copies of views in place of copies of whole arrays


def assign_memory(function: Function, own_results: bool = True) -> Function:
    """Return the function with the copies that make it legal to do every update in place.

    Args:
        function: the function; the memory of its parameters is never written.
        own_results: whether each array returned must be writable and shared with nothing else (an argument, a
            global, another result); where it is not, it is copied.
    """
    reads = Reads()
    copied_views = saved_parts(function)
    for attempt in range(ATTEMPTS):
        assignment = MemoryAssignment(reads, copied_views, last_attempt=attempt == ATTEMPTS - 1)
        result = assignment.function(function, own_results)
        if not assignment.wanted:
            return peephole(result, _with_its_name)
        copied_views |= assignment.wanted
    raise AssertionError("the last attempt wants no further copies")


def _with_its_name(stmt: Stmt, facts: Facts) -> Var | None:
    """Let the result of a call have the name that the user gave it, in place of a second one; what is read once needs no name."""
    match stmt:
        case Stmt((Var(temp=False),), Let(Var(temp=True) as value)) if value not in facts.renamed and isinstance(facts.op(value), Call):
            return value if facts.uses[value] > 1 and facts.scopes[value] == facts.scope else None
    return None


class MemoryAssignment:
    """One walk over a function: the state of memory at the current statement.

    Attributes:
        copied: the views and appended values that are copied where they are made.
        wanted: the views and appended values that this walk found should be copied.
        holders: the live variables that may reach a region.
        maker: the statements that made views.
        filled: for a broadcast number, the call that makes a writable array of its values.
        appended: the block and the statement that put a region on a list.
        killed: the variables that have died, in order.
        optional: the variables that are None on some paths.
    """

    def __init__(self, reads: Reads, copied: set[Stmt], last_attempt: bool):
        self.reads = reads
        self.copied = copied
        self.wanted: set[Stmt] = set()
        self.last_attempt = last_attempt
        self.counter = itertools.count(1)
        self.memory: dict[Var, Memory] = {}
        self.holders: dict[int, dict[Var, None]] = {}
        self.maker: dict[Var, Stmt] = {}
        self.closures: set[Var] = set()
        self.filled: dict[Var, Call] = {}
        self.appended: dict[int, tuple[Block, Stmt]] = {}
        self.block_now: Block | None = None
        self.killed: list[Var] = []
        self.optional: set[Var] = set()

    # ---- regions and their holders ----

    def new(self) -> int:
        return next(self.counter)

    def fresh_memory(self, t: Type) -> Memory:
        return fresh_memory(t, self.new)

    def of(self, operand) -> Memory:
        """Return the memory that an operand reaches."""
        match operand:
            case Var():
                return self.memory.get(operand, NOTHING)
            case Const(value):
                return Memory(frozenset((FOREIGN,)), frozenset((FOREIGN,))) if is_memory(value) else NOTHING
        return Memory(frozenset(), union(self.of(a).all for a in operand_atoms(operand)))

    def bind(self, var: Var, memory: Memory) -> None:
        self.memory[var] = fitted(memory, var.type)
        self.hold(var)

    def hold(self, var: Var) -> None:
        for region in self.of(var).all:
            self.holders.setdefault(region, {})[var] = None

    def kill(self, *variables: Var) -> None:
        for var in variables:
            for region in self.of(var).all:
                self.holders.get(region, {}).pop(var, None)
            self.killed.append(var)

    def sharers(self, regions: Iterable[int]) -> dict[Var, None]:
        """Return the live variables that may reach any of the regions."""
        return {v: None for r in regions for v in self.holders.get(r, ())}

    def is_unreachable(self, regions: frozenset[int]) -> bool:
        """Return whether this function made the regions and no live variable may reach any of them."""
        return FOREIGN not in regions and not self.sharers(regions)

    # ---- functions and blocks ----

    def function(self, function: Function, own_results: bool) -> Function:
        self.optional = with_saved(function.body, may_be_none(function.body))
        for param in function.params:
            self.bind(param, Memory(frozenset((FOREIGN,)), frozenset((FOREIGN,))))
        stmts, results = self.block(function.body, lambda v: False, own_results=own_results)
        return replace(function, body=Block(stmts, results))

    def block(self, block: Block, live_out: Live, yields: list | None = None, own_results: bool = False):
        """Return the block's statements and results with copies, and append the memory of its results to `yields`."""
        out: list[Stmt] = []
        last, outer = self.reads.last(block), self.block_now
        for k, stmt in enumerate(block.stmts):
            self.block_now = block

            def live(v, k=k):
                return last.get(v, -1) > k or live_out(v)

            dying = [v for v in self.reads.of(stmt) if not live(v)]
            self.statement(stmt, live, dying, out)
            self.kill(*dying, *(t for t in stmt.targets if not live(t)))
        results = block.results
        if own_results:
            results = owned_results(self, block, out)
        if yields is not None:
            yields.extend(self.of(r) for r in results)
        self.kill(*(r for r in results if isinstance(r, Var) and not live_out(r)))
        self.block_now = outer
        return tuple(out), results

    # ---- statements ----

    def statement(self, stmt: Stmt, live: Live, dying: list[Var], out: list[Stmt]) -> None:
        """Append the statement to `out`, after the copies that it needs, and note the memory of its targets."""
        match stmt.op:
            case Update():
                self.update(stmt, dying, out)
            case Append():
                self.append(stmt, dying, out)
            case Pop(base, path) as op:
                base, memory = self.writable(stmt, base, 2 if path else 1, dying, out)
                out.append(replace(stmt, op=replace(op, base=base)))
                popped = stmt.targets[1]
                alone = memory.distinct and not path and self.is_unreachable(memory.inner)
                self.bind(stmt.targets[0], replace(memory, items=None))
                new = replace(self.fresh_memory(popped.type), whole=memory.whole)
                self.bind(popped, new if alone else element(memory, operand_type(base)))
            case Branch():
                self.branch(stmt, live, out)
            case Loop():
                allocate_loop(self, stmt, live, dying, out)
            case Closure():
                self.closure(stmt, out)
            case op:
                self.simple(stmt, op, dying, out)

    def simple(self, stmt: Stmt, op: Op, dying: list[Var], out: list[Stmt]) -> None:
        """Append a statement without blocks that writes nothing, and note the memory of its result."""
        if not stmt.targets:
            out.append(stmt)
            return
        target = stmt.targets[0]
        if stmt in self.copied:
            read = fresh(target, temp=True)
            out.append(replace(stmt, targets=(read,)))
            out.append(replace(stmt, op=Call(np.copy, (read,))))
            self.bind(target, self.fresh_memory(target.type))
            return
        out.append(stmt)
        match op:
            case Call(np.broadcast_to, (value, shape), ()) if isinstance(operand_type(value), Scalar):
                self.filled[target] = Call(np.full, (shape, value))
        memory = result_memory(op, target.type, self.of, self.new)
        is_view = isinstance(op, Index) and isinstance(target.type, Array) and isinstance(operand_type(op.base), Array)
        if is_view and memory.own:
            self.maker[target] = stmt
        self.bind(target, memory)

    # ---- writes ----

    def writable(self, stmt: Stmt, base: Atom, level: int, dying: list[Var], out: list[Stmt], stored: Memory = NOTHING):
        """Return the base if it may be written in place, else a copy of it, with its memory.

        `stored` is the memory of a value that the base will hold.
        """
        self.kill(*dying)
        memory = self.of(base)
        written = memory.level(level)
        twice = level > 1 and may_hold_twice(memory, operand_type(base))
        if twice or not self.may_write(written) or stored.all & memory.own:
            base, memory = self.copy(base, level, stmt, out, memory)
        return base, memory

    def may_write(self, regions: frozenset[int]) -> bool:
        """Return whether memory may be written here, if necessary after the views that share it are copied where they are made."""
        if FOREIGN in regions:
            return False
        sharers = self.sharers(regions)
        makers = {v: self.maker[v] for v in sharers if v in self.maker}
        if not sharers:
            return True
        if self.last_attempt:
            return False
        if len(makers) == len(sharers):
            self.wanted |= {s for s in makers.values() if s.op.base not in sharers}
            return True
        appends = {}
        for region in regions & self.appended.keys():
            block, append = self.appended[region]
            if block is self.block_now and all(v in append.targets for v in self.holders.get(region, ())):
                appends[region] = append
        if all(r in appends for r in regions if self.holders.get(r)):
            self.wanted |= set(appends.values())
            return True
        return False

    def copy(self, base: Atom, level: int, stmt: Stmt, out: list[Stmt], memory: Memory) -> tuple[Var, Memory]:
        """Return a variable for a copy of the base, deep if its elements will be written, and its memory."""
        t = operand_type(base)
        new = fresh(stmt.targets[0], type=t)
        call = self.filled.get(base) or copy_call(base, t, level, base in self.optional)
        out.append(Stmt((new,), call, stmt.origin, stmt.adjoint_of))
        result = self.fresh_memory(t)
        if level > 1:
            result = replace(result, distinct=True)
        elif is_known_container(t):
            result = Memory(frozenset((self.new(),)), memory.inner, distinct=memory.distinct)
        self.bind(new, result)
        self.kill(new)
        return new, result

    def update(self, stmt: Stmt, dying: list[Var], out: list[Stmt]) -> None:
        op, target = stmt.op, stmt.targets[0]
        base_type = operand_type(op.base)
        if isinstance(base_type, Scalar):
            out.append(stmt)
            self.bind(target, self.fresh_memory(target.type))
            return
        if not op.path and op.mode != "set" and not is_known_container(base_type):
            self.kill(*dying)
            if _keeps_dtype(op) and not self.may_write(self.of(op.base).own):
                call = Call(operator.add if op.mode == "add" else operator.sub, (op.base, op.value))
                out.append(replace(stmt, op=call))
                self.bind(target, result_memory(call, target.type, self.of, self.new))
                return
        if not op.path and op.mode == "set" and isinstance(base_type, Array):
            self.replace_whole(stmt, dying, out)
            return
        summed = op.mode != "set" and isinstance(operand_type(op.value), Array)  # a sum does not hold what was added
        stored = self.of(op.value) if is_container(base_type) and not summed else NOTHING
        level = written_level(op) or 1
        base, memory = self.writable(stmt, op.base, level, dying, out, stored)
        out.append(replace(stmt, op=replace(op, base=base)))
        if is_container(base_type):
            own = memory.own if is_known_container(base_type) else memory.own | {self.new()}
            distinct = memory.distinct and self.is_unreachable(stored.all) and not stored.all & memory.all
            memory = Memory(own, memory.inner | stored.all, distinct=distinct)
        self.bind(target, memory)

    def replace_whole(self, stmt: Stmt, dying: list[Var], out: list[Stmt]) -> None:
        """Do `a[...] = v`; if `a` may not be written, the result is `v` itself if it has the type of `a`, else a new array."""
        op, target = stmt.op, stmt.targets[0]
        self.kill(*dying)
        memory, stored = self.of(op.base), self.of(op.value)
        fits = equal_types(operand_type(op.value), operand_type(op.base))
        if not (fits and op.value in dying and self.is_unreachable(stored.all)) and self.may_write(memory.own):
            out.append(stmt)
            self.bind(target, memory)
            return
        if fits:  # nothing else needs the value: no copy
            out.append(replace(stmt, op=Let(op.value)))
            self.bind(target, stored)
            return
        new = fresh(target, type=operand_type(op.base))
        out.append(replace(stmt, targets=(new,), op=Call(np.empty_like, (op.base,))))
        out.append(replace(stmt, op=replace(op, base=new)))
        self.bind(target, self.fresh_memory(new.type))

    def append(self, stmt: Stmt, dying: list[Var], out: list[Stmt]) -> None:
        op, value = stmt.op, stmt.op.value
        if stmt in self.copied and isinstance(value, Var):
            value = fresh(op.value, temp=True)
            out.append(replace(stmt, targets=(value,), op=copy_call(op.value, value.type, 1, op.value in self.optional)))
            self.memory[value] = self.fresh_memory(value.type)
        stored = self.of(value)
        base, memory = self.writable(stmt, op.base, 2 if op.path else 1, dying, out, stored)
        out.append(replace(stmt, op=replace(op, base=base, value=value)))
        moved = self.is_unreachable(stored.all) and not stored.all & memory.all
        distinct, whole = memory.distinct and moved, memory.whole and stored.whole
        self.bind(stmt.targets[0], Memory(memory.own, memory.inner | stored.all, None, distinct, whole))
        if isinstance(operand_type(value), Array) and stmt not in self.copied:
            for region in stored.all:
                self.appended[region] = (self.block_now, stmt)

    # ---- blocks inside statements ----

    def branch(self, stmt: Stmt, live: Live, out: list[Stmt]) -> None:
        op, arms, memories = stmt.op, [], []
        for arm in (op.then, op.orelse):
            mark, yields = len(self.killed), []
            arms.append(Block(*self.block(arm, live, yields)))
            memories.append(yields)
            outside = self.reads.free(arm)
            for v in self.killed[mark:]:
                if v in outside:
                    self.hold(v)
        out.append(replace(stmt, op=replace(op, then=arms[0], orelse=arms[1])))
        for target, a, b, *results in zip(stmt.targets, *memories, arms[0].results, arms[1].results):
            distinct = all(m.distinct or r is UNDEFINED for m, r in zip((a, b), results))
            whole = all(m.whole or r is UNDEFINED for m, r in zip((a, b), results))
            self.bind(target, Memory(a.own | b.own, a.inner | b.inner, joined_items(a, b), distinct, whole))

    def closure(self, stmt: Stmt, out: list[Stmt]) -> None:
        """Append a nested function, which writes nothing that it captures because it may be called several times."""
        op = stmt.op
        for param in op.params:
            self.bind(param, Memory(frozenset((FOREIGN,)), frozenset((FOREIGN,))))
        captured = [v for v in self.reads.free(op.body) if v not in op.params]
        inner = frozenset(r for v in captured for r in self.of(v).all)
        before = {v: self.memory[v] for v in captured if v in self.memory}
        for v, m in before.items():
            self.memory[v] = Memory(m.own and m.own | {FOREIGN}, m.inner and m.inner | {FOREIGN})
        outside = set(captured)
        stmts, results = self.block(op.body, lambda v: v in outside, own_results=True)
        self.memory.update(before)
        self.kill(*op.params)
        out.append(replace(stmt, op=replace(op, body=Block(stmts, results))))
        target = stmt.targets[0]
        self.closures.add(target)
        self.memory[target] = Memory(frozenset(), inner)
        self.hold(target)


def _keeps_dtype(op: Update) -> bool:
    """Return whether `base + value` has the dtype of the base, as `base += value` does, or the dtype is unknown."""
    base, value = operand_type(op.base), operand_type(op.value)
    dtype, added = getattr(base, "dtype", None), getattr(value, "dtype", None)
    if dtype is None or (added is None and isinstance(value, Scalar)):  # a Python number takes the array's dtype
        return True
    if added is None or same_dtype(added, ANY_DTYPE):
        return np.result_type(dtype, float) == dtype
    return np.result_type(dtype, added) == dtype
