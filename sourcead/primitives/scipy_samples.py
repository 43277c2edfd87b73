"""Compositions of the functions of `scipy.stats` that describe samples, by the formulas of their pages."""

from collections import namedtuple

import numpy as np
from scipy import special, stats

from sourcead.primitives.compositions import composed

EPS = float(np.finfo(float).eps)
Line = namedtuple("LinregressResult", "slope intercept rvalue pvalue stderr")


def standardised_moment(a, order, axis, keepdims):
    """Return the mean of a power of the deviations from the mean, over that of their squares: nan where all values are the same."""
    middle = np.mean(a, axis=axis, keepdims=True)
    square = np.mean((a - middle) ** 2, axis=axis, keepdims=True)
    same = square <= (EPS * middle) ** 2
    found = np.mean((a - middle) ** order, axis=axis, keepdims=True) / np.where(same, np.nan, square) ** (order / 2)
    return found if keepdims else np.squeeze(found, axis)


@composed(stats.skew)
def skew(a, axis=0, bias=True, keepdims=False):
    a = np.asarray(a)
    found = standardised_moment(a, 3, axis, keepdims)
    n = a.size / max(np.size(found), 1)
    return found if bias or n <= 2 else found * np.sqrt((n - 1) * n) / (n - 2)


@composed(stats.kurtosis)
def kurtosis(a, axis=0, fisher=True, bias=True, keepdims=False):
    a = np.asarray(a)
    found = standardised_moment(a, 4, axis, keepdims)
    n = a.size / max(np.size(found), 1)
    if not bias and n > 3:
        found = ((n**2 - 1) * found - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return found - 3 if fisher else found


@composed(stats.zscore)
def zscore(a, axis=0, ddof=0):
    a = np.asarray(a)
    middle = np.mean(a, axis=axis, keepdims=True)
    deviation = np.std(a, axis=axis, ddof=ddof, keepdims=True)
    return (a - middle) / np.where(deviation <= np.abs(EPS * middle), np.nan, deviation)


@composed(stats.sem)
def sem(a, axis=0, ddof=1, keepdims=False):
    a = np.asarray(a)
    found = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return found / np.sqrt(a.size / np.size(found))


@composed(stats.median_abs_deviation)
def median_abs_deviation(x, axis=0, center=None, scale=1.0, nan_policy="propagate", keepdims=False):
    x = np.asarray(x)
    median = np.nanmedian if nan_policy == "omit" else np.median
    middle = median(x, axis=axis, keepdims=True) if center is None else np.expand_dims(center(x, axis=axis), axis)
    return median(np.abs(x - middle), axis=axis, keepdims=keepdims) / (special.ndtri(0.75) if scale == "normal" else scale)


@composed(stats.linregress)
def linregress(x, y):
    x, y = np.asarray(x), np.asarray(y)
    x_middle, y_middle = np.mean(x), np.mean(y)
    xx, yy = np.mean((x - x_middle) ** 2), np.mean((y - y_middle) ** 2)
    xy = np.mean((x - x_middle) * (y - y_middle))
    slope, r, free = xy / xx, np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0), len(x) - 2
    statistic = r * np.sqrt(free / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    return Line(
        slope, y_middle - slope * x_middle, r, 2 * special.stdtr(free, -np.abs(statistic)), np.sqrt((1 - r**2) * yy / xx / free)
    )
