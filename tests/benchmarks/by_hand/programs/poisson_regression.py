"""Poisson regression of counts, with exposures."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("beta", "intercept")


def inputs(size, dtype):
    n, features = {"small": (6, 3), "full": (5000, 60)}[size]
    rng = np.random.default_rng(0)
    x = normal(rng, dtype, n, features)
    exposure = (0.5 + rng.random(n)).astype(dtype)
    return normal(rng, dtype, features, scale=0.1), dtype(0.2), x, rng.poisson(1.5, n).astype(dtype), exposure


def primal(beta, intercept, x, counts, exposure):
    eta = x @ beta + intercept + np.log(exposure)
    return -np.mean(counts * eta - np.exp(eta))


def by_hand(beta, intercept, x, counts, exposure):
    d = exposure * np.exp(x @ beta + intercept)
    d -= counts
    d /= len(counts)
    return d @ x, np.sum(d)
