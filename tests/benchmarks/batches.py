"""Functions of many members: `vmap` beside a loop over the members and beside `jax.vmap`, for the page of derivatives."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sourcead import grad, vmap
from tests.benchmarks.report import Row, at_most, reported
from tests.benchmarks.timing import interleaved_seconds, median_ratio

ROUNDS = 7


def loss(w, u, x, y):
    """The squared error of a network of two layers for one example."""
    return (u @ np.tanh(w @ x) - y) ** 2


def landing(speed, angle, drag):
    """How far a throw goes, and a loop that each throw leaves in its time."""
    x = y = 0.0
    u, v = speed * math.cos(angle), speed * math.sin(angle)
    while y >= 0.0:
        u, v = u - drag * u, v - drag * v - 0.01
        x, y = x + u, y + v
    return x


def cubic_root(c):
    """The positive root of x^3 + x = c, by Newton's method."""
    x = 1.0
    for _ in range(50):
        step = (x**3 + x - c) / (3 * x * x + 1)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


@dataclass(frozen=True)
class Case:
    """A batched function: how it is called here, member by member, and in JAX."""

    name: str
    here: Callable[[], object]
    loop: Callable[[], object]
    jax: Callable[[], Callable[[], object]]


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    w, u, xs, ys = rng.normal(size=(64, 32)), rng.normal(size=64), rng.normal(size=(512, 32)), rng.normal(size=512)
    speeds, angles, cs = rng.uniform(0.5, 1.5, 2000), rng.uniform(0.4, 1.2, 2000), rng.uniform(0.1, 9.0, 2000)
    each, one = vmap(grad(loss, wrt=("w", "u")), in_axes=(None, None, 0, 0)), grad(loss, wrt=("w", "u"))
    throws, slopes, slope = vmap(landing, in_axes=(0, 0, None)), vmap(grad(cubic_root)), grad(cubic_root)

    def jax_gradients():
        import jax
        import jax.numpy as jnp

        made = jax.jit(jax.vmap(jax.grad(lambda w, u, x, y: (u @ jnp.tanh(w @ x) - y) ** 2, (0, 1)), (None, None, 0, 0)))
        return lambda: jax.block_until_ready(made(w, u, xs, ys))

    def jax_throws():
        import jax
        import jax.numpy as jnp

        def step(state):
            x, y, u, v = state
            u, v = u - 0.01 * u, v - 0.01 * v - 0.01
            return x + u, y + v, u, v

        def landing(speed, angle):
            start = 0.0, 0.0, speed * jnp.cos(angle), speed * jnp.sin(angle)
            return jax.lax.while_loop(lambda state: state[1] >= 0.0, step, start)[0]

        made = jax.jit(jax.vmap(landing))
        return lambda: jax.block_until_ready(made(speeds, angles))

    def jax_roots():
        raise ImportError("JAX has no derivative of a loop that is left by a break")

    return [
        Case(
            "gradients of 512 examples", lambda: each(w, u, xs, ys), lambda: [one(w, u, x, y) for x, y in zip(xs, ys)], jax_gradients
        ),
        Case(
            "2,000 throws, each until it lands", lambda: throws(speeds, angles, 0.01),
            lambda: [landing(speed, angle, 0.01) for speed, angle in zip(speeds.tolist(), angles.tolist())], jax_throws,
        ),
        Case(
            "derivatives of 2,000 roots, each until Newton's method ends", lambda: slopes(cs),
            lambda: [slope(c) for c in cs.tolist()], jax_roots,
        ),
    ]  # fmt: skip


def rows() -> Iterator[Row]:
    """The rows of batches."""
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
    except ImportError:
        pass
    for case in cases():
        tasks = {"here": case.here, "loop": case.loop}
        try:
            tasks["jax"] = case.jax()
        except ImportError:
            pass
        times = interleaved_seconds(tasks, ROUNDS)
        yield at_most(f"{case.name}: vmap / a loop over the members", median_ratio(times["here"], times["loop"]), 1.0)
        if "jax" in times:
            yield reported(f"{case.name}: vmap / jax.jit of jax.vmap", median_ratio(times["here"], times["jax"]))
