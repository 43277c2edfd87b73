"""Compositions of SciPy's functions outside of `special` and `linalg`: the normal distribution, and distances of points."""

import math

import numpy as np
from scipy import special
from scipy.spatial import distance
from scipy.stats import norm

from sourcead.primitives.compositions import composed, refuse

LOG_SQRT_2_PI = math.log(2 * math.pi) / 2


def standard(x, loc, scale):
    """Return how many standard deviations a value is above the mean; a standard deviation that is not positive makes it nan."""
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    centred = x if loc is None else x - loc
    return centred if scale is None else centred / positive(scale)


def positive(scale):
    """Return a standard deviation, nan where it is not positive."""
    return np.where(np.greater(scale, 0), scale, np.nan)


def moved(z, loc, scale):
    """Return the value that is `z` standard deviations above the mean."""
    scaled = z if scale is None else z * positive(scale)
    return scaled if loc is None else scaled + loc


def log_density(z, scale):
    """Return the logarithm of the density at `z` standard deviations above the mean."""
    return -z * z / 2 - LOG_SQRT_2_PI - (0.0 if scale is None else np.log(scale))


composed({
    norm.logpdf: lambda x, loc=None, scale=None: log_density(standard(x, loc, scale), scale),
    norm.pdf: lambda x, loc=None, scale=None: np.exp(log_density(standard(x, loc, scale), scale)),
    norm.cdf: lambda x, loc=None, scale=None: special.ndtr(standard(x, loc, scale)),
    norm.sf: lambda x, loc=None, scale=None: special.ndtr(-standard(x, loc, scale)),
    norm.logcdf: lambda x, loc=None, scale=None: special.log_ndtr(standard(x, loc, scale)),
    norm.logsf: lambda x, loc=None, scale=None: special.log_ndtr(-standard(x, loc, scale)),
    norm.ppf: lambda q, loc=None, scale=None: moved(special.ndtri(q), loc, scale),
    norm.isf: lambda q, loc=None, scale=None: moved(-special.ndtri(q), loc, scale),
})


@composed(distance.cdist)
def cdist(xa, xb, metric="euclidean", p=2):
    differences = np.asarray(xa)[:, None, :] - np.asarray(xb)[None, :, :]
    if metric == "euclidean":
        return np.linalg.norm(differences, axis=-1)
    if metric == "sqeuclidean":
        return np.sum(differences * differences, axis=-1)
    if metric in ("cityblock", "manhattan"):
        return np.sum(np.abs(differences), axis=-1)
    if metric == "chebyshev":
        return np.max(np.abs(differences), axis=-1)
    if metric == "minkowski":
        return np.linalg.norm(differences, ord=p, axis=-1)
    refuse("`cdist` with this metric")
