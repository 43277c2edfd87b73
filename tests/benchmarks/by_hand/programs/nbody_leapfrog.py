"""Bodies that attract each other, with softening, moved by leapfrog: the misfit of the last positions."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("masses", "x0", "v0")


def inputs(size, dtype):
    n, steps = {"small": (4, 3), "full": (40, 50)}[size]
    rng = np.random.default_rng(0)
    masses = 1 + np.abs(normal(rng, dtype, n))
    return masses, normal(rng, dtype, n, 3), normal(rng, dtype, n, 3, scale=0.1), normal(rng, dtype, n, 3), 0.01, steps


def acceleration(x, masses):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.sum(d**2, axis=-1) + 0.01
    return np.sum(masses[None, :, None] * d * r2[:, :, None] ** -1.5, axis=1)


def primal(masses, x0, v0, target, dt, steps):
    x, v = x0, v0
    a = acceleration(x, masses)
    for _ in range(steps):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = acceleration(x, masses)
        v = v + 0.5 * dt * a
    return np.sum((x - target) ** 2)


def acceleration_gradient(x, masses, d_a):
    d = x[None, :, :] - x[:, None, :]
    r2 = np.einsum("ijk,ijk->ij", d, d) + 0.01
    inv = r2**-1.5
    inner = np.einsum("ijk,ik->ij", d, d_a)
    d_masses = np.einsum("ij,ij->j", inner, inv)
    d_d = (masses * inv)[:, :, None] * d_a[:, None, :]
    d_d -= (3.0 * masses * inner * inv / r2)[:, :, None] * d
    return d_d.sum(axis=0) - d_d.sum(axis=1), d_masses


def by_hand(masses, x0, v0, target, dt, steps):
    xs = np.empty((steps + 1, *x0.shape), x0.dtype)
    xs[0] = x0
    v = v0
    a = acceleration(x0, masses)
    for t in range(steps):
        v = v + 0.5 * dt * a
        xs[t + 1] = xs[t] + dt * v
        if t + 1 < steps:
            a = acceleration(xs[t + 1], masses)
            v = v + 0.5 * dt * a
    d_x = 2.0 * (xs[-1] - target)
    d_v = np.zeros_like(v0)
    d_masses = np.zeros_like(masses)
    for t in reversed(range(steps)):
        d_v += dt * d_x
        weight = 0.5 * dt if t == 0 else dt
        d_xa, d_ma = acceleration_gradient(xs[t], masses, weight * d_v)
        d_x += d_xa
        d_masses += d_ma
    return d_masses, d_x, d_v
