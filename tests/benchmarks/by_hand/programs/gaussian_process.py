"""Log-likelihood of a Gaussian process: one length scale per feature, an amplitude and noise."""

import math

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("log_lengths", "log_amplitude", "log_noise")


def inputs(size, dtype):
    n, features = {"small": (6, 2), "full": (250, 5)}[size]
    rng = np.random.default_rng(0)
    x = normal(rng, dtype, n, features)
    y = np.sin(x[:, 0]) + normal(rng, dtype, n, scale=0.3)
    return normal(rng, dtype, features, scale=0.2), dtype(0.1), dtype(-1.0), x, y


def primal(log_lengths, log_amplitude, log_noise, x, y):
    n = len(y)
    z = x / np.exp(log_lengths)
    squares = np.sum(z**2, axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * z @ z.T
    K = np.exp(2 * log_amplitude - 0.5 * distances) + np.exp(2 * log_noise) * np.eye(n, dtype=x.dtype)
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(L))) - 0.5 * n * math.log(2 * math.pi)


def by_hand(log_lengths, log_amplitude, log_noise, x, y):
    n = len(y)
    z = x / np.exp(log_lengths)
    squares = np.sum(z**2, axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * z @ z.T
    kernel = np.exp(2 * log_amplitude - 0.5 * distances)
    noise = np.exp(2 * log_noise)
    inverse = np.linalg.inv(kernel + noise * np.eye(n, dtype=x.dtype))
    alpha = inverse @ y
    d_K = np.outer(alpha, alpha)
    d_K -= inverse
    d_K *= 0.5
    d_noise = 2 * noise * np.trace(d_K)
    d_K *= kernel
    d_lengths = 2 * (np.sum(d_K, axis=1) @ z**2 - np.sum(z * (d_K @ z), axis=0))
    return d_lengths, 2 * np.sum(d_K), d_noise
