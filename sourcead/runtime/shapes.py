"""Cotangents of functions that move, repeat or join elements."""

import numpy as np

from sourcead.runtime.broadcasting import like_arrays
from sourcead.runtime.checks import refuse_now
from sourcead.runtime.subscripts import gather_cotangent


def join_rows(x):
    """Return an array with all axes before the last joined into one."""
    return np.reshape(x, (-1, x.shape[-1]))


def split_rows(rows, x):
    """Return `rows` with the first axis split into the axes that `x` has before its last, the reverse of `join_rows`."""
    return np.reshape(rows, (*x.shape[:-1], rows.shape[-1]))


def inverse_axes(axes):
    """Return the permutation of axes that undoes `np.transpose(x, axes)`."""
    axes = (axes,) if isinstance(axes, int) else axes
    inverse = [0] * len(axes)
    for i, axis in enumerate(axes):
        inverse[axis] = i
    return tuple(inverse)


def reversed_shift(shift):
    """Return the shift that undoes a shift by `np.roll`."""
    return tuple(-n for n in shift) if isinstance(shift, (tuple, list)) else -shift


def roll_axis(x, shift, axis=0):
    """Return `np.roll(x, shift, axis)` for a shift that is not zero and not larger than the axis, which is not counted from the end.

    Example:
        >>> roll_axis(np.arange(4), 1)
        array([3, 0, 1, 2])
    """
    before, y = (slice(None),) * axis, np.empty_like(x)
    y[(*before, slice(shift))] = x[(*before, slice(-shift, None))]
    y[(*before, slice(shift, None))] = x[(*before, slice(-shift))]
    return y


def pad_cotangent(d_y, x, pad_width, mode, reflect_type="even"):
    """Return the cotangent of `x` in `y = np.pad(x, pad_width, mode)`."""
    width = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)) if not isinstance(pad_width, dict) else None
    if width is None:
        width = [
            np.broadcast_to(np.asarray(pad_width.get(i, pad_width.get(i - x.ndim, 0))), (2,)) for i in range(x.ndim)
        ]
    if mode in ("constant", "empty"):
        return d_y[tuple(slice(int(before), int(before) + n) for (before, _), n in zip(width, x.shape))]
    if mode not in ("edge", "wrap", "reflect", "symmetric") or reflect_type != "even":
        refuse_now(f"np.pad with mode={mode!r} and reflect_type={reflect_type!r}, which is known only while it runs, has no derivative")
    return gather_cotangent(d_y, np.pad(np.arange(x.size).reshape(x.shape), width, mode), x)


def diagonal_cotangent(d_y, x, offset=0, axis1=0, axis2=1):
    """Return the cotangent of `x` in `y = np.diagonal(x, offset, axis1, axis2)`: zeros beside the diagonal."""
    d_x = np.zeros(x.shape, d_y.dtype)
    rows = np.arange(max(-offset, 0), max(-offset, 0) + d_y.shape[-1])
    np.moveaxis(d_x, (axis1, axis2), (0, 1))[rows, rows + offset] = np.moveaxis(d_y, -1, 0)
    return d_x


def windows_cotangent(d_y, x, window_shape, axis=None):
    """Return the cotangent of `x` in `y = sliding_window_view(x, window_shape, axis)`: a shifted addition for each place in a window."""
    sizes = window_shape if np.iterable(window_shape) else (window_shape,)
    axes = range(x.ndim) if axis is None else axis if np.iterable(axis) else (axis,)
    d_x = np.zeros(x.shape, d_y.dtype)
    for place in np.ndindex(*sizes):
        first = [0] * x.ndim
        for k, shift in zip(axes, place):
            first[k] += shift
        d_x[tuple(slice(k, k + n) for k, n in zip(first, d_y.shape))] += d_y[(..., *place)]
    return d_x


def tile_cotangent(d_y, x, reps):
    """Return the cotangent of `x` in `y = np.tile(x, reps)`, which is the sum of the tiles of `d_y`."""
    return gather_cotangent(d_y, np.tile(np.arange(np.size(x)).reshape(np.shape(x)), reps), x)


def repeat_cotangent(d_y, x, repeats, axis=None):
    """Return the cotangent of `x` in `y = np.repeat(x, repeats, axis)`, which is the sum over the repetitions."""
    if axis is None:
        return repeat_cotangent(d_y, np.ravel(x), repeats, 0).reshape(np.shape(x))[()]
    if np.ndim(repeats) == 0 and repeats > 0:
        axis = axis % x.ndim
        return np.sum(d_y.reshape(x.shape[: axis + 1] + (repeats,) + x.shape[axis + 1 :]), axis=axis + 1)
    return gather_cotangent(d_y, np.repeat(np.arange(x.size).reshape(x.shape), repeats, axis), x)


def split_like(d_y, arrays, axis=0):
    """Return the cotangents of `arrays` in `y = np.concatenate(arrays, axis)`."""
    if axis is None:
        return like_arrays(split_like(d_y, [np.ravel(a) for a in arrays], 0), arrays)
    return like_arrays(np.split(d_y, np.cumsum([np.shape(a)[axis] for a in arrays])[:-1], axis), arrays)


def are_cuts(places):
    """Return whether the parts that `np.split` makes at given places, or in a given number, are surely the array cut into pieces."""
    if np.ndim(places) == 0:
        return True
    one_sign = all(n >= 0 for n in places) or all(n < 0 for n in places)
    return one_sign and all(first <= last for first, last in zip(places, places[1:]))


def split_cotangent(d_y, x, places, axis=0):
    """Return the cotangent of `x` in `y = np.split(x, places, axis)`, whose parts overlap where the places do not ascend."""
    d_x = np.zeros(x.shape, dtype=np.result_type(*d_y))
    for part, d in zip(np.split(d_x, places, axis), d_y):
        part += d
    return d_x


def unstack(d_y, arrays, axis=0):
    """Return the cotangents of `arrays` in `y = np.stack(arrays, axis)`."""
    return like_arrays(np.moveaxis(d_y, axis, 0), arrays)


def meshgrid_cotangents(d_ys, xs, indexing="xy"):
    """Return the cotangents of `xs` in `ys = np.meshgrid(*xs, indexing=indexing)`."""
    result = []
    for i, (d, x) in enumerate(zip(d_ys, xs)):
        axis = 1 - i if indexing == "xy" and i < 2 and len(xs) > 1 else i
        result.append(np.sum(d, axis=tuple(j for j in range(np.ndim(d)) if j != axis)).reshape(np.shape(x)))
    return tuple(result)


def linspace_weights(y, endpoint=True):
    """Return the weight of `stop` in each element of `y = np.linspace(start, stop, len(y))`."""
    t = np.linspace(0, 1, len(y), endpoint=endpoint, dtype=y.dtype)
    return t.reshape((-1,) + (1,) * (y.ndim - 1))
