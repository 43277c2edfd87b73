"""Types of the results of the helpers that generated text calls, `sourcead.runtime`."""

from __future__ import annotations

import numpy as np

from sourcead import runtime
from sourcead.analysis.examples import by_example
from sourcead.analysis.handlers import infers
from sourcead.analysis.infer_index import infer_index
from sourcead.analysis.operands import Arg, Impossible, array_type, axes_of
from sourcead.ir.types import ANY_DTYPE, FLOAT, INT, UNKNOWN, Array, DictT, ListT, Scalar, TupleT, Type, join, list_type


def cotangent_type(t: Type) -> Type:
    """The type of a cotangent of a value of this type."""
    match t:
        case Scalar(kind, dtype):
            if kind in ("float", "complex"):
                return t
            if dtype is None:
                return FLOAT
            return Scalar("float", ANY_DTYPE if dtype == ANY_DTYPE else np.dtype(float))
        case Array(dtype, dims):
            return t if dtype is None or dtype.kind in "fc" else Array(np.dtype(float), dims)
        case TupleT(items):
            return TupleT(tuple(map(cotangent_type, items)))
        case ListT(item, items):
            return ListT(cotangent_type(item), None if items is None else tuple(map(cotangent_type, items)))
        case DictT(items):
            return DictT(tuple((k, cotangent_type(v)) for k, v in items))
    return UNKNOWN


@infers(runtime.zeros_like)
def _zeros_like(fn, args, kwargs) -> Type:
    return cotangent_type(args[0].type)


@infers(runtime.unbroadcast)
def _unbroadcast(fn, args, kwargs) -> Type:
    return cotangent_type(args[1].type)


@infers(runtime.scatter, runtime.assigned_cotangent)
def _like_third(fn, args, kwargs) -> Type:
    return cotangent_type(args[2].type)


@infers(runtime.copy, runtime.index_add)
def _like_first(fn, args, kwargs) -> Type:
    return args[0].type


@infers(runtime.add)
def _add(fn, args, kwargs) -> Type:
    a, b = args[0].type, args[1].type
    return a if a == b else join(a, b)


# which argument's shape the result has; its dtype is found by example
_SHAPED_LIKE = {
    runtime.gather_cotangent: 2, runtime.pad_cotangent: 1, runtime.tile_cotangent: 1, runtime.repeat_cotangent: 1,
    runtime.take_cotangent: 1, runtime.take_along_cotangent: 1, runtime.sort_cotangent: 1, runtime.cumprod_cotangent: 1,
    runtime.gradient_cotangent: 1, runtime.running_winner_cotangent: 2, runtime.svd_cotangent: 2, runtime.qr_cotangent: 2,
    runtime.eigh_cotangent: 3, runtime.cholesky_cotangent: 1, runtime.matrix_power_cotangent: 1, runtime.cofactors: 0,
    runtime.vector_norm_slope: 0, runtime.matrix_norm_slope: 0, runtime.product_of_others: 0, runtime.middle_shares: 0,
}  # fmt: skip


@infers(*_SHAPED_LIKE)
def _shaped_like(fn, args, kwargs) -> Type:
    t = args[_SHAPED_LIKE[fn]].type
    if isinstance(t, Scalar):
        return UNKNOWN
    dims = array_type(t).dims
    if not dims:
        return UNKNOWN
    try:
        found = by_example(fn, args, kwargs)
    except Impossible:
        found = UNKNOWN
    return Array(found.dtype if isinstance(found, Array) else None, dims)


@infers(runtime.tensordot_cotangents, runtime.dot_cotangents, runtime.kron_cotangents)
def _pair(fn, args, kwargs) -> Type:
    found = by_example(fn, args, kwargs)
    shapes = (args[1].type, args[2].type)
    if not isinstance(found, TupleT) or not all(isinstance(t, Array) and t.dims for t in shapes):
        return found
    return TupleT(tuple(Array(f.dtype, t.dims) if isinstance(f, Array) else f for f, t in zip(found.items, shapes)))


@infers(runtime.like_sequence)
def _like_sequence(fn, args, kwargs) -> Type:
    return _structured(args[0].type, args[1].type)


def _structured(d: Type, x: Type) -> Type:
    match x:
        case TupleT(items):
            return TupleT(tuple(_structured(infer_index(d, Arg(INT, i)), item) for i, item in enumerate(items)))
        case ListT(_, items) if items is not None:
            return list_type(tuple(_structured(infer_index(d, Arg(INT, i)), item) for i, item in enumerate(items)))
        case ListT(item, None):
            return ListT(_structured(infer_index(d, Arg(INT)), item))
        case Array() | Scalar():
            return d
    return UNKNOWN


@infers(runtime.split_like, runtime.like_arrays)
def _split_like(fn, args, kwargs) -> Type:
    d = args[0].type
    if isinstance(d, ListT):
        d = d.item
    dtype = d.dtype if isinstance(d, (Array, Scalar)) else None
    match args[1].type:
        case TupleT(items) | ListT(_, items) if items is not None:
            parts = tuple(Array(dtype, array_type(t).dims) for t in items)
            return TupleT(parts) if isinstance(args[1].type, TupleT) else list_type(parts)
        case ListT(Array(_, dims), None):
            return ListT(Array(dtype, dims))
        case Array(_, dims):
            return Array(dtype, dims)
    return UNKNOWN


@infers(runtime.unstack)
def _unstack(fn, args, kwargs) -> Type:
    d = args[0].type
    if not isinstance(d, Array) or not d.dims:
        return UNKNOWN
    (axis,) = axes_of(args[1] if len(args) > 1 else None, len(d.dims), 0)
    rest = d.dims[:axis] + d.dims[axis + 1 :]
    if not rest and (d.dtype is None or d.dtype.kind not in "fc"):
        return UNKNOWN
    item = Array(d.dtype, rest) if rest else infer_index(d, Arg(INT))
    count = d.dims[axis]
    return list_type((item,) * count) if isinstance(count, int) else ListT(item)


@infers(runtime.axis_size)
def _axis_size(fn, args, kwargs) -> Type:
    return INT
