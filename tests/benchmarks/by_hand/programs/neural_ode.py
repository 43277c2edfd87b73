"""A neural differential equation: steps of Runge and Kutta's method through a small network."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("w1", "b1", "w2", "b2")


def inputs(size, dtype):
    n, units, hidden, steps = {"small": (3, 2, 4, 2), "full": (128, 8, 64, 20)}[size]
    rng = np.random.default_rng(0)
    return (
        normal(rng, dtype, units, hidden, scale=units**-0.5),
        normal(rng, dtype, hidden, scale=0.1),
        normal(rng, dtype, hidden, units, scale=hidden**-0.5),
        normal(rng, dtype, units, scale=0.1),
        normal(rng, dtype, n, units),
        normal(rng, dtype, n, units),
        steps,
        0.1,
    )


def primal(w1, b1, w2, b2, z, target, steps, dt):
    def f(z):
        return np.tanh(z @ w1 + b1) @ w2 + b2

    for _ in range(steps):
        k1 = f(z)
        k2 = f(z + 0.5 * dt * k1)
        k3 = f(z + 0.5 * dt * k2)
        k4 = f(z + dt * k3)
        z = z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.mean((z - target) ** 2)


def by_hand(w1, b1, w2, b2, z, target, steps, dt):
    d_w1, d_b1, d_w2, d_b2 = np.zeros_like(w1), np.zeros_like(b1), np.zeros_like(w2), np.zeros_like(b2)
    saved = []

    def f(z):
        a = np.tanh(z @ w1 + b1)
        saved.append((z, a))
        return a @ w2 + b2

    def back(d_k):
        """Goes back through the last call of f."""
        z, a = saved.pop()
        d_a = d_k @ w2.T
        d_a *= 1 - a**2
        d_w1[:] += z.T @ d_a
        d_b1[:] += np.sum(d_a, axis=0)
        d_w2[:] += a.T @ d_k
        d_b2[:] += np.sum(d_k, axis=0)
        return d_a @ w1.T

    for _ in range(steps):
        k1 = f(z)
        k2 = f(z + 0.5 * dt * k1)
        k3 = f(z + 0.5 * dt * k2)
        k4 = f(z + dt * k3)
        z = z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    d_z = z - target
    d_z *= 2 / z.size
    for _ in range(steps):
        d_k = dt / 6 * d_z
        d4 = back(d_k)
        d3 = back(2 * d_k + dt * d4)
        d2 = back(2 * d_k + 0.5 * dt * d3)
        d_z += d4 + d3 + d2 + back(d_k + 0.5 * dt * d2)
    return d_w1, d_b1, d_w2, d_b2
