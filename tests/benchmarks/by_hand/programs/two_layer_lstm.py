"""A stack of LSTM layers over a batch of sequences; the parameters of the layers are a list of dictionaries."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("layers", "w_out")


def inputs(size, dtype):
    steps, batch, features, hidden = {"small": (6, 3, 2, 4), "full": (40, 32, 32, 64)}[size]
    rng = np.random.default_rng(0)
    layers = [
        {
            "w_x": normal(rng, dtype, m, 4 * hidden, scale=m**-0.5),
            "w_h": normal(rng, dtype, hidden, 4 * hidden, scale=hidden**-0.5),
            "b": normal(rng, dtype, 4 * hidden, scale=0.1),
        }
        for m in (features, hidden)
    ]
    w_out = normal(rng, dtype, hidden, 2, scale=hidden**-0.5)
    return layers, w_out, normal(rng, dtype, steps, batch, features), normal(rng, dtype, batch, 2)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def primal(layers, w_out, xs, y):
    steps, batch = xs.shape[0], xs.shape[1]
    states = [
        (np.zeros((batch, layer["w_h"].shape[0]), xs.dtype), np.zeros((batch, layer["w_h"].shape[0]), xs.dtype))
        for layer in layers
    ]
    for t in range(steps):
        x = xs[t]
        for k, layer in enumerate(layers):
            h, c = states[k]
            i, f, g, o = np.split(x @ layer["w_x"] + h @ layer["w_h"] + layer["b"], 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            states[k] = (h, c)
            x = h
    return np.mean((x @ w_out - y) ** 2)


def by_hand(layers, w_out, xs, y):
    steps, batch = xs.shape[0], xs.shape[1]
    n = [layer["w_h"].shape[0] for layer in layers]
    hs = [np.zeros((steps + 1, batch, m), xs.dtype) for m in n]
    cs = [np.zeros((steps + 1, batch, m), xs.dtype) for m in n]
    gates = [np.empty((steps, batch, 4 * m), xs.dtype) for m in n]
    tanh_cs = [np.empty((steps, batch, m), xs.dtype) for m in n]
    for t in range(steps):
        x = xs[t]
        for k, layer in enumerate(layers):
            a, m = gates[k][t], n[k]
            a[:] = x @ layer["w_x"] + hs[k][t] @ layer["w_h"] + layer["b"]
            g = np.tanh(a[:, 2 * m : 3 * m])
            a[:] = sigmoid(a)
            a[:, 2 * m : 3 * m] = g
            cs[k][t + 1] = a[:, m : 2 * m] * cs[k][t] + a[:, :m] * g
            tanh_cs[k][t] = np.tanh(cs[k][t + 1])
            x = hs[k][t + 1]
            x[:] = a[:, 3 * m :] * tanh_cs[k][t]
    d_pred = 2.0 / y.size * (x @ w_out - y)
    d_w_out = x.T @ d_pred
    d_layers = [{name: np.zeros_like(value) for name, value in layer.items()} for layer in layers]
    d_hs = [np.zeros((batch, m), xs.dtype) for m in n]
    d_cs = [np.zeros((batch, m), xs.dtype) for m in n]
    d_hs[-1] = d_pred @ w_out.T
    for t in reversed(range(steps)):
        for k in reversed(range(len(layers))):
            layer, d_layer, m = layers[k], d_layers[k], n[k]
            a, tanh_c, d_h = gates[k][t], tanh_cs[k][t], d_hs[k]
            i, f, g, o = a[:, :m], a[:, m : 2 * m], a[:, 2 * m : 3 * m], a[:, 3 * m :]
            d_c = d_cs[k] + d_h * o * (1.0 - tanh_c**2)
            d_a = np.empty_like(a)
            d_a[:, :m] = d_c * g * i * (1.0 - i)
            d_a[:, m : 2 * m] = d_c * cs[k][t] * f * (1.0 - f)
            d_a[:, 2 * m : 3 * m] = d_c * i * (1.0 - g**2)
            d_a[:, 3 * m :] = d_h * tanh_c * o * (1.0 - o)
            d_cs[k] = d_c * f
            d_hs[k] = d_a @ layer["w_h"].T
            x = xs[t] if k == 0 else hs[k - 1][t + 1]
            d_layer["w_x"] += x.T @ d_a
            d_layer["w_h"] += hs[k][t].T @ d_a
            d_layer["b"] += d_a.sum(axis=0)
            if k > 0:
                d_hs[k - 1] += d_a @ layer["w_x"].T
    return d_layers, d_w_out
