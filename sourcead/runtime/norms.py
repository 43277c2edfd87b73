"""Derivatives of determinants, powers and norms of matrices."""

import numpy as np

from sourcead.runtime.elementwise import direction
from sourcead.runtime.reductions import product_of_others


def cofactors(a):
    """Return the derivative of `np.linalg.det(a)`, also where a is singular."""
    try:
        return np.linalg.det(a)[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)
    except np.linalg.LinAlgError:
        u, s, vt = np.linalg.svd(a)
        sign = np.linalg.det(u) * np.linalg.det(vt)
        return sign[..., None, None] * np.conj((u * product_of_others(s, -1)[..., None, :]) @ vt)


def matrix_power_cotangent(d_y, a, n):
    """Return the cotangent of `a` in `y = np.linalg.matrix_power(a, n)`."""
    t = np.swapaxes(np.linalg.inv(a) if n < 0 else a, -1, -2)
    d, left = np.zeros_like(a), d_y
    for k in range(abs(n)):
        d = d + left @ np.linalg.matrix_power(t, abs(n) - 1 - k)
        left = t @ left
    return -(t @ d @ t) if n < 0 else d


def vector_norm_slope(x, ord=None, axis=None):
    """Return the derivative of `np.linalg.norm(x, ord, axis)` over one axis."""
    size = np.abs(x)
    sign = direction(x)
    if ord in (np.inf, -np.inf):
        end = np.max(size, axis=axis, keepdims=True) if ord > 0 else np.min(size, axis=axis, keepdims=True)
        hit = (size == end).astype(x.dtype)
        return sign * hit / np.sum(hit, axis=axis, keepdims=True)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return sign
    norm = np.linalg.norm(x, ord, axis, keepdims=True)
    return sign * np.where(norm == 0, 0, size / np.where(norm == 0, 1, norm)) ** (ord - 1)


def matrix_norm_slope(x, ord, axis=None):
    """Return the derivative of `np.linalg.norm(x, ord, axis)` for matrices."""
    rows, columns = (0, 1) if axis is None else (axis[0] % x.ndim, axis[1] % x.ndim)
    if ord in (1, -1, np.inf, -np.inf):
        along, across = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = np.sum(np.abs(x), axis=along, keepdims=True)
        end = np.max(sums, axis=across, keepdims=True) if ord > 0 else np.min(sums, axis=across, keepdims=True)
        hit = (sums == end).astype(x.dtype)
        return direction(x) * hit / np.sum(hit, axis=across, keepdims=True)
    u, s, vt = np.linalg.svd(np.moveaxis(x, (rows, columns), (-2, -1)), full_matrices=False)
    if ord == "nuc":
        slope = (u * (s > 0)[..., None, :]) @ vt
    else:
        hit = (s == (s[..., :1] if ord > 0 else s[..., -1:])).astype(x.dtype)
        slope = (u * (hit / np.sum(hit, axis=-1, keepdims=True))[..., None, :]) @ vt
    return np.conj(np.moveaxis(slope, (-2, -1), (rows, columns)))
