"""Residuals that are numbers or vectors, which loops save in arrays in place of lists.

    zs = []                          zs = np.empty(0)                            zs = np.empty((n, 0))
                                     zs_top = 0                                  zs_top = 0
                                     zs = reserved(zs, zs_top, len(range(n)))
    for i in range(n):               for i in range(n):                          for i in range(n):
                                                                                     zs = with_room(zs, zs_top, len(z))
        zs.append(z)                     zs[zs_top] = z                              zs[zs_top] = z
                                         zs_top += 1                                 zs_top += 1
    for i in ...:                    for i in ...:                               for i in ...:
                                         zs_top -= 1                                 zs_top -= 1
        z = zs.pop()                     z = zs[zs_top]                              z = zs[zs_top]

For numbers, room is reserved before a loop for as many as it can save, so that an iteration only stores or loads a number: before the
outermost loop if they can be counted there (`stack_room.py`), else before each innermost one.
Lists whose growth no counted loop bounds stay lists.

Numba takes about 0.1 µs for a vector and its place on a list.  A row of a matrix is written in the loop that computes the vector
(`vector_loops.py`), which then needs no memory of its own, and a saved view does not keep its base array alive.  This is done with vectors
that are, as far as the types tell, as long as an axis of a parameter; if the vectors of a list have different lengths after all, a text
with lists runs the call (`engine.py`).
"""

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.backends.numba.codegen.stack_room import room_for
from sourcead.backends.numba.codegen.vector_statements import FLOAT, EqualLengths, is_vector, may_run_again, row_write
from sourcead.backends.numba.functions import pushed, reserved, with_room
from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Build, Call, Const, Function, Index, Let, Loop, Op, Operand, Pop, Range, Stmt, Sub,
    Update, Var
)
from sourcead.ir.types import INT, UNKNOWN, Array, Scalar, Sym, same_dtype
from sourcead.ir.walk import map_op, walk

LARGEST = 256  # the most elements of a matrix whose copy takes less time than memory of its own
_DTYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64), "bool": np.dtype(np.bool_)}


def number_stacks_as_arrays(function: Function) -> Function:
    """Return the function with arrays in place of stacks of numbers; must run after `assign_memory`."""
    return _as_arrays(function, lambda stack: _dtype(stack, number_dtype) if bounded(stack) else None, 1)


def vector_stacks_as_matrices(function: Function) -> Function:
    """Return the function with matrices in place of stacks of vectors; must run before `assign_memory`."""
    if not may_run_again(function):
        return function
    meetings = EqualLengths()
    for stmt in walk(function.body):
        meetings.meet(stmt)
    fixed = {meetings.find(n) for p in function.params if isinstance(p.type, Array) for n in p.type.dims or ()}

    def dtype_of(value: Operand) -> np.dtype | None:
        return FLOAT if is_vector(value) and meetings.find(value.type.dims[0]) in fixed else None

    return _as_arrays(function, lambda stack: _dtype(stack, dtype_of), 2)


def matrix_stacks_as_arrays(function: Function) -> Function:
    """Return the function with arrays in place of stacks of small matrices of one known shape; must run before `assign_memory`."""

    def of_known_size(stack: Stack) -> np.dtype | None:
        shapes = {shape_of(value) for value in stack.elements}
        return _dtype(stack, lambda value: FLOAT) if len(shapes) == 1 and None not in shapes and bounded(stack) else None

    return _as_arrays(function, of_known_size, 1)


def shape_of(value: Operand) -> tuple[int, ...] | None:
    """Return the shape of a small matrix; None of what is none."""
    t = value.type if isinstance(value, Var) else None
    known = isinstance(t, Array) and same_dtype(t.dtype, FLOAT) and len(t.dims or ()) > 1 and all(isinstance(n, int) for n in t.dims)
    return t.dims if known and 0 < np.prod(t.dims) <= LARGEST else None


def bounded(stack: Stack) -> bool:
    """Return whether counted loops alone push on a stack."""
    loops = [place.loops[-1].op if place.loops else None for place in stack.pushes]
    return all(loop is not None and isinstance(loop.domain, Range) and loop.leave is None for loop in loops)


def number_dtype(value: Operand) -> np.dtype | None:
    """Return the dtype of an array that can hold a value; None if the value is no number and no truth value."""
    t = atom_type(value) if isinstance(value, (Var, Const)) else None
    if not isinstance(t, Scalar):
        return None
    return _DTYPES.get(t.kind) if t.dtype is None or t.dtype.kind == "O" else t.dtype


def _dtype(stack: Stack, dtype_of: Callable[[Operand], np.dtype | None]) -> np.dtype | None:
    """Return the one dtype of an array for all that is pushed on a stack, or None if there is none or the list must stay."""
    if not stack.plain or stack.inner is not None or stack.inside or len(stack.builds) != 1:
        return None
    dtypes = {dtype_of(place.stmt.op.value) for place in stack.pushes}
    return dtypes.pop() if len(dtypes) == 1 else None


def _as_arrays(function: Function, dtype_of: Callable[[Stack], np.dtype | None], axes: int) -> Function:
    """Return the function with arrays of so many axes in place of the stacks for which there is a dtype."""
    stacks = residual_stacks(function)
    dtypes = {stack: dtype_of(stack) for stack in stacks.values()}
    kept = {v: stack for v, stack in stacks.items() if dtypes[stack] is not None}
    return replace(function, body=_StackRewriter(kept, dtypes, axes).block(function.body)) if kept else function


class _StackRewriter:
    """Replaces each version of a list by an array and the number of its elements in use.

    Attributes:
        stacks: the stacks to replace, by the versions of their lists.
        dtypes, axes: the dtypes of their arrays, and the number of axes: 1 for numbers, 2 for vectors.
        now: the array and number of elements for each version.
        with_room: the stacks for which a loop around has made room.
    """

    def __init__(self, stacks: dict[Var, Stack], dtypes: dict[Stack, np.dtype], axes: int):
        self.stacks, self.dtypes, self.axes = stacks, dtypes, axes
        self.now: dict[Var, tuple[Var, Atom]] = {}
        self.with_room: set[Stack] = set()

    def pair(self, v: Var) -> tuple[Var, Var]:
        """Return new variables for a version of a list: the array and the number of elements."""
        t = Array(self.dtypes[self.stacks[v]], (*(Sym() for _ in range(self.axes)), *self.shape(v)))
        self.now[v] = Var(v.name, t, v.temp), Var(f"{v.name}_top", INT, True)
        return self.now[v]

    def shape(self, v: Var) -> tuple[int, ...]:
        """Return the shape of what is on a stack, if it is matrices of a known size."""
        return shape_of(self.stacks[v].elements[0]) or ()

    def block(self, block: Block) -> Block:
        outside = dict(self.now)
        made = Block(tuple(new for stmt in block.stmts for new in self.statement(stmt)), self.spread(block.results))
        self.now = outside  # the room that one arm of a branch makes is not that of the other
        return made

    def spread(self, atoms: tuple[Atom, ...], pair: Callable | None = None) -> tuple[Atom, ...]:
        """Return the atoms with the two variables for each version of a list in its place; `pair` makes new ones."""
        return tuple(b for a in atoms for b in ((pair or self.now.get)(a) if a in self.stacks else (a,)))

    def statement(self, stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        match op:
            case Build() if stmt.targets[0] in self.stacks:
                array, top = self.pair(stmt.targets[0])
                options = () if array.type.dtype == np.float64 else (("dtype", Const(array.type.dtype)),)
                shape = (0,) * self.axes + self.shape(stmt.targets[0])
                shape = Const(shape if shape[1:] else 0)
                return [self.like(stmt, array, Call(np.empty, (shape,), options)), self.like(stmt, top, Let(Const(0)))]
            case Append(base, value) if base in self.stacks:
                before, at = self.now[base]
                array, top = self.pair(stmt.targets[0])
                write = Update(before, (Sub(at),), value) if self.axes == 1 else Call(pushed, (before, at, value))
                return [self.like(stmt, array, write), self.like(stmt, top, Call(operator.add, (at, Const(1))))]
            case Pop(base) if base in self.stacks:
                array, at = self.now[base]
                top = Var(f"{stmt.targets[0].name}_top", INT, True)
                self.now[stmt.targets[0]] = array, top
                down = self.like(stmt, top, Call(operator.sub, (at, Const(1))))
                return [down, self.like(stmt, stmt.targets[1], Index(array, top))]
            case Let(Var() as value) if value in self.stacks:
                self.now[stmt.targets[0]] = self.now[value]
                return []
            case Loop():
                return self.loop(stmt)
            case _ if op.blocks:
                op = map_op(op, lambda a: a, self.block)
                return [replace(stmt, op=op, targets=self.spread(stmt.targets, self.pair))]
        return [stmt]

    def like(self, stmt: Stmt, target: Var, op: Op) -> Stmt:
        return Stmt((target,), op, stmt.origin, stmt.adjoint_of)

    def loop(self, stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        before, reserved_here = [], set()
        if isinstance(op.domain, Range):
            for init in op.inits:
                stack = self.stacks.get(init)
                if stack is None or stack in self.with_room or not any(stmt in place.loops for place in stack.pushes):
                    continue
                counted = room_for(stmt, stack)
                if self.axes == 2:  # the width of a row is known only at the first push
                    if counted is not None and any(init in place.stmt.targets for place in stack.builds):
                        before += self.rows(stmt, init, *counted)
                elif counted is not None:
                    reserved_here.add(stack)
                    before += self.room(stmt, init, *counted)
                elif count := self.pushes(op.body, stack):
                    before += self.room(stmt, init, *self.most(stmt, count))
        self.with_room |= reserved_here
        inits = self.spread(op.inits)
        params = self.spread(op.params, self.pair)
        domain = self.block(op.domain) if isinstance(op.domain, Block) else op.domain
        made = replace(op, domain=domain, params=params, inits=inits, body=self.block(op.body))
        self.with_room -= reserved_here
        return [*before, replace(stmt, op=made, targets=self.spread(stmt.targets, self.pair))]

    def room(self, stmt: Stmt, init: Var, counting: list[Stmt], n: Atom) -> list[Stmt]:
        """Return statements that make room in an array for all that a loop pushes on it, `n` numbers, which are counted first."""
        (array, top), build = self.now[init], Builder()
        build.origin, build.adjoint_of = stmt.origin, stmt.adjoint_of
        wider = build.emit(Call(reserved, (array, top, n)), array.type, array.name, array.temp)
        self.now[init] = wider, top
        return [*counting, *build.stmts]

    def rows(self, stmt: Stmt, init: Var, counting: list[Stmt], n: Atom) -> list[Stmt]:
        """Return statements that make an empty matrix of `n` rows, from which the first push learns the number of rows."""
        (array, top), build = self.now[init], Builder()
        build.origin, build.adjoint_of = stmt.origin, stmt.adjoint_of
        empty = build.emit(Call(np.empty, ((n, Const(0)),)), array.type, array.name, array.temp)
        self.now[init] = empty, top
        return [*counting, *build.stmts]

    def most(self, stmt: Stmt, count: int) -> tuple[list[Stmt], Atom]:
        """Return statements that compute how many numbers a loop pushes at most, if an iteration without inner loops pushes `count`."""
        domain, build = stmt.op.domain, Builder()
        build.origin, build.adjoint_of = stmt.origin, stmt.adjoint_of
        numbers = build.emit(Call(range, (domain.start, domain.stop, domain.step)), UNKNOWN, "iterations")
        n = build.emit(Call(len, (numbers,)), INT, "iterations")
        if count > 1:
            n = build.emit(Call(operator.mul, (n, Const(count))), INT, "n")
        return build.stmts, n

    def pushes(self, block: Block, stack: Stack) -> int:
        """Return the most numbers that one iteration, without inner loops, pushes on a stack."""
        count = sum(place.block is block for place in stack.pushes)
        arms = ((s.op.then, s.op.orelse) for s in block.stmts if isinstance(s.op, Branch))
        return count + sum(max(self.pushes(arm, stack) for arm in both) for both in arms)


def put(stmt: Stmt) -> list[Stmt]:
    """Return the statements for a push of a row outside fused loops, or a list of the statement if it is no push."""
    row = row_write(stmt)
    if row is None or row.mode is not None:
        return [stmt]
    build, target = Builder().at(stmt), stmt.targets[0]
    width = build.emit(Call(len, (row.value,)), INT, "width")
    wider = build.emit(Call(with_room, (row.base, row.key, width)), target.type, target.name, target.temp)
    return [*build.stmts, replace(stmt, op=Update(wider, (Sub(row.key),), row.value))]
