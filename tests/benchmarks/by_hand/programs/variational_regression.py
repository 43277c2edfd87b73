"""Linear regression with a normal approximation of its posterior: minus the evidence's bound, for given noise."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("mean", "log_scale", "log_sigma")


def inputs(size, dtype):
    n, features, samples = {"small": (6, 3, 2), "full": (2000, 50, 20)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features),
        normal(rng, dtype, features, scale=0.1) - dtype(1),
        dtype(0.1),
        normal(rng, dtype, n, features),
        normal(rng, dtype, n),
        normal(rng, dtype, samples, features),
    )


def primal(mean, log_scale, log_sigma, x, y, noise):
    scale = np.exp(log_scale)
    elbo = 0.0
    for eps in noise:
        w = mean + scale * eps
        residual = (y - x @ w) / np.exp(log_sigma)
        elbo = elbo - 0.5 * np.sum(residual**2) - len(y) * log_sigma
    kl = 0.5 * np.sum(scale**2 + mean**2 - 1 - 2 * log_scale)
    return kl - elbo / len(noise)


def by_hand(mean, log_scale, log_sigma, x, y, noise):
    scale = np.exp(log_scale)
    d_residuals = (mean + scale * noise) @ x.T  # all draws at once
    d_residuals -= y
    precision = np.exp(-2 * log_sigma)
    d_log_sigma = len(y) - precision * np.sum(d_residuals**2) / len(noise)
    d_residuals *= precision / len(noise)
    d_w = d_residuals @ x
    d_log_scale = scale * np.sum(d_w * noise, axis=0) + scale**2 - 1
    return np.sum(d_w, axis=0) + mean, d_log_scale, d_log_sigma
