"""Transport between two clouds of points with entropy, by Sinkhorn's iterations."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("x",)


def inputs(size, dtype):
    n, m, features, iterations = {"small": (4, 5, 2, 6), "full": (150, 150, 3, 50)}[size]
    rng = np.random.default_rng(0)
    x, y = normal(rng, dtype, n, features, scale=0.5), normal(rng, dtype, m, features, scale=0.5)
    return x, y, 0.5, iterations


def primal(x, y, epsilon, iterations):
    n, m = len(x), len(y)
    C = np.sum((x[:, None] - y[None]) ** 2, axis=-1)
    K = np.exp(-C / epsilon)
    v = np.ones(m, x.dtype)
    for _ in range(iterations):
        u = (1 / n) / (K @ v)
        v = (1 / m) / (K.T @ u)
    P = u[:, None] * K * v[None, :]
    return np.sum(P * C)


def by_hand(x, y, epsilon, iterations):
    n, m = len(x), len(y)
    C = np.sum((x[:, None] - y[None]) ** 2, axis=-1)
    K = np.exp(-C / epsilon)
    us, vs = np.empty((iterations, n), x.dtype), np.ones((iterations + 1, m), x.dtype)
    for t in range(iterations):
        us[t] = (1 / n) / (K @ vs[t])
        vs[t + 1] = (1 / m) / (K.T @ us[t])
    u, v = us[-1], vs[-1]
    KC = K * C
    d_u, d_v = KC @ v, u @ KC
    d_K = np.outer(u, v)
    d_C = d_K * K
    d_K *= C
    d_Kv, d_Ktu = np.empty_like(us), np.empty((iterations, m), x.dtype)
    for t in reversed(range(iterations)):
        d_Ktu[t] = -m * vs[t + 1] ** 2 * d_v
        d_u = d_u + K @ d_Ktu[t]
        d_Kv[t] = -n * us[t] ** 2 * d_u
        d_v = K.T @ d_Kv[t]
        d_u = 0
    d_K += us.T @ d_Ktu
    d_K += d_Kv.T @ vs[:-1]
    d_K *= K
    d_C -= d_K / epsilon
    return 2 * (np.sum(d_C, axis=1)[:, None] * x - d_C @ y)
