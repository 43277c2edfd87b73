"""Full-waveform inversion: the field of speeds from what receivers in one row hear of a source."""

import numpy as np

from tests.benchmarks.by_hand.drawn import normal

WRT = ("speed",)


def inputs(size, dtype):
    side, steps = {"small": (6, 5), "full": (80, 150)}[size]
    rng = np.random.default_rng(0)
    speed = 0.5 + 0.1 * rng.random((side, side))
    source = np.exp(-(((np.arange(steps) - steps / 4) / (steps / 10)) ** 2))
    return speed.astype(dtype), source.astype(dtype), normal(rng, dtype, steps, side, scale=0.1)


def laplacian(u):
    lap = -4 * u
    lap[1:] += u[:-1]
    lap[:-1] += u[1:]
    lap[:, 1:] += u[:, :-1]
    lap[:, :-1] += u[:, 1:]
    return lap


def primal(speed, source, heard):
    side = len(speed)
    c2 = speed**2
    before = np.zeros_like(speed)
    u = np.zeros_like(speed)
    misfit = 0.0
    for t in range(len(source)):
        after = 2 * u - before + c2 * laplacian(u)
        after[side // 2, side // 2] += source[t]
        before, u = u, after
        misfit += 0.5 * np.sum((u[1] - heard[t]) ** 2)
    return misfit


def by_hand(speed, source, heard):
    side, steps = len(speed), len(source)
    c2 = speed**2
    before = np.zeros_like(speed)
    u = np.zeros_like(speed)
    laplacians, residuals = [], np.empty_like(heard)
    for t in range(steps):
        laplacians.append(laplacian(u))
        after = 2 * u - before + c2 * laplacians[t]
        after[side // 2, side // 2] += source[t]
        before, u = u, after
        residuals[t] = u[1] - heard[t]
    d_c2 = np.zeros_like(speed)
    d_u, d_before = np.zeros_like(speed), np.zeros_like(speed)
    for t in reversed(range(steps)):
        d_u[1] += residuals[t]
        d_c2 += d_u * laplacians[t]
        d_u, d_before = d_before + 2 * d_u + laplacian(c2 * d_u), -d_u
    d_c2 *= speed
    d_c2 *= 2
    return d_c2
