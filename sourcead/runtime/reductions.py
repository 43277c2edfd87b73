"""Reductions over short axes, and cotangents of reductions, scans and differences along axes."""

import numpy as np


def axis_size(x, axis):
    """Return the number of elements of `x` that a reduction over `axis` combines into one."""
    if axis is None:
        return np.size(x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([np.shape(x)[a] for a in axes])) if np.ndim(x) else 1


def split_axes(ndim, axis=None):
    """Return the axes that a reduction over `axis` keeps, and those that it reduces."""
    if axis is None or ndim == 0:  # NumPy reduces numbers over the axes 0 and -1, which they do not have
        axis = range(ndim)
    gone = {a % ndim for a in (axis if isinstance(axis, (tuple, list, range)) else [axis])}
    return tuple(i for i in range(ndim) if i not in gone), tuple(sorted(gone))


def reduce_short(ufunc, x, axis, keepdims=False):
    """Return `ufunc.reduce(x, axis, keepdims=keepdims)`, slice by slice, which is faster along axes of few elements.

    Args:
        ufunc: a ufunc such as `np.maximum`.
        x: an array.
        axis: an axis of at least two elements, or a tuple of several.
        keepdims: whether the result has the axes, with one element each.

    Example:
        >>> reduce_short(np.maximum, np.array([[1.0, 2.0], [4.0, 3.0], [5.0, 6.0]]), axis=1)
        array([2., 4., 6.])
    """
    _, gone = split_axes(x.ndim, axis)
    y = x
    for k in reversed(gone):
        before = (slice(None),) * k
        y, rows = ufunc(y[(*before, 0)], y[(*before, 1)]), y
        for j in range(2, x.shape[k]):
            ufunc(y, rows[(*before, j)], out=y)
    return np.expand_dims(y, gone) if keepdims else y


def combine_short(ufunc, x, y, axis, out=None):
    """Return `ufunc(x, np.expand_dims(y, axis))`, slice by slice along axes of few elements, in the order of memory of `x`.

    Args:
        ufunc: a ufunc of two arrays that gives the dtype of `x`, or truth values.
        x: an array.
        y: an array without the axes.
        axis: a tuple of axes of `x`.
        out: the array for the result, which may be `x`.

    Example:
        >>> combine_short(np.multiply, np.ones((2, 3, 1, 2)), np.array([[1.0], [2.0]]), (1, 3))[1, 2]
        array([[2., 2.]])
    """
    _, gone = split_axes(x.ndim, axis)
    if out is None:
        out = np.empty_like(x, dtype=ufunc(x[:0], x[:0]).dtype)
    for at in np.ndindex(*[x.shape[k] for k in gone]):
        key = [slice(None)] * x.ndim
        for k, j in zip(gone, at):
            key[k] = j
        part = tuple(key)
        ufunc(x[part], y, out=out[part])
    return out


def product_of_others(x, axis=None):
    """Return for each element of `x` the product of the other elements that `np.prod(x, axis)` multiplies it by."""
    kept, gone = split_axes(x.ndim, axis)
    rows = np.transpose(x, kept + gone)
    flat = rows.reshape([x.shape[i] for i in kept] + [int(np.prod([x.shape[i] for i in gone]))])
    before, after = np.ones_like(flat), np.ones_like(flat)
    before[..., 1:] = np.cumprod(flat[..., :-1], axis=-1)
    after[..., -2::-1] = np.cumprod(flat[..., :0:-1], axis=-1)
    return np.transpose((before * after).reshape(rows.shape), np.argsort(kept + gone))


def middle_shares(x, axis=None):
    """Return the derivative of `np.median(x, axis)` with respect to each element of `x`."""
    kept, gone = split_axes(x.ndim, axis)
    rows = np.transpose(x, kept + gone)
    flat = rows.reshape([x.shape[i] for i in kept] + [-1])
    n = flat.shape[-1]
    if n == 0:
        return np.zeros_like(x)
    middle = np.sort(flat, axis=-1)[..., [(n - 1) // 2, n // 2]]
    low, high = ((flat == middle[..., i : i + 1]).astype(x.dtype) for i in (0, 1))
    shares = (low / np.sum(low, axis=-1, keepdims=True) + high / np.sum(high, axis=-1, keepdims=True)) / 2
    return np.transpose(shares.reshape(rows.shape), np.argsort(kept + gone))


def cumprod_cotangent(d_y, x, axis):
    """Return the cotangent of `x` in `y = np.cumprod(x, axis)`, without a division by elements that are near zero."""
    x, d = np.moveaxis(x, axis, 0), np.moveaxis(d_y, axis, 0)
    y = np.cumprod(x, axis=0)
    size = np.abs(y)
    limits = np.finfo(d.dtype)
    if np.all((size > limits.tiny / limits.eps) & (size < limits.max * limits.eps)):
        return np.moveaxis(np.cumsum((d * y)[::-1], axis=0)[::-1] / x, 0, axis)
    s = d.copy()
    for j in reversed(range(len(x) - 1)):
        s[j] += x[j + 1] * s[j + 1]
    s[1:] *= y[:-1]
    return np.moveaxis(s, 0, axis)


def running_winner_cotangent(d_y, y, x, axis):
    """Return the cotangent of `x` in `y = np.maximum.accumulate(x, axis)` or `minimum`; at each step of the scan, equal values share.

    An element that is greater than all before it, or equal to the greatest of them, begins a segment, whose cotangents are its own.
    At a tie, the last first, it leaves half of what it has to the beginning of the segment before.
    """
    x, y, d = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(d_y, axis, 0)
    d_x = np.zeros_like(d)
    if len(x) == 0:
        return np.moveaxis(d_x, 0, axis)
    tie = x[1:] == y[:-1]
    begins = np.zeros(x.shape, np.intp)
    begins[1:] = np.where((x[1:] == y[1:]) | tie, np.arange(1, len(x)).reshape(-1, *[1] * (x.ndim - 1)), 0)
    np.maximum.accumulate(begins, axis=0, out=begins)
    others = np.indices(x.shape[1:], sparse=True)
    np.add.at(d_x, (begins, *others), d)
    for j in np.flatnonzero(np.any(tie, axis=tuple(range(1, x.ndim))))[::-1]:
        half = d_x[j + 1] / 2 * tie[j]
        d_x[j + 1] -= half
        d_x[(begins[j], *others)] += half
    return np.moveaxis(d_x, 0, axis)


def diff_cotangent(d_y, size, n, axis):
    """Return the cotangent of `x`, which has `size` elements along the axis, in `y = np.diff(x, n, axis)`."""
    width = [(0, 0)] * d_y.ndim
    width[axis] = (1, 1)
    for _ in range(min(n, size)):
        d_y = -np.diff(np.pad(d_y, width), axis=axis)
    return d_y


def gradient_cotangent(d_y, f, spacing, axis, edge_order):
    """Return the cotangent of `f` in `y = np.gradient(f, *spacing, axis=axis, edge_order=edge_order)`."""
    axes = range(f.ndim) if axis is None else [a % f.ndim for a in np.atleast_1d(axis)]
    parts = d_y if isinstance(d_y, (list, tuple)) else [d_y]
    steps = list(spacing) if len(spacing) == len(parts) else [spacing[0] if spacing else 1.0] * len(parts)
    d_f = np.zeros(f.shape, dtype=parts[0].dtype)
    for d, a, step in zip(parts, axes, steps):
        matrix = np.gradient(np.eye(f.shape[a]), step, axis=0, edge_order=edge_order)
        d_f += np.moveaxis(np.tensordot(matrix.astype(d.dtype), d, axes=(0, a)), 0, a)
    return d_f


def places_of_quantiles(x, q, axis):
    """Return the order of the elements that `np.quantile` reduces, and for each quantile the two places and the second's share."""
    kept, gone = split_axes(x.ndim, axis)
    order = np.argsort(np.transpose(x, kept + gone).reshape([x.shape[i] for i in kept] + [-1]), axis=-1, kind="stable")
    last = order.shape[-1] - 1
    place = np.ravel(q) * last
    low = np.clip(np.floor(place).astype(int), 0, last)
    return order, low, np.minimum(low + 1, last), (place - low).astype(x.dtype)


def quantile_cotangent(d_y, x, q, axis=None, keepdims=False):
    """Return the cotangent of `x` in `y = np.quantile(x, q, axis, keepdims=keepdims)`."""
    kept, gone = split_axes(x.ndim, axis)
    order, low, high, share = places_of_quantiles(x, q, axis)
    d = np.moveaxis(np.reshape(d_y, (len(low), *order.shape[:-1])), 0, -1)
    d_sorted = np.zeros(order.shape, dtype=x.dtype)
    np.add.at(d_sorted, (..., low), d * (1 - share))
    np.add.at(d_sorted, (..., high), d * share)
    d_flat = np.empty_like(d_sorted)
    np.put_along_axis(d_flat, order, d_sorted, -1)
    return np.transpose(d_flat.reshape([x.shape[i] for i in kept + gone]), np.argsort(kept + gone))
