"""A GRU with its weights in a dict, and a prediction at every step."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("p",)


def inputs(size, dtype):
    steps, n, features, hidden = {"small": (3, 2, 3, 4), "full": (30, 32, 32, 64)}[size]
    rng = np.random.default_rng(0)
    p = {}
    for gate in "zrn":
        p["w" + gate] = normal(rng, dtype, features, hidden, scale=features**-0.5)
        p["u" + gate] = normal(rng, dtype, hidden, hidden, scale=hidden**-0.5)
        p["b" + gate] = normal(rng, dtype, hidden, scale=0.1)
    p["wo"] = normal(rng, dtype, hidden, features, scale=hidden**-0.5)
    return p, normal(rng, dtype, steps, n, features), normal(rng, dtype, steps, n, features)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def primal(p, xs, ys):
    h = np.zeros((xs.shape[1], len(p["uz"])), xs.dtype)
    loss = 0.0
    for x, y in zip(xs, ys):
        z = sigmoid(x @ p["wz"] + h @ p["uz"] + p["bz"])
        r = sigmoid(x @ p["wr"] + h @ p["ur"] + p["br"])
        n = np.tanh(x @ p["wn"] + (r * h) @ p["un"] + p["bn"])
        h = (1 - z) * n + z * h
        loss = loss + np.sum((h @ p["wo"] - y) ** 2)
    return loss / ys.size


def by_hand(p, xs, ys):
    h = np.zeros((xs.shape[1], len(p["uz"])), xs.dtype)
    hs, saved = [h], []
    for x in xs:
        z = sigmoid(x @ p["wz"] + h @ p["uz"] + p["bz"])
        r = sigmoid(x @ p["wr"] + h @ p["ur"] + p["br"])
        n = np.tanh(x @ p["wn"] + (r * h) @ p["un"] + p["bn"])
        h = (1 - z) * n + z * h
        hs.append(h)
        saved.append((z, r, n))

    d = {name: np.zeros_like(value) for name, value in p.items()}
    d_h = np.zeros_like(h)
    for t in reversed(range(len(xs))):
        x, h = xs[t], hs[t]
        z, r, n = saved[t]
        d_y = hs[t + 1] @ p["wo"] - ys[t]
        d_y *= 2 / ys.size
        d["wo"] += hs[t + 1].T @ d_y
        d_h += d_y @ p["wo"].T
        d_n = d_h * (1 - z) * (1 - n**2)
        d_z = d_h * (h - n) * z * (1 - z)
        d_rh = d_n @ p["un"].T
        d_r = d_rh * h * r * (1 - r)
        d["un"] += (r * h).T @ d_n
        d["uz"] += h.T @ d_z
        d["ur"] += h.T @ d_r
        for gate, d_gate in (("z", d_z), ("r", d_r), ("n", d_n)):
            d["w" + gate] += x.T @ d_gate
            d["b" + gate] += np.sum(d_gate, axis=0)
        d_h = d_h * z + d_rh * r + d_z @ p["uz"].T + d_r @ p["ur"].T
    return d
