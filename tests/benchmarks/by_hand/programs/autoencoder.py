"""An autoencoder whose decoder is the transpose of its encoder."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b", "c")


def inputs(size, dtype):
    n, features, hidden = {"small": (5, 4, 3), "full": (256, 400, 64)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, features, scale=0.1),
        normal(rng, dtype, n, features),
    )


def primal(w, b, c, x):
    centred = x - np.mean(x, axis=0)
    code = 1 / (1 + np.exp(-(centred @ w + b)))
    rebuilt = code @ w.T + c
    return np.mean(np.sum((rebuilt - centred) ** 2, axis=1))


def by_hand(w, b, c, x):
    centred = x - np.mean(x, axis=0)
    code = 1 / (1 + np.exp(-(centred @ w + b)))
    d_rebuilt = code @ w.T
    d_rebuilt += c
    d_rebuilt -= centred
    d_rebuilt *= 2 / len(x)
    d_code = d_rebuilt @ w
    d_code *= code * (1 - code)
    d_w = centred.T @ d_code
    d_w += d_rebuilt.T @ code
    return d_w, np.sum(d_code, axis=0), np.sum(d_rebuilt, axis=0)
