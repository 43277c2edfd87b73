"""Rules of `scipy.special`: distribution functions and their inverses, incomplete gamma and beta functions, binomials.

    y = F(x)                 d_x = d_y * f(x)            where f is the density
    y = inverse of F at p    d_p = d_y / f(y)

The derivatives with respect to most parameters of the distributions are not known here.
"""

import math

import numpy as np
from scipy import special

from sourcead.primitives.compositions import composed, refuse
from sourcead.primitives.registry import adjoint, elementwise
from sourcead.primitives.scipy_special import known_in_last
from sourcead.runtime import undefined

SQRT_2_PI = math.sqrt(2 * math.pi)


def gamma_density(a, x):
    """Return the density of the gamma distribution of shape `a`."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def beta_density(a, b, x):
    """Return the density of the beta distribution."""
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def student_density(df, t):
    """Return the density of Student's distribution with `df` degrees of freedom."""
    log_scale = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * math.pi) / 2
    return np.exp(log_scale - (df + 1) / 2 * np.log1p(t * t / df))


def fisher_density(n, d, x):
    """Return the density of the F distribution with `n` and `d` degrees of freedom."""
    log_odds = (n * np.log(n * x / (n * x + d)) + d * np.log(d / (n * x + d))) / 2
    return np.exp(log_odds - special.betaln(n / 2, d / 2)) / x


known_in_last("its first argument", {
    special.gammainc: lambda y, a, x, d_y: d_y * gamma_density(a, x),
    special.gammaincc: lambda y, a, x, d_y: -d_y * gamma_density(a, x),
    special.gammaincinv: lambda y, a, p, d_y: d_y / gamma_density(a, y),
    special.gammainccinv: lambda y, a, p, d_y: -d_y / gamma_density(a, y),
    special.betainc: lambda y, a, b, x, d_y: d_y * beta_density(a, b, x),
    special.betaincinv: lambda y, a, b, p, d_y: d_y / beta_density(a, b, y),
})

if hasattr(special, "betaincc"):  # SciPy 1.11
    known_in_last("its first argument", {
        special.betaincc: lambda y, a, b, x, d_y: -d_y * beta_density(a, b, x),
        special.betainccinv: lambda y, a, b, p, d_y: -d_y / beta_density(a, b, y),
    })

# ---- distributions ----

elementwise({
    special.ndtri_exp: lambda y, x, d_y: d_y * SQRT_2_PI * np.exp(x + y * y / 2),
    special.gdtr: lambda y, a, b, x, d_y: (
        d_y * gamma_density(b, a * x) * x, undefined("its second argument"), d_y * gamma_density(b, a * x) * a
    ),
    special.gdtrc: lambda y, a, b, x, d_y: (
        -(d_y * gamma_density(b, a * x)) * x, undefined("its second argument"), -(d_y * gamma_density(b, a * x)) * a
    ),
    special.gdtrix: lambda y, a, b, p, d_y: (
        -d_y * y / a, undefined("its second argument"), d_y / (a * gamma_density(b, a * y))
    ),
    special.pdtr: lambda y, k, m, d_y: (None, -d_y * gamma_density(np.floor(k) + 1, m)),
    special.pdtrc: lambda y, k, m, d_y: (None, d_y * gamma_density(np.floor(k) + 1, m)),
})
known_in_last("the degrees of freedom", {
    special.chdtr: lambda y, v, x, d_y: d_y * gamma_density(v / 2, x / 2) / 2,
    special.chdtrc: lambda y, v, x, d_y: -d_y * gamma_density(v / 2, x / 2) / 2,
    special.chdtri: lambda y, v, p, d_y: -2 * d_y / gamma_density(v / 2, y / 2),
    special.stdtr: lambda y, df, t, d_y: d_y * student_density(df, t),
    special.stdtrit: lambda y, df, p, d_y: d_y / student_density(df, y),
})
known_in_last("the degrees of freedom", {
    special.fdtr: lambda y, n, d, x, d_y: d_y * fisher_density(n, d, x),
    special.fdtrc: lambda y, n, d, x, d_y: -d_y * fisher_density(n, d, x),
    special.fdtri: lambda y, n, d, p, d_y: d_y / fisher_density(n, d, y),
}, second="the degrees of freedom")
known_in_last("its first argument", {
    special.bdtr: lambda y, k, n, p, d_y: -d_y * beta_density(np.floor(k) + 1, n - np.floor(k), p),
    special.bdtrc: lambda y, k, n, p, d_y: d_y * beta_density(np.floor(k) + 1, n - np.floor(k), p),
    special.nbdtr: lambda y, k, n, p, d_y: d_y * beta_density(n, k + 1, p),
    special.nbdtrc: lambda y, k, n, p, d_y: -d_y * beta_density(n, k + 1, p),
})


# ---- products of consecutive numbers: rising factorials and binomials ----

elementwise({
    special.rgamma: lambda y, x, d_y: -d_y * y * special.digamma(x),
    special.multigammaln: lambda y, a, d, d_y: (
        d_y * np.sum(special.digamma(np.expand_dims(a, -1) - np.arange(d) / 2), axis=-1), undefined("the dimension")
    ),
})


@adjoint(special.poch, broadcasts=True)
def poch_adjoint(y, z, m, d_y):
    d_log = d_y * y
    return d_log * (special.digamma(z + m) - special.digamma(z)), d_log * special.digamma(z + m)


@adjoint(special.binom, broadcasts=True)
def binom_adjoint(y, n, k, d_y):
    d_log = d_y * y
    rest = special.digamma(n - k + 1)
    return d_log * (special.digamma(n + 1) - rest), d_log * (rest - special.digamma(k + 1))

# ---- compositions ----

composed({
    special.agm: lambda a, b: math.pi / 4 * (a + b) / special.ellipk(((a - b) / (a + b)) ** 2),
    special.comb: lambda N, k, exact=False, repetition=False: (
        refuse("`special.comb` of whole numbers: use `special.binom`") if exact or repetition else special.binom(N, k)
    ),
    special.perm: lambda N, k, exact=False: (
        refuse("`special.perm` of whole numbers: use `special.poch`") if exact else special.poch(N - k + 1, k)
    ),
    special.factorial: lambda n, exact=False: (
        refuse("`special.factorial` of whole numbers: use `special.gamma`") if exact else special.gamma(n + 1)
    ),
})
