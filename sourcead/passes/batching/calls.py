"""Calls for several values at once, behind a new first axis: elementwise functions, products, reductions, changes of shape."""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Index, Operand, Var
from sourcead.ir.types import TupleT
from sourcead.ir.walk import map_operand
from sourcead.passes.batching.subscripts import ALL, Unbatchable, rank_of
from sourcead.primitives.result_types.elementwise import is_elementwise

MATMULS = (operator.matmul, np.matmul, np.dot)
REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod, np.amax, np.amin)
LIKE = (np.zeros_like, np.ones_like, np.empty_like)
COPIES = (np.copy, np.ndarray.copy, np.ascontiguousarray, np.conj, np.conjugate, np.real, np.imag)


class BatchedCalls:
    """The rules of `Batched` for calls."""

    def call(self, target: Var, op: Call) -> Var:
        fn, args, kwargs = op.fn, op.args, dict(op.kwargs)
        if isinstance(fn, Var) or any(isinstance(a, tuple) and self.is_batched(a) for a in args):
            raise Unbatchable
        if is_elementwise(fn) and not kwargs:
            rank = max(map(rank_of, args))
            return self.emit(target, replace(op, args=tuple(self.aligned(a, rank) for a in args)))
        if fn in MATMULS and len(args) == 2 and not kwargs:
            return self.product(target, *args)
        if fn is np.outer and len(args) == 2 and not kwargs and rank_of(args[0]) == rank_of(args[1]) == 1:
            a, b = (self.column(args[0]), self.row(args[1]))
            return self.emit(target, Call(np.multiply, (a, b)))
        if fn in REDUCTIONS and not kwargs.keys() - {"axis", "keepdims"} and len(args) == 1:
            return self.reduction(target, op, kwargs)
        if fn in LIKE and len(args) == 1 and not kwargs or fn in COPIES and len(args) == 1 and not kwargs:
            return self.emit(target, replace(op, args=(self.found[args[0]],)))
        if fn is np.ndarray.astype and len(args) == 2 and not kwargs and not self.is_batched(args[1]):
            return self.emit(target, replace(op, args=(self.found[args[0]], map_operand(args[1], self.unbatched))))
        if fn is np.transpose and not kwargs:
            return self.emit(target, Call(np.transpose, (self.found[args[0]], self.axes(args))))
        if fn in (np.broadcast_to, np.reshape) and len(args) == 2 and not kwargs and not self.is_batched(args[1]):
            return self.shaped(target, fn, *args)
        if fn is np.expand_dims and len(args) == 2 and is_int(args[1]) and not kwargs:
            return self.emit(target, Call(fn, (self.found[args[0]], Const(moved(args[1].value, rank_of(args[0]) + 1)))))
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
        """The left operand of an outer product."""
        return self.build.index(self.value(v), (ALL, ALL, Const(None)) if v in self.found else (ALL, Const(None)))

    def row(self, v: Atom) -> Atom:
        """The right operand of an outer product."""
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
            case tuple() if all(map(is_int, axis)):
                over = tuple(Const(moved(k.value, rank)) for k in axis)
            case _:
                raise Unbatchable
        kwargs = {**kwargs, "axis": over}
        return self.emit(target, replace(op, args=(self.found[x],), kwargs=tuple(kwargs.items())))

    def axes(self, args: tuple) -> tuple:
        rank = rank_of(args[0])
        if len(args) == 1:
            return tuple(Const(k) for k in (0, *range(rank, 0, -1)))
        if isinstance(args[1], tuple) and all(map(is_int, args[1])):
            return (Const(0), *(Const(k.value % rank + 1) for k in args[1]))
        raise Unbatchable

    def shaped(self, target: Var, fn, x: Atom, shape: Operand) -> Var:
        """`np.broadcast_to(x, shape)`, `np.reshape(x, shape)`."""
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


def is_int(atom: Operand) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int and not atom.live


def moved(axis: int, rank: int) -> int:
    """The number that an axis has behind the new first one."""
    if not -rank <= axis < rank:
        raise Unbatchable
    return axis % rank + 1
