"""Functions that move elements without changing them: the cotangent is moved back.

y = x.reshape(s)           d_x = d_y.reshape(x.shape)
y = transpose(x, axes)     d_x = transpose(d_y, inverse of axes)
y = broadcast_to(x, s)     d_x = d_y summed over the axes that were broadcast
"""

import numpy as np

from sourcead.primitives.registry import adjoint, linear, tangent
from sourcead.runtime import (
    gather_cotangent, inverse_axes, like_sequence, pad_cotangent, repeat_cotangent, reversed_shift, tile_cotangent,
    unbroadcast
)
from sourcead.runtime.rows import join_rows, split_rows


@adjoint(np.reshape)
def reshape_adjoint(y, x, shape, d_y, order="C"):
    if order == "C":
        return np.reshape(d_y, x.shape), None
    return np.reshape(d_y, x.shape, order=order), None


@adjoint(join_rows)
def _(y, x, d_y):
    return np.reshape(d_y, x.shape)


@adjoint(split_rows)
def _(y, rows, x, d_y):
    return join_rows(d_y), None


linear(join_rows)


@tangent(split_rows)
def _(y, rows, x, t_rows, t_x):
    return split_rows(t_rows, x), None


@adjoint(np.ravel, np.ndarray.flatten)
def ravel_adjoint(y, x, d_y, order="C"):
    if order == "C":
        return np.reshape(d_y, x.shape)
    return np.reshape(d_y, x.shape, order=order)


linear(np.reshape, np.ravel, np.ndarray.flatten)


@adjoint(np.transpose, np.permute_dims)
def transpose_adjoint(y, x, axes=None, d_y=None):
    if axes is None:
        return np.transpose(d_y), None
    return np.transpose(d_y, inverse_axes(axes)), None


@adjoint(np.matrix_transpose, np.linalg.matrix_transpose)
def _(y, x, d_y):
    return np.swapaxes(d_y, -1, -2)


@adjoint(np.swapaxes)
def _(y, x, axis1, axis2, d_y):
    return np.swapaxes(d_y, axis1, axis2), None, None


@adjoint(np.moveaxis)
def _(y, x, source, destination, d_y):
    return np.moveaxis(d_y, destination, source), None, None


@adjoint(np.rollaxis)
def rollaxis_adjoint(y, x, axis, start=0, d_y=None):
    return np.transpose(d_y, inverse_axes(np.rollaxis(np.empty(range(x.ndim)), axis, start).shape)), None, None


linear(
    np.transpose, np.permute_dims, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis
)


@adjoint(np.squeeze)
def _(y, x, d_y, axis=None):
    return np.reshape(d_y, x.shape)


@adjoint(np.expand_dims)
def _(y, x, axis, d_y):
    return np.reshape(d_y, x.shape), None


@adjoint(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def _(y, x, d_y):
    return np.reshape(d_y, np.shape(x))


@adjoint(np.broadcast_to)
def _(y, x, shape, d_y):
    return unbroadcast(d_y, x), None


linear(np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to)


@adjoint(np.roll)
def roll_adjoint(y, x, shift, d_y, axis=None):
    if axis is None:
        return np.roll(d_y, reversed_shift(shift)), None
    return np.roll(d_y, reversed_shift(shift), axis), None


@adjoint(np.flip)
def flip_adjoint(y, x, d_y, axis=None):
    if axis is None:
        return np.flip(d_y)
    return np.flip(d_y, axis)


@adjoint(np.flipud)
def _(y, x, d_y):
    return d_y[::-1]


@adjoint(np.fliplr)
def _(y, x, d_y):
    return d_y[:, ::-1]


@adjoint(np.rot90)
def _(y, x, d_y, k=1, axes=(0, 1)):
    return np.rot90(d_y, -k, axes)


@adjoint(np.tile)
def _(y, x, reps, d_y):
    return tile_cotangent(d_y, x, reps), None


@adjoint(np.repeat)
def _(y, x, repeats, d_y, axis=None):
    return repeat_cotangent(d_y, x, repeats, axis), None


linear(np.roll, np.flip, np.flipud, np.fliplr, np.rot90, np.tile, np.repeat)


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


@adjoint(np.resize)
def _(y, x, shape, d_y):
    return gather_cotangent(d_y, np.resize(np.arange(x.size), shape), x), None


@adjoint(np.triu)
def _(y, x, d_y, k=0):
    return np.triu(d_y, k)


@adjoint(np.tril)
def _(y, x, d_y, k=0):
    return np.tril(d_y, k)


@adjoint(np.diag)
def diag_adjoint(y, x, d_y, k=0):
    if x.ndim == 1:
        return np.diagonal(d_y, k)
    return gather_cotangent(d_y, np.diag(np.reshape(np.arange(x.size), x.shape), k), x)


@adjoint(np.diagflat)
def _(y, x, d_y, k=0):
    return np.reshape(np.diagonal(d_y, k), np.shape(x))


@adjoint(np.diagonal)
def _(y, x, d_y, offset=0, axis1=0, axis2=1):
    return gather_cotangent(d_y, np.diagonal(np.reshape(np.arange(x.size), x.shape), offset, axis1, axis2), x)


@adjoint(np.trace)
def trace_adjoint(y, x, d_y, offset=0, axis1=0, axis2=1):
    if x.ndim == 2:
        return d_y * np.eye(x.shape[axis1], x.shape[axis2], offset, dtype=x.dtype)
    places = np.diagonal(np.reshape(np.arange(x.size), x.shape), offset, axis1, axis2)
    return gather_cotangent(np.broadcast_to(np.expand_dims(d_y, -1), places.shape), places, x)


linear(np.resize, np.triu, np.tril, np.diag, np.diagflat, np.diagonal, np.trace)


# ---- copies and casts ----


@adjoint(np.copy, np.ascontiguousarray, np.asfortranarray)
def copy_adjoint(y, x, d_y, order="K"):
    if isinstance(x, (list, tuple)):
        return like_sequence(d_y, x)
    return np.reshape(d_y, np.shape(x))


@adjoint(np.ndarray.copy)
def _(y, x, d_y, order="C"):
    return d_y


@adjoint(np.array, np.asarray, np.asanyarray)
def array_adjoint(y, x, dtype=None, d_y=None, copy=True, order="K"):
    if isinstance(x, (list, tuple)):
        return like_sequence(d_y, x), None
    return d_y, None


@adjoint(np.ndarray.astype)
def _(y, x, dtype, d_y, order="K", casting="unsafe", copy=True):
    if np.ndim(x) == 0:
        return unbroadcast(d_y, x), None
    if np.iscomplexobj(d_y) and not np.iscomplexobj(x):
        return np.real(d_y).astype(x.dtype), None
    return d_y.astype(x.dtype), None


@adjoint(np.float64, np.float32, np.float16, np.complex128, np.complex64, np.longdouble)
def _(y, x, d_y):
    return unbroadcast(d_y, x)


@adjoint(np.ndarray.item)
def _(y, x, d_y):
    return np.full(np.shape(x), d_y)


@adjoint(np.ndarray.tolist, list, tuple)
def tolist_adjoint(y, x, d_y):
    if isinstance(x, np.ndarray):
        return np.array(d_y, dtype=x.dtype)
    return type(x)(d_y)


linear(np.copy, np.ascontiguousarray, np.asfortranarray, np.ndarray.copy, np.array, np.asarray, np.asanyarray, np.ndarray.astype)
linear(np.float64, np.float32, np.float16, np.complex128, np.complex64, np.longdouble, np.ndarray.item, np.ndarray.tolist, list, tuple)
