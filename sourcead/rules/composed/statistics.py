"""Covariances, histograms and quantiles in the forms that have no rule of their own."""

import numpy as np

from sourcead.rules.composed import composed, refuse


@composed(np.corrcoef)
def corrcoef(x, y=None, rowvar=True):
    c = np.cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    spread = np.sqrt(np.real(np.diag(c)))
    return np.clip(np.real(c / spread[:, None] / spread[None, :]), -1, 1)


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
    if fweights is not None and aweights is not None:
        weights = np.asarray(fweights) * aweights
        own = np.sum(weights * aweights)
    elif aweights is not None:
        weights = np.asarray(aweights)
        own = np.sum(weights * aweights)
    else:
        weights = np.asarray(fweights)
        own = np.sum(weights)
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
    """The elements in order along the last axis, missing ones behind, and how many there are."""
    if axis is None:
        flat = np.ravel(a)
    elif isinstance(axis, tuple):
        kept = [i for i in range(a.ndim) if i not in [k % a.ndim for k in axis]]
        flat = np.moveaxis(a, axis, range(-len(axis), 0)).reshape([a.shape[i] for i in kept] + [-1])
    else:
        flat = np.moveaxis(a, axis, -1)
    return np.sort(flat, axis=-1), np.sum(~np.isnan(flat), axis=-1, keepdims=True)


def between(rows, place):
    """What stands at places between two elements of each row."""
    low = np.floor(place).astype(int)
    high = np.ceil(place).astype(int)
    below = np.take_along_axis(rows, low, -1)
    above = np.take_along_axis(rows, high, -1)
    return np.squeeze(below + (above - below) * (place - low), -1)


@composed(np.nanquantile)
def nanquantile(a, q, axis=None, method="linear", keepdims=False):
    if method != "linear" or np.ndim(q) != 0:
        refuse("`np.nanquantile` of several q, or with a method besides 'linear'")
    rows, number = lowest_first(a, axis)
    result = between(rows, q * np.maximum(number - 1, 0))
    return put_back(result, a, axis) if keepdims else result


@composed(np.nanpercentile)
def nanpercentile(a, q, axis=None, method="linear", keepdims=False):
    return nanquantile(a, q / 100, axis, method, keepdims)


@composed(np.nanmedian)
def nanmedian(a, axis=None, keepdims=False):
    return nanquantile(a, 0.5, axis, "linear", keepdims)


@composed(np.quantile, given="method", active="q")
def quantile(a, q, axis=None, method="linear", keepdims=False):
    rows = lowest_first(a, axis)[0]
    places = q * (rows.shape[-1] - 1)
    if np.ndim(q) != 0:
        refuse("`np.quantile` of several q in this form: call it for each")
    if method == "lower":
        places = np.floor(places)
    elif method == "higher":
        places = np.ceil(places)
    elif method == "nearest":
        places = np.round(places)
    elif method == "midpoint":
        places = (np.floor(places) + np.ceil(places)) / 2
    elif method != "linear":
        refuse("`np.quantile` with this method: use 'linear', 'lower', 'higher', 'nearest' or 'midpoint'")
    low = np.floor(places).astype(int)
    high = np.ceil(places).astype(int)
    result = rows[..., low] + (rows[..., high] - rows[..., low]) * (places - low)
    result = np.where(np.isnan(rows[..., -1]), np.nan, result)  # they stand last
    return put_back(result, a, axis) if keepdims else result


@composed(np.percentile, given="method", active="q")
def percentile(a, q, axis=None, method="linear", keepdims=False):
    return quantile(a, q / 100, axis, method, keepdims)


def put_back(y, x, axis):
    """A reduction's result with the axes that are gone as axes of length one."""
    if axis is None:
        return np.reshape(y, (1,) * x.ndim)
    return np.expand_dims(y, axis)
