"""Gray-Scott reaction and diffusion with fields of feed and decay, on a periodic square."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("feed", "kill", "rates")


def inputs(size, dtype):
    n, steps = {"small": (5, 3), "full": (96, 40)}[size]
    rng = np.random.default_rng(0)
    return (
        (0.04 + 0.01 * rng.random((n, n))).astype(dtype),
        (0.06 + 0.01 * rng.random((n, n))).astype(dtype),
        np.array([0.16, 0.08], dtype),
        (0.5 + 0.1 * rng.random((n, n))).astype(dtype),
        (0.25 + 0.1 * rng.random((n, n))).astype(dtype),
        normal(rng, dtype, n, n, scale=0.1),
        steps,
    )


def laplacian(z):
    return np.roll(z, 1, axis=0) + np.roll(z, -1, axis=0) + np.roll(z, 1, axis=1) + np.roll(z, -1, axis=1) - 4 * z


def primal(feed, kill, rates, u0, v0, seen, steps):
    u, v = u0, v0
    for _ in range(steps):
        reaction = u * v**2
        u, v = (
            u + rates[0] * laplacian(u) - reaction + feed * (1 - u),
            v + rates[1] * laplacian(v) + reaction - (feed + kill) * v,
        )
    return np.sum((v - seen) ** 2)


def by_hand(feed, kill, rates, u0, v0, seen, steps):
    u, v = u0, v0
    saved = []
    both = feed + kill
    for _ in range(steps):
        saved.append((u, v))
        reaction = u * v**2
        u, v = u + rates[0] * laplacian(u) - reaction + feed * (1 - u), v + rates[1] * laplacian(v) + reaction - both * v
    d_u, d_v = np.zeros_like(u), 2 * (v - seen)
    d_feed, d_kill, d_rates = np.zeros_like(feed), np.zeros_like(feed), np.zeros_like(rates)
    for u, v in reversed(saved):
        spread_u, spread_v = laplacian(d_u), laplacian(d_v)
        d_rates += np.vdot(spread_u, u), np.vdot(spread_v, v)
        d_feed += (1 - u) * d_u
        d_kill -= v * d_v
        d_reaction = (d_v - d_u) * v
        d_u += rates[0] * spread_u - feed * d_u + d_reaction * v
        d_v += rates[1] * spread_v - both * d_v + 2 * d_reaction * u
    d_feed += d_kill
    return d_feed, d_kill, d_rates
