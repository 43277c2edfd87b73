"""Burgers' equation with viscosity on a periodic line: the initial state that leads to what was seen in the end."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("u0", "viscosity")


def inputs(size, dtype):
    n, steps = {"small": (9, 4), "full": (4000, 200)}[size]
    rng = np.random.default_rng(0)
    x = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.sin(x).astype(dtype), dtype(0.05), normal(rng, dtype, n), dtype(0.2), dtype(1.0), steps


def primal(u0, viscosity, seen, dt, dx, steps):
    u = u0
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        u = u - dt / (4 * dx) * (right**2 - left**2) + viscosity * dt / dx**2 * (right - 2 * u + left)
    return np.mean((u - seen) ** 2)


def by_hand(u0, viscosity, seen, dt, dx, steps):
    us = np.empty((steps + 1, len(u0)), u0.dtype)
    us[0] = u0
    a, b = dt / (4 * dx), viscosity * dt / dx**2
    for t in range(steps):
        u = us[t]
        left, right = np.roll(u, 1), np.roll(u, -1)
        us[t + 1] = u - a * (right**2 - left**2) + b * (right - 2 * u + left)
    d_u = us[-1] - seen
    d_u *= 2 / len(seen)
    d_b = u0.dtype.type(0)
    for t in reversed(range(steps)):
        u = us[t]
        left, right = np.roll(d_u, 1), np.roll(d_u, -1)
        curved = right - 2 * d_u + left
        d_b += u @ curved
        d_u += b * curved + 2 * a * u * (right - left)
    return d_u, d_b * (dt / dx**2)
