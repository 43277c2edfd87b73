"""Statistics with missing values, covariances, polynomials.

y = cov(x)           rows centred: y = c @ c.T / (n - ddof)       d_x = (d_y + d_y.T) @ c / (n - ddof)
y = polyval(p, x)    d_p[k] = sum of d_y * x**(n-k),              d_x = d_y * polyval(derivative of p, x)
"""

import numpy as np

from sourcead.primitives.registry import adjoint, adjoints, tangent, tangents
from sourcead.runtime import cumprod_cotangent, divide_or_zero, polyval_cotangents, product_of_others
from sourcead.runtime.tangents import cumprod_tangent


@adjoint(np.nanprod)
def nanprod_adjoint(y, x, d_y, axis=None, keepdims=False):
    there = ~np.isnan(x)
    others = product_of_others(np.where(there, x, 1), axis)
    if axis is None or axis == 0 or keepdims:
        return d_y * others * there
    return np.expand_dims(d_y, axis) * others * there


@tangent(np.nanprod)
def nanprod_tangent(y, x, t_x, axis=None, keepdims=False):
    there = ~np.isnan(x)
    return np.sum(product_of_others(np.where(there, x, 1), axis) * there * t_x, axis=axis, keepdims=keepdims)


@adjoint(np.nanvar)
def nanvar_adjoint(y, x, d_y, axis=None, ddof=0, keepdims=False):
    if np.iscomplexobj(x):
        x = np.conj(x)
    there = (~np.isnan(x)).astype(x.dtype)
    ratio = 2 * (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    ratio = ratio / (np.sum(there, axis=axis, keepdims=True) - ddof)
    if axis is None or axis == 0 or keepdims:
        return d_y * ratio
    return np.expand_dims(d_y, axis) * ratio


@tangent(np.nanvar)
def nanvar_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    there = ~np.isnan(x)
    centred = (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    n = np.sum(there.astype(np.abs(x).dtype), axis=axis, keepdims=keepdims) - ddof
    if np.iscomplexobj(x):
        return 2 * np.sum(np.real(np.conj(centred) * t_x), axis=axis, keepdims=keepdims) / n
    return 2 * np.sum(centred * t_x, axis=axis, keepdims=keepdims) / n


@adjoint(np.nanstd)
def nanstd_adjoint(y, x, d_y, axis=None, ddof=0, keepdims=False):
    if np.iscomplexobj(x):
        x = np.conj(x)
    there = (~np.isnan(x)).astype(x.dtype)
    ratio = (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    ratio = ratio / (np.sum(there, axis=axis, keepdims=True) - ddof)
    if axis is None or axis == 0 or keepdims:
        return divide_or_zero(d_y, y) * ratio
    return np.expand_dims(divide_or_zero(d_y, y), axis) * ratio


@tangent(np.nanstd)
def nanstd_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    there = ~np.isnan(x)
    centred = (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    n = np.sum(there.astype(np.abs(x).dtype), axis=axis, keepdims=keepdims) - ddof
    if np.iscomplexobj(x):
        return divide_or_zero(np.sum(np.real(np.conj(centred) * t_x), axis=axis, keepdims=keepdims), y * n)
    return divide_or_zero(np.sum(centred * t_x, axis=axis, keepdims=keepdims), y * n)


@adjoint(np.nancumsum)
def nancumsum_adjoint(y, x, d_y, axis=None):
    if axis is None:
        return np.reshape(np.cumsum(d_y[::-1])[::-1], x.shape) * ~np.isnan(x)
    return np.flip(np.cumsum(np.flip(d_y, axis), axis), axis) * ~np.isnan(x)


tangents({
    np.nancumsum: lambda y, x, t_x, axis=None: np.cumsum(t_x * ~np.isnan(x), axis),
    np.unwrap: lambda y, p, t_p, discont=None, axis=-1, period=6.283185307179586: t_p,
})


@adjoint(np.nancumprod)
def nancumprod_adjoint(y, x, d_y, axis=None):
    there = ~np.isnan(x)
    full = np.where(there, x, 1)
    if axis is None:
        return np.reshape(cumprod_cotangent(d_y, np.ravel(full), 0), x.shape) * there
    return cumprod_cotangent(d_y, full, axis) * there


@tangent(np.nancumprod)
def nancumprod_tangent(y, x, t_x, axis=None):
    there = ~np.isnan(x)
    t_full, full = t_x * there, np.where(there, x, 1)
    if axis is None:
        return cumprod_tangent(np.ravel(t_full), np.ravel(full), y, 0)
    return cumprod_tangent(t_full, full, y, axis)


@adjoint(np.cov)
def cov_adjoint(y, m, d_y, rowvar=True, bias=False, ddof=None):
    rows = m if rowvar or np.ndim(m) == 1 else m.T
    rows = np.reshape(rows, (-1, np.shape(rows)[-1]))
    d_y = np.reshape(d_y, (rows.shape[0], rows.shape[0])).astype(m.dtype)
    free = rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    d_rows = (d_y @ np.conj(centred) + np.conj(d_y.T @ centred)) / free
    return np.reshape(d_rows if rowvar or np.ndim(m) == 1 else d_rows.T, np.shape(m))


@tangent(np.cov)
def cov_tangent(y, m, t_m, rowvar=True, bias=False, ddof=None):
    rows, t_rows = (m, t_m) if rowvar or np.ndim(m) == 1 else (m.T, t_m.T)
    rows = np.reshape(rows, (-1, np.shape(rows)[-1]))
    t_rows = np.reshape(t_rows, rows.shape)
    free = rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    half = t_rows @ np.conj(centred.T) / free
    return np.reshape(half + np.conj(half.T), y.shape)


@adjoint(np.polyval)
def polyval_adjoint(y, p, x, d_y):
    d_p, d_x = polyval_cotangents(d_y, p, x)
    return d_p, d_x


@tangent(np.polyval)
def polyval_tangent(y, p, x, t_p, t_x):
    slopes = p[:-1] * np.arange(len(p) - 1, 0, -1, dtype=p.dtype)
    return np.polyval(t_p, x), t_x * np.polyval(slopes, x)


adjoints({
    np.unwrap: lambda y, p, d_y, discont=None, axis=-1, period=6.283185307179586: d_y,
})
