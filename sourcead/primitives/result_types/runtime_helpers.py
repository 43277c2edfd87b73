"""Types of the results of the helpers that generated text calls, `sourcead.runtime`."""

from __future__ import annotations

import numpy as np

from sourcead import runtime
from sourcead.ir.types import (
    ANY_DTYPE, FLOAT, UNKNOWN, Array, DictT, ListT, Scalar, StructT, TupleT, Type, anydim, join, map_type
)
from sourcead.primitives.registry import enter, infers
from sourcead.primitives.result_types.by_example import by_example
from sourcead.primitives.result_types.operands import Impossible, array_type
from sourcead.runtime import matrices as runtime_matrices, tangents as runtime_tangents


def cotangent_type(t: Type) -> Type:
    """Return the type of the cotangent of a value of this type."""
    match t:
        case Scalar(kind, dtype):
            if kind in ("float", "complex"):
                return t
            if dtype is None:
                return FLOAT
            return Scalar("float", ANY_DTYPE if dtype == ANY_DTYPE else np.dtype(float))
        case Array(dtype, dims):
            return t if dtype is None or dtype.kind in "fc" else Array(np.dtype(float), dims)
        case TupleT() | ListT() | DictT() | StructT():
            return map_type(t, cotangent_type)
    return UNKNOWN


_COTANGENT_OF = (
    (runtime.zeros_like,),
    (runtime.unbroadcast, runtime.like_sequence, runtime.split_like, runtime.like_arrays, runtime.unstack),
    (runtime.scatter, runtime.assigned_cotangent),
)
"""The helpers whose result has the type of the cotangent of their argument at the row's position."""

for _position, _functions in enumerate(_COTANGENT_OF):
    enter(*_functions, result=lambda fn, args, kwargs, position=_position: cotangent_type(args[position].type))
enter(runtime.copy, runtime.index_add, result=lambda fn, args, kwargs: args[0].type)


@infers(runtime.join_rows)
def _join_rows(fn, args, kwargs) -> Type:
    t = args[0].type
    return Array(t.dtype, (anydim(), t.dims[-1])) if isinstance(t, Array) and t.dims else UNKNOWN


@infers(runtime.split_rows)
def _split_rows(fn, args, kwargs) -> Type:
    rows, x = args[0].type, args[1].type
    known = isinstance(rows, Array) and isinstance(x, Array) and rows.dims and x.dims
    return Array(rows.dtype, (*x.dims[:-1], rows.dims[-1])) if known else UNKNOWN


@infers(runtime.add)
def _add(fn, args, kwargs) -> Type:
    a, b = args[0].type, args[1].type
    return a if a == b else join(a, b)


# the number of the argument whose shape the result has; its dtype is found by example
_SHAPED_LIKE = {
    runtime.gather_cotangent: 2, runtime.pad_cotangent: 1, runtime.tile_cotangent: 1, runtime.repeat_cotangent: 1,
    runtime.take_cotangent: 1, runtime.take_along_cotangent: 1, runtime.sort_cotangent: 1, runtime.cumprod_cotangent: 1,
    runtime.gradient_cotangent: 1, runtime.running_winner_cotangent: 2, runtime_matrices.svd_cotangent: 2, runtime_matrices.qr_cotangent: 2,
    runtime_matrices.eigh_cotangent: 3, runtime_matrices.eig_cotangent: 4, runtime_matrices.pinv_cotangent: 2,
    runtime_matrices.cholesky_cotangent: 1, runtime.matrix_power_cotangent: 1, runtime.cofactors: 0,
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
    double = all(a.type.dtype == np.float64 if isinstance(a.type, Array) else isinstance(a.type, Scalar) for a in args)
    return Array(found.dtype if isinstance(found, Array) else np.dtype(float) if double else None, dims)


@infers(
    runtime.tensordot_cotangents, runtime.dot_cotangents, runtime.kron_cotangents, runtime.convolve_cotangents,
    runtime_matrices.planar_cross_cotangents,
)  # fmt: skip
def _pair(fn, args, kwargs) -> Type:
    d, *factors = (a.type for a in args[:3])
    if not all(isinstance(t, Array) and t.dims for t in factors):
        return by_example(fn, args, kwargs)
    dtypes = {t.dtype for t in (d, *factors) if isinstance(t, Array)}
    dtype = dtypes.pop() if len(dtypes) == 1 and isinstance(d, Array) else None
    return TupleT(tuple(Array(dtype, t.dims) for t in factors))


@infers(runtime.einsum_cotangents, runtime_tangents.einsum_tangents, runtime.unbroadcast_each)
def _each_like_its_operand(fn, args, kwargs) -> Type:
    t = cotangent_type(args[{runtime.einsum_cotangents: 2, runtime_tangents.einsum_tangents: 3}.get(fn, 1)].type)
    return TupleT(t.items) if isinstance(t, (TupleT, ListT)) and t.items is not None else UNKNOWN


@infers(runtime.meshgrid_cotangents)
def _each_of_a_grid(fn, args, kwargs) -> Type:
    ds, xs = args[0].type, args[1].type
    if not isinstance(xs, TupleT) or not all(isinstance(x, Array) for x in xs.items):
        return UNKNOWN
    found = getattr(ds, "items", None) or [UNKNOWN] * len(xs.items)
    return TupleT(tuple(Array(getattr(d, "dtype", None), x.dims) for d, x in zip(found, xs.items)))


@infers(runtime.diff_cotangent)
def _undoes_diff(fn, args, kwargs) -> Type:
    t = args[0].type
    return Array(t.dtype, tuple(anydim() for _ in t.dims)) if isinstance(t, Array) and t.dims else by_example(fn, args, kwargs)


@infers(runtime_matrices.triangular_cotangents, runtime_matrices.banded_cotangents)
def _matrix_and_right_side(fn, args, kwargs) -> Type:
    return TupleT((args[3 if fn is runtime_matrices.triangular_cotangents else 4].type, args[1].type))


@infers(runtime_matrices.frechet, runtime_matrices.inverse_frechet)
def _like_matrix(fn, args, kwargs) -> Type:
    return args[1].type if array_type(args[1].type) == array_type(args[2].type) else UNKNOWN
