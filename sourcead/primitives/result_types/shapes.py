"""Types of arrays with the same elements in another shape or with their axes in another order."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import UNKNOWN, Array, Sym, Type, anydim
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import array_dtype
from sourcead.primitives.result_types.dims import not_one, product_of_dims
from sourcead.primitives.result_types.operands import (
    Arg, Impossible, arrange, array_type, axes_of, const, need_dims, only, shape_dims
)


@infers(np.reshape)
def _reshape(fn, args, kwargs) -> Type:
    given = arrange("a shape order", args, {"shape" if k == "newshape" else k: v for k, v in kwargs.items()})
    only(given, "a shape order")
    source = given["a"].type
    dims = list(shape_dims(given["shape"]))
    if -1 in dims:
        i = dims.index(-1)
        others = [d for d in dims[:i] + dims[i + 1 :] if not (isinstance(d, int) and d == 1)]
        whole = getattr(source, "dims", None)
        dims[i] = anydim()
        if whole is not None:
            rest = [d for d in whole if not (isinstance(d, int) and d == 1)]
            for d in others:
                if not (isinstance(d, int) and d == 0) and d in rest:
                    rest.remove(d)
                else:
                    rest = None
                    break
            if rest is not None and not any(isinstance(d, Sym) for d in others):
                dims[i] = product_of_dims(rest)
    return Array(source.dtype if isinstance(source, Array) else array_type(source).dtype, tuple(dims))


@infers(np.ravel, np.ndarray.flatten)
def _ravel(fn, args, kwargs) -> Type:
    source = args[0].type
    if isinstance(source, Array) and source.dims is None:
        return Array(source.dtype, (anydim(),))
    t = array_type(source)
    return Array(array_dtype(args[0]), (product_of_dims(t.dims),))


@infers(np.transpose, np.permute_dims)
def _transpose(fn, args, kwargs) -> Type:
    given = arrange("a axes", args, kwargs)
    only(given, "a axes")
    source, axes = given["a"].type, const(given.get("axes"))
    if isinstance(source, Array) and source.dims is None:
        return Array(source.dtype, None if axes is None else tuple(anydim() for _ in axes))
    t = array_type(source)
    order = range(len(t.dims))[::-1] if axes is None else axes_of(Arg(UNKNOWN, tuple(axes)), len(t.dims))
    if len(order) != len(t.dims):
        raise Impossible
    return Array(array_dtype(given["a"]), tuple(t.dims[i] for i in order))


@infers(np.swapaxes, np.moveaxis, np.rollaxis)
def _moved(fn, args, kwargs) -> Type:
    source = args[0].type
    if not isinstance(source, Array):
        raise Impossible
    rest = [const(a) for a in args[1:]] if source.dims is not None else None
    if rest is None:
        return source if source.dims is None else UNKNOWN
    named = {k: const(v) for k, v in kwargs.items()}
    places = fn(np.empty((0,) * len(source.dims)), *rest, **named)  # checks the axes
    marks = fn(np.empty(tuple(range(2, 2 + len(source.dims)))), *rest, **named) if len(source.dims) <= 6 else None
    if marks is None or places.ndim != len(source.dims):
        raise Impossible
    return Array(source.dtype, tuple(source.dims[n - 2] for n in marks.shape))


@infers(np.squeeze)
def _squeeze(fn, args, kwargs) -> Type:
    given = arrange("a axis", args, kwargs)
    source = given["a"].type
    if not isinstance(source, Array) or source.dims is None:
        raise Impossible
    axes = axes_of(given.get("axis"), len(source.dims))
    if axes is None:
        if any(isinstance(d, Sym) and not d.many for d in source.dims):
            return Array(source.dtype, None) if source.dtype is not None else UNKNOWN
        return Array(source.dtype, tuple(d for d in source.dims if not (isinstance(d, int) and d == 1)))
    return Array(source.dtype, tuple(d for i, d in enumerate(source.dims) if i not in axes))


@infers(np.expand_dims)
def _expand_dims(fn, args, kwargs) -> Type:
    given = arrange("a axis", args, kwargs)
    t = given["a"].type
    if isinstance(t, Array) and t.dims is None:
        return t
    t = array_type(t)
    axis = const(given["axis"])
    count = len(t.dims) + (len(axis) if isinstance(axis, (tuple, list)) else 1)
    axes = axes_of(given["axis"], count)
    old = iter(t.dims)
    return Array(array_dtype(given["a"]), tuple(1 if i in axes else next(old) for i in range(count)))


@infers(np.broadcast_to)
def _broadcast_to(fn, args, kwargs) -> Type:
    given = arrange("array shape subok", args, kwargs)
    only(given, "array shape")
    t = given["array"].type
    dtype = t.dtype if isinstance(t, Array) else array_dtype(given["array"])
    try:
        dims = shape_dims(given["shape"])
    except Impossible:
        return Array(dtype, None)
    old = t.dims if isinstance(t, Array) else ()
    if old is not None:
        if len(old) > len(dims):
            raise Impossible
        lead = len(dims) - len(old)  # a dim not known to be 1 says what an unknown one is: they are equal
        dims = dims[:lead] + tuple(
            o if isinstance(d, Sym) and not d.many and not_one(o) else d for o, d in zip(old, dims[lead:])
        )
    return Array(dtype, dims)


@infers(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def _atleast(fn, args, kwargs) -> Type:
    if len(args) != 1 or kwargs:
        raise Impossible
    dims = need_dims(args[0])
    sizes = tuple(range(2, 2 + len(dims)))
    shape = fn(np.empty(sizes)).shape
    return Array(array_dtype(args[0]), tuple(1 if n == 1 else dims[n - 2] for n in shape))
