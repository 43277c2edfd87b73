"""Logistic regression with a penalty on the weights."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "b")


def inputs(size, dtype):
    n, features = {"small": (6, 3), "full": (5000, 100)}[size]
    rng = np.random.default_rng(0)
    x = normal(rng, dtype, n, features)
    return normal(rng, dtype, features, scale=0.1), dtype(0.1), x, rng.choice(np.array([-1, 1], dtype), n), 0.01


def primal(w, b, x, y, penalty):
    margins = y * (x @ w + b)
    return np.mean(np.logaddexp(0, -margins)) + penalty * np.sum(w**2)


def by_hand(w, b, x, y, penalty):
    d = -y / (1 + np.exp(y * (x @ w + b)))
    d /= len(y)
    return d @ x + 2 * penalty * w, np.sum(d)
