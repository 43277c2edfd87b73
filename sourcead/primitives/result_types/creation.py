"""Types of new arrays that are made from a shape or in the shape of another array."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.operands import (
    Arg, Impossible, arrange, array_type, const, is_none, only, shape_dims
)


@infers(np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.ndarray.copy, np.ndarray.astype)
def _like(fn, args, kwargs) -> Type:
    if set(kwargs) & {"shape", "out", "subok"}:
        raise Impossible
    first = args[0] if args else next(iter(kwargs.values()))
    t = first.type if isinstance(first.type, Array) else array_type(first.type)
    position = 2 if fn is np.full_like else 1
    given = kwargs.get("dtype") or (args[position] if len(args) > position else None)
    if fn in (np.copy, np.ndarray.copy) or given is None or is_none(given):
        return t
    return Array(np.dtype(const(given)) if given.known else None, t.dims)


@infers(np.zeros, np.ones, np.empty, np.ndarray)
def _fresh(fn, args, kwargs) -> Type:
    given = arrange("shape dtype buffer offset strides order" if fn is np.ndarray else "shape dtype order", args, kwargs)
    only(given, "shape dtype order")
    return Array(_dtype(given.get("dtype"), float), shape_dims(given["shape"]))


@infers(np.full)
def _full(fn, args, kwargs) -> Type:
    given = arrange("shape fill_value dtype order", args, kwargs)
    only(given, "shape fill_value dtype order")
    dtype = given.get("dtype")
    if dtype is None or is_none(dtype):
        kept = array_type(given["fill_value"].type).dtype
        found = sample(np.array, [given["fill_value"]], {}).dtype if kept is None else kept
    else:
        found = _dtype(dtype, float)
    return Array(found, shape_dims(given["shape"]))


def _dtype(arg: Arg | None, default):
    """Return the dtype that an argument names, `default` if it is missing, or None if it is not known."""
    if arg is None or is_none(arg):
        return np.dtype(default)
    return np.dtype(arg.value) if arg.known else None


@infers(np.eye, np.identity)
def _eye(fn, args, kwargs) -> Type:
    given = arrange(
        "N M k dtype" if fn is np.eye else "N dtype", args, {"N" if k == "n" else k: v for k, v in kwargs.items()}
    )
    only(given, "N M k dtype")
    (n,) = shape_dims(given["N"])
    m = given.get("M")
    return Array(_dtype(given.get("dtype"), float), (n, n if m is None or is_none(m) else shape_dims(m)[0]))


@infers(np.indices)
def _indices(fn, args, kwargs) -> Type:
    given = arrange("dimensions dtype", args, kwargs)
    dims = shape_dims(given["dimensions"])
    return Array(_dtype(given.get("dtype"), int), (len(dims), *dims))
