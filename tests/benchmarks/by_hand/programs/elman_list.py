"""An Elman network that keeps its states in a list, and predicts from all of them."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("wx", "wh", "b", "wo")


def inputs(size, dtype):
    steps, n, features, hidden = {"small": (3, 2, 3, 4), "full": (50, 32, 32, 64)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, hidden, scale=hidden**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, features, scale=hidden**-0.5),
        normal(rng, dtype, steps, n, features),
        normal(rng, dtype, steps, n, features),
    )


def primal(wx, wh, b, wo, xs, ys):
    h = np.zeros((xs.shape[1], len(b)), xs.dtype)
    states = []
    for x in xs:
        h = np.tanh(x @ wx + h @ wh + b)
        states.append(h)
    predictions = np.stack(states) @ wo
    return np.mean((predictions - ys) ** 2)


def by_hand(wx, wh, b, wo, xs, ys):
    h = np.zeros((xs.shape[1], len(b)), xs.dtype)
    states = [h]
    for x in xs:
        h = np.tanh(x @ wx + h @ wh + b)
        states.append(h)
    d_wx, d_wh, d_b, d_wo = np.zeros_like(wx), np.zeros_like(wh), np.zeros_like(b), np.zeros_like(wo)
    d_h = np.zeros_like(h)
    for t in reversed(range(len(xs))):
        h = states[t + 1]
        d_y = h @ wo - ys[t]
        d_y *= 2 / ys.size
        d_wo += h.T @ d_y
        d_h += d_y @ wo.T
        d_h *= 1 - h**2
        d_wx += xs[t].T @ d_h
        d_wh += states[t].T @ d_h
        d_b += np.sum(d_h, axis=0)
        d_h = d_h @ wh.T
    return d_wx, d_wh, d_b, d_wo
