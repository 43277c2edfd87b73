"""Sparse Jacobians and Hessians: sweeps, memory, and times beside JAX as its users write it, for the page of derivatives."""

import os
import tracemalloc
from collections.abc import Iterator

import numpy as np

from sourcead import hessian, jacobian, sparse_pattern
from tests.benchmarks.report import Row, at_most, reported
from tests.benchmarks.timing import interleaved_seconds, median_ratio

ROUNDS = 9
SWEEPS = 12  # of the heat equation


def heat(u, k):
    v = np.pad(u, 1)
    return k * (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * u) - u**4


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def turned(rotations, points):
    angles = np.sqrt(np.sum(rotations**2, axis=1, keepdims=True))
    axes = rotations / angles
    along = np.sum(axes * points, axis=1, keepdims=True) * axes
    return np.cos(angles) * points + np.sin(angles) * np.cross(axes, points) + (1 - np.cos(angles)) * along


def bundle(cameras, points, of_camera, of_point, seen):
    """The residuals of a bundle adjustment: cameras of rotation, translation and focal length, points, and which camera sees which."""
    own, at = cameras[of_camera], points[of_point]
    in_front = turned(own[:, :3], at) + own[:, 3:6]
    return own[:, 6:] * in_front[:, :2] / in_front[:, 2:] - seen


def observations(cameras=49, points=2_000, seen_by=5):
    rng = np.random.default_rng(0)
    poses = np.column_stack([0.1 * rng.normal(size=(cameras, 3)) + 0.2, np.tile([0.0, 0.0, 8.0], (cameras, 1)), np.full(cameras, 500.0)])
    of_point = np.repeat(np.arange(points), seen_by)
    of_camera = rng.integers(0, cameras, len(of_point))
    return poses, rng.normal(size=(points, 3)), of_camera, of_point, rng.normal(size=(len(of_point), 2))


def in_jax(poses, points, of_camera, of_point, seen):
    """The blocks of the Jacobian in JAX: the derivatives of one observation, for all of them at once."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def one(camera, point, seen):
        angle = jnp.sqrt(jnp.sum(camera[:3] ** 2))
        axis = camera[:3] / angle
        in_front = jnp.cos(angle) * point + jnp.sin(angle) * jnp.cross(axis, point) + (1 - jnp.cos(angle)) * (axis @ point) * axis
        in_front = in_front + camera[3:6]
        return camera[6] * in_front[:2] / in_front[2] - seen

    def blocks(poses, points):
        return jax.vmap(jax.jacfwd(one, (0, 1)))(poses[of_camera], points[of_point], seen)

    made = jax.jit(blocks)
    return lambda: jax.block_until_ready(made(poses, points))


def peak(call) -> int:
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def rows() -> Iterator[Row]:
    """The rows of sparse matrices."""
    memory = {}
    for n in (158, 316):
        made, u = jacobian(heat, sparse=True), np.random.default_rng(0).uniform(0.1, 1.0, (n, n))
        memory[n] = peak(lambda made=made, u=u: made(u, 0.5))
    yield at_most(f"sparse Jacobian of heat, {n * n:,} unknowns: sweeps", sparse_pattern(heat)(u, 0.5).sweeps + 1, SWEEPS, "{:.0f}")
    yield at_most(f"sparse Jacobian of heat: memory of {n * n:,} / of {158 * 158:,} unknowns", memory[n] / memory[158], 4.4)
    times = interleaved_seconds({"matrix": lambda: made(u, 0.5), "value": lambda: heat(u, 0.5)}, ROUNDS)
    yield reported("sparse Jacobian of heat, the pattern known: time / value's", median_ratio(times["matrix"], times["value"]), "{:.1f}")
    small = u[:40, :40]
    dense, sparse = jacobian(heat), jacobian(heat, sparse=True)
    times = interleaved_seconds({"sparse": lambda: sparse(small, 0.5), "dense": lambda: dense(small, 0.5)}, ROUNDS)
    yield at_most("sparse Jacobian of heat, 1,600 unknowns: time / dense", median_ratio(times["sparse"], times["dense"]), 1.0)
    x = np.random.default_rng(0).normal(size=100_000)
    curvature = hessian(rosenbrock, sparse=True)
    own = curvature(x)
    exact = np.concatenate(([2 + 1200 * x[0] ** 2 - 400 * x[1]], 202 + 1200 * x[1:-1] ** 2 - 400 * x[2:], [200.0]))
    error = np.max(np.abs(own.diagonal() - exact) / np.abs(exact).max())
    yield at_most("sparse Hessian of rosenbrock, 100,000 unknowns: error of the diagonal", error, 1e-14, "{:.1e}")
    args = observations()
    slopes = jacobian(bundle, ("cameras", "points"), sparse=True)
    slopes(*args)
    tasks = {"sparse": lambda: slopes(*args)}
    try:
        tasks["jax"] = in_jax(*args)
    except ImportError:
        return
    times = interleaved_seconds(tasks, ROUNDS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    what = f"sparse Jacobian of a bundle adjustment, {len(args[2]):,} observations: time / jax.jit of blocks, {cores} cores"
    yield reported(what, median_ratio(times["sparse"], times["jax"]))
