"""When each variable is live, and which variables share a name (`NameClasses`): one takes the value of another, and they never meet.

Times run through the program; a statement reads at one time and binds its targets at the next.  A live range is a list of intervals.
Blocks are walked backward.  The results of a branch are bound at the end of each of its arms, the variants of a loop before the loop and
at the end of its body.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from sourcead.analysis.connected import UnionFind
from sourcead.analysis.residual_stacks import residual_stacks
from sourcead.emit.memory.sharing import all_written
from sourcead.emit.text.calls_in_place import of_one_kind, shares_name
from sourcead.emit.text.exit_flags import printed_results, unprinted_results
from sourcead.ir.nodes import Atom, Block, Branch, Call, Closure, Function, Let, Loop, Op, Stmt, Var, operand_atoms
from sourcead.ir.types import INT
from sourcead.ir.walk import bound_vars, count_reads, is_cotangent, walk

Interval = tuple[int, int]
REUSE = 4  # the priority of a result that takes the memory of an operand


class Ranges:
    """The live ranges of a function's variables; `nested` are those that are printed inside the expressions that read them.

    Attributes:
        of: the intervals of each variable.
        affinities: pairs of variables that should share a name, each with a priority.
    """

    def __init__(self, function: Function, nested: dict[Var, Op]):
        self.nested = nested
        self.of: dict[Var, list[Interval]] = {}
        self.affinities: list[tuple[int, Var, Var]] = []
        self._counts = count_reads(function.body)
        self._unprinted = unprinted_results(function.body, self._counts)
        forward = (v for s in walk(function.body) if s.adjoint_of is None for v in (*s.targets, *bound_vars(s.op)))
        self._primals = {v for v in (*function.params, *forward) if not is_cotangent(v)}
        self._time = 0
        self._open: dict[Var, int] = {}  # the live variables, walking backward, and when they are read last
        self._opened: list[Var] = []  # in which order they became live
        self._free_of = cache(self._free_of)
        self._use(function.body.results, self._tick())
        self._block(function.body)
        self._bind(function.params, self._tick())

    def _tick(self) -> int:
        self._time -= 1
        return self._time

    def leaves(self, operand) -> Iterable[Var]:
        """Return the named variables that are read when an operand is printed."""
        for atom in operand_atoms(operand):
            if isinstance(atom, Var):
                if atom in self.nested:
                    yield from self.op_leaves(self.nested[atom])
                else:
                    yield atom

    def op_leaves(self, op: Op) -> Iterable[Var]:
        """Return the named variables that are read where an op is printed as an expression."""
        yield from self.leaves(operand_atoms(op))
        for block in op.blocks:
            yield from self.leaves(block.results)

    def _use(self, operand, time: int) -> None:
        self._read(self.leaves(operand), time)

    def _read(self, variables: Iterable[Var], time: int) -> None:
        for v in variables:
            if v not in self._open:
                self._open[v] = time
                self._opened.append(v)

    def _bind(self, targets: Iterable[Var], time: int) -> None:
        for v in targets:
            self._add(v, time, self._open.pop(v, time))

    def _add(self, v: Var, start: int, end: int) -> None:
        self.of.setdefault(v, []).append((start, end))

    def _block(self, block: Block) -> None:
        for stmt in reversed(block.stmts):
            if not (stmt.targets and all(t in self.nested for t in stmt.targets)):
                self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        match stmt.op:
            case Branch(_, then, orelse):
                self._arms(stmt, (orelse, then))
            case Loop():
                self._loop(stmt)
            case Closure():
                self._closure(stmt)
            case op:
                if isinstance(op, Call) and op.into is not None and shares_name(op, stmt.targets[0]):
                    self._affine(REUSE, op.args[op.into], stmt.targets[0])
                elif not isinstance(op, Call) or op.into is None:
                    for written, place in all_written(op):
                        self._affine(0, written, stmt.targets[place])
                if isinstance(op, Let) and (not isinstance(op.value, Var) or of_one_kind(op.value, stmt.targets[0])):
                    self._affine(3, op.value, stmt.targets[0])
                if _is_copy_of_namesake(stmt):
                    self._affine(0, op.args[0], stmt.targets[0])
                self._bind(stmt.targets, self._tick())
                self._read(self.op_leaves(op), self._tick())

    def _affine(self, priority: int, a: Atom, b: Atom) -> None:
        """Note that two variables should share a name; a value of the forward sweep and a cotangent never do."""
        if isinstance(a, Var) and isinstance(b, Var):
            apart = a in self._primals and is_cotangent(b) or b in self._primals and is_cotangent(a)
            self.affinities += [] if apart else [(priority, a, b)]

    def _arms(self, stmt: Stmt, arms: tuple[Block, ...]) -> None:
        """Walk the arms of a branch, the last first; each arm binds the targets at its end."""
        self._bind(stmt.targets, self._tick())
        after = len(self._opened)
        before: dict[Var, None] = {}
        for arm in arms:
            time = self._tick()
            for target, result in zip(stmt.targets, arm.results):
                self._add(target, time, time)
                self._affine(2, target, result)
            self._use(printed_results(arm, self._unprinted), self._tick())
            self._block(arm)
            start = self._tick()
            for v in self._opened[after:]:
                if v in self._open:
                    self._add(v, start, self._open.pop(v))
                    before[v] = None
            del self._opened[after:]
        time = self._tick()
        self._read(before, time)
        self._use(operand_atoms(stmt.op), time)

    def _loop(self, stmt: Stmt) -> None:
        op: Loop = stmt.op
        read_after = [t in self._open for t in stmt.targets]
        self._bind(stmt.targets, self._tick())
        leaving = self._tick()
        end = self._tick()
        for param, target, result, needed in zip(op.params, stmt.targets, op.body.results, read_after):
            self._add(param, end, leaving if needed else end)
            self._affine(1, param, result)
            self._affine(1, param, target)
        self._read(self.free(op), end)
        self._use(printed_results(op.body, self._unprinted), self._tick())
        bound = [] if isinstance(op.domain, Block) else bound_vars(op)[: -len(op.params) or None]
        self._read((v for v in bound if v.type == INT and self._counts.get(v)), end)  # readers take an index to be one in all the body
        self._block(op.body)
        if not isinstance(op.domain, Block):
            self._bind(bound, self._tick())
        head = self._tick()
        for param, needed in zip(op.params, read_after):
            if needed:
                self._read((param,), head)
        if isinstance(op.domain, Block):
            self._use(op.domain.results, head)
            self._block(op.domain)
        else:  # printed after the initial values
            same = stand_ins(op, self._counts)
            self._read((same.get(v, v) for v in self.leaves(op.domain)), head)
        self._bind(op.params, self._tick())
        time = self._tick()
        for param, init in zip(op.params, op.inits):
            self._affine(1, param, init)
            self._use(init, time)

    def _closure(self, stmt: Stmt) -> None:
        """Keep the variables that a nested function captures live to the end, because it reads their names when it is called."""
        op: Closure = stmt.op
        self._bind(stmt.targets, self._tick())
        captured = self.free(op)
        self._read(captured, 0)
        self._open.update(dict.fromkeys(captured, 0))
        self._use(op.body.results, self._tick())
        self._block(op.body)
        self._bind(op.params, self._tick())

    def free(self, op: Op) -> list[Var]:
        """Return the named variables that an op's blocks read and do not define, in an order that does not depend on the run."""
        bound = bound_vars(op)
        return list(dict.fromkeys(v for block in op.blocks for v in self._free_of(block) if v not in bound))

    def _free_of(self, block: Block) -> tuple[Var, ...]:
        reads: dict[Var, None] = {}
        defined: set[Var] = set()
        for stmt in block.stmts:
            defined.update(stmt.targets)
            if not (stmt.targets and all(t in self.nested for t in stmt.targets)):
                reads.update(dict.fromkeys([*self.leaves(operand_atoms(stmt.op)), *self.free(stmt.op)]))
        reads.update(dict.fromkeys(self.leaves(block.results)))
        return tuple(v for v in reads if v not in defined)


def _is_copy_of_namesake(stmt: Stmt) -> bool:
    """Return whether a statement has the form `a = a.copy()`."""
    match stmt.op:
        case Call(np.copy | list.copy | dict.copy, (Var() as old,)):
            return old.name == stmt.targets[0].name
    return False


def stand_ins(loop: Loop, counts: dict[Var, int]) -> dict[Var, Var]:
    """Return the parameters that take the place of their initial values in the head of a loop, which is printed after these are bound."""
    return {i: p for i, p in zip(loop.inits, loop.params) if isinstance(i, Var) and counts.get(p)}


def overlaps(a: list[Interval], b: list[Interval]) -> bool:
    """Return whether two sorted lists of disjoint intervals have a time in common."""
    if len(a) > len(b):
        a, b = b, a
    for start, end in a:
        at = bisect_left(b, (start,))
        if at < len(b) and b[at][0] <= end or at and b[at - 1][1] >= start:
            return True
    return False


def normalised(intervals: list[Interval]) -> list[Interval]:
    """Return the intervals in order, joined where they meet."""
    out: list[Interval] = []
    for start, end in sorted(intervals):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


class NameClasses(UnionFind):
    """The classes of variables that share a name, because one takes the value of another at the last read of the other."""

    def __init__(self, function: Function, nested: dict[Var, Op]):
        super().__init__()
        ranges = Ranges(function, nested)
        self.intervals = {v: normalised(r) for v, r in ranges.of.items()}
        self.members: dict[Var, list[Var]] = {v: [v] for v in ranges.of}
        self.user_name: dict[Var, str | None] = {v: None if v.temp else v.name for v in ranges.of}
        self.is_param = dict.fromkeys(ranges.of, False) | dict.fromkeys(function.params, True)
        self.cotangents: set[Var] = set()  # those of the user's variables that share memory with others
        given = {f"d_{name}" for name in self.user_name.values() if name is not None}
        for priority, a, b in sorted([*ranges.affinities, *_residuals(function)], key=lambda entry: entry[0]):
            if a in self.members and b in self.members or self.find(a) in self.members and self.find(b) in self.members:
                of_a, of_b = ({v.name for v in self.members[self.find(x)]} & given if priority == REUSE else set() for x in (a, b))
                cotangents = of_a | of_b
                if cotangents in (of_a, of_b):  # those of different variables of the user's keep their names
                    self._unite(a, b)
                    self.cotangents.update(v for v in self.members[self.find(a)] if v.name in cotangents)

    def _unite(self, a: Var, b: Var) -> None:
        a, b = self.find(a), self.find(b)
        if a is b or overlaps(self.intervals[a], self.intervals[b]):
            return
        if self.user_name[a] and self.user_name[b] and self.user_name[a] != self.user_name[b]:
            return
        if (self.is_param[a] or self.is_param[b]) and a.name != b.name:
            return
        if len(self.members[a]) < len(self.members[b]):
            a, b = b, a
        self.unite(a, b)
        for interval in self.intervals.pop(b):
            insort(self.intervals[a], interval)
        self.members[a] += self.members.pop(b)
        self.user_name[a] = self.user_name[a] or self.user_name[b]
        self.is_param[a] = self.is_param[a] or self.is_param[b]


def _residuals(function: Function) -> Iterator[tuple[int, Var, Var]]:
    """Yield the pairs of a value that a list of residuals takes and the variable that takes it off, which should share a name."""
    for stack in dict.fromkeys(residual_stacks(function, copies=True).values()):
        if len(stack.pushes) == len(stack.pops) == 1:
            values, taken = operand_atoms(stack.pushes[0].stmt.op.value), stack.pops[0].stmt.targets[1:]
            yield from ((4, a, b) for a, b in zip(values, taken) if isinstance(a, Var))
