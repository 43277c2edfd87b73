"""Rules for calls and subscripts on several values at once, along a new first axis; `x[i, 1:]` becomes `x[:, i, 1:]`."""

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Index, Operand, Slice, Var
from sourcead.ir.types import Array, ListT, Scalar, TupleT, rank
from sourcead.ir.walk import map_operand
from sourcead.primitives.table import record_of

ALL = Slice(None, None, None)


class Unbatchable(Exception):
    """An op of the block has no form over several values at once."""


class BatchedCalls:
    """The rules of `Batched` for calls."""

    def call(self, target: Var, op: Call) -> Var:
        fn, args, kwargs = op.fn, op.args, dict(op.kwargs)
        if isinstance(fn, Var) or any(isinstance(a, tuple) and self.is_batched(a) for a in args):
            raise Unbatchable
        known = record_of(fn)
        if known.is_elementwise(len(args)) and not kwargs:
            rank = max(map(rank_of, args))
            return self.emit(target, replace(op, args=tuple(self.aligned(a, rank) for a in args)))
        if known.batched == "reduction" and not kwargs.keys() - {"axis", "keepdims"} and len(args) == 1:
            return self.reduction(target, op, kwargs)
        if kwargs:
            raise Unbatchable
        match known.batched, args:
            case "product", (a, b):
                return self.product(target, a, b)
            case "outer", (a, b) if rank_of(a) == rank_of(b) == 1:
                return self.emit(target, Call(np.multiply, (self.column(a), self.row(b))))
            case "like", (x,):
                return self.emit(target, replace(op, args=(self.found[x],)))
            case "astype", (x, dtype) if not self.is_batched(dtype):
                return self.emit(target, replace(op, args=(self.found[x], map_operand(dtype, self.unbatched))))
            case "transpose", (x, *_):
                return self.emit(target, Call(np.transpose, (self.found[x], self.axes(args))))
            case "shaped", (x, shape) if not self.is_batched(shape):
                return self.shaped(target, fn, x, shape)
            case "expand_dims", (x, axis) if number(axis) is not None:
                return self.emit(target, Call(fn, (self.found[x], Const(moved(axis.value, rank_of(x) + 1)))))
        raise Unbatchable

    def product(self, target: Var, a: Atom, b: Atom) -> Var:
        ranks = rank_of(a), rank_of(b)
        if max(ranks) > 2 or min(ranks) < 1:
            raise Unbatchable
        x, y = self.value(a), self.value(b)
        if a in self.found and b in self.found:
            if ranks == (1, 1):
                return self.emit(target, Call(np.sum, (self.build.call(np.multiply, x, y),), (("axis", Const(1)),)))
            if ranks == (2, 1):
                return self.drop(target, self.build.call(np.matmul, x, self.build.index(y, (ALL, ALL, Const(None)))), (ALL, ALL, Const(0)))
            if ranks == (1, 2):
                return self.drop(target, self.build.call(np.matmul, self.build.index(x, (ALL, Const(None), ALL)), y), (ALL, Const(0), ALL))
        elif b in self.found and ranks == (2, 1):
            return self.emit(target, Call(operator.matmul, (y, self.build.call(np.transpose, x))))
        elif b in self.found and ranks == (1, 1):
            x, y = y, x
        return self.emit(target, Call(operator.matmul, (x, y)))

    def drop(self, target: Var, found: Var, key: tuple) -> Var:
        return self.emit(target, Index(found, key))

    def column(self, v: Atom) -> Atom:
        """Return the left operand of an outer product."""
        return self.build.index(self.value(v), (ALL, ALL, Const(None)) if v in self.found else (ALL, Const(None)))

    def row(self, v: Atom) -> Atom:
        """Return the right operand of an outer product."""
        return self.build.index(self.found[v], (ALL, Const(None), ALL)) if v in self.found else self.value(v)

    def reduction(self, target: Var, op: Call, kwargs: dict) -> Var:
        (x,), rank = op.args, rank_of(op.args[0])
        axis = kwargs.get("axis", Const(None))
        keeps = kwargs.get("keepdims", Const(False))
        if not isinstance(keeps, Const) or isinstance(axis, Var):
            raise Unbatchable
        if rank == 0:
            return self.found[x]
        match axis:
            case Const(None):
                over: Operand = tuple(Const(k + 1) for k in range(rank)) if rank > 1 else Const(1)
            case Const(int(k)):
                over = Const(moved(k, rank))
            case tuple() if all(number(k) is not None for k in axis):
                over = tuple(Const(moved(k.value, rank)) for k in axis)
            case _:
                raise Unbatchable
        kwargs = {**kwargs, "axis": over}
        return self.emit(target, replace(op, args=(self.found[x],), kwargs=tuple(kwargs.items())))

    def axes(self, args: tuple) -> tuple:
        rank = rank_of(args[0])
        if len(args) == 1:
            return tuple(Const(k) for k in (0, *range(rank, 0, -1)))
        if isinstance(args[1], tuple) and all(number(k) is not None for k in args[1]):
            return (Const(0), *(Const(k.value % rank + 1) for k in args[1]))
        raise Unbatchable

    def shaped(self, target: Var, fn, x: Atom, shape: Operand) -> Var:
        """Return the batched form of `np.broadcast_to(x, shape)` or `np.reshape(x, shape)`."""
        rank = rank_of(target)
        own = self.aligned(x, rank) if fn is np.broadcast_to else self.found[x]
        if isinstance(shape, tuple):
            lengths: Operand = (self.size, *map(self.unbatched, shape))
        elif isinstance(atom_type(shape), TupleT):
            first = self.build.emit(Build("tuple", (self.size,)), TupleT((atom_type(self.size),)), "lengths")
            t = TupleT((atom_type(self.size), *atom_type(shape).items))
            lengths = self.build.call(operator.add, first, self.unbatched(shape), type=t, name="lengths")
        else:
            lengths = (self.size, self.unbatched(shape))
        return self.written(target, Call(fn, (own, lengths)))


def moved(axis: int, rank: int) -> int:
    """Return the number that an axis has once the new first axis stands before it."""
    if not -rank <= axis < rank:
        raise Unbatchable
    return axis % rank + 1


def behind(key: Operand, renamed: Callable[[Atom], Atom]) -> tuple:
    """Return the subscript of a batched array that takes the same part of each value.

    NumPy puts the axes of the arrays in a subscript in their place if the arrays, and numbers among them, stand side by side, and else
    first, which would be before the new axis.
    """
    parts = key if isinstance(key, tuple) else (key,)
    kinds = ["slice" if isinstance(part, Slice) else kind_of(part) for part in parts]
    if "array" in kinds:
        picks = [k for k, kind in enumerate(kinds) if kind in ("array", "number")]
        if picks[-1] - picks[0] + 1 > len(picks):
            raise Unbatchable
    return (ALL, *(map_operand(part, renamed) for part in parts))


def kind_of(part: Operand) -> str:
    """Return how NumPy treats a part of a subscript that is not a slice: 'number', 'array' or 'axes'; raise `Unbatchable` if unknown."""
    if isinstance(part, tuple):
        raise Unbatchable
    if isinstance(part, Const) and (part.value is None or part.value is ...):
        return "axes"
    match atom_type(part):
        case Scalar("int"):
            return "number"
        case Scalar("bool") | ListT(Scalar("int" | "bool")):
            return "array"
        case Array(dtype) if dtype is not None and np.dtype(dtype).kind in "iub":
            return "array"
    raise Unbatchable


def rank_of(operand: Operand) -> int:
    """Return the number of axes of an operand; raise `Unbatchable` if it is unknown."""
    if isinstance(operand, (tuple, Slice)) or operand is None:
        raise Unbatchable
    axes = rank(atom_type(operand))
    if axes is None:
        raise Unbatchable
    return axes
