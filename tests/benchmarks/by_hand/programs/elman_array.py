"""An Elman network that writes its states into an array made beforehand."""

import numpy as np

from tests.benchmarks.by_hand.programs.elman_list import inputs  # noqa: F401

WRT = ("wx", "wh", "b", "wo")


def primal(wx, wh, b, wo, xs, ys):
    steps, n, _ = xs.shape
    states = np.zeros((steps + 1, n, len(b)), xs.dtype)
    for t in range(steps):
        states[t + 1] = np.tanh(xs[t] @ wx + states[t] @ wh + b)
    return np.mean((states[1:] @ wo - ys) ** 2)


def by_hand(wx, wh, b, wo, xs, ys):
    steps, n, features = xs.shape
    hidden = len(b)
    states = np.zeros((steps + 1, n, hidden), xs.dtype)
    for t in range(steps):
        states[t + 1] = np.tanh(xs[t] @ wx + states[t] @ wh + b)
    d_ys = states[1:] @ wo
    d_ys -= ys
    d_ys *= 2 / ys.size
    d_zs = d_ys @ wo.T
    for t in reversed(range(steps)):
        if t < steps - 1:
            d_zs[t] += d_zs[t + 1] @ wh.T
        d_zs[t] *= 1 - states[t + 1] ** 2
    rows = d_zs.reshape(-1, hidden)
    return (
        xs.reshape(-1, features).T @ rows,
        states[:-1].reshape(-1, hidden).T @ rows,
        np.sum(rows, axis=0),
        states[1:].reshape(-1, hidden).T @ d_ys.reshape(-1, features),
    )
