"""Compositions of functions that pick from arrays, join them, or apply functions along their axes."""

import numpy as np

from sourcead.primitives.compositions import composed, number_kind, refuse
from sourcead.primitives.registry import enter
from sourcead.runtime import count_trimmed, distinct_places, roll_axis

composed({
    (np.vecdot, np.linalg.vecdot): lambda a, b, axis=-1: (
        np.sum(np.conj(a) * b, axis=-1) if axis == -1
        else np.sum(np.conj(np.moveaxis(a, axis, -1)) * np.moveaxis(b, axis, -1), axis=-1)
    ),
    np.unique_values: lambda x: np.ravel(x)[distinct_places(x, None, False)[0]],
    roll_axis: lambda x, shift, axis=0: np.roll(x, shift, axis),
    np.sort_complex: lambda a: np.sort(a).astype(complex),
    np.astype: lambda x, dtype, copy=True: x.astype(dtype, copy=copy),
    np.logspace: lambda start, stop, num=50, endpoint=True, base=10.0: (
        base ** np.linspace(start, stop, num, endpoint) if np.ndim(base) == 0 else refuse("`np.logspace` of several bases")
    ),
    np.geomspace: lambda start, stop, num=50, endpoint=True: (
        start * (stop / start) ** np.linspace(0.0, 1.0, num, endpoint) if np.ndim(start) == 0 and np.ndim(stop) == 0
        else start * (stop / start) ** np.linspace(np.zeros(np.shape(stop / start)), 1.0, num, endpoint)
    ),
    np.fromfunction: lambda function, shape, dtype=float: function(*np.indices(shape, dtype=dtype)),
})
composed({
    np.sort: lambda a, axis=-1, kind=None, order=None: refuse("`order=`: structured arrays carry no derivative"),
    np.partition: lambda a, kth, axis=-1, kind=None, order=None: refuse("`order=`: structured arrays carry no derivative"),
}, given="order")
composed({
    np.ndarray: lambda shape, dtype=float, buffer=None, offset=0, strides=None, order=None: (
        refuse("`np.ndarray` over a buffer, whose memory it shares: use views and `reshape`")
    ),
}, given="buffer")

if hasattr(np, "matvec"):  # NumPy 2.2
    composed({
        np.matvec: lambda a, x: np.squeeze(a @ np.expand_dims(x, -1), -1),
        np.vecmat: lambda x, a: np.squeeze(np.expand_dims(np.conj(x), -2) @ a, -2),
    })

# ---- picking ----


@composed(np.unique)
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True):
    index, inverse, counts = distinct_places(ar, axis, equal_nan)
    values = np.ravel(ar)[index] if axis is None else np.take(ar, index, axis)
    results = [values]
    if return_index:
        results.append(index)
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    return tuple(results) if len(results) > 1 else values


@composed(np.union1d)
def union1d(ar1, ar2):
    both = np.concatenate((np.ravel(ar1), np.ravel(ar2)))
    return both[distinct_places(both, None, True)[0]]


@composed(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False):
    found = np.ravel(ar1)[distinct_places(ar1, None, True)[0]]
    return found[np.isin(found, ar2)]


@composed(np.setdiff1d)
def setdiff1d(ar1, ar2, assume_unique=False):
    if assume_unique:
        refuse("`np.setdiff1d` with assume_unique=True")
    found = np.ravel(ar1)[distinct_places(ar1, None, True)[0]]
    return found[~np.isin(found, ar2)]


@composed(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    both = np.concatenate((np.ravel(ar1), np.ravel(ar2)))
    index, inverse, counts = distinct_places(both, None, True)
    if assume_unique:
        refuse("`np.setxor1d` with assume_unique=True")
    return both[index][np.isin(both[index], ar1) ^ np.isin(both[index], ar2)]


@composed(np.trim_zeros)
def trim_zeros(filt, trim="fb"):
    if np.ndim(filt) != 1:
        refuse("`np.trim_zeros` of more than one axis")
    first, last = count_trimmed(filt, trim)
    return filt[first:last]


# ---- joining ----


@composed(np.block)
def block(arrays):
    if not isinstance(arrays, list):
        return np.array(arrays)
    if not isinstance(arrays[0], list):
        return np.concatenate([np.atleast_1d(a) for a in arrays], -1)
    if isinstance(arrays[0][0], list):
        refuse("`np.block` of lists nested more than twice: use `np.concatenate`")
    rows = [np.concatenate([np.atleast_2d(a) for a in row], -1) for row in arrays]
    return np.concatenate(rows, -2)


# ---- functions along axes ----


@composed(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args):
    if arr.ndim == 1:
        return np.array(func1d(arr, *args))
    if arr.ndim > 2:
        refuse("`np.apply_along_axis` on arrays of more than two axes: write the loops")
    rows = np.moveaxis(arr, axis, -1)
    found = np.stack([func1d(row, *args) for row in rows])
    return np.moveaxis(found, -1, axis) if found.ndim > 1 else found


@composed(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        before = a.ndim
        a = func(a, axis)
        if a.ndim < before:
            a = np.expand_dims(a, axis)
    return a


@composed(np.piecewise)
def piecewise(x, condlist, funclist):
    if not isinstance(condlist, (list, tuple)):
        refuse("`np.piecewise` whose conditions are not a list")
    result = np.zeros(np.shape(x), x.dtype)
    if len(funclist) > len(condlist):
        conditions = [*condlist, ~np.any(np.stack(condlist), axis=0)]
    else:
        conditions = condlist
    for condition, function in zip(conditions, funclist):
        if callable(function):
            result[condition] = function(x[condition])
        else:
            result[condition] = function
    return result


# ---- borders ----


@composed(np.pad, given="constant_values end_values stat_length", words="mean maximum minimum median linear_ramp odd")
def pad(array, pad_width, mode="constant", constant_values=0, end_values=0, stat_length=None, reflect_type="even"):
    if mode == "constant" and np.ndim(constant_values) == 0:
        there = np.pad(np.ones(array.shape, dtype=bool), pad_width)
        if number_kind(array) in ("int", "bool", ""):
            constant_values = np.asarray(constant_values).astype(array.dtype)
        return np.where(there, np.pad(array, pad_width), constant_values)
    if mode not in ("constant", "mean", "maximum", "minimum", "median", "linear_ramp", "reflect", "symmetric"):
        refuse("`np.pad` with this mode: use `np.concatenate`")
    if mode in ("reflect", "symmetric") and reflect_type == "even":
        return np.pad(array, pad_width, mode)
    widths = np.broadcast_to(pad_width, (array.ndim, 2))
    ends = np.broadcast_to(np.asarray(constant_values if mode == "constant" else end_values), (array.ndim, 2))
    lengths = None if stat_length is None else np.broadcast_to(stat_length, (array.ndim, 2))
    if array.ndim > 4:
        refuse("`np.pad` with this mode of more than four axes: use `np.concatenate`")
    for axis in (0, 1, 2, 3):
        if axis < array.ndim:
            sizes = None if lengths is None else lengths[axis]
            array = pad_along(array, axis, (widths[axis, 0], widths[axis, 1]), mode, ends[axis], sizes)
    return array


def pad_along(array, axis, widths, mode, ends, lengths):
    """Return `np.pad` along one axis, in a mode that computes the values of the border."""
    before, after = widths
    x = np.moveaxis(array, axis, 0)
    n = x.shape[0]
    if mode == "linear_ramp":
        low = ramp(ends[0], x[0], before)
        high = ramp(ends[1], x[-1], after)[::-1]
    elif mode == "constant":
        low, high = np.full((before, *x.shape[1:]), ends[0], x.dtype), np.full((after, *x.shape[1:]), ends[1], x.dtype)
    elif mode in ("reflect", "symmetric"):
        low = mirrored(x, np.arange(-before, 0), mode)
        high = mirrored(x, np.arange(n, n + after), mode)
    else:
        low = np.repeat(middle(x if lengths is None else x[: lengths[0]], mode), before, axis=0)
        high = np.repeat(middle(x if lengths is None else x[-min(n, lengths[1]) :], mode), after, axis=0)
    return np.moveaxis(np.concatenate([low, x, high]), 0, axis)


def mirrored(x, places, mode):
    """Return what `np.pad` with reflect_type="odd" puts at places outside of an array.

    A mirror image through the last element follows the array, and both together repeat, each time higher by twice what `x` rises.
    """
    n = x.shape[0]
    shared = 1 if mode == "reflect" and n > 1 else 0  # an array and its image have the element at the edge in common
    turns, within = np.divmod(places, 2 * (n - shared))
    direct = (within < n).reshape((-1,) + (1,) * (x.ndim - 1))
    image = x[np.where(within < n, within, 2 * n - 1 - shared - within)]
    return np.where(direct, image, 2 * x[-1] - image) + 2 * turns.astype(x.dtype).reshape(direct.shape) * (x[-1] - x[0])


def ramp(end, edge, n):
    """Return `n` values that lead from `end` to `edge`, without `edge` itself."""
    share = np.arange(n).reshape((-1,) + (1,) * edge.ndim) / np.maximum(n, 1)
    return end + (edge - end) * share


def middle(x, mode):
    """Return the statistic that a mode of `np.pad` takes along the first axis."""
    if mode == "mean":
        return np.mean(x, axis=0, keepdims=True)
    if mode == "maximum":
        return np.max(x, axis=0, keepdims=True)
    if mode == "minimum":
        return np.min(x, axis=0, keepdims=True)
    return np.median(x, axis=0, keepdims=True)


enter(
    np.unique, np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.sort_complex, np.block, np.apply_along_axis, np.piecewise,
    np.fromfunction, np.logspace, np.geomspace, np.astype, np.unique_values,
    memory="fresh",
)  # fmt: skip
enter(np.unique, numba="interpreted")


@composed(np.meshgrid, given="copy")
def meshgrid(*xs, copy, indexing="xy", sparse=False):
    if not copy:
        refuse("`copy=False`, whose grids hold each number once, so that a write to one place changes others")
    return np.meshgrid(*xs, indexing=indexing, sparse=sparse)


@composed(np.array, given="ndmin")
def array_of_rank(object, dtype=None, ndmin=0):
    a = np.array(object) if dtype is None else np.array(object, dtype)
    return np.reshape(a, (1,) * (ndmin - a.ndim) + a.shape) if a.ndim < ndmin else a


composed({
    np.atleast_1d: lambda *arrays: tuple([np.atleast_1d(a) for a in arrays]),
    np.atleast_2d: lambda *arrays: tuple([np.atleast_2d(a) for a in arrays]),
    np.atleast_3d: lambda *arrays: tuple([np.atleast_3d(a) for a in arrays]),
})
