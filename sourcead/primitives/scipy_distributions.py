"""Compositions of more distributions of `scipy.stats`, from the formulas of SciPy's pages on each.

`z` is the standardised value, `(x - loc) / scale`. Each distribution is given by the logarithm of its density and by its distribution
function at `z`, and by its quantile function; `below` and `within` give them outside of the support the values that they have there.
"""

import math

import numpy as np
from scipy import special
from scipy.stats import (
    bernoulli, beta, binom, cauchy, gumbel_r, halfnorm, laplace, logistic, lognorm, pareto, poisson, rayleigh, uniform,
    weibull_min
)

from sourcead.primitives.compositions import composed
from sourcead.primitives.scipy_stats import LOG_SQRT_2_PI, log_of, moved, positive, standard

SQRT_HALF = math.sqrt(0.5)
LOG_PI = math.log(math.pi)
LOG_2 = math.log(2)


def below(z, least, outside, value):
    """Return `value(z)` where z is not below the least number of the support, and `outside` elsewhere."""
    return np.where(np.less(z, least), outside, value(np.where(np.less(z, least), least + 1.0, z)))


def within(z, under, over, value):
    """Return `value(z)` where z is in [0, 1], and the values for smaller and greater numbers elsewhere."""
    inside = value(np.where(np.less(z, 0) | np.greater(z, 1), 0.5, z))
    return np.where(np.less(z, 0), under, np.where(np.greater(z, 1), over, inside))


def probability(q):
    """Return a probability, nan where it is none."""
    q = np.asarray(q) if isinstance(q, (list, tuple)) else q
    return np.where(np.less(q, 0) | np.greater(q, 1), np.nan, q)


# ---- on all numbers ----

composed({
    cauchy.logpdf: lambda x, loc=None, scale=None: -LOG_PI - np.log1p(standard(x, loc, scale) ** 2) - log_of(scale),
    cauchy.pdf: lambda x, loc=None, scale=None: np.exp(-LOG_PI - np.log1p(standard(x, loc, scale) ** 2) - log_of(scale)),
    cauchy.cdf: lambda x, loc=None, scale=None: np.arctan2(1.0, -standard(x, loc, scale)) / math.pi,
    cauchy.sf: lambda x, loc=None, scale=None: np.arctan2(1.0, standard(x, loc, scale)) / math.pi,
    cauchy.logcdf: lambda x, loc=None, scale=None: np.log(np.arctan2(1.0, -standard(x, loc, scale)) / math.pi),
    cauchy.logsf: lambda x, loc=None, scale=None: np.log(np.arctan2(1.0, standard(x, loc, scale)) / math.pi),
    cauchy.ppf: lambda q, loc=None, scale=None: moved(np.tan(math.pi * (probability(q) - 0.5)), loc, scale),
})


def half_tail(z):
    """Return the probability of a Laplace variable beyond z on the side of z."""
    return np.exp(-np.abs(z)) / 2


def lower_laplace(z):
    """Return the distribution function of the Laplace distribution."""
    return np.where(np.greater(z, 0), 1 - half_tail(z), half_tail(z))


def log_lower_laplace(z):
    """Return its logarithm."""
    return np.where(np.greater(z, 0), np.log1p(-half_tail(z)), np.minimum(z, 0.0) - LOG_2)


def laplace_quantile(q):
    """Return the quantiles of the Laplace distribution."""
    upper = np.greater(q, 0.5)
    return np.where(upper, -np.log(2 * (1 - np.where(upper, q, 0.5))), np.log(2 * np.where(upper, 0.5, q)))


composed({
    laplace.logpdf: lambda x, loc=None, scale=None: -np.abs(standard(x, loc, scale)) - LOG_2 - log_of(scale),
    laplace.pdf: lambda x, loc=None, scale=None: np.exp(-np.abs(standard(x, loc, scale)) - LOG_2 - log_of(scale)),
    laplace.cdf: lambda x, loc=None, scale=None: lower_laplace(standard(x, loc, scale)),
    laplace.sf: lambda x, loc=None, scale=None: lower_laplace(-standard(x, loc, scale)),
    laplace.logcdf: lambda x, loc=None, scale=None: log_lower_laplace(standard(x, loc, scale)),
    laplace.logsf: lambda x, loc=None, scale=None: log_lower_laplace(-standard(x, loc, scale)),
    laplace.ppf: lambda q, loc=None, scale=None: moved(laplace_quantile(probability(q)), loc, scale),
})


composed({
    logistic.logpdf: lambda x, loc=None, scale=None: (
        special.log_expit(standard(x, loc, scale)) + special.log_expit(-standard(x, loc, scale)) - log_of(scale)
    ),
    logistic.pdf: lambda x, loc=None, scale=None: (
        np.exp(special.log_expit(standard(x, loc, scale)) + special.log_expit(-standard(x, loc, scale)) - log_of(scale))
    ),
    logistic.cdf: lambda x, loc=None, scale=None: special.expit(standard(x, loc, scale)),
    logistic.sf: lambda x, loc=None, scale=None: special.expit(-standard(x, loc, scale)),
    logistic.logcdf: lambda x, loc=None, scale=None: special.log_expit(standard(x, loc, scale)),
    logistic.logsf: lambda x, loc=None, scale=None: special.log_expit(-standard(x, loc, scale)),
    logistic.ppf: lambda q, loc=None, scale=None: moved(special.logit(probability(q)), loc, scale),
    gumbel_r.logpdf: lambda x, loc=None, scale=None: -standard(x, loc, scale) - np.exp(-standard(x, loc, scale)) - log_of(scale),
    gumbel_r.pdf: lambda x, loc=None, scale=None: (
        np.exp(-standard(x, loc, scale) - np.exp(-standard(x, loc, scale)) - log_of(scale))
    ),
    gumbel_r.cdf: lambda x, loc=None, scale=None: np.exp(-np.exp(-standard(x, loc, scale))),
    gumbel_r.sf: lambda x, loc=None, scale=None: -np.expm1(-np.exp(-standard(x, loc, scale))),
    gumbel_r.logcdf: lambda x, loc=None, scale=None: -np.exp(-standard(x, loc, scale)),
    gumbel_r.ppf: lambda q, loc=None, scale=None: moved(-np.log(-np.log(probability(q))), loc, scale),
})

# ---- on an interval, or above a number ----

composed({
    uniform.logpdf: lambda x, loc=None, scale=None: within(standard(x, loc, scale), -np.inf, -np.inf, lambda z: 0 * z) - log_of(scale),
    uniform.pdf: lambda x, loc=None, scale=None: within(standard(x, loc, scale), 0.0, 0.0, lambda z: 0 * z + np.exp(-log_of(scale))),
    uniform.cdf: lambda x, loc=None, scale=None: within(standard(x, loc, scale), 0.0, 1.0, lambda z: z),
    uniform.sf: lambda x, loc=None, scale=None: within(standard(x, loc, scale), 1.0, 0.0, lambda z: 1 - z),
    uniform.ppf: lambda q, loc=None, scale=None: moved(probability(q), loc, scale),
    halfnorm.logpdf: lambda x, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, -np.inf, lambda z: LOG_2 - LOG_SQRT_2_PI - z * z / 2) - log_of(scale)
    ),
    halfnorm.pdf: lambda x, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, 0.0, lambda z: np.exp(LOG_2 - LOG_SQRT_2_PI - z * z / 2 - log_of(scale)))
    ),
    halfnorm.cdf: lambda x, loc=None, scale=None: below(standard(x, loc, scale), 0, 0.0, lambda z: special.erf(z * SQRT_HALF)),
    halfnorm.sf: lambda x, loc=None, scale=None: below(standard(x, loc, scale), 0, 1.0, lambda z: special.erfc(z * SQRT_HALF)),
    halfnorm.ppf: lambda q, loc=None, scale=None: moved(special.ndtri((1 + probability(q)) / 2), loc, scale),
    rayleigh.logpdf: lambda x, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, -np.inf, lambda z: np.log(z) - z * z / 2) - log_of(scale)
    ),
    rayleigh.pdf: lambda x, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, 0.0, lambda z: z * np.exp(-z * z / 2 - log_of(scale)))
    ),
    rayleigh.cdf: lambda x, loc=None, scale=None: below(standard(x, loc, scale), 0, 0.0, lambda z: -np.expm1(-z * z / 2)),
    rayleigh.sf: lambda x, loc=None, scale=None: below(standard(x, loc, scale), 0, 1.0, lambda z: np.exp(-z * z / 2)),
    rayleigh.ppf: lambda q, loc=None, scale=None: moved(np.sqrt(-2 * np.log1p(-probability(q))), loc, scale),
})


def log_weibull(z, c):
    """Return the logarithm of the density of the Weibull distribution."""
    return np.log(positive(c)) + special.xlogy(c - 1, z) - z**c


def log_pareto(z, b):
    """Return the logarithm of the density of the Pareto distribution."""
    return np.log(positive(b)) - (b + 1) * np.log(z)


def above_zero(z, outside, value):
    """Return `value(z)` where z is positive, and `outside` elsewhere."""
    return np.where(np.less_equal(z, 0), outside, value(np.where(np.less_equal(z, 0), 1.0, z)))


def log_lognormal(z, s):
    """Return the logarithm of the density of the log-normal distribution."""
    return -((np.log(z) / s) ** 2) / 2 - np.log(positive(s) * z) - LOG_SQRT_2_PI


def log_beta(z, a, b):
    """Return the logarithm of the density of the beta distribution."""
    return special.xlog1py(positive(b) - 1, -z) + special.xlogy(positive(a) - 1, z) - special.betaln(a, b)


composed({
    weibull_min.logpdf: lambda x, c, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, -np.inf, lambda z: log_weibull(z, c)) - log_of(scale)
    ),
    weibull_min.pdf: lambda x, c, loc=None, scale=None: (
        below(standard(x, loc, scale), 0, 0.0, lambda z: np.exp(log_weibull(z, c) - log_of(scale)))
    ),
    weibull_min.cdf: lambda x, c, loc=None, scale=None: below(standard(x, loc, scale), 0, 0.0, lambda z: -np.expm1(-(z ** positive(c)))),
    weibull_min.sf: lambda x, c, loc=None, scale=None: below(standard(x, loc, scale), 0, 1.0, lambda z: np.exp(-(z ** positive(c)))),
    weibull_min.logsf: lambda x, c, loc=None, scale=None: below(standard(x, loc, scale), 0, 0.0, lambda z: -(z ** positive(c))),
    weibull_min.ppf: lambda q, c, loc=None, scale=None: moved((-np.log1p(-probability(q))) ** (1 / positive(c)), loc, scale),
    pareto.logpdf: lambda x, b, loc=None, scale=None: (
        below(standard(x, loc, scale), 1, -np.inf, lambda z: log_pareto(z, b)) - log_of(scale)
    ),
    pareto.pdf: lambda x, b, loc=None, scale=None: (
        below(standard(x, loc, scale), 1, 0.0, lambda z: np.exp(log_pareto(z, b) - log_of(scale)))
    ),
    pareto.cdf: lambda x, b, loc=None, scale=None: below(standard(x, loc, scale), 1, 0.0, lambda z: 1 - z ** -positive(b)),
    pareto.sf: lambda x, b, loc=None, scale=None: below(standard(x, loc, scale), 1, 1.0, lambda z: z ** -positive(b)),
    pareto.logsf: lambda x, b, loc=None, scale=None: below(standard(x, loc, scale), 1, 0.0, lambda z: -positive(b) * np.log(z)),
    pareto.ppf: lambda q, b, loc=None, scale=None: moved((1 - probability(q)) ** (-1 / positive(b)), loc, scale),
    beta.logpdf: lambda x, a, b, loc=None, scale=None: (
        within(standard(x, loc, scale), -np.inf, -np.inf, lambda z: log_beta(z, a, b)) - log_of(scale)
    ),
    beta.pdf: lambda x, a, b, loc=None, scale=None: (
        within(standard(x, loc, scale), 0.0, 0.0, lambda z: np.exp(log_beta(z, a, b) - log_of(scale)))
    ),
    beta.cdf: lambda x, a, b, loc=None, scale=None: within(standard(x, loc, scale), 0.0, 1.0, lambda z: special.betainc(a, b, z)),
    beta.sf: lambda x, a, b, loc=None, scale=None: within(standard(x, loc, scale), 1.0, 0.0, lambda z: special.betaincc(a, b, z)),
    beta.ppf: lambda q, a, b, loc=None, scale=None: moved(special.betaincinv(a, b, probability(q)), loc, scale),
    lognorm.logpdf: lambda x, s, loc=None, scale=None: (
        above_zero(standard(x, loc, scale), -np.inf, lambda z: log_lognormal(z, s)) - log_of(scale)
    ),
    lognorm.pdf: lambda x, s, loc=None, scale=None: (
        above_zero(standard(x, loc, scale), 0.0, lambda z: np.exp(log_lognormal(z, s) - log_of(scale)))
    ),
    lognorm.cdf: lambda x, s, loc=None, scale=None: (
        above_zero(standard(x, loc, scale), 0.0, lambda z: special.ndtr(np.log(z) / positive(s)))
    ),
    lognorm.sf: lambda x, s, loc=None, scale=None: (
        above_zero(standard(x, loc, scale), 1.0, lambda z: special.ndtr(-np.log(z) / positive(s)))
    ),
    lognorm.ppf: lambda q, s, loc=None, scale=None: moved(np.exp(positive(s) * special.ndtri(probability(q))), loc, scale),
})

# ---- of counts: a derivative passes through the parameters, none through the count ----


def count(k, loc, most):
    """Return a count, nan where it is negative, above the most, or no integer."""
    k = np.asarray(k) if isinstance(k, (list, tuple)) else k
    k = k if loc is None else k - loc
    return np.where(np.less(k, 0) | np.greater(k, most) | np.not_equal(k, np.floor(k)), np.nan, k)


def log_mass(k, value):
    """Return `value(k)` where k is a count, and that of no probability elsewhere."""
    outside = np.isnan(k)
    return np.where(outside, -np.inf, value(np.where(outside, 0.0, k)))


def log_poisson(k, mu):
    """Return the logarithm of a probability of the Poisson distribution."""
    return log_mass(k, lambda k: special.xlogy(k, mu) - special.gammaln(k + 1) - mu)


def log_binomial(k, n, p):
    """Return the logarithm of a probability of the binomial distribution."""
    return log_mass(k, lambda k: (
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1) + special.xlogy(k, p) + special.xlog1py(n - k, -p)
    ))  # fmt: skip


composed({
    poisson.logpmf: lambda k, mu, loc=None: log_poisson(count(k, loc, np.inf), mu),
    poisson.pmf: lambda k, mu, loc=None: np.exp(log_poisson(count(k, loc, np.inf), mu)),
    binom.logpmf: lambda k, n, p, loc=None: log_binomial(count(k, loc, n), n, p),
    binom.pmf: lambda k, n, p, loc=None: np.exp(log_binomial(count(k, loc, n), n, p)),
    bernoulli.logpmf: lambda k, p, loc=None: log_binomial(count(k, loc, 1), 1, p),
    bernoulli.pmf: lambda k, p, loc=None: np.exp(log_binomial(count(k, loc, 1), 1, p)),
})
