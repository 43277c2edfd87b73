"""Types of functions whose result has the shape of their first argument."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import Array, Scalar, TupleT, Type, anydim
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import by_example, sample
from sourcead.primitives.result_types.dims import product_of_dims
from sourcead.primitives.result_types.operands import Impossible, array_type, const, need_dims


@infers(
    np.cumsum, np.cumprod, np.sort, np.argsort, np.flip, np.fliplr, np.flipud, np.roll, np.triu, np.tril, np.zeros_like,
    np.ones_like, np.empty_like, np.full_like, np.copy, np.nancumsum, np.nancumprod, np.partition, np.ascontiguousarray,
    np.fft.fftshift, np.fft.ifftshift, np.add.accumulate, np.multiply.accumulate, np.maximum.accumulate, np.minimum.accumulate,
    np.ndarray.copy, np.ndarray.astype, np.take_along_axis, np.gradient, np.asfortranarray, np.unwrap,
)  # fmt: skip
def _same_shape(fn, args, kwargs) -> Type:
    if "shape" in kwargs or "out" in kwargs or "subok" in kwargs:
        raise Impossible
    first = args[0] if args else next(iter(kwargs.values()))
    if isinstance(first.type, Array) and fn in _LIKES and (first.type.dims is None or first.type.dtype is None):
        return Array(_like_dtype(fn, args, kwargs, first.type.dtype), first.type.dims)
    if isinstance(first.type, Array) and first.type.dims is None:
        if fn in (
            np.cumsum,
            np.cumprod,
            np.nancumsum,
            np.nancumprod,
            np.sort,
            np.argsort,
            np.partition,
            np.take_along_axis,
            np.gradient,
        ):
            raise Impossible
        return Array(sample(fn, args, kwargs, rank_if_unknown=2).dtype, None)
    if fn is np.empty_like:
        t = array_type(first.type)
        return Array(_like_dtype(fn, args, kwargs, t.dtype), t.dims)
    result = sample(fn, args, kwargs)
    if not isinstance(result, Array):
        found = result if isinstance(result, Scalar) else by_example(fn, args, kwargs)
        slopes = isinstance(found, TupleT) and fn is np.gradient
        return TupleT(tuple(Array(t.dtype, need_dims(first)) for t in found.items)) if slopes else found
    if fn in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod, np.sort, np.argsort, np.partition):
        axis = (args[1] if len(args) > 1 else kwargs.get("axis")) if fn not in (np.partition,) else kwargs.get("axis")
        flat = fn in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod)
        if const(axis, None if flat else -1) is None:
            return Array(result.dtype, (product_of_dims(need_dims(first)),))
    if fn is np.take_along_axis:
        return Array(result.dtype, tuple(anydim() for _ in result.dims))
    dims = need_dims(first)
    if len(dims) != len(result.dims):
        return Array(result.dtype, tuple(anydim() for _ in result.dims))
    return Array(result.dtype, dims)


_LIKES = {np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.ndarray.copy, np.ndarray.astype}


def _like_dtype(fn, args, kwargs, dtype):
    position = {np.full_like: 2, np.ndarray.astype: 1}.get(fn, 1)
    given = kwargs.get("dtype") or (args[position] if len(args) > position else None)
    if fn in (np.copy, np.ndarray.copy) or given is None or (given.known and given.value is None):
        return dtype
    return np.dtype(const(given)) if given.known else None
