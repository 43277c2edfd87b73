"""Functions that move elements without changing them: the cotangent is moved back.

y = x.reshape(s)           d_x = d_y.reshape(x.shape)
y = transpose(x, axes)     d_x = transpose(d_y, inverse of axes)
y = broadcast_to(x, s)     d_x = d_y summed over the axes that were broadcast
"""

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, linear, tangent, tangents
from sourcead.runtime import (
    gather_cotangent, inverse_axes, like_sequence, pad_cotangent, repeat_cotangent, reversed_shift, tile_cotangent,
    unbroadcast
)
from sourcead.runtime.shapes import join_rows, split_rows


@adjoint(np.reshape)
def reshape_adjoint(y, x, shape, d_y, order="C"):
    if order == "C":
        return np.reshape(d_y, x.shape), None
    return np.reshape(d_y, x.shape, order=order), None


adjoints({
    join_rows: lambda y, x, d_y: np.reshape(d_y, x.shape),
    split_rows: lambda y, rows, x, d_y: (join_rows(d_y), None),
    (np.matrix_transpose, np.linalg.matrix_transpose): lambda y, x, d_y: np.swapaxes(d_y, -1, -2),
    np.swapaxes: lambda y, x, axis1, axis2, d_y: (np.swapaxes(d_y, axis1, axis2), None, None),
    np.moveaxis: lambda y, x, source, destination, d_y: (np.moveaxis(d_y, destination, source), None, None),
    np.rollaxis: lambda y, x, axis, start=0, d_y=None: (
        np.transpose(d_y, inverse_axes(np.rollaxis(np.empty(range(x.ndim)), axis, start).shape)), None, None
    ),
    np.squeeze: lambda y, x, d_y, axis=None: np.reshape(d_y, x.shape),
    np.expand_dims: lambda y, x, axis, d_y: (np.reshape(d_y, x.shape), None),
    (np.atleast_1d, np.atleast_2d, np.atleast_3d): lambda y, x, d_y: np.reshape(d_y, np.shape(x)),
    np.broadcast_to: lambda y, x, shape, d_y: (unbroadcast(d_y, x), None),
    np.flipud: lambda y, x, d_y: d_y[::-1],
    np.fliplr: lambda y, x, d_y: d_y[:, ::-1],
    np.rot90: lambda y, x, d_y, k=1, axes=(0, 1): np.rot90(d_y, -k, axes),
    np.tile: lambda y, x, reps, d_y: (tile_cotangent(d_y, x, reps), None),
    np.repeat: lambda y, x, repeats, d_y, axis=None: (repeat_cotangent(d_y, x, repeats, axis), None),
    np.resize: lambda y, x, shape, d_y: (gather_cotangent(d_y, np.resize(np.arange(x.size), shape), x), None),
    np.triu: lambda y, x, d_y, k=0: np.triu(d_y, k),
    np.tril: lambda y, x, d_y, k=0: np.tril(d_y, k),
    np.diagflat: lambda y, x, d_y, k=0: np.reshape(np.diagonal(d_y, k), np.shape(x)),
    np.diagonal: lambda y, x, d_y, offset=0, axis1=0, axis2=1: (
        gather_cotangent(d_y, np.diagonal(np.reshape(np.arange(x.size), x.shape), offset, axis1, axis2), x)
    ),
})

tangents({
    split_rows: lambda y, rows, x, t_rows, t_x: (split_rows(t_rows, x), None),
})

linear(join_rows)


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


linear(
    np.transpose, np.permute_dims, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis
)
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


@adjoint(np.diag)
def diag_adjoint(y, x, d_y, k=0):
    if x.ndim == 1:
        return np.diagonal(d_y, k)
    return gather_cotangent(d_y, np.diag(np.reshape(np.arange(x.size), x.shape), k), x)


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


adjoints({
    np.ndarray.copy: lambda y, x, d_y, order="C": d_y,
    (np.float64, np.float32, np.float16, np.complex128, np.complex64, np.longdouble): lambda y, x, d_y: (
        unbroadcast(d_y, x)
    ),
    np.ndarray.item: lambda y, x, d_y: np.full(np.shape(x), d_y),
})


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


@adjoint(np.ndarray.tolist, list, tuple)
def tolist_adjoint(y, x, d_y):
    if isinstance(x, np.ndarray):
        return np.array(d_y, dtype=x.dtype)
    return type(x)(d_y)


linear(np.copy, np.ascontiguousarray, np.asfortranarray, np.ndarray.copy, np.array, np.asarray, np.asanyarray, np.ndarray.astype)
linear(np.float64, np.float32, np.float16, np.complex128, np.complex64, np.longdouble, np.ndarray.item, np.ndarray.tolist, list, tuple)
