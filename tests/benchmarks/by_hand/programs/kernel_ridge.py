"""Leave-out loss of kernel ridge regression with a Gaussian kernel: the width and the ridge are learned."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("log_width", "log_ridge")


def inputs(size, dtype):
    n, m, features = {"small": (6, 4, 2), "full": (200, 100, 5)}[size]
    rng = np.random.default_rng(0)
    x, x_new = normal(rng, dtype, n, features), normal(rng, dtype, m, features)
    return dtype(0.3), dtype(-1.0), x, np.sin(x[:, 0]), x_new, np.sin(x_new[:, 0])


def primal(log_width, log_ridge, x, y, x_new, y_new):
    def kernel(a, b):
        squares = np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
        return np.exp(-0.5 * squares / np.exp(2 * log_width))

    weights = np.linalg.solve(kernel(x, x) + np.exp(log_ridge) * np.eye(len(x), dtype=x.dtype), y)
    return np.mean((kernel(x_new, x) @ weights - y_new) ** 2)


def by_hand(log_width, log_ridge, x, y, x_new, y_new):
    precision = np.exp(-2 * log_width)

    def squares(a, b):
        s = -2 * (a @ b.T)
        s += np.sum(a**2, axis=1)[:, None]
        s += np.sum(b**2, axis=1)
        return s

    s, s_new = squares(x, x), squares(x_new, x)
    k, k_new = np.exp(-0.5 * precision * s), np.exp(-0.5 * precision * s_new)
    ridge = np.exp(log_ridge)
    system = k + ridge * np.eye(len(x), dtype=x.dtype)
    inverse = np.linalg.inv(system)
    weights = inverse @ y
    d = k_new @ weights - y_new
    d *= 2 / len(y_new)
    u = inverse @ (d @ k_new)
    s *= k
    s_new *= k_new
    d_width = precision * (d @ s_new @ weights - u @ s @ weights)
    return d_width, -ridge * (u @ weights)
