"""Helpers of forward mode, which compute tangents."""

import numpy as np

from sourcead.runtime.products import einsum_cotangents
from sourcead.runtime.reductions import places_of_quantiles, split_axes
from sourcead.runtime.signals import interval_around

# ---- choosing ----


def share_of_winners(t_xs, y, xs):
    """Return the tangent of `y`, the greatest or least of `xs`, which is the mean of the tangents of those equal to it."""
    if len(xs) == 1:
        xs, t_xs = xs[0], t_xs[0]
    return sum(t * (x == y) for t, x in zip(t_xs, xs)) / sum(x == y for x in xs)


# ---- scans ----


def cumprod_tangent(t_x, x, y, axis):
    """Return the tangent of `y = np.cumprod(x, axis)`, without a division, so that `x` may contain zeros."""
    x, y, t = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(t_x, axis, 0).copy()
    for j in range(1, len(x)):
        t[j] = t[j - 1] * x[j] + y[j - 1] * t[j]
    return np.moveaxis(t, 0, axis)


def running_winner_tangent(t_x, x, y, axis):
    """Return the tangent of `y = np.maximum.accumulate(x, axis)` or `minimum`; at each step of the scan, equal values share."""
    x, y, t = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), np.moveaxis(t_x, axis, 0).copy()
    for j in range(1, len(x)):
        share = (x[j] == y[j]) / (1.0 + (x[j] == y[j - 1]))
        t[j] = t[j] * share + t[j - 1] * (1 - share)
    return np.moveaxis(t, 0, axis)


# ---- signals ----


def interp_slope(x, xp, fp):
    """Return the derivative of `np.interp(x, xp, fp)` with respect to `x`, 0 outside of `xp`."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    k, after = interval_around(x, xp)
    return (fp[after] - fp[k]) / (xp[after] - xp[k] + (after == k)) * ((x >= xp[0]) & (x <= xp[-1]))


def quantile_tangent(t_x, x, q, axis=None, keepdims=False):
    """Return the tangent of `np.quantile(x, q, axis, keepdims=keepdims)`."""
    kept, gone = split_axes(x.ndim, axis)
    order, low, high, share = places_of_quantiles(x, q, axis)
    t_sorted = np.take_along_axis(np.transpose(t_x, kept + gone).reshape(order.shape), order, -1)
    t = np.moveaxis(t_sorted[..., low] * (1 - share) + t_sorted[..., high] * share, -1, 0)
    shape = [1 if i in gone else n for i, n in enumerate(x.shape)] if keepdims else [x.shape[i] for i in kept]
    return t.reshape(np.shape(q) + tuple(shape))[()]


# ---- products ----


def part_of_convolution(full, a, v, mode="full", swapped=False):
    """Return the part of `np.convolve(a, v)` that `np.convolve(a, v, mode)` returns, placed as by `np.correlate` if `swapped`."""
    less, more = min(len(a), len(v)), max(len(a), len(v))
    start = {"full": 0, "same": less // 2 if swapped else (less - 1) // 2, "valid": less - 1}[mode]
    return full[start : start + {"full": less + more - 1, "same": more, "valid": more - less + 1}[mode]]


def einsum_tangents(t_operands, d, subscripts, operands):
    """Return the tangents of `einsum_cotangents(d, subscripts, operands)` for tangents of the operands."""
    n = len(operands)
    changed = [tuple(t_operands[j] if j == k else operands[j] for j in range(n)) for k in range(n)]
    return tuple(
        sum((einsum_cotangents(d, subscripts, changed[k])[j] for k in range(n) if k != j), np.zeros_like(operands[j]))
        for j in range(n)
    )
