"""Rules of statistics with missing values, of covariances and of polynomials.

    y = nansum(x)        as sum, with d_x = 0 where x is missing; likewise the other functions
    y = cov(x)           y = c @ c.T / (n - ddof) of the centred rows c,      d_x = (d_y + d_y.T) @ c / (n - ddof)
    y = polyval(p, x)    d_p[k] = sum of d_y * x**(n-k),                      d_x = d_y * polyval(derivative of p, x)
    y = roots(p)         p(y[i]) = 0, so that d_p[k] = -sum over i of d_y[i] * y[i]**(n-k) / p'(y[i])
"""

import numpy as np

from sourcead.primitives.elementwise import real_if_real
from sourcead.primitives.reductions import by_share, by_slope, centred, of_reduction, of_variance, reduced
from sourcead.primitives.registry import adjoint, adjoints, enter, family, in_both_modes, tangent, tangents
from sourcead.primitives.result_types.by_example import sized
from sourcead.primitives.scans import cumsum_adjoint
from sourcead.primitives.together import behind, together
from sourcead.runtime import divide_or_zero, polyval_cotangents, product_of_others, root_slopes

family(__name__, memory="fresh")

# ---- missing values ----


def there(x):
    """Return 1 for each element that is not missing, 0 for the others."""
    return (~np.isnan(x)).astype(x.dtype)


def centred_there(x, axis, keepdims):
    """Return the deviations of the elements from the mean of those that are not missing, conjugated; 0 where one is missing."""
    return np.where(np.isnan(x), 0, centred(np.nanmean, x, axis, keepdims))


def number_there(x, axis, keepdims):
    """Return how many of the elements that are reduced to one are not missing."""
    return reduced(np.sum, np.real(there(x)) if np.iscomplexobj(x) else there(x), axis, keepdims)


in_both_modes({
    np.nansum: by_slope(lambda x, axis: ~np.isnan(x)),
    np.nanmean: of_reduction(lambda y, x, axis, keepdims: by_share(there(x), axis, keepdims)),
    np.nanprod: by_slope(lambda x, axis: product_of_others(np.where(np.isnan(x), 1, x), axis) * ~np.isnan(x)),
    np.nanvar: of_variance(lambda y, x, axis, keepdims, ddof: (
        lambda d: 2 * d / (number_there(x, axis, keepdims) - ddof), lambda: centred_there(x, axis, keepdims)
    )),
    np.nanstd: of_variance(lambda y, x, axis, keepdims, ddof: (
        lambda d: divide_or_zero(d, y * (number_there(x, axis, keepdims) - ddof)), lambda: centred_there(x, axis, keepdims)
    )),
})  # fmt: skip

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
    degrees = np.arange(len(p) - 1, 0, -1, dtype=p.dtype)
    slopes = p[:-1] * (degrees if p.ndim == 1 else degrees.reshape((-1,) + (1,) * (p.ndim - 1)))
    return np.polyval(t_p, x), t_x * np.polyval(slopes, x)
enter(np.roots, np.poly, examples=False)  # real or complex, by their values
enter(np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nancumsum, result=sized)
enter(np.nancumprod, memory="fresh", result=sized)


# ---- for all members of a batch ----


@together(np.percentile)
def _(a, q, axis=None, method="linear", keepdims=False):
    found = np.percentile(a, q, behind(axis, a.ndim - 1), method=method, keepdims=keepdims)
    return found if np.ndim(q) == 0 else np.moveaxis(found, np.ndim(q), 0)


@together(np.quantile)
def _(a, q, axis=None, method="linear", keepdims=False):
    found = np.quantile(a, q, behind(axis, a.ndim - 1), method=method, keepdims=keepdims)
    return found if np.ndim(q) == 0 else np.moveaxis(found, np.ndim(q), 0)
