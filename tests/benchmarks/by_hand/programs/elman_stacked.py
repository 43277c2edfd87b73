"""A stack of Elman layers, a list of dicts: each layer reads the sequence of states of the one below."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("layers",)


def inputs(size, dtype):
    depth, steps, n, units = {"small": (2, 3, 2, 4), "full": (3, 30, 32, 48)}[size]
    rng = np.random.default_rng(0)
    layers = [
        {
            "wx": normal(rng, dtype, units, units, scale=units**-0.5),
            "wh": normal(rng, dtype, units, units, scale=units**-0.5),
            "b": normal(rng, dtype, units, scale=0.1),
        }
        for _ in range(depth)
    ]
    return layers, normal(rng, dtype, steps, n, units), normal(rng, dtype, n, units)


def primal(layers, xs, y):
    sequence = list(xs)
    for layer in layers:
        h = np.zeros((xs.shape[1], len(layer["b"])), xs.dtype)
        states = []
        for x in sequence:
            h = np.tanh(x @ layer["wx"] + h @ layer["wh"] + layer["b"])
            states.append(h)
        sequence = states
    return np.mean((sequence[-1] - y) ** 2)


def by_hand(layers, xs, y):
    sequences = [list(xs)]
    for layer in layers:
        h = np.zeros((xs.shape[1], len(layer["b"])), xs.dtype)
        states = []
        for x in sequences[-1]:
            h = np.tanh(x @ layer["wx"] + h @ layer["wh"] + layer["b"])
            states.append(h)
        sequences.append(states)

    d_states = [np.zeros_like(y) for _ in xs]
    d_states[-1] = (h - y) * (2 / y.size)
    d_layers = [None] * len(layers)
    for k in reversed(range(len(layers))):
        layer, below, states = layers[k], sequences[k], sequences[k + 1]
        d = d_layers[k] = {name: np.zeros_like(value) for name, value in layer.items()}
        d_h = 0
        for t in reversed(range(len(xs))):
            d_z = (d_states[t] + d_h) * (1 - states[t] ** 2)
            d["wx"] += below[t].T @ d_z
            if t > 0:
                d["wh"] += states[t - 1].T @ d_z
            d["b"] += np.sum(d_z, axis=0)
            d_h = d_z @ layer["wh"].T
            if k > 0:
                d_states[t] = d_z @ layer["wx"].T
    return d_layers
