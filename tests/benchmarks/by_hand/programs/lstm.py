"""An LSTM whose four gates share one matrix, and a prediction from its last state."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "u", "b", "wo", "bo")


def inputs(size, dtype):
    steps, n, features, hidden, outputs = {"small": (3, 2, 3, 4, 2), "full": (30, 32, 32, 64, 8)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, features, 4 * hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, 4 * hidden, scale=hidden**-0.5),
        normal(rng, dtype, 4 * hidden, scale=0.1),
        normal(rng, dtype, hidden, outputs, scale=hidden**-0.5),
        normal(rng, dtype, outputs, scale=0.1),
        normal(rng, dtype, steps, n, features),
        normal(rng, dtype, n, outputs),
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def primal(w, u, b, wo, bo, xs, y):
    h = np.zeros((xs.shape[1], u.shape[0]), xs.dtype)
    c = np.zeros_like(h)
    for x in xs:
        i, f, o, g = np.split(x @ w + h @ u + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return np.mean((h @ wo + bo - y) ** 2)


def by_hand(w, u, b, wo, bo, xs, y):
    hidden = len(u)
    h = np.zeros((xs.shape[1], hidden), xs.dtype)
    c = np.zeros_like(h)
    saved = []
    for x in xs:
        z = x @ w + h @ u + b
        i, f, o = np.split(sigmoid(z[:, : 3 * hidden]), 3, axis=1)
        g = np.tanh(z[:, 3 * hidden :])
        before = h, c
        c = f * c + i * g
        tanh_c = np.tanh(c)
        h = o * tanh_c
        saved.append((*before, i, f, o, g, tanh_c))

    d_y = h @ wo + bo - y
    d_y *= 2 / y.size
    d_wo = h.T @ d_y
    d_h = d_y @ wo.T
    d_c = np.zeros_like(d_h)
    d_w, d_u, d_b = np.zeros_like(w), np.zeros_like(u), np.zeros_like(b)
    d_z = np.empty((len(h), 4 * hidden), xs.dtype)
    d_i, d_f, d_o, d_g = np.split(d_z, 4, axis=1)
    for x, (h, c, i, f, o, g, tanh_c) in zip(xs[::-1], reversed(saved)):
        d_c += d_h * o * (1 - tanh_c**2)
        d_i[:] = d_c * g * i * (1 - i)
        d_f[:] = d_c * c * f * (1 - f)
        d_o[:] = d_h * tanh_c * o * (1 - o)
        d_g[:] = d_c * i * (1 - g**2)
        d_w += x.T @ d_z
        d_u += h.T @ d_z
        d_b += np.sum(d_z, axis=0)
        d_h = d_z @ u.T
        d_c *= f
    return d_w, d_u, d_b, d_wo, np.sum(d_y, axis=0)
