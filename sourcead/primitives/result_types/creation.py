"""Types of arrays that are made from a shape."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import Array, Type
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.operands import Arg, arrange, array_type, is_none, only, shape_dims


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
