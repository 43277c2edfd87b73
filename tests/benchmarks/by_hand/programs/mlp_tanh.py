"""Regression by a network of two hidden layers, its parameters in a dict."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("params",)


def inputs(size, dtype):
    n, features, hidden, outputs = {"small": (6, 4, 5, 2), "full": (500, 100, 200, 10)}[size]
    rng = np.random.default_rng(0)
    params = {
        "w1": normal(rng, dtype, features, hidden, scale=features**-0.5),
        "b1": normal(rng, dtype, hidden, scale=0.1),
        "w2": normal(rng, dtype, hidden, hidden, scale=hidden**-0.5),
        "b2": normal(rng, dtype, hidden, scale=0.1),
        "w3": normal(rng, dtype, hidden, outputs, scale=hidden**-0.5),
        "b3": normal(rng, dtype, outputs, scale=0.1),
    }
    return params, normal(rng, dtype, n, features), normal(rng, dtype, n, outputs)


def primal(params, x, y):
    h1 = np.tanh(x @ params["w1"] + params["b1"])
    h2 = np.tanh(h1 @ params["w2"] + params["b2"])
    prediction = h2 @ params["w3"] + params["b3"]
    return np.mean((prediction - y) ** 2)


def by_hand(params, x, y):
    h1 = np.tanh(x @ params["w1"] + params["b1"])
    h2 = np.tanh(h1 @ params["w2"] + params["b2"])
    d_y = h2 @ params["w3"] + params["b3"] - y
    d_y *= 2 / y.size
    d_z2 = d_y @ params["w3"].T
    d_z2 *= 1 - h2**2
    d_z1 = d_z2 @ params["w2"].T
    d_z1 *= 1 - h1**2
    return {
        "w1": x.T @ d_z1,
        "b1": np.sum(d_z1, axis=0),
        "w2": h1.T @ d_z2,
        "b2": np.sum(d_z2, axis=0),
        "w3": h2.T @ d_y,
        "b3": np.sum(d_y, axis=0),
    }
