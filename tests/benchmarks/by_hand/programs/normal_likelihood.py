"""Log-likelihood of a multivariate normal distribution with a free covariance: slogdet, and one solve for all rows."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("mean", "covariance")


def inputs(size, dtype):
    n, features = {"small": (7, 3), "full": (1000, 60)}[size]
    rng = np.random.default_rng(0)
    root = normal(rng, dtype, features, features)
    covariance = root @ root.T / dtype(features) + np.eye(features, dtype=dtype)
    return normal(rng, dtype, features), covariance, normal(rng, dtype, n, features)


def primal(mean, covariance, x):
    centred = x - mean
    sign, log_det = np.linalg.slogdet(covariance)
    quadratic = np.sum(centred * np.linalg.solve(covariance, centred.T).T, axis=1)
    return -0.5 * (np.sum(quadratic) + len(x) * log_det)


def by_hand(mean, covariance, x):
    centred = x - mean
    inverse = np.linalg.inv(covariance)
    whitened = centred @ inverse
    d_covariance = 0.5 * (whitened.T @ whitened - len(x) * inverse)
    return np.sum(whitened, axis=0), d_covariance
