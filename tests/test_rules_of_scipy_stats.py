"""Distributions and descriptions of samples of `scipy.stats`, and distances of pairs of points."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

from sourcead import grad, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([[1.03, 2.56, 3.11, 0.42], [0.51, 1.47, 2.08, 4.43], [0.34, 0.22, 0.97, 0.71]])
COVARIANCE = np.array([[2.0, 0.3], [0.3, 1.5]])

DISTRIBUTIONS = {
    "normal without checks": lambda x: (
        stats.norm._pdf(x) + stats.norm._logpdf(x) + stats.norm._cdf(x) * stats.norm._sf(x) + stats.norm._logcdf(x) * stats.norm._logsf(x)
        + stats.norm._ppf(0.1 * x) * stats.norm._isf(0.2 * x)
    ),
    "expon": lambda x: stats.expon.logpdf(x[0]) + stats.expon.pdf(x[0], 0.2, 2.0) + stats.expon.cdf(x[0]) * stats.expon.sf(x[1], 0.1),
    "quantile of expon": lambda x: stats.expon.ppf(0.1 * x, x[2], 2.0),
    "chi2": lambda x: stats.chi2.logpdf(x, 3) + stats.chi2.pdf(x, 2.5, loc=-1.0) + stats.chi2.cdf(x, 4) * stats.chi2.sf(x, df=3),
    "quantile of chi2": lambda x: stats.chi2.ppf(0.1 * x, 3),
    "gamma": lambda x: stats.gamma.logpdf(x, x[2]) + stats.gamma.pdf(x, 2.5, scale=x[1]) + stats.gamma.cdf(x, 4) * stats.gamma.sf(x, 3),
    "quantile of gamma": lambda x: stats.gamma.ppf(0.1 * x, 3.0),
    "t": lambda x: stats.t.logpdf(x, x[0]) + stats.t.pdf(x, 3, x[1], 2.0) + stats.t.cdf(x, 4) * stats.t.sf(-x, 3, scale=x[2]),
    "quantile of t": lambda x: stats.t.ppf(0.1 * x, 4),
    "outside of the support": lambda x: stats.expon.pdf(x - 1.7) + stats.chi2.sf(x - 1.7, 3) + stats.gamma.cdf(x, 3, 1.7),
    "cauchy": lambda x: stats.cauchy.logpdf(x, x[0]) + stats.cauchy.pdf(x, scale=x[1]) + stats.cauchy.cdf(x) * stats.cauchy.sf(x),
    "laplace": lambda x: stats.laplace.logpdf(x, 1.0, x[0]) + stats.laplace.pdf(x, 0.7) + stats.laplace.cdf(x - 1) * stats.laplace.sf(x),
    "logistic": lambda x: stats.logistic.logpdf(x, x[0]) + stats.logistic.pdf(x, 0.7) + stats.logistic.cdf(x) * stats.logistic.sf(x),
    "gumbel_r": lambda x: stats.gumbel_r.logpdf(x, x[0]) + stats.gumbel_r.pdf(x) + stats.gumbel_r.cdf(x) * stats.gumbel_r.sf(x),
    "uniform": lambda x: stats.uniform.logpdf(x, 0.0, 15 * x[0]) + stats.uniform.pdf(x, scale=x[1]) + stats.uniform.cdf(x, 0.5, x[1]),
    "halfnorm": lambda x: stats.halfnorm.logpdf(x, 0.0, x[0]) + stats.halfnorm.cdf(x - 0.6) * stats.halfnorm.sf(x) + stats.halfnorm.pdf(x),
    "rayleigh": lambda x: stats.rayleigh.logpdf(x, 0.0, x[0]) + stats.rayleigh.cdf(x - 0.6) * stats.rayleigh.sf(x) + stats.rayleigh.pdf(x),
    "weibull": lambda x: stats.weibull_min.logpdf(x, x[0], scale=2.0) + stats.weibull_min.pdf(x - 0.6, 2.5) + stats.weibull_min.sf(x, x[1]),
    "pareto": lambda x: stats.pareto.logpdf(1 + x, x[0]) + stats.pareto.pdf(x, 2.5, scale=x[1]) + stats.pareto.cdf(x + 1, 2, 0.1),
    "lognorm": lambda x: stats.lognorm.logpdf(x, x[0]) + stats.lognorm.pdf(x - 0.6, 2.5) + stats.lognorm.cdf(x - 0.6, x[1]),
    "beta": lambda x: stats.beta.logpdf(0.1 * x, x[0], 1.5) + stats.beta.pdf(x, 2.5, x[1]) + stats.beta.cdf(0.2 * x, 2, 3),
    "quantiles": lambda x: (
        stats.cauchy.ppf(0.2 * x) + stats.laplace.ppf(0.2 * x, x[0]) + stats.logistic.ppf(0.2 * x) + stats.pareto.ppf(0.2 * x, 2)
        + stats.weibull_min.ppf(0.2 * x, x[1]) + stats.lognorm.ppf(0.2 * x, 0.5) + stats.rayleigh.ppf(0.2 * x) + stats.uniform.ppf(0.2 * x)
    ),
    "counts": lambda x: (
        stats.poisson.logpmf(np.array([0, 3, -1, 2]), x)[:, :2] + stats.poisson.pmf(2, x[:, :2]) + stats.binom.logpmf(2, 5, 0.2 * x[:, :2])
        + stats.binom.pmf([1, 7], 5, 0.2 * x[:, :2]) + stats.bernoulli.logpmf(1, 0.1 * x[:, :2]) + stats.poisson(x[0, 0]).pmf(1)
    ),
    "of a number": lambda x: stats.chi2.sf(x[0, 0], 2) * stats.t.sf(x[0, 1], 3),
    "of a list": lambda x: stats.chi2.cdf([x[0, 0], x[0, 1]], 2) * stats.gamma.ppf([0.2, 0.1 * x[0, 2]], 2),
    "logarithm of a normal of vectors": lambda x: stats.multivariate_normal.logpdf(x[:, :2], x[0, 1:3], COVARIANCE * x[1, 1]),
    "normal of one vector": lambda x: stats.multivariate_normal.pdf(x[0, :2], None, COVARIANCE + np.outer(x[1, :2], x[1, :2])),
    "normal by one triangle": lambda x: stats.multivariate_normal.logpdf(
        [0.1, 0.2, 0.3], cov=x[:3, :3] + 3 * np.eye(3), allow_singular=True
    ),
    "normal of a matrix of vectors": lambda x: stats.multivariate_normal.logpdf(x[:, None, 1:3], x[1, :2], np.eye(2)),
}

DISTANCES = {
    "pairs": lambda x: distance.pdist(x) * np.array([1.0, -2.0, 0.5]),
    "pairs of a list": lambda x: distance.pdist([x[0], x[1]], "cityblock"),
    "pairs of order 3": lambda x: distance.pdist(x, "minkowski", p=3) + distance.pdist(x, metric="chebyshev"),
    "matrix of pairs": lambda x: distance.squareform(distance.pdist(x, "sqeuclidean")),
    "pairs of a matrix": lambda x: distance.squareform(x[:, :3] + x[:, :3].T - 2 * np.diag(np.diag(x)), checks=False),
    "pairs of one": lambda x: distance.squareform(distance.pdist(x[:1])) + x[0, 0],
}

SAMPLES = {
    "skew": lambda x: stats.skew(x),
    "skew of all": lambda x: stats.skew(x, axis=None, bias=False),
    "skew of rows": lambda x: stats.skew(x, -1, False, keepdims=True),
    "skew of two axes": lambda x: stats.skew(x[None], axis=(0, 2)),
    "skew of a list": lambda x: stats.skew([x[0, 0], x[0, 1], x[0, 3], 1.0]),
    "skew of two": lambda x: stats.skew(x[:2] * x[2], bias=False) + x[0],
    "kurtosis": lambda x: stats.kurtosis(x),
    "kurtosis of all": lambda x: stats.kurtosis(x, axis=None, bias=False),
    "kurtosis of rows": lambda x: stats.kurtosis(x, 1, False, keepdims=True),
    "kurtosis without a bias": lambda x: stats.kurtosis(np.concatenate((x, x**2)), fisher=False, bias=False),
    "zscore": lambda x: stats.zscore(x) ** 2 + stats.zscore(x, axis=1, ddof=1),
    "error of the mean": lambda x: stats.sem(x) + stats.sem(x, axis=1, ddof=0)[0] + stats.sem(x, axis=None),
    "zscore of all": lambda x: stats.zscore(x, axis=None),
    "deviation from the median": lambda x: stats.median_abs_deviation(x),
    "deviation of rows": lambda x: stats.median_abs_deviation(x, axis=1, scale="normal"),
    "deviation of all": lambda x: stats.median_abs_deviation(x, axis=None, scale=2.0, nan_policy="omit"),
    "deviation from the mean": lambda x: stats.median_abs_deviation(x, center=np.mean),
    "line": lambda x: np.array(stats.linregress(x[0], x[1])),
    "slope and error": lambda x: stats.linregress(x[0], x[2]).slope * stats.linregress([1, 2, 3, 5], x[1]).stderr,
}

CASES = {**DISTRIBUTIONS, **SAMPLES, **DISTANCES}


@pytest.mark.parametrize("described", CASES.values(), ids=CASES)
def test_derivative_of_stats(described):
    def f(x):
        y = described(x)
        return np.sum(y * np.cos(np.arange(np.size(y))).reshape(np.shape(y)))

    assert judged_in_all_modes(f, X) == "right"
    np.testing.assert_allclose(value_and_grad(f)(X)[0], f(X), rtol=1e-12)


def test_second_derivative_of_a_skewness():
    slope = grad(lambda x: stats.skew(x) ** 2 * x[0])
    curvature = grad(lambda x: slope(x)[1])(X[0])
    step = 1e-5 * np.eye(4)
    expected = [(slope(X[0] + s)[1] - slope(X[0] - s)[1]) / 2e-5 for s in step]
    np.testing.assert_allclose(curvature, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.parametrize("f", [lambda x: stats.skew(x), lambda x: stats.kurtosis(x), lambda x: np.sum(stats.zscore(x))])
def test_equal_values_have_no_shape(f):
    x = np.full(4, 2.0)
    assert np.isnan(f(x)) and np.isnan(value_and_grad(f)(x)[0])


def test_singular_covariance_raises():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        grad(lambda x: stats.multivariate_normal.logpdf(x, cov=np.ones((2, 2)), allow_singular=True))(np.array([0.1, 0.2]))
