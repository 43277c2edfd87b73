"""Soft dynamic time warping of two series (Cuturi and Blondel, 2017)."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("x",)


def inputs(size, dtype):
    n, m, features = {"small": (4, 5, 2), "full": (50, 60, 3)}[size]
    rng = np.random.default_rng(0)
    return normal(rng, dtype, n, features), normal(rng, dtype, m, features), 1.0


def primal(x, y, gamma):
    n, m = len(x), len(y)
    D = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    R = np.full((n + 1, m + 1), np.inf, dtype=x.dtype)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = -R[i - 1, j - 1] / gamma, -R[i - 1, j] / gamma, -R[i, j - 1] / gamma
            top = max(a, b, c)
            softmin = -gamma * (np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top)) + top)
            R[i, j] = D[i - 1, j - 1] + softmin
    return R[n, m]


def by_hand(x, y, gamma):
    n, m = len(x), len(y)
    D = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=2)
    R = np.full((n + 1, m + 1), np.inf, dtype=x.dtype)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = -R[i - 1, j - 1] / gamma, -R[i - 1, j] / gamma, -R[i, j - 1] / gamma
            top = max(a, b, c)
            softmin = -gamma * (np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top)) + top)
            R[i, j] = D[i - 1, j - 1] + softmin
    best = R[1:, 1:] - D
    diagonal = np.exp((best - R[:-1, :-1]) / gamma)  # how much of each cell comes from which neighbour
    above = np.exp((best - R[:-1, 1:]) / gamma)
    left = np.exp((best - R[1:, :-1]) / gamma)
    E = np.zeros_like(R)
    E[n, m] = 1
    for i in range(n, 0, -1):
        for j in range(m, 0, -1):
            e = E[i, j]
            E[i - 1, j - 1] += e * diagonal[i - 1, j - 1]
            E[i - 1, j] += e * above[i - 1, j - 1]
            E[i, j - 1] += e * left[i - 1, j - 1]
    E = E[1:, 1:]
    return 2 * (np.sum(E, axis=1)[:, None] * x - E @ y)
