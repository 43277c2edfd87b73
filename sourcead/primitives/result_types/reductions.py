"""Types of reductions, which remove the reduced axes or keep them with length 1."""

from __future__ import annotations

import numpy as np

from sourcead.ir.types import UNKNOWN, Array, Type
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import sample
from sourcead.primitives.result_types.operands import Arg, Impossible, arrange, axes_of, const, is_none, need_dims, only

_REDUCTIONS = {
    getattr(np, name): "a axis dtype out keepdims"
    for name in "sum prod mean max min amax amin var std ptp any all nansum nanprod nanmean nanmax nanmin nanvar nanstd".split()
} | {
    np.argmax: "a axis out keepdims", np.argmin: "a axis out keepdims", np.nanargmax: "a axis out keepdims",
    np.nanargmin: "a axis out keepdims", np.median: "a axis out overwrite_input keepdims",
    np.nanmedian: "a axis out overwrite_input keepdims", np.average: "a axis weights returned keepdims",
    np.count_nonzero: "a axis keepdims", np.linalg.norm: "a ord axis keepdims",
}  # fmt: skip


@infers(*_REDUCTIONS)
def _reduction(fn, args, kwargs) -> Type:
    names = _REDUCTIONS[fn]
    if fn in (np.max, np.min, np.amax, np.amin, np.ptp, np.any, np.all):
        names = names.replace("dtype ", "")
    given = arrange(names, args, {"a" if k in ("x",) else k: v for k, v in kwargs.items()})
    if "out" in given and not is_none(given["out"]) or "returned" in given:
        raise Impossible
    return _reduced(fn, args, kwargs, given, None)


@infers(
    np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce, np.logical_and.reduce, np.logical_or.reduce
)
def _ufunc_reduce(fn, args, kwargs) -> Type:
    given = arrange("a axis dtype out keepdims initial where", args, {"a" if k == "array" else k: v for k, v in kwargs.items()})
    only(given, "a axis dtype keepdims initial")
    return _reduced(fn, args, kwargs, given, 0)


def _reduced(fn, args, kwargs, given: dict[str, Arg], default_axis) -> Type:
    """Return the type of a reduction of `given["a"]` along `given["axis"]`."""
    a, axis = given["a"], given.get("axis")
    keep = bool(const(given.get("keepdims"), False))
    if isinstance(a.type, Array) and a.type.dtype is None:
        if a.type.dims is None:
            raise Impossible
        dims = without_axes(a.type.dims, axes_of(axis, len(a.type.dims), default_axis), keep)
        return Array(None, dims) if dims else UNKNOWN
    if isinstance(a.type, Array) and a.type.dims is None:
        if keep or const(axis, default_axis) is not None:
            raise Impossible
        return sample(fn, args, kwargs, rank_if_unknown=1)
    dims = need_dims(a)
    dims = without_axes(dims, axes_of(axis, len(dims), default_axis), keep)
    result = sample(fn, args, kwargs)
    if isinstance(result, Array):
        if len(result.dims) != len(dims):
            raise Impossible
        return Array(result.dtype, dims)
    return result


def without_axes(dims, axes, keep) -> tuple:
    gone = range(len(dims)) if axes is None else axes
    return tuple(1 if i in gone else d for i, d in enumerate(dims) if keep or i not in gone)
