"""Compositions of covariances, histograms and quantiles in the forms that have no rule of their own."""

import numpy as np

from sourcead.primitives.compositions import composed, number_kind, refuse
from sourcead.primitives.registry import enter
from sourcead.primitives.result_types.by_example import sized


@composed(np.corrcoef)
def corrcoef(x, y=None, rowvar=True):
    c = np.cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(np.real(np.diag(c)))
    c = c / spread[:, None] / spread[None, :]
    if number_kind(c) == "complex":
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(np.real(c), -1, 1)


@composed(np.cov, given="y fweights aweights")
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    rows = np.atleast_2d(m)
    if not rowvar and np.ndim(m) > 1:
        rows = rows.T
    if y is not None:
        more = np.atleast_2d(y)
        if not rowvar and np.ndim(y) > 1:
            more = more.T
        rows = np.concatenate((rows, more), 0)
    if ddof is None:
        ddof = 0 if bias else 1
    if fweights is None and aweights is None:
        centred = rows - np.mean(rows, axis=1, keepdims=True)
        return np.squeeze(centred @ np.conj(centred.T) / (rows.shape[1] - ddof))
    weights = np.asarray(aweights if fweights is None else fweights)
    if fweights is not None and aweights is not None:
        weights = weights * aweights
    own = np.sum(weights if aweights is None else weights * aweights)
    total = np.sum(weights)
    free = total - ddof * own / total
    centred = rows - np.sum(rows * weights, axis=1, keepdims=True) / total
    return np.squeeze((centred * weights) @ np.conj(centred.T) / free)


# ---- histograms ----


@composed(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if isinstance(bins, str):
        refuse("bins chosen by a rule depend on the data: give their number or their edges")
    if np.ndim(bins) != 0:
        return np.asarray(bins)
    if range is not None:
        return np.linspace(range[0], range[1], bins + 1)
    low, high = np.min(a), np.max(a)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


@composed(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None):
    edges = histogram_bin_edges(a, bins, range)
    values = np.ravel(a)
    inside = (values >= edges[0]) & (values <= edges[-1])
    places = np.minimum(np.searchsorted(edges, values[inside], "right") - 1, len(edges) - 2)
    if weights is None:
        counts = np.bincount(places, minlength=len(edges) - 1)
    else:
        counts = np.bincount(places, np.ravel(weights)[inside], len(edges) - 1)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


# ---- quantiles of what is there ----


def lowest_first(a, axis):
    """Return the elements sorted along the last axis, with missing ones last, and the number of elements that are there."""
    if axis is None:
        flat = np.ravel(a)
    elif isinstance(axis, tuple):
        kept = [i for i in range(a.ndim) if i not in [k % a.ndim for k in axis]]
        flat = np.moveaxis(a, axis, range(-len(axis), 0)).reshape([a.shape[i] for i in kept] + [-1])
    else:
        flat = np.moveaxis(a, axis, -1)
    return np.sort(flat, axis=-1), np.sum(~np.isnan(flat), axis=-1, keepdims=True)


def between(rows, place):
    """Return the values interpolated at positions between two elements of each row."""
    low = np.floor(place).astype(int)
    high = np.ceil(place).astype(int)
    below = np.take_along_axis(rows, low, -1)
    above = np.take_along_axis(rows, high, -1)
    return below + (above - below) * (place - low)


PLACES = {
    "linear": lambda q, n: q * (n - 1),
    "lower": lambda q, n: np.floor(q * (n - 1)),
    "higher": lambda q, n: np.ceil(q * (n - 1)),
    "nearest": lambda q, n: np.round(q * (n - 1)),
    "midpoint": lambda q, n: (np.floor(q * (n - 1)) + np.ceil(q * (n - 1))) / 2,
    "inverted_cdf": lambda q, n: np.ceil(q * n - 1),
    "averaged_inverted_cdf": lambda q, n: np.where(q * n == np.floor(q * n), q * n - 0.5, np.ceil(q * n - 1)),
    "interpolated_inverted_cdf": lambda q, n: q * n - 1,
    "hazen": lambda q, n: q * n - 0.5,
    "weibull": lambda q, n: q * (n + 1) - 1,
    "median_unbiased": lambda q, n: q * (n + 1 / 3) - 2 / 3,
    "normal_unbiased": lambda q, n: q * (n + 1 / 4) - 5 / 8,
}
"""The position of the quantile q among n sorted elements (R. Hyndman and Y. Fan, The American Statistician 50, 1996)."""


def quantile_places(q, n, method):
    """Return the position of a quantile among n sorted elements, by the method."""
    if method not in PLACES:
        refuse("a quantile with this method: use 'linear', 'hazen', 'weibull', 'median_unbiased' or 'inverted_cdf'")
    return np.minimum(np.maximum(PLACES[method](q, n), 0), n - 1)


def in_front(found, q, a, axis, keepdims):
    """Return quantiles with the axes of `q` first, where `found` has them last."""
    result = np.moveaxis(found, -1, 0)
    kept = result.shape[1:]
    if keepdims and axis is None:
        kept = (1,) * a.ndim
    elif keepdims:
        gone = [k % a.ndim for k in axis] if isinstance(axis, tuple) else [axis % a.ndim]
        kept = tuple([1 if i in gone else a.shape[i] for i in range(a.ndim)])
    return np.reshape(result, np.shape(q) + kept)


@composed(np.nanquantile)
def nanquantile(a, q, axis=None, method="linear", keepdims=False):
    rows, number = lowest_first(a, axis)
    places = quantile_places(np.ravel(q), np.maximum(number, 1), method)
    return in_front(between(rows, places), q, a, axis, keepdims)


composed({
    np.nanpercentile: lambda a, q, axis=None, method="linear", keepdims=False: (
        nanquantile(a, np.divide(q, 100), axis, method, keepdims)
    ),
    np.nanmedian: lambda a, axis=None, keepdims=False: nanquantile(a, 0.5, axis, "linear", keepdims),
})


@composed(np.quantile, given="method", active="q")
def quantile(a, q, axis=None, method="linear", keepdims=False):
    rows = lowest_first(a, axis)[0]
    places = quantile_places(np.ravel(q), rows.shape[-1], method)
    low = np.floor(places).astype(int)
    high = np.ceil(places).astype(int)
    found = rows[..., low] + (rows[..., high] - rows[..., low]) * (places - low)
    found = np.where(np.isnan(rows[..., -1:]), np.nan, found)  # they stand last
    return in_front(found, q, a, axis, keepdims)


@composed(np.percentile, given="method", active="q")
def percentile(a, q, axis=None, method="linear", keepdims=False):
    return np.quantile(a, np.divide(q, 100), axis, method=method, keepdims=keepdims)


enter(np.corrcoef, np.nanmedian, np.nanpercentile, np.nanquantile, memory="fresh")
enter(np.nanmedian, result=sized)
