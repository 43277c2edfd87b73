"""Types of functions that pick, repeat or add elements along axes, and of transforms along axes."""

from __future__ import annotations

import numpy as np

from sourcead.ir.type_of import type_of
from sourcead.ir.types import UNKNOWN, Array, TupleT, Type, anydim
from sourcead.primitives.registry import infers
from sourcead.primitives.result_types.by_example import array_dtype, by_example
from sourcead.primitives.result_types.elementwise import elementwise
from sourcead.primitives.result_types.operands import Impossible, arrange, axes_of, const, need_dims, only


@infers(np.where)
def _where(fn, args, kwargs) -> Type:
    if len(args) != 3:
        return by_example(fn, args, kwargs)
    return elementwise(fn, args, kwargs)


@infers(np.take)
def _take(fn, args, kwargs) -> Type:
    given = arrange("a indices axis out mode", args, kwargs)
    only(given, "a indices axis mode")
    dims, picked = need_dims(given["a"]), need_dims(given["indices"])
    axes = axes_of(given.get("axis"), len(dims))
    if given["indices"].type == UNKNOWN or (axes is not None and len(axes) != 1):
        raise Impossible
    dims = picked if axes is None else (*dims[: axes[0]], *picked, *dims[axes[0] + 1 :])
    zero = np.zeros((1,) * len(picked), int) if picked else 0
    source = np.ones((1,) * len(need_dims(given["a"])), array_dtype(given["a"]))
    result = type_of(np.take(source, zero, axis=None if axes is None else axes[0]))
    return Array(result.dtype, dims) if isinstance(result, Array) else result


@infers(np.diag)
def _diag(fn, args, kwargs) -> Type:
    result = by_example(fn, args, kwargs)
    dims = need_dims(args[0])
    if len(dims) == 1 and len(args) == 1 and not kwargs and isinstance(result, Array):
        return Array(result.dtype, dims * 2)
    return result


@infers(np.repeat, np.diff, np.delete, np.insert)
def _along_axis(fn, args, kwargs) -> Type:
    """Return the type of an array in which all axes but one keep their dims."""
    result = by_example(fn, args, kwargs)
    names = {np.repeat: "a repeats axis", np.diff: "a n axis", np.delete: "a obj axis", np.insert: "a obj values axis"}[
        fn
    ]
    given = arrange(names, args, {"a" if k == "arr" else k: v for k, v in kwargs.items()})
    dims = need_dims(given["a"])
    if not isinstance(result, Array) or len(result.dims) != len(dims):
        return result
    axes = axes_of(given.get("axis"), len(dims), -1 if fn is np.diff else None)
    if axes is None:
        return result
    return Array(result.dtype, tuple(anydim() if i in axes else d for i, d in enumerate(dims)))


@infers(np.pad)
def _pad(fn, args, kwargs) -> Type:
    given = arrange(
        "array pad_width mode", args, {k: v for k, v in kwargs.items() if k not in ("constant_values", "reflect_type")}
    )
    only(given, "array pad_width mode")
    dims = need_dims(given["array"])
    width = np.broadcast_to(np.asarray(const(given["pad_width"]), dtype=int), (len(dims), 2))
    return Array(
        array_dtype(given["array"]),
        tuple(d if not w.any() else d + int(w.sum()) if isinstance(d, int) else anydim() for d, w in zip(dims, width)),
    )


@infers(
    np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.linalg.eigh, np.linalg.eigvalsh
)
def _transforms(fn, args, kwargs) -> Type:
    result = by_example(fn, args, kwargs)
    dims = need_dims(args[0])
    if len(args) > 1 or set(kwargs) - {"axis", "norm", "UPLO"}:
        return result
    if isinstance(result, Array) and len(result.dims) == len(dims):
        return Array(result.dtype, dims)
    if isinstance(result, Array):
        return Array(result.dtype, dims[:-1])
    w, v = result.items
    return TupleT((Array(w.dtype, dims[:-1]), Array(v.dtype, dims)))
