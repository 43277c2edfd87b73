"""Types of arrays whose shape is an argument, and of those that are longer or shorter along an axis."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import Array, Sym, Type, anydim
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import array_dtype, by_example
from sourcead.primitives.result_types.dims import not_one, product_of_dims
from sourcead.primitives.result_types.operands import (
    Impossible, arrange, array_type, axes_of, need_dims, only, shape_dims
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


@infers(np.repeat, np.delete, np.insert)
def _along_axis(fn, args, kwargs) -> Type:
    """Return the type of an array in which all axes but one keep their dims."""
    result = by_example(fn, args, kwargs)
    names = {np.repeat: "a repeats axis", np.delete: "a obj axis", np.insert: "a obj values axis"}[fn]
    given = arrange(names, args, {"a" if k == "arr" else k: v for k, v in kwargs.items()})
    dims = need_dims(given["a"])
    if not isinstance(result, Array) or len(result.dims) != len(dims):
        return result
    axes = axes_of(given.get("axis"), len(dims))
    if axes is None:
        return result
    return Array(result.dtype, tuple(anydim() if i in axes else d for i, d in enumerate(dims)))
