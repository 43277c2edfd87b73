"""Explicit steps of the heat equation in two dimensions: the first field and the conductivity are sought."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("u0", "k")


def inputs(size, dtype):
    side, steps = {"small": (5, 3), "full": (100, 100)}[size]
    rng = np.random.default_rng(0)
    return normal(rng, dtype, side, side), dtype(0.2), normal(rng, dtype, side, side), steps


def primal(u0, k, target, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return np.mean((u - target) ** 2)


def by_hand(u0, k, target, steps):
    u = u0.copy()
    laplacians = []
    for _ in range(steps):
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += k * laplacian
        laplacians.append(laplacian)
    d_u = u - target
    d_u *= 2 / u.size
    d_k = 0.0
    for laplacian in reversed(laplacians):
        d_k += np.sum(d_u[1:-1, 1:-1] * laplacian)
        d = k * d_u[1:-1, 1:-1]
        d_u[2:, 1:-1] += d
        d_u[:-2, 1:-1] += d
        d_u[1:-1, 2:] += d
        d_u[1:-1, :-2] += d
        d *= 4
        d_u[1:-1, 1:-1] -= d
    return d_u, d_k
