"""Rules of statistics with missing values, of covariances and of polynomials.

    y = nansum(x)        as sum, with d_x = 0 where x is missing; likewise the other functions
    y = cov(x)           y = c @ c.T / (n - ddof) of the centred rows c,      d_x = (d_y + d_y.T) @ c / (n - ddof)
    y = polyval(p, x)    d_p[k] = sum of d_y * x**(n-k),                      d_x = d_y * polyval(derivative of p, x)
    y = roots(p)         p(y[i]) = 0, so that d_p[k] = -sum over i of d_y[i] * y[i]**(n-k) / p'(y[i])
"""

import numpy as np

from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.reductions import reduced, restore_axes
from sourcead.primitives.registry import adjoint, adjoints, enter, family, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.scans import cumsum_adjoint
from sourcead.runtime import divide_or_zero, polyval_cotangents, product_of_others, root_slopes

family(__name__, memory="fresh")

# ---- missing values ----

adjoints({
    np.nansum: lambda y, x, d_y, axis=None, keepdims=False: restore_axes(d_y, x, axis, keepdims) * ~np.isnan(x),
})
tangents({
    np.nansum: lambda y, x, t_x, axis=None, keepdims=False: np.sum(t_x * ~np.isnan(x), axis=axis, keepdims=keepdims),
})


@adjoint(np.nanmean)
def nanmean_adjoint(y, x, d_y, axis=None, keepdims=False):
    number = (~np.isnan(x)).astype(x.dtype)
    return restore_axes(d_y / reduced(np.sum, number, axis, keepdims), x, axis, keepdims) * number


@tangent(np.nanmean)
def nanmean_tangent(y, x, t_x, axis=None, keepdims=False):
    number = (~np.isnan(x)).astype(x.dtype)
    return np.sum(t_x * number, axis=axis, keepdims=keepdims) / np.sum(number, axis=axis, keepdims=keepdims)


@adjoint(np.nanprod)
def nanprod_adjoint(y, x, d_y, axis=None, keepdims=False):
    there = ~np.isnan(x)
    others = product_of_others(np.where(there, x, 1), axis)
    return restore_axes(d_y, x, axis, keepdims) * others * there


@tangent(np.nanprod)
def nanprod_tangent(y, x, t_x, axis=None, keepdims=False):
    there = ~np.isnan(x)
    return np.sum(product_of_others(np.where(there, x, 1), axis) * there * t_x, axis=axis, keepdims=keepdims)


def slope_there(x, axis, ddof, factor):
    """Return the deviations from the mean, times a factor, divided by the degrees of freedom; 0 where an element is missing."""
    if np.iscomplexobj(x):
        x = np.conj(x)
    there = (~np.isnan(x)).astype(x.dtype)
    ratio = factor * (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    return ratio / (np.sum(there, axis=axis, keepdims=True) - ddof)


adjoints({
    np.nanvar: lambda y, x, d_y, axis=None, ddof=0, keepdims=False: (
        restore_axes(d_y, x, axis, keepdims) * slope_there(x, axis, ddof, 2)
    ),
    np.nanstd: lambda y, x, d_y, axis=None, ddof=0, keepdims=False: (
        restore_axes(divide_or_zero(d_y, y), x, axis, keepdims) * slope_there(x, axis, ddof, 1)
    ),
})


def deviations_there(x, t_x, axis, ddof, keepdims):
    """Return the sum of the products of the deviations from the mean and the tangent, and the number of degrees of freedom."""
    there = ~np.isnan(x)
    centred = (np.where(there, x, 0) - np.nanmean(x, axis=axis, keepdims=True)) * there
    n = np.sum(there.astype(np.abs(x).dtype), axis=axis, keepdims=keepdims) - ddof
    product = np.real(np.conj(centred) * t_x) if np.iscomplexobj(x) else centred * t_x
    return np.sum(product, axis=axis, keepdims=keepdims), n


@tangent(np.nanvar)
def nanvar_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    total, n = deviations_there(x, t_x, axis, ddof, keepdims)
    return 2 * total / n


@tangent(np.nanstd)
def nanstd_tangent(y, x, t_x, axis=None, ddof=0, keepdims=False):
    total, n = deviations_there(x, t_x, axis, ddof, keepdims)
    return divide_or_zero(total, y * n)


adjoints({np.nancumsum: lambda y, x, d_y, axis=None: cumsum_adjoint(y, x, d_y, axis) * ~np.isnan(x)})
tangents({np.nancumsum: lambda y, x, t_x, axis=None: np.cumsum(t_x * ~np.isnan(x), axis)})

# ---- covariances ----


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


# ---- polynomials ----

adjoints({
    np.polyval: lambda y, p, x, d_y: polyval_cotangents(d_y, p, x),
    np.roots: lambda y, p, d_y: real_if_real(d_y @ root_slopes(y, p), p),
})
tangents({np.roots: lambda y, p, t_p: root_slopes(y, p) @ t_p})


@tangent(np.polyval)
def polyval_tangent(y, p, x, t_p, t_x):
    slopes = p[:-1] * np.arange(len(p) - 1, 0, -1, dtype=p.dtype)
    return np.polyval(t_p, x), t_x * np.polyval(slopes, x)
enter(np.roots, np.poly, examples=False)  # real or complex, by their values
enter(np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nancumsum, result=sized)
enter(np.nancumprod, memory="fresh", result=sized)
