"""A GRU over padded sequences, whose state stays behind the end of a sequence, and a classifier of the last state."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w", "u", "b", "w_out", "b_out")


def inputs(size, dtype):
    steps, n, features, hidden, classes = {"small": (5, 3, 2, 4, 3), "full": (40, 32, 24, 48, 8)}[size]
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, steps + 1, n)
    return (
        normal(rng, dtype, features, 3 * hidden, scale=features**-0.5),
        normal(rng, dtype, hidden, 3 * hidden, scale=hidden**-0.5),
        normal(rng, dtype, 3 * hidden, scale=0.1),
        normal(rng, dtype, hidden, classes, scale=hidden**-0.5),
        normal(rng, dtype, classes, scale=0.1),
        normal(rng, dtype, steps, n, features),
        (np.arange(steps)[:, None] < lengths).astype(dtype),
        rng.integers(0, classes, n),
    )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def primal(w, u, b, w_out, b_out, xs, mask, labels):
    steps, n, _ = xs.shape
    size = u.shape[0]
    h = np.zeros((n, size), xs.dtype)
    for t in range(steps):
        a = xs[t] @ w + b
        c = h @ u
        r = sigmoid(a[:, :size] + c[:, :size])
        z = sigmoid(a[:, size : 2 * size] + c[:, size : 2 * size])
        new = np.tanh(a[:, 2 * size :] + r * c[:, 2 * size :])
        m = mask[t][:, None]
        h = m * ((1 - z) * new + z * h) + (1 - m) * h
    logits = h @ w_out + b_out
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(n), labels])


def by_hand(w, u, b, w_out, b_out, xs, mask, labels):
    steps, n, features = xs.shape
    size = u.shape[0]
    a = xs @ w
    a += b
    hs = np.zeros((steps + 1, n, size), xs.dtype)
    gates = np.empty((steps, n, 2 * size), xs.dtype)
    news = np.empty((steps, n, size), xs.dtype)
    cs = np.empty_like(news)
    for t in range(steps):
        c = hs[t] @ u
        gates[t] = sigmoid(a[t, :, : 2 * size] + c[:, : 2 * size])
        r, z = gates[t, :, :size], gates[t, :, size:]
        cs[t] = c[:, 2 * size :]
        news[t] = np.tanh(a[t, :, 2 * size :] + r * cs[t])
        hs[t + 1] = hs[t] + mask[t, :, None] * (1 - z) * (news[t] - hs[t])
    p = np.exp(hs[-1] @ w_out + b_out)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(n), labels] -= 1
    p /= n
    d_h = p @ w_out.T
    d_a = a
    d_c = np.empty_like(a)
    for t in reversed(range(steps)):
        r, z = gates[t, :, :size], gates[t, :, size:]
        d_step = mask[t, :, None] * d_h
        d_new = d_step * (1 - z)
        d_h -= d_new
        d_a[t, :, size : 2 * size] = d_step * (hs[t] - news[t]) * z * (1 - z)
        d_new *= 1 - news[t] ** 2
        d_a[t, :, 2 * size :] = d_new
        d_a[t, :, :size] = d_new * cs[t] * r * (1 - r)
        d_c[t] = d_a[t]
        d_c[t, :, 2 * size :] *= r
        d_h += d_c[t] @ u.T
    d_a, d_c = d_a.reshape(-1, 3 * size), d_c.reshape(-1, 3 * size)
    d_w = xs.reshape(-1, features).T @ d_a
    d_u = hs[:-1].reshape(-1, size).T @ d_c
    return d_w, d_u, d_a.sum(axis=0), hs[-1].T @ p, p.sum(axis=0)
