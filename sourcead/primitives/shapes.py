"""Rules of functions that move elements without changing them: the cotangent is moved back.

    y = x.reshape(s)           d_x = d_y.reshape(x.shape)
    y = transpose(x, axes)     d_x = transpose(d_y, inverse of axes)
    y = broadcast_to(x, s)     d_x = d_y summed over the axes that were broadcast
    y = diag(x)                d_x = diagonal(d_y)
    y = x.astype(t)            d_x = d_y.astype(type of x)

All of them but `pad` are linear, so each is its own tangent rule.
"""

import functools

import numpy as np

from sourcead.ir.records import type_of
from sourcead.ir.sizes import Dim, lesser, negative_together, plus, shaped, shared_out
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import Array, Sym, Type, anydim
from sourcead.primitives.registry import adjoint, adjoints, enter, family, infers, linear, tangent, tangents
from sourcead.primitives.result_types.by_example import array_dtype, by_example, sized
from sourcead.primitives.result_types.dims import product_of_dims
from sourcead.primitives.result_types.operands import (
    Arg, Impossible, arrange, array_type, axes_of, need_dims, only, shape_dims
)
from sourcead.primitives.together import behind, flat, together
from sourcead.runtime import (
    diagonal_cotangent, gather_cotangent, inverse_axes, is_integer, like_sequence, pad_cotangent, repeat_cotangent,
    reversed_shift, tile_cotangent, unbroadcast
)
from sourcead.runtime.shapes import join_rows, split_rows

family(__name__, memory="fresh")



def back(shift):
    """Return the shift that takes back another one."""
    return -shift if is_integer(shift) else reversed_shift(shift)


# ---- the same elements in another shape ----

linear({
    np.reshape: lambda y, x, shape, d_y, order="C": (
        np.reshape(d_y, x.shape) if order == "C" else np.reshape(d_y, x.shape, order=order), None
    ),
    (np.ravel, np.ndarray.flatten): lambda y, x, d_y, order="C": (
        np.reshape(d_y, x.shape) if order == "C" else np.reshape(d_y, x.shape, order=order)
    ),
    np.squeeze: lambda y, x, d_y, axis=None: np.reshape(d_y, x.shape),
    np.expand_dims: lambda y, x, axis, d_y: (np.reshape(d_y, x.shape), None),
    (np.atleast_1d, np.atleast_2d, np.atleast_3d): lambda y, x, d_y: np.reshape(d_y, np.shape(x)),
    join_rows: lambda y, x, d_y: np.reshape(d_y, x.shape),
})
adjoints({split_rows: lambda y, rows, x, d_y: (join_rows(d_y), None)})
tangents({split_rows: lambda y, rows, x, t_rows, t_x: (split_rows(t_rows, x), None)})

# ---- axes in another order ----

linear({
    (np.transpose, np.permute_dims): lambda y, x, axes=None, d_y=None: (
        np.transpose(d_y) if axes is None else np.transpose(d_y, inverse_axes(axes)), None
    ),
    (np.matrix_transpose, np.linalg.matrix_transpose): lambda y, x, d_y: np.swapaxes(d_y, -1, -2),
    np.swapaxes: lambda y, x, axis1, axis2, d_y: (np.swapaxes(d_y, axis1, axis2), None, None),
    np.moveaxis: lambda y, x, source, destination, d_y: (np.moveaxis(d_y, destination, source), None, None),
    np.rollaxis: lambda y, x, axis, start=0, d_y=None: (
        np.transpose(d_y, inverse_axes(np.rollaxis(np.empty(range(x.ndim)), axis, start).shape)), None, None
    ),
})

# ---- elements in other places, or in several ----

linear({
    np.roll: lambda y, x, shift, d_y, axis=None: (
        np.roll(d_y, back(shift)) if axis is None else np.roll(d_y, back(shift), axis), None
    ),
    np.flip: lambda y, x, d_y, axis=None: np.flip(d_y) if axis is None else np.flip(d_y, axis),
    np.flipud: lambda y, x, d_y: d_y[::-1],
    np.fliplr: lambda y, x, d_y: d_y[:, ::-1],
    np.rot90: lambda y, x, d_y, k=1, axes=(0, 1): np.rot90(d_y, -k, axes),
    np.broadcast_to: lambda y, x, shape, d_y: (unbroadcast(d_y, x), None),
    np.tile: lambda y, x, reps, d_y: (tile_cotangent(d_y, x, reps), None),
    np.repeat: lambda y, x, repeats, d_y, axis=None: (repeat_cotangent(d_y, x, repeats, axis), None),
    np.resize: lambda y, x, shape, d_y: (gather_cotangent(d_y, np.resize(np.arange(x.size), shape), x), None),
})


@adjoint(np.pad)
def pad_adjoint(y, x, pad_width, d_y, mode="constant", constant_values=0, reflect_type="even"):
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric") or reflect_type != "even":
        raise NotImplementedError("the derivative of np.pad in this mode")
    return pad_cotangent(d_y, x, pad_width, mode, reflect_type), None


@tangent(np.pad)
def pad_tangent(y, x, pad_width, t_x, mode="constant", constant_values=0, reflect_type="even"):
    if mode == "constant":
        return np.pad(t_x, pad_width)
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and reflect_type == "even"):
        return np.pad(t_x, pad_width, mode)
    raise NotImplementedError("the derivative of np.pad in this mode")


# ---- triangles and diagonals ----

linear({
    np.triu: lambda y, x, d_y, k=0: np.triu(d_y, k) if np.ndim(x) > 1 else np.sum(np.triu(d_y, k), axis=0),  # of a vector, `x` is each row
    np.tril: lambda y, x, d_y, k=0: np.tril(d_y, k) if np.ndim(x) > 1 else np.sum(np.tril(d_y, k), axis=0),
    np.diag: lambda y, x, d_y, k=0: np.diagonal(d_y, k) if x.ndim == 1 else diagonal_cotangent(d_y, x, k),
    np.diagflat: lambda y, x, d_y, k=0: np.reshape(np.diagonal(d_y, k), np.shape(x)),
    np.diagonal: lambda y, x, d_y, offset=0, axis1=0, axis2=1: diagonal_cotangent(d_y, x, offset, axis1, axis2),
})  # fmt: skip


@linear(np.trace)
def trace_adjoint(y, x, d_y, offset=0, axis1=0, axis2=1):
    if x.ndim == 2:
        return d_y * np.eye(x.shape[axis1], x.shape[axis2], offset, dtype=x.dtype)
    size = np.diagonal(x, offset, axis1, axis2).shape[-1]
    return diagonal_cotangent(np.broadcast_to(np.expand_dims(d_y, -1), (*d_y.shape, size)), x, offset, axis1, axis2)


# ---- copies and casts ----

linear({
    (np.copy, np.ascontiguousarray, np.asfortranarray): lambda y, x, d_y, order="K": (
        like_sequence(d_y, x) if isinstance(x, (list, tuple)) else np.reshape(d_y, np.shape(x))
    ),
    np.ndarray.copy: lambda y, x, d_y, order="C": d_y,
    (np.array, np.asarray, np.asanyarray): lambda y, x, dtype=None, d_y=None, copy=True, order="K": (
        like_sequence(d_y, x) if isinstance(x, (list, tuple)) else d_y, None
    ),
    (np.float64, np.float32, np.float16, np.complex128, np.complex64, np.longdouble): lambda y, x, d_y: (
        unbroadcast(d_y, x)
    ),
    np.asarray_chkfinite: lambda y, x, d_y: d_y,
    np.ndarray.item: lambda y, x, d_y: np.full(np.shape(x), d_y),
    (np.ndarray.tolist, list, tuple): lambda y, x, d_y: (
        np.array(d_y, dtype=x.dtype) if isinstance(x, np.ndarray) and np.ndim(x) < 2
        else np.reshape(np.array(d_y, dtype=x.dtype), x.shape) if isinstance(x, np.ndarray)  # a list of no rows does not show their length
        else list(d_y) if isinstance(x, list) else tuple(d_y) if isinstance(x, tuple) else type(x)(d_y)
    ),
})


@linear(np.ndarray.astype)
def astype_adjoint(y, x, dtype, d_y, order="K", casting="unsafe", copy=True):
    if np.ndim(x) == 0:
        return unbroadcast(d_y, x), None
    if np.iscomplexobj(d_y) and not np.iscomplexobj(x):
        return np.real(d_y).astype(x.dtype), None
    return d_y.astype(x.dtype), None


adjoints({np.real_if_close: lambda y, x, d_y, tol=100: unbroadcast(d_y, x)})
tangents({np.real_if_close: lambda y, x, t_x, tol=100: t_x if np.iscomplexobj(y) else np.real(t_x)})

# ---- memory, order and forms ----

enter(np.reshape, np.ravel, memory="shared", view="reshape", order="keeps")
enter(
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.matrix_transpose, np.linalg.matrix_transpose,
    memory="shared", view="always", order="axes",
)  # fmt: skip
enter(np.expand_dims, memory="shared", view="always", order="keeps")
enter(np.flip, np.flipud, np.fliplr, np.rot90, memory="shared", view="always")
enter(np.squeeze, memory="shared", view="shorter")
enter(np.diagonal, memory="readonly", view="always")
enter(np.asarray, np.asanyarray, np.ascontiguousarray, np.atleast_1d, np.atleast_2d, np.atleast_3d, memory="shared", view="same")
enter(np.asfortranarray, memory="shared", view="maybe")
enter(np.broadcast_to, memory="readonly", view="always")
enter(np.diag, np.lib.stride_tricks.as_strided, memory="readonly", view="maybe")
enter(join_rows, split_rows, memory="shared")
enter(np.ndarray.item, pure=True)
enter(np.ndarray.copy, np.ndarray.flatten, order="C")
enter(np.array, np.copy, np.ndarray.astype, np.tile, np.roll, order="keeps")
enter(np.array, np.copy, np.asarray, np.ascontiguousarray, np.asfortranarray, buffer=True)
enter(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, sequences="kept")
enter(np.transpose, np.copy, numba="native")
enter(
    np.transpose, np.reshape, np.ravel, np.expand_dims, np.squeeze, np.swapaxes, np.moveaxis, np.broadcast_to, np.flip, np.diagonal,
    join_rows,
    cheap=True,
)  # fmt: skip
enter(np.copy, np.ndarray.copy, np.ascontiguousarray, batched="like")
enter(np.ndarray.astype, batched="astype")
enter(np.transpose, batched="transpose")
enter(np.broadcast_to, np.reshape, batched="shaped")
enter(np.expand_dims, batched="expand_dims")
enter(np.shape, np.size, np.ndim, batched="shape")
enter(np.real_if_close, np.asarray_chkfinite, memory="shared", view="maybe")
enter(np.real_if_close, examples=False)
enter(np.array, np.asarray, np.asanyarray, np.ndarray.astype, dtype_at=1)
enter(np.ndarray.astype, np.ndarray.copy, np.ndarray.tolist, np.ndarray.item, np.ndarray.flatten, np.ndarray.nonzero, examples=True)
enter(
    np.ravel, np.ndarray.flatten, np.transpose, np.permute_dims, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims,
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.flip, np.fliplr, np.flipud, np.roll, np.triu, np.tril,
    np.ascontiguousarray, np.asfortranarray, np.rot90, np.diagflat,
    result=sized,
)  # fmt: skip

# ---- types ----


@infers(np.reshape)
def _reshape(fn, args, kwargs) -> Type:
    given = arrange("a shape order", args, {"shape" if k == "newshape" else k: v for k, v in kwargs.items()})
    only(given, "a shape order")
    source = given["a"].type
    dims = list(shape_dims(given["shape"]))
    whole = getattr(source, "dims", None)
    others = [product_of_dims(dims[:k] + dims[k + 1 :]) for k in range(len(dims))]
    total = anydim() if whole is None else product_of_dims(whole)
    i = next((k for k, d in enumerate(dims) if isinstance(d, int) and d < 0), None)
    if i is not None:
        dims[i] = anydim() if whole is None else shared_out(total, others[i])
    else:  # an integer may be -1, but only one of them
        sure = [any(negative_together(d, other) for other in dims) for d in dims]
        dims = [d if known else shaped(d, total, other) for d, other, known in zip(dims, others, sure)]
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


@infers(np.diag, np.diagonal)
def _diagonal(fn, args, kwargs) -> Type:
    """Return the type of the diagonal of a matrix, which is as long as the shorter of its axes; that of others by examples."""
    t = args[0].type if len(args) == 1 and not kwargs else None
    if isinstance(t, Array) and t.dtype is not None and len(t.dims or ()) == 2:
        return Array(t.dtype, (lesser(*t.dims),))
    return (sized if fn is np.diag else by_example)(fn, args, kwargs)


@infers(np.tile)
def _tile(fn, args, kwargs) -> Type:
    return (sized if arrange("A reps", args, kwargs)["reps"].known else by_example)(fn, args, kwargs)


@infers(np.repeat, np.delete, np.insert)
def _along_axis(fn, args, kwargs) -> Type:
    """Return the type of an array in which all axes but one keep their dims."""
    names = {np.repeat: "a repeats axis", np.delete: "a obj axis", np.insert: "a obj values axis"}[fn]
    given = arrange(names, args, {"a" if k == "arr" else k: v for k, v in kwargs.items()})
    if getattr(given[names.split()[1]], "known", False):
        return sized(fn, args, kwargs)
    result = by_example(fn, args, kwargs)
    dims = need_dims(given["a"])
    if not isinstance(result, Array) or len(result.dims) != len(dims):
        return result
    axes = axes_of(given.get("axis"), len(dims))
    if axes is None:
        return result
    return Array(result.dtype, tuple(anydim() if i in axes else d for i, d in enumerate(dims)))


@infers(np.pad)
def _pad(fn, args, kwargs) -> Type:
    given = dict(zip(("array", "pad_width"), args)) | kwargs
    try:
        t = array_type(given["array"].type)
        return Array(t.dtype, _padded(t.dims, given["pad_width"]))
    except Impossible:
        return sized(fn, args, kwargs)


def _padded(dims: tuple, widths: Arg) -> tuple:
    """Return the dims of an array made wider: by one width at all ends, by a pair for each axis, or by one pair for all axes."""
    rows = _parts(widths)
    rows = [rows] if all(_parts(row) == [row] for row in rows) else list(map(_parts, rows))
    rows = rows * len(dims) if len(rows) == 1 else rows
    if len(rows) != len(dims) or any(len(row) not in (1, 2) for row in rows):
        raise Impossible
    return tuple(functools.reduce(plus, map(_width, row * (3 - len(row))), dim) for dim, row in zip(dims, rows))


def _parts(arg: Arg) -> list[Arg]:
    """Return the operands of a display; those of a constant, and of a number itself."""
    if arg.known and isinstance(arg.value, (tuple, list)):
        return [Arg(type_of(value), value) for value in arg.value]
    return [arg] if arg.items is None else list(arg.items)


def _width(arg: Arg) -> Dim:
    """Return an integer, which may be an expression."""
    if not isinstance(arg.integer, (int, Sym)) or isinstance(arg.integer, bool):
        raise Impossible
    return arg.integer


# ---- for all members of a batch ----


@together(np.roll)
def _(a, shift, axis=None):
    if axis is None:
        return np.reshape(np.roll(flat(a), shift, axis=1), a.shape)
    return np.roll(a, shift, behind(axis, a.ndim - 1))


@together(np.trace)
def _(a, offset=0, axis1=0, axis2=1):
    return np.trace(a, offset, behind(axis1, a.ndim - 1), behind(axis2, a.ndim - 1))


@together(np.diagonal)
def _(a, offset=0, axis1=0, axis2=1):
    return np.diagonal(a, offset, behind(axis1, a.ndim - 1), behind(axis2, a.ndim - 1))


@together(np.diag)
def _(v, k=0):
    if v.ndim == 3:
        return np.diagonal(v, k, 1, 2)
    size = v.shape[1] + abs(k)
    found = np.zeros((len(v), size, size), v.dtype)
    rows = np.arange(v.shape[1])
    found[:, rows + max(-k, 0), rows + max(k, 0)] = v
    return found


@together(np.tril)
def _(m, k=0):
    if m.ndim == 2:
        return np.tril(np.repeat(m[:, None], m.shape[1], axis=1), k)
    return np.tril(m, k)


@together(np.triu)
def _(m, k=0):
    if m.ndim == 2:
        return np.triu(np.repeat(m[:, None], m.shape[1], axis=1), k)
    return np.triu(m, k)


@together(np.tile)
def _(A, reps):
    if not isinstance(reps, tuple):
        return np.tile(A, reps)
    if len(reps) < A.ndim:
        return np.tile(A, (1,) + reps if len(reps) == A.ndim - 1 else reps)
    return np.tile(np.reshape(A, (len(A),) + (1,) * (len(reps) - A.ndim + 1) + A.shape[1:]), (1,) + reps)


@together(np.repeat)
def _(a, repeats, axis=None):
    if axis is None:
        return np.repeat(flat(a), repeats, axis=1)
    return np.repeat(a, repeats, behind(axis, a.ndim - 1))


@together(np.rot90)
def _(m, k=1, axes=(0, 1)):
    return np.rot90(m, k, behind(axes, m.ndim - 1))


@together(np.swapaxes)
def _(a, axis1, axis2):
    return np.swapaxes(a, behind(axis1, a.ndim - 1), behind(axis2, a.ndim - 1))


@together(np.moveaxis)
def _(a, source, destination):
    return np.moveaxis(a, behind(source, a.ndim - 1), behind(destination, a.ndim - 1))


@together(np.squeeze)
def _(a, axis):
    return np.squeeze(a, behind(axis, a.ndim - 1))


@together(np.pad)
def _(array, pad_width, mode="constant"):
    if isinstance(pad_width, tuple) and isinstance(pad_width[0], tuple):
        return np.pad(array, ((0, 0),) + pad_width, mode)
    pair = pad_width if isinstance(pad_width, tuple) else (pad_width, pad_width)
    return np.pad(array, ((0, 0),) + (pair,) * (array.ndim - 1), mode)
