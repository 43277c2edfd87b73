"""Compositions of SciPy's functions outside of `special` and `linalg`: distributions, and distances of points.

The densities are those of SciPy's pages on each distribution, and the distribution functions those of `scipy.special`.
"""

import math

import numpy as np
from scipy import special
from scipy.spatial import distance
from scipy.stats import chi2, expon, gamma, multivariate_normal, norm, t

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
    norm._pdf: lambda x: np.exp(log_density(x, 1.0)),  # for a mean of 0 and a deviation of 1, without any check of arguments
    norm._logpdf: lambda x: log_density(x, 1.0),
    norm._cdf: lambda x: special.ndtr(x),
    norm._sf: lambda x: special.ndtr(-x),
    norm._logcdf: lambda x: special.log_ndtr(x),
    norm._logsf: lambda x: special.log_ndtr(-x),
    norm._ppf: lambda q: special.ndtri(q),
    norm._isf: lambda q: -special.ndtri(q),
    norm.isf: lambda q, loc=None, scale=None: moved(-special.ndtri(q), loc, scale),
})




def positive_part(x, loc, scale, value, outside, *shapes):
    """Return `value(z, *shapes)` where the standardised `z` is not negative, and `outside` elsewhere."""
    z = standard(x, loc, scale)
    return np.where(np.less(z, 0), outside, value(np.where(np.less(z, 0), 1.0, z), *shapes))


def log_of(scale):
    """Return the logarithm of a scale."""
    return 0.0 if scale is None else np.log(scale)


def log_density_of_chi2(z, df):
    return special.xlogy(df / 2 - 1, z) - z / 2 - special.gammaln(df / 2) - df * LOG_2 / 2


def log_density_of_gamma(z, a):
    return special.xlogy(a - 1, z) - z - special.gammaln(a)


def log_density_of_t(z, df):
    return special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * math.pi) / 2 - (df + 1) / 2 * np.log1p(z * z / df)


LOG_2 = math.log(2)
EPS = float(np.finfo(float).eps)

composed({
    expon.logpdf: lambda x, loc=None, scale=None: positive_part(x, loc, scale, np.negative, -np.inf) - log_of(scale),
    expon.pdf: lambda x, loc=None, scale=None: positive_part(x, loc, scale, lambda z: np.exp(-z - log_of(scale)), 0.0),
    expon.cdf: lambda x, loc=None, scale=None: positive_part(x, loc, scale, lambda z: -np.expm1(-z), 0.0),
    expon.sf: lambda x, loc=None, scale=None: positive_part(x, loc, scale, lambda z: np.exp(-z), 1.0),
    expon.ppf: lambda q, loc=None, scale=None: moved(-np.log1p(-np.asarray(q)), loc, scale),
    chi2.logpdf: lambda x, df, loc=None, scale=None: positive_part(x, loc, scale, log_density_of_chi2, -np.inf, df) - log_of(scale),
    chi2.pdf: lambda x, df, loc=None, scale=None: (
        positive_part(x, loc, scale, lambda z: np.exp(log_density_of_chi2(z, df) - log_of(scale)), 0.0)
    ),
    chi2.cdf: lambda x, df, loc=None, scale=None: positive_part(x, loc, scale, lambda z: special.chdtr(df, z), 0.0),
    chi2.sf: lambda x, df, loc=None, scale=None: positive_part(x, loc, scale, lambda z: special.chdtrc(df, z), 1.0),
    chi2.ppf: lambda q, df, loc=None, scale=None: moved(special.chdtri(df, 1.0 - np.asarray(q)), loc, scale),
    gamma.logpdf: lambda x, a, loc=None, scale=None: positive_part(x, loc, scale, log_density_of_gamma, -np.inf, a) - log_of(scale),
    gamma.pdf: lambda x, a, loc=None, scale=None: (
        positive_part(x, loc, scale, lambda z: np.exp(log_density_of_gamma(z, a) - log_of(scale)), 0.0)
    ),
    gamma.cdf: lambda x, a, loc=None, scale=None: positive_part(x, loc, scale, lambda z: special.gammainc(a, z), 0.0),
    gamma.sf: lambda x, a, loc=None, scale=None: positive_part(x, loc, scale, lambda z: special.gammaincc(a, z), 1.0),
    gamma.ppf: lambda q, a, loc=None, scale=None: moved(special.gammaincinv(a, q), loc, scale),
    t.logpdf: lambda x, df, loc=None, scale=None: log_density_of_t(standard(x, loc, scale), df) - log_of(scale),
    t.pdf: lambda x, df, loc=None, scale=None: np.exp(log_density_of_t(standard(x, loc, scale), df) - log_of(scale)),
    t.cdf: lambda x, df, loc=None, scale=None: special.stdtr(df, standard(x, loc, scale)),
    t.sf: lambda x, df, loc=None, scale=None: special.stdtr(df, -standard(x, loc, scale)),
    t.ppf: lambda q, df, loc=None, scale=None: moved(special.stdtrit(df, q), loc, scale),
})


@composed(multivariate_normal.logpdf)
def log_density_of_vectors(x, mean=None, cov=1, allow_singular=False):
    x, cov = np.asarray(x), np.asarray(cov)
    if np.ndim(cov) != 2:
        refuse("`multivariate_normal` with a covariance that is not a matrix")
    lower = np.tril(cov, -1)
    covariance = lower + lower.T + np.diag(np.diag(cov))  # SciPy reads the lower triangle
    spread = np.linalg.eigvalsh(cov)
    if np.min(spread) <= 1e6 * EPS * np.max(np.abs(spread)):
        raise np.linalg.LinAlgError("the covariance is singular, where the density has no derivative by it")
    deviation = np.atleast_1d(x if mean is None else x - np.asarray(mean))
    rows = np.reshape(deviation, (-1, cov.shape[0]))
    distance = np.sum(rows * np.linalg.solve(covariance, rows.T).T, axis=-1)
    found = -0.5 * (cov.shape[0] * 2 * LOG_SQRT_2_PI + np.linalg.slogdet(covariance)[1] + distance)
    return found[0] if np.ndim(deviation) == 1 else np.reshape(found, deviation.shape[:-1])


composed({
    multivariate_normal.pdf: lambda x, mean=None, cov=1, allow_singular=False: (
        np.exp(log_density_of_vectors(x, mean, cov, allow_singular))
    ),
})


@composed(distance.cdist)
def cdist(xa, xb, metric="euclidean", p=2):
    return length_of(np.asarray(xa)[:, None, :] - np.asarray(xb)[None, :, :], metric, p)


@composed(distance.pdist)
def pdist(X, metric="euclidean", p=2):
    points = np.asarray(X)
    rows, columns = np.triu_indices(points.shape[0], 1)
    return length_of(points[rows] - points[columns], metric, p)


@composed(distance.squareform)
def squareform(X, force="no", checks=True):
    found = np.asarray(X)
    if np.ndim(found) == 2:
        rows, columns = np.triu_indices(found.shape[0], 1)
        return found[rows, columns]
    n = int(np.ceil(np.sqrt(2 * found.shape[0]))) or 1
    rows, columns = np.triu_indices(n, 1)
    square = np.zeros((n, n))
    square[rows, columns] = found
    square[columns, rows] = found
    return square


def length_of(differences, metric, p):
    """Return the lengths, along the last axis, of the differences of points."""
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
    refuse("distances with this metric")
