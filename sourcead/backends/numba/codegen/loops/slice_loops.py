"""Statements on parts of arrays as loops over elements.

    a[1:-1] = (a[:-2] + b[1:-1]) / 2            for i in range(1, len(a) - 1):
                                                    a[i] = (old_a[i - 1] + b[i]) / 2
    t = d_a[1:-1] * c                           for i in range(1, len(d_a) - 1):
    d_b[2:] += t                                    d_b[i + 1] += d_a[i] * c
    d_b[:-2] += t                               for i in ...

Numba takes long to compile expressions of parts of arrays, and the result runs several times slower than such loops, which `reordering.py`
then treats like any other.  A statement that reads parts of the array that it writes reads the elements from before the statement:
`assign_memory` copies the array, unless the loop reads each element before it writes it.

A statement becomes a loop if all its parts have equal lengths (`array_parts.py`; where the types do not tell, the text checks before the
loop, and raises a `ValueError` as NumPy does) and the same dtype, and if it computes only arithmetic; functions such as `exp` stay array
expressions, and are computed once.
"""

import operator
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.analysis.affine import Subscripts
from sourcead.analysis.builder import Builder, atom_type
from sourcead.backends.numba.codegen.loops.array_parts import Axis, Length, Parts
from sourcead.backends.numba.functions import as_many
from sourcead.ir.nodes import (
    Atom, Attr, Block, Call, Const, Function, Index, Loop, Op, Operand, Range, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import INT, UNKNOWN, Array, Scalar, Sym, TupleT, rank, same_dtype
from sourcead.ir.walk import count_reads, map_blocks, reads_inside, substitute
from sourcead.passes.cleanup.dead_code import remove_dead

ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.gt, operator.lt, operator.ge,
    operator.le, operator.eq, operator.ne, np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.absolute, np.maximum,
    np.minimum, np.sign, abs,
}  # fmt: skip
SQUARE = 2
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
TWICE = 6  # the most ops of an expression that is computed again for each statement that reads it


class Not(Exception):
    """Raised for a statement that is not rewritten."""


def slices_as_loops(function: Function) -> Function:
    """Return the function with loops in place of statements on slices, without statements whose results nothing reads any more."""
    subscripts = Subscripts(function.body)
    work = _Slices(subscripts, Parts(function.body, subscripts), count_reads(function.body))
    body = work.block(function.body)
    return remove_dead(replace(function, body=body)) if work.made else function


@dataclass
class _Slices:
    subscripts: Subscripts
    parts: Parts
    reads: Counter | dict
    made: int = 0

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for at, stmt in enumerate(block.stmts):
            if stmt.op.blocks:
                stmt = map_blocks(stmt, self.block)
            elif isinstance(stmt.op, Update):
                try:
                    stmts += _Statement(self, block.stmts, at).loops()
                    self.made += 1
                    continue
                except Not:
                    pass
            stmts.append(stmt)
        return Block(tuple(stmts), block.results)


@dataclass
class _Statement:
    """The loop for one statement, under construction."""

    work: _Slices
    stmts: tuple[Stmt, ...]
    at: int
    before: Builder = field(default_factory=Builder)
    inside: Builder = field(default_factory=Builder)
    places: dict[Var, int] = field(default_factory=dict)
    done: dict[Var, Atom] = field(default_factory=dict)

    def __post_init__(self):
        self.stmt: Stmt = self.stmts[self.at]
        for build in (self.before, self.inside):
            build.origin, build.adjoint_of = self.stmt.origin, self.stmt.adjoint_of
        self.op: Update = self.stmt.op
        self.places = {t: k for k, s in enumerate(self.stmts[: self.at]) for t in s.targets}
        base = self.op.base
        key = self.op.path[0].key if self.op.path and isinstance(self.op.path[0], Sub) else None
        axes = self.work.parts.axes(base.type, key) if isinstance(base, Var) and len(self.op.path) <= (key is not None) else None
        if axes is None or base.type.dtype not in FLOATS:
            raise Not
        self.axes: list[Axis] = axes
        self.running = [k for k, a in enumerate(axes) if a.at is None]
        if not 1 <= len(self.running) <= 2:
            raise Not
        self.indices = [Var(name, INT, True) for name in "ij"[: len(self.running)]]
        self.inner = Var(base.name, base.type, base.temp)  # the version inside the innermost loop
        self.compared: dict[int, dict[Length, tuple[Var, int, Axis]]] = {}  # by axis, the parts whose lengths the text compares
        self.distances: set[int | None] = set()  # from the written part to the parts of the same array that are read

    def loops(self) -> list[Stmt]:
        value = self.element(self.op.value)
        running = iter(self.indices)
        key = tuple(next(running) if axis.at is None else axis.at for axis in self.axes)
        steps = self.distances
        ordered = len(self.running) == 1 and None not in steps
        ahead = ordered and all(n >= 0 for n in steps)
        self.backward = ordered and not ahead and all(n <= 0 for n in steps)
        if not (ahead or self.backward or steps <= {0}):  # elements from before the statement
            self.inside.stmts = list(substitute(Block(tuple(self.inside.stmts)), {self.inner: self.op.base}).stmts)
        return self.written(value, key)

    # ---- reads of the array that is written ----

    def distance(self, axes: list[Axis]) -> int | None:
        """Return the number of elements by which a part starts after the written one; None if they differ in another way."""
        gap = 0
        for mine, other in zip(self.axes, axes):
            if (mine.at is None) != (other.at is None):
                return None
            if mine.at is not None:
                if not self.same(mine.at, other.at):
                    return None
                continue
            step = other.start.plus(mine.start, -1)
            if step.terms:
                return None
            if step.constant and len(self.running) > 1:
                return None
            gap += step.constant
        return gap

    def same(self, a: Atom, b: Atom) -> bool:
        x, y = self.work.subscripts.from_zero(a), self.work.subscripts.from_zero(b)
        return a is b or x is not None and x == y

    # ---- the value ----

    def definition(self, v: Var) -> Op | None:
        """Return the op of this block that computes an array, if no operand has been written since; otherwise None."""
        k = self.places.get(v)
        if k is None:
            return None
        op = self.stmts[k].op
        arrays = {a for a in op.reads if isinstance(a.type, Array)}
        for s in self.stmts[k + 1 : self.at]:
            if isinstance(s.op, Update) and s.op.base in arrays or s.op.blocks and not arrays.isdisjoint(reads_inside(s.op)):
                return None
        return op

    def inlined(self, v: Var) -> bool:
        """Return whether an array is computed element by element where it is read."""
        op = self.definition(v)
        if not isinstance(op, Call) or op.effect or op.kwargs or not is_arithmetic(op):
            return False
        return self.work.reads.get(v, 0) <= 1 or self.length_of(v) <= TWICE

    def length_of(self, v: Operand) -> int:
        """Return the number of ops that compute an element of an array."""
        op = self.definition(v) if isinstance(v, Var) and isinstance(v.type, Array) else None
        return 1 + sum(map(self.length_of, op.args)) if isinstance(op, Call) and is_arithmetic(op) else 0

    def part(self, v: Var) -> tuple[Var, list[Axis]]:
        """Return the array that a value is a view of and the axes of the view; the value itself if it is no view."""
        op = self.definition(v)
        if isinstance(op, Index) and isinstance(op.base, Var):
            axes = self.work.parts.axes(op.base.type, op.key)
            if axes is not None:
                return op.base, axes
        axes = self.work.parts.axes(v.type, None)
        if axes is None:
            raise Not
        return v, axes

    def element(self, value: Operand) -> Atom:
        """Return the element of a value that is stored into the written element."""
        if not isinstance(value, (Var, Const)):
            raise Not
        t = atom_type(value)
        if isinstance(t, Scalar):
            other = t.dtype is not None and not same_dtype(t.dtype, self.op.base.type.dtype) and t.dtype.kind != "b"
            if other or t.kind not in ("float", "int", "bool"):
                raise Not  # an element would get another dtype than the whole array gets
            return value
        if not isinstance(value, Var) or not isinstance(t, Array) or t.dims is None:
            raise Not
        if value not in self.done:
            self.done[value] = self.array_element(value)
        return self.done[value]

    def array_element(self, v: Var) -> Atom:
        dtype = v.type.dtype
        if not same_dtype(dtype, self.op.base.type.dtype) and (dtype is None or dtype.kind != "b"):
            raise Not
        if self.inlined(v):
            op = self.definition(v)
            return self.element_of(v, replace(op, args=tuple(map(self.element, op.args))))
        base, axes = self.part(v)
        kept = [a for a in axes if a.at is None]
        mine = [self.axes[k] for k in self.running][len(self.running) - len(kept) :] if len(kept) <= len(self.running) else None
        indices = self.indices[len(self.running) - len(kept) :]
        if mine is None or base.type.dtype is None or not axes:  # no axes: an array of one number
            raise Not
        subscripts = {}
        for a, m, i in zip(kept, mine, indices):
            if a.length == m.length:
                subscripts[id(a)] = self.shifted(i, a, m)
            elif least_length(a) > 1 and least_length(m) > 1 and a.stop is None and not a.start.plus(m.start, -1).terms:
                self.compared.setdefault(self.axes.index(m), {}).setdefault(a.length, (base, axes.index(a), a))
                subscripts[id(a)] = self.shifted(i, a, m)
            elif a.dim == 1 and isinstance(a.dim, int) and a.stop is None and a.from_end == 0 and a.first is None:
                subscripts[id(a)] = Const(0)
            else:
                raise Not
        key = tuple(a.at if a.at is not None else subscripts[id(a)] for a in axes)
        read = base
        if base is self.op.base:
            self.distances.add(self.distance(axes))
            read = self.inner
        return self.element_of(v, Index(read, key if len(key) > 1 else key[0]))

    def shifted(self, index: Var, axis: Axis, mine: Axis) -> Atom:
        """Return the subscript in a part that corresponds to the subscript `index` in the written part."""
        gap = axis.start.plus(mine.start, -1)
        if not gap.terms:
            return self.plus(index, gap.constant, self.inside)
        start = index if mine.first is None else self.inside.emit(Call(operator.sub, (index, mine.first)), INT, "stop")
        return start if axis.first is None else self.inside.emit(Call(operator.add, (start, axis.first)), INT, "stop")

    def plus(self, atom: Atom, n: int, out: Builder) -> Atom:
        return atom if n == 0 else out.emit(Call(operator.add if n > 0 else operator.sub, (atom, Const(abs(n)))), INT, "stop")

    def element_of(self, array: Var, op: Op) -> Var:
        """Add an op that computes an element of an array, and return the element."""
        dtype = array.type.dtype
        return self.inside.emit(op, Scalar("bool" if dtype.kind == "b" else "float", dtype), f"{array.name}_item")

    # ---- the loops ----

    def written(self, value: Atom, key: tuple[Atom, ...]) -> list[Stmt]:
        base, new = self.op.base, fresh(self.op.base)
        update = replace(self.op, base=self.inner, path=(Sub(key if len(key) > 1 else key[0]),), value=value)
        block = Block((*self.inside.stmts, self.like((new,), update)), (new,))
        param = self.inner
        outermost, *others = [(self.range_of(k), i) for k, i in zip(self.running, self.indices)]
        for domain, index in reversed(others):
            init, target = fresh(base), fresh(base)
            block = Block((self.like((target,), Loop(domain, index, (param,), (init,), block)),), (target,))
            param = init
        return [*self.before.stmts, self.like(self.stmt.targets, Loop(*outermost, (param,), (base,), block))]

    def like(self, targets: tuple[Var, ...], op: Op) -> Stmt:
        return replace(self.stmt, targets=targets, op=op)

    def range_of(self, k: int) -> Range:
        """Return the range of subscripts along an axis of the written part."""
        axis = self.axes[k]
        start = Const(0) if axis.first is None else axis.first
        size: Atom = Const(axis.dim) if isinstance(axis.dim, int) else self.size(self.op.base, k)
        if axis.stop is not None:
            stop: Atom = self.before.emit(Call(min, (size, axis.stop)), INT, "stop")
        else:
            stop = self.plus(size, -axis.from_end, self.before) if isinstance(size, Var) else Const(size.value - axis.from_end)
        for base, axis_of_base, other in self.compared.get(k, {}).values():
            gap = axis.start.plus(other.start, -1).constant - other.from_end
            end = self.plus(self.size(base, axis_of_base), gap, self.before)
            stop = self.before.emit(Call(as_many, (stop, end)), INT, "stop")
        if not self.backward:
            return Range(start, stop, Const(1))
        last = Const(start.value - 1) if isinstance(start, Const) else self.plus(start, -1, self.before)
        return Range(Const(stop.value - 1) if isinstance(stop, Const) else self.plus(stop, -1, self.before), last, Const(-1))

    def size(self, base: Var, k: int) -> Var:
        match self.definition(base):
            case Call(fn, (_, Var() as shape), ()) if fn is np.broadcast_to and isinstance(shape.type, TupleT):
                return self.before.emit(Index(shape, Const(k)), INT, "stop")  # the array itself need not be made
        if rank(base.type) == 1:
            return self.before.emit(Call(len, (base,)), INT, "stop")
        shape = self.before.emit(Attr(base, "shape"), UNKNOWN, "shape")
        return self.before.emit(Index(shape, Const(k)), INT, "stop")


def least_length(axis: Axis) -> int:
    """Return a lower bound of the number of elements along an axis."""
    whole, less, *_ = axis.length
    if len(axis.length) > 2 or less.terms:
        return 0
    return (whole.least if isinstance(whole, Sym) else whole) - less.constant


def is_arithmetic(op: Call) -> bool:
    if op.fn is operator.pow:
        return isinstance(op.args[1], Const) and op.args[1].value == SQUARE and type(op.args[1].value) is int
    return isinstance(op.fn, Hashable) and op.fn in ARITHMETIC
