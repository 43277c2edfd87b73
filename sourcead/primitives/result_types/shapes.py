"""Types of the functions whose results' dims follow from their operands': reductions, shapes, products, fresh arrays."""

from __future__ import annotations

import numpy as np

from sourcead.ir.type_of import type_of
from sourcead.ir.types import UNKNOWN, Array, Scalar, Sym, TupleT, Type, anydim, many
from sourcead.primitives.result_types import (  # noqa: F401  (fill the table)
    builtins as infer_values, joining as infer_joining, products as infer_products, runtime_helpers as infer_runtime
)
from sourcead.primitives.result_types.by_example import array_dtype, by_example, sample
from sourcead.primitives.result_types.elementwise import elementwise, not_one
from sourcead.primitives.result_types.operands import Arg, Impossible, array_type, axes_of, const, need_dims, shape_dims
from sourcead.primitives.result_types.table import arrange, infers, only

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
    if "out" in given and not _is_none(given["out"]) or "returned" in given:
        raise Impossible
    return _reduced(fn, args, kwargs, given.get("a"), given.get("axis"), given.get("keepdims"), None)


@infers(
    np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce, np.logical_and.reduce, np.logical_or.reduce
)
def _ufunc_reduce(fn, args, kwargs) -> Type:
    given = arrange("array axis dtype out keepdims initial where", args, kwargs)
    only(given, "array axis dtype keepdims initial")
    return _reduced(fn, args, kwargs, given["array"], given.get("axis"), given.get("keepdims"), 0)


def _is_none(arg: Arg) -> bool:
    return arg.known and arg.value is None


def _reduced(fn, args, kwargs, a, axis, keepdims, default_axis) -> Type:
    keep = bool(const(keepdims, False))
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


# ---- same shape ----


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
            return Array(result.dtype, (_total(need_dims(first)),))
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


def _total(dims):
    """The product of dims, as far as it is a dim."""
    rest = [d for d in dims if not (isinstance(d, int) and d == 1)]
    if not rest:
        return 1
    if len(rest) == 1:
        return rest[0]
    if all(isinstance(d, int) for d in rest):
        return int(np.prod(rest))
    return many() if all(map(not_one, rest)) else anydim()


# ---- fresh arrays ----


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
    if dtype is None or _is_none(dtype):
        kept = array_type(given["fill_value"].type).dtype
        found = sample(np.array, [given["fill_value"]], {}).dtype if kept is None else kept
    else:
        found = _dtype(dtype, float)
    return Array(found, shape_dims(given["shape"]))


def _dtype(arg: Arg | None, default):
    """The dtype that an argument asks for; None where it is not known."""
    if arg is None or _is_none(arg):
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
    return Array(_dtype(given.get("dtype"), float), (n, n if m is None or _is_none(m) else shape_dims(m)[0]))


@infers(np.indices)
def _indices(fn, args, kwargs) -> Type:
    given = arrange("dimensions dtype", args, kwargs)
    dims = shape_dims(given["dimensions"])
    return Array(_dtype(given.get("dtype"), int), (len(dims), *dims))


# ---- shapes ----


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
                dims[i] = _total(rest)
    return Array(source.dtype if isinstance(source, Array) else array_type(source).dtype, tuple(dims))


@infers(np.ravel, np.ndarray.flatten)
def _ravel(fn, args, kwargs) -> Type:
    source = args[0].type
    if isinstance(source, Array) and source.dims is None:
        return Array(source.dtype, (anydim(),))
    t = array_type(source)
    return Array(array_dtype(args[0]), (_total(t.dims),))


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


# ---- picking and extending ----


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
    """All axes but one keep their dims."""
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
