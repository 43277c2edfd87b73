"""Dense layers with batch normalisation, squared error."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w1", "b1", "gamma", "beta", "w2", "b2")


def inputs(size, dtype):
    n, features, hidden, outputs = {"small": (6, 4, 5, 2), "full": (500, 200, 200, 10)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        1 + normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, outputs, scale=hidden**-0.5),
        normal(rng, dtype, outputs, scale=0.1),
        normal(rng, dtype, n, features),
        normal(rng, dtype, n, outputs),
    )


def primal(w1, b1, gamma, beta, w2, b2, x, y):
    z = x @ w1 + b1
    mu = np.mean(z, axis=0)
    var = np.mean((z - mu) ** 2, axis=0)
    normed = (z - mu) / np.sqrt(var + 1e-5)
    h = np.tanh(gamma * normed + beta)
    return 0.5 * np.sum((h @ w2 + b2 - y) ** 2) / len(x)


def by_hand(w1, b1, gamma, beta, w2, b2, x, y):
    normed = x @ w1  # the bias leaves with the mean
    normed -= np.mean(normed, axis=0)
    deviation = np.sqrt(np.mean(normed**2, axis=0) + 1e-5)
    normed /= deviation
    h = np.tanh(gamma * normed + beta)
    d_y = h @ w2 + b2 - y
    d_y /= len(x)
    d_h = d_y @ w2.T
    d_h *= 1 - h**2
    d_gamma = np.sum(d_h * normed, axis=0)
    d_beta = np.sum(d_h, axis=0)
    d_h -= (d_beta + normed * d_gamma) / len(x)
    d_h *= gamma / deviation
    return x.T @ d_h, np.zeros_like(b1), d_gamma, d_beta, h.T @ d_y, np.sum(d_y, axis=0)
