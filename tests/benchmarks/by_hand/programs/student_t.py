"""Regression with errors of Student's t distribution, whose degrees of freedom and scale are learned."""

import numpy as np
from scipy.special import digamma, gammaln

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b", "log_scale", "log_nu")


def inputs(size, dtype):
    n, features = {"small": (7, 3), "full": (20000, 12)}[size]
    rng = np.random.default_rng(0)
    x = normal(rng, dtype, n, features)
    return normal(rng, dtype, features), dtype(0.1), dtype(-0.3), dtype(1.0), x, normal(rng, dtype, n)


def primal(w, b, log_scale, log_nu, x, y):
    nu = np.exp(log_nu)
    z = (y - x @ w - b) / np.exp(log_scale)
    log_density = (
        gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - log_scale - (nu + 1) / 2 * np.log(1 + z**2 / nu)
    )
    return -np.sum(log_density)


def by_hand(w, b, log_scale, log_nu, x, y):
    n, nu, scale = len(y), np.exp(log_nu), np.exp(log_scale)
    z = y - x @ w
    z -= b
    z /= scale
    squares = z**2 / nu
    total = np.sum(np.log1p(squares))
    d_z = z * (nu + 1) / nu / (1 + squares)
    weighted = d_z @ z
    d_nu = n * (0.5 * digamma(nu / 2) - 0.5 * digamma((nu + 1) / 2) + 0.5 / nu) + 0.5 * total - 0.5 * weighted / nu
    d_z /= -scale
    return d_z @ x, np.sum(d_z), n - weighted, (d_nu * nu).astype(x.dtype)
