"""Cotangents of Fourier transforms, convolutions, interpolation and polynomials."""

import numpy as np

from sourcead.runtime.broadcasting import unbroadcast


def fit_axis(d, n, axis):
    """Return an array cut, or padded with zeros, to `n` elements along an axis."""
    size = d.shape[axis]
    if size > n:
        return np.take(d, np.arange(n), axis)
    width = [(0, 0)] * d.ndim
    width[axis] = (0, n - size)
    return np.pad(d, width)


def half_spectrum_weights(n, d, axis):
    """Return how often each element of the half spectrum of `n` real numbers counts in them, in a form that broadcasts with `d`."""
    weights = np.full(n // 2 + 1, 2, dtype=d.real.dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    shape = [1] * d.ndim
    shape[axis] = len(weights)
    return weights.reshape(shape)


def convolve_cotangents(d_y, a, v, mode="full", swapped=False):
    """Return the cotangents of `a` and `v` in `y = np.convolve(a, v, mode)`."""
    rows = np.atleast_1d(a), np.atleast_1d(v)  # NumPy takes a number as an array of one
    less, more = sorted(map(len, rows))
    d = np.zeros(less + more - 1, dtype=d_y.dtype)
    start = {"full": 0, "same": less // 2 if swapped else (less - 1) // 2, "valid": less - 1}[mode]
    d[start : start + len(d_y)] = d_y
    d_a, d_v = (np.convolve(d, other[::-1], "valid") for other in rows[::-1])
    return d_a.reshape(np.shape(a))[()], d_v.reshape(np.shape(v))[()]


def interp_cotangents(d_y, x, xp, fp, left=None, right=None):
    """Return the cotangents of `x`, `xp` and `fp` in `y = np.interp(x, xp, fp, left, right)`."""
    xp, fp = np.asarray(xp), np.asarray(fp)
    below, above = x < xp[0], x > xp[-1]
    k, after = interval_around(x, xp)
    width = xp[after] - xp[k] + (after == k)  # one point is no interval
    t = np.where(below, 0, np.where(above, 1, (x - xp[k]) / width))
    inside = d_y * ~(below | above)
    d_f = d_y * ~((below & (left is not None)) | (above & (right is not None)))
    slope = (fp[after] - fp[k]) / width
    d_fp, d_xp = (np.zeros(z.shape, dtype=np.result_type(z, np.float16)) for z in (fp, xp))
    np.add.at(d_fp, k, d_f * (1 - t))
    np.add.at(d_fp, after, d_f * t)
    np.add.at(d_xp, k, -inside * slope * (1 - t))
    np.add.at(d_xp, after, -inside * slope * t)
    return inside * slope, d_xp, d_fp


def interval_around(x, xp):
    """Return the positions in `xp` of the ends of the interval that `np.interp` takes for each of `x`; of one point, its position twice."""
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))
    return k, np.minimum(k + 1, len(xp) - 1)


def polyval_cotangents(d_y, p, x):
    """Return the cotangents of `p` and `x` in `y = np.polyval(p, x)`, in which each `p[k]` may be an array that is broadcast with `x`."""
    p, x = np.asarray(p), np.asarray(x)
    n = len(p)
    degrees = np.arange(n - 1, 0, -1, dtype=np.result_type(p, np.int8))
    if p.ndim > 1:
        slopes = p[:-1] * degrees.reshape((-1,) + (1,) * (p.ndim - 1))
        d_p = np.stack([unbroadcast(d_y * x ** (n - 1 - k), p[k]) for k in range(n)])
        return d_p, unbroadcast(d_y * np.polyval(slopes, x), x)
    powers = x[..., None] ** np.arange(n - 1, -1, -1, dtype=np.result_type(x, np.int8))
    d_p = np.tensordot(np.asarray(d_y), powers, np.ndim(d_y))
    return d_p, d_y * np.polyval(p[:-1] * degrees, x)


def root_slopes(y, p):
    """Return the derivatives of each root `y[i] = np.roots(p)[i]` with respect to each coefficient of `p`; infinite at double roots."""
    powers = np.vander(y, len(p))
    n = powers.shape[1]
    return -powers / (powers[:, 1:] @ (p[:-1] * np.arange(n - 1, 0, -1)))[:, None]
