"""Jacobians and Hessians of small functions beside JAX, for the page of derivatives."""

from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np

from sourcead import hessian, jacobian
from tests.benchmarks.report import Row, at_most, reported
from tests.benchmarks.timing import interleaved_seconds, median_ratio

ROUNDS = 9
RNG = np.random.default_rng(0)
INNER, OUTER = RNG.normal(size=(64, 100)) / 10, RNG.normal(size=(20, 64)) / 8


def outputs(x):
    return OUTER @ np.tanh(INNER @ x)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def reached(angles):
    """Where an arm with seven joints ends, 3 numbers of 7."""
    frame = np.eye(4)
    for i in range(7):
        c, s = np.cos(angles[i]), np.sin(angles[i])
        turn = np.array([[c, -s, 0.0, 0.3], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
        tilt = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
        frame = frame @ turn @ tilt
    return frame[:3, 3]


def in_jax(jnp: ModuleType) -> dict[str, Callable]:
    """The same functions in JAX."""

    def reached(angles):
        frame = jnp.eye(4)
        for i in range(7):
            c, s = jnp.cos(angles[i]), jnp.sin(angles[i])
            turn = jnp.array([[c, -s, 0.0, 0.3], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
            tilt = jnp.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
            frame = frame @ turn @ tilt
        return frame[:3, 3]

    return {
        "outputs": lambda x: OUTER @ jnp.tanh(INNER @ x), "reached": reached,
        "rosenbrock": lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    }  # fmt: skip


def rows() -> Iterator[Row]:
    """The rows of small Jacobians and Hessians: accuracy beside JAX's, then times."""
    cases = [("Jacobian of a network, 100 to 20", outputs, 100, jacobian), ("Jacobian of an arm, 7 to 3", reached, 7, jacobian)]
    cases += [(f"Hessian of rosenbrock, {n}", rosenbrock, n, hessian) for n in (10, 30, 100)]
    try:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        others = in_jax(jnp)
    except ImportError:
        others = {}
    for name, f, n, derivative in cases:
        x, made, single = RNG.normal(size=n), derivative(f), derivative(f)
        single._wide = single._stack = None
        tasks = {"once": lambda d=made, x=x: d(x), "each": lambda d=single, x=x: d(x)}
        if others:
            of_jax = jax.hessian if derivative is hessian else jax.jacrev if len(f(x)) < n else jax.jacfwd
            compiled = jax.jit(of_jax(others[f.__name__]))
            tasks["jax"] = lambda d=compiled, x=x: jax.block_until_ready(d(x))
            differ = np.max(np.abs(made(x) - np.asarray(compiled(x)))) / np.max(np.abs(made(x)))
            yield at_most(f"{name}: largest difference from JAX's, relative", differ, 1e-13, "{:.0e}")
        times = interleaved_seconds(tasks, ROUNDS, 2)
        yield at_most(f"{name}: at once / one sweep after the other", median_ratio(times["once"], times["each"]), 1.2)
        if "jax" in times:
            yield reported(f"{name}: time / jax.jit", median_ratio(times["once"], times["jax"]))
