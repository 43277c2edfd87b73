"""A network over sets: points are encoded, summed by set, and a prediction is made for each set."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w1", "b1", "w2", "b2", "w3")


def inputs(size, dtype):
    n, sets, features, hidden = {"small": (8, 3, 2, 4), "full": (5000, 200, 8, 64)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, hidden, scale=0.1 * hidden**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, n, features),
        rng.integers(0, sets, n),
        normal(rng, dtype, sets),
    )


def primal(w1, b1, w2, b2, w3, points, owner, y):
    encoded = np.tanh(points @ w1 + b1)
    pooled = np.zeros((len(y), len(b1)), points.dtype)
    np.add.at(pooled, owner, encoded)
    predicted = np.maximum(pooled @ w2 + b2, 0) @ w3
    return np.mean((predicted - y) ** 2)


def by_hand(w1, b1, w2, b2, w3, points, owner, y):
    encoded = np.tanh(points @ w1 + b1)
    pooled = np.zeros((len(y), len(b1)), points.dtype)
    np.add.at(pooled, owner, encoded)
    h = np.maximum(pooled @ w2 + b2, 0)
    d_y = h @ w3 - y
    d_y *= 2 / len(y)
    d_h = np.outer(d_y, w3)
    d_h *= h > 0
    d_encoded = (d_h @ w2.T)[owner]
    d_encoded *= 1 - encoded**2
    return (
        points.T @ d_encoded,
        np.sum(d_encoded, axis=0),
        pooled.T @ d_h,
        np.sum(d_h, axis=0),
        d_y @ h,
    )
