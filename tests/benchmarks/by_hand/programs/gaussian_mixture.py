"""Log-likelihood of a mixture of Gaussians with a scale for each feature."""

import math

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("weights", "means", "log_scales")


def inputs(size, dtype):
    n, features, groups = {"small": (6, 2, 3), "full": (2000, 8, 10)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, groups),
        normal(rng, dtype, groups, features),
        normal(rng, dtype, groups, features, scale=0.2),
        normal(rng, dtype, n, features),
    )


def logsumexp(a, axis):
    top = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(a - top), axis=axis))


def primal(weights, means, log_scales, x):
    log_weights = weights - logsumexp(weights, 0)
    z = (x[:, None, :] - means) / np.exp(log_scales)
    terms = -0.5 * np.sum(z**2, axis=2) - np.sum(log_scales, axis=1) - 0.5 * x.shape[1] * math.log(2 * math.pi)
    return np.sum(logsumexp(log_weights + terms, 1))


def by_hand(weights, means, log_scales, x):
    scales = np.exp(log_scales)
    z = x[:, None, :] - means
    z /= scales
    shares = weights - 0.5 * np.einsum("nkd,nkd->nk", z, z) - np.sum(log_scales, axis=1)
    shares -= np.max(shares, axis=1, keepdims=True)
    shares = np.exp(shares)
    shares /= np.sum(shares, axis=1, keepdims=True)
    counts = np.sum(shares, axis=0)
    priors = np.exp(weights - np.max(weights))
    priors /= np.sum(priors)
    d_means = np.einsum("nk,nkd->kd", shares, z) / scales
    z *= z
    d_log_scales = np.einsum("nk,nkd->kd", shares, z) - counts[:, None]
    return counts - len(x) * priors, d_means, d_log_scales
