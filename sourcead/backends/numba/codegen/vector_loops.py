"""Statements on vectors as loops over their elements, for the text that Numba compiles.

    forget = 1 / (1 + z)                        n = alike(z, c)
    cell = c * forget                           cell = np.empty(n)
    d_w[i] += cell * x                          for j in range(n):
                                                    forget = 1 / (1 + z[j])
                                                    cell[j] = c[j] * forget
                                                    d_w[i, j] += cell[j] * x[j]

Numba makes a loop and an array of each statement; fused, the statements are one loop, and a vector that only they read becomes a number.
Statements on float64 vectors are fused if their lengths meet in some operation.  Whether one of them has length 1 and broadcasts is not
always known while compiling, and a variable may hold a number where its type is a vector; `alike` checks, and if lengths differ at all,
another text without such loops runs the call (`engine.py`).  Only statements inside loops are fused, where the cost of each call matters.
"""

import operator
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.backends.numba.codegen.stacks import matrix_stacks_as_arrays, put, vector_stacks_as_matrices
from sourcead.backends.numba.codegen.vector_statements import (
    BY_MODE, ELEMENT, FLOAT, EqualLengths, Row, row_write, vector_work
)
from sourcead.backends.numba.functions import alike, begin, disjoint, with_room
from sourcead.ir.nodes import (
    Append, Atom, Attr, Block, Build, Call, Const, Function, Index, Let, Loop, Pop, Range, Slice, Stmt, Sub, Update,
    Var, fresh
)
from sourcead.ir.types import INT, Array, Sym
from sourcead.ir.walk import count_reads, map_blocks, walk

PURE = Index | Attr | Let | Build
FEWEST = 2  # the fewest statements that are worth a loop


def fuse_vector_statements(function: Function) -> Function:
    """Return the function with loops in place of statements on vectors, or unchanged if there are none; runs before `assign_memory`.

    A call of the function may be abandoned and run again (`may_run_again`).
    """
    before, function = function, vector_stacks_as_matrices(matrix_stacks_as_arrays(function))
    uses = count_reads(function.body)
    roots: dict[Var, Var] = {}
    for stmt in walk(function.body):
        if isinstance(stmt.op, Index | Let | Update) and (read := stmt.op.reads):
            roots[stmt.targets[0]] = roots.get(read[0], read[0])
    fusing = _VectorStatementFuser(uses, roots)
    body = fusing.block(function.body)
    return replace(function, body=body) if fusing.made or function is not before else before


@dataclass
class Group:
    """Statements that become one loop. `made`: the variables that they assign; `later`: statements that must come after the loop."""

    stmts: list[Stmt] = field(default_factory=list)
    made: set[Var] = field(default_factory=set)
    later: list[Stmt] = field(default_factory=list)
    waiting: set[Var] = field(default_factory=set)
    before: list[Stmt] = field(default_factory=list)
    size: object = None


class _VectorStatementFuser(EqualLengths):
    def __init__(self, uses: dict[Var, int], roots: dict[Var, Var]):
        super().__init__()
        self.uses, self.roots = uses, roots
        self.made = False

    # -- groups -------------------------------------------------------------------------------------------------------

    def block(self, block: Block, inside: bool = False) -> Block:
        stmts = [map_blocks(s, partial(self.block, inside=inside or isinstance(s.op, Loop))) for s in block.stmts]
        if not inside:
            return Block(tuple(stmts), block.results)
        for stmt in stmts:
            self.meet(stmt)
        return Block(tuple(t for s in self.sequence(stmts) for t in put(s)), block.results)

    def sequence(self, stmts: list[Stmt]) -> list[Stmt]:
        """Return the statements after fusing those on vectors into loops."""
        out: list[Stmt] = []
        todo, group = list(reversed(stmts)), Group()
        while todo or group.stmts:
            if todo:
                stmt = todo.pop()
                if self.joins(stmt, group) or self.passes(stmt, group, out):
                    continue
                todo.append(stmt)
            out += self.sequence(group.before) if len(group.before) > 1 else group.before
            out += self.loop(group)
            todo += reversed(group.later)
            group = Group()
        return out

    def joins(self, stmt: Stmt, group: Group) -> bool:
        """Add a statement to the group if it belongs there, and return whether it does."""
        work = vector_work(stmt)
        if work is None or not group.waiting.isdisjoint(stmt.op.reads):
            return False
        size = self.find(work.lengths[0])
        if group.stmts and size is not group.size and size != group.size:
            return False
        if work.row and not self.may_write(work.row, group):
            return False
        if any((written := row_write(s)) and self.shares(elements_read(stmt), written) for s in group.stmts):
            return False
        group.size = size
        group.stmts.append(stmt)
        group.made.update(stmt.targets)
        return True

    def may_write(self, row: Row, group: Group) -> bool:
        """Return whether the group's loop may write a row, that is, whether the group reads no older version of the matrix."""
        if row.base in group.made:
            return row.mode is not None and self.uses[row.base] == 1 and keeps_order(row, group.stmts)
        return not self.shares([row.value, *(v for s in group.stmts for v in elements_read(s))], row)

    def passes(self, stmt: Stmt, group: Group, out: list[Stmt]) -> bool:
        """Put a statement before or after the group if that is allowed, and return whether it is."""
        op = stmt.op
        if not group.stmts:
            out.append(stmt)
            return True
        movable = isinstance(op, PURE | Append | Pop) or isinstance(op, Call) and not op.effect and not stmt.within
        if not movable or op.blocks:
            return False
        reads = op.reads
        if isinstance(op, Append | Pop) and any(op.base in s.op.reads for s in group.later):
            return False
        if any((row := row_write(s)) and self.shares(reads, row) for s in group.stmts):
            return False
        if group.made.isdisjoint(reads) and group.waiting.isdisjoint(reads):
            group.before.append(stmt)
        else:
            group.later.append(stmt)
            group.waiting.update(stmt.targets)
        return True

    def shares(self, reads: Iterable[Var], row: Row) -> bool:
        """Return whether a variable may share memory with the matrix that is written."""
        root = self.roots.get(row.base, row.base)
        return any(self.roots.get(v, v) is root for v in reads)

    # -- the loop -----------------------------------------------------------------------------------------------------

    def loop(self, group: Group) -> list[Stmt]:
        """Return the group as a loop, or unchanged if a loop gains nothing."""
        reads = Counter(v for s in group.stmts for v in s.op.reads)
        results = {t for s in group.stmts for t in s.targets if self.uses.get(t, 0) > reads[t]}
        needed = needed_for(results, group.stmts)
        vectors = read_from_outside(group.stmts)
        if len(needed) < FEWEST or not vectors:
            return group.stmts
        self.made = True
        return written(needed, vectors, results)


def keeps_order(row: Row, stmts: list[Stmt]) -> bool:
    """Return whether parts of a vector may be written in one loop, because they are only added to, are equal, or are adjacent.

    A part that is adjacent to one of two adjacent parts of the same length equals the other part or overlaps neither.
    """
    if not isinstance(row.key, Slice):
        return True
    chain: list[Row] = []
    base = row.base
    for s in reversed(stmts):
        if base in s.targets and (other := row_write(s)) is not None:
            chain.append(other)
            base = other.base
    if all(r.mode in BY_MODE for r in (row, *chain)):
        return True
    return any(side_by_side(row.key, r.key) or side_by_side(r.key, row.key) for r in chain)


def side_by_side(a: Slice, b: Slice) -> bool:
    """Return whether the first part ends where the second begins, or both are the same."""

    def same(x: Atom | None, y: Atom | None) -> bool:
        return x is y or isinstance(x, Const) and isinstance(y, Const) and x.value == y.value

    return a.upper is not None and same(a.upper, b.lower) or same(a.lower, b.lower) and same(a.upper, b.upper)


def elements_read(stmt: Stmt) -> tuple[Var, ...]:
    """Return the variables that a statement reads, without the array of which it writes a row."""
    row = row_write(stmt)
    return (row.value,) if row else stmt.op.reads


def needed_for(results: set[Var], stmts: list[Stmt]) -> list[Stmt]:
    """Return the statements without those whose results are used only for their length."""
    kept: list[Stmt] = []
    wanted = set(results)
    for s in reversed(stmts):
        if row_write(s) or s.targets[0] in wanted:
            kept.append(s)
            wanted.update(vector_work(s).vectors)
    return kept[::-1]


def read_from_outside(stmts: list[Stmt]) -> list[Var]:
    """Return the vectors from outside the group whose elements are read, and those that must have the same length."""
    made = {t for s in stmts for t in s.targets}
    read = dict.fromkeys(v for s in stmts for work in [vector_work(s)] for v in (*work.vectors, *work.witness))
    return [v for v in read if v not in made]


def written(needed: list[Stmt], vectors: list[Var], results: set[Var]) -> list[Stmt]:
    """Return the loop that computes the results, and the statements before it that check lengths and allocate memory."""
    first, j = needed[0], Var("j", INT, True)
    before, inside = Builder(), Builder().at(first)
    measured, starts = rows_of(needed, vectors, before)
    before.at(first)
    n = before.emit(Call(alike, tuple(measured)) if measured[1:] else Call(len, (measured[0],)), INT, "n")
    for parts in parts_that_may_meet(needed, starts):
        n = before.emit(Call(disjoint, (n, *parts)), INT, "n")
    read = {v for s in needed for v in vector_work(s).vectors}
    elements = {v: inside.emit(Index(v, j), ELEMENT, f"{v.name}_j") for v in vectors if v in read}
    carried: list[list[Var]] = []  # arrays: before the loop, in it, at the end of an iteration, and after the loop
    place: dict[Var, list[Var]] = {}

    def carry(init: Var, target: Var) -> list[Var]:
        param = fresh(target)
        carried.append([init, param, param, target])
        return carried[-1]

    def write(array: list[Var], target: Var, key: Atom | tuple, value: Var, mode: str = "set") -> None:
        new = fresh(target)
        inside.add(Stmt((new,), Update(array[2], (Sub(key),), value, mode)))
        array[2:] = new, target

    for s in needed:
        (target,) = s.targets
        before.at(s)
        inside.at(s)
        work = vector_work(s)
        if row := work.row:
            base = row.base
            if row.mode is None:
                base = before.emit(Call(with_room, (row.base, row.key, n)), target.type, target.name, target.temp)
            place[target] = place[base] if base in place else carry(base, target)
            key = (row.key, j)
            if s in starts:
                key = j if row.key.lower is None else inside.emit(Call(operator.add, (starts[s], j)), INT, "at")
            write(place[target], target, key, elements[row.value], row.mode or "set")
            continue
        args = tuple(elements.get(a, a) if isinstance(a, Var) else a for a in work.operands)
        elements[target] = inside.emit(Let(args[0]) if work.fn is None else Call(work.fn, args), ELEMENT, f"{target.name}_j")
        if target in results:
            write(carry(before.emit(Call(np.empty, (n,)), target.type, target.name), target), target, j, elements[target])
    inits, params, finals, targets = zip(*carried)
    loop = Loop(Range(Const(0), n, Const(1)), j, params, inits, Block(tuple(inside.stmts), finals))
    return [*before.stmts, replace(first, targets=targets, op=loop)]


def rows_of(needed: list[Stmt], vectors: list[Var], build: Builder) -> tuple[list[Var], dict[Stmt, Atom]]:
    """Return all vectors that must have equal lengths, and the start of each written part of a vector; emit both.

    A row is as long as its matrix is wide.
    """
    measured = list(vectors)
    starts: dict[Stmt, Atom] = {}
    first: dict[Var, Var] = {}  # the version before the loop
    for s in needed:
        row = row_write(s)
        if row is None or row.mode is None:
            continue
        build.at(s)
        base = first[s.targets[0]] = first.get(row.base, row.base)
        if isinstance(row.key, Slice):
            starts[s] = start_of(row.key.lower, base, build)
        t = Array(FLOAT, (Sym(),) if s in starts else base.type.dims[1:])
        measured.append(build.emit(Index(base, row.key), t, "row"))
    return measured, starts


def start_of(lower: Atom | None, base: Var, build: Builder) -> Atom:
    """Return the start of a part of a vector, provided that the part is not empty."""
    if lower is None:
        return Const(0)
    if isinstance(lower, Const) and not lower.live and lower.value >= 0:
        return lower
    return build.emit(Call(begin, (base, lower)), INT, "start")


def parts_that_may_meet(needed: list[Stmt], starts: dict[Stmt, Atom]) -> list[list[Atom]]:
    """Return the starts of written parts of each vector that is not only added to: if they overlap, the order of writes matters."""
    chains: dict[Var, list[Stmt]] = {}
    for s in needed:
        if s in starts:
            chain = chains.pop(s.op.base, [])
            chains[s.targets[0]] = [*chain, s]
    return [[starts[s] for s in chain] for chain in chains.values() if len(chain) > 1 and any(s.op.mode == "set" for s in chain)]
