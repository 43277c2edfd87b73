"""A row that a loop saves does not keep the array that it is a part of (`emit/memory/saved_parts.py`)."""

import tracemalloc

import numpy as np
import pytest

from sourcead import Revolve, Segments, check_grads, grad, hvp, vjp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def row_after_the_step(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(u[1] ** 3)
    return s


def row_before_the_step(u, n):
    s = 0.0
    for t in range(n):
        s = s + np.sum(u[1] ** 3)
        u = 0.5 * u + 0.25 * u[::-1]
    return s


def column(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(u[:, -1] ** 3)
    return s


def part_of_a_row(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(np.sin(u[2, 1:-1]))
    return s


def row_of_the_transpose(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(np.sin(u.T[2]))
    return s


def two_states(u, n):
    s, before = 0.0, u
    for t in range(n):
        after = 1.5 * u - 0.5 * before
        after[2] += 1.0
        s = s + np.sum(after[2] ** 3) * 0.01
        before, u = u, after
    return s


def in_a_branch(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        if t % 2:
            s = s + np.sum(u[1] ** 3)
    return s


def left_early(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(u[1] ** 3)
        if s > 1e6:
            break
    return s


def nested(u, n):
    s = 0.0
    for _ in range(2):
        for t in range(n):
            u = 0.5 * u + 0.25 * u[::-1]
            s = s + np.sum(u[1] ** 3)
        u = u + 1.0
    return s


def row_that_is_written_later(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        row = u[1]
        s = s + np.sum(row**3)
        u[1] = 0.1
        s = s + np.sum(u[0] * row)
    return s


def written_in_a_loop(u, n):
    s = 0.0
    for t in range(n):
        after = 0.5 * u
        for i in range(1, len(u)):
            after[i] += 0.25 * u[i - 1]
        s = s + np.sum(after[1] ** 3)
        u = after
    return s


def grows(u, n):
    s = 0.0
    for t in range(n):
        u = np.concatenate([0.5 * u, 0.25 * u[:1]])
        s = s + np.sum(u[:, 1] ** 3)
    return s


def changes_its_dtype(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + np.ones(len(u[0]))
        s = s + np.sum(u[1] ** 3)
    return s


SMALL = [
    row_after_the_step, row_before_the_step, column, part_of_a_row, row_of_the_transpose, two_states, in_a_branch, left_early, nested,
    row_that_is_written_later, written_in_a_loop, changes_its_dtype,
]
PROGRAMS = [*SMALL, grows]


def one_row_of_each_sample(u, xs):
    s = 0.0
    for x in xs:
        s = np.sin(s) + np.sum(x[1] ** 3) * np.sum(u)
    return s


def rows_of_one_array(u, n):
    s = 0.0
    for t in range(n - 1):
        u[t + 1] = 0.5 * u[t + 1] + u[t] ** 2
    return s + np.sum(u)


def kept_by_the_program(u, n):
    states, s = [], 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        states.append(u)
        s = s + np.sum(u[1] ** 3)
    return s + np.sum(np.sin(states[-1][1])) + np.sum(states[0] ** 2)


def kept_by_another_view(u, n):
    s = 0.0
    for t in range(n):
        u = 0.5 * u + 0.25 * u[::-1]
        s = s + np.sum(u[1] ** 3) + np.sum(u[1:, 1:] ** 3)
    return s


@pytest.mark.parametrize("f", SMALL)
def test_memory(f):
    n, side = 100, 40
    gradient = grad(f)
    u = 0.1 * rng.normal(size=(side, side))
    gradient(u, n)
    tracemalloc.start()
    gradient(u, n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * u.nbytes / 4, gradient.source


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_gradients(f, n):
    for shape in ((3, 4), (9, 10)):
        u = rng.normal(size=shape)
        check_grads(f, (u, n), wrt=("u",), modes=("reverse",))
        single = grad(f)(u.astype(np.float32), n)
        assert single.dtype == np.float32 or f is changes_its_dtype
        np.testing.assert_allclose(single, grad(f, checkpoint="store")(u, n), rtol=1e-3, atol=1e-3)


def test_nothing_is_copied_that_is_there_anyway():
    u, xs = rng.normal(size=(9, 9)), rng.normal(size=(4, 9, 9))
    for f, args in ((one_row_of_each_sample, (u, xs)), (kept_by_the_program, (u, 4)), (kept_by_another_view, (u, 4))):
        gradient = grad(f, wrt="u")
        gradient(*args)
        assert ".copy()" not in gradient.source, gradient.source


def test_rows_of_one_array():
    check_grads(rows_of_one_array, (rng.normal(size=(6, 9)), 6), wrt=("u",), modes=("reverse",))


@pytest.mark.parametrize("policy", ["store", "states", "recompute", Segments(2), Revolve(2)])
def test_policies(policy):
    u = rng.normal(size=(9, 10))
    for f in (row_after_the_step, two_states, row_that_is_written_later):
        np.testing.assert_allclose(grad(f, checkpoint=policy)(u, 5), grad(f)(u, 5), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", [row_after_the_step, two_states])
def test_a_pullback_called_twice_and_the_hessian(f):
    u, v = rng.normal(size=(2, 9, 10))
    value, pullback = vjp(f, u, 4, wrt="u")
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), grad(f)(u, 4), rtol=1e-10)
    step = 1e-5
    expected = (grad(f)(u + step * v, 4) - grad(f)(u - step * v, 4)) / (2 * step)
    np.testing.assert_allclose(hvp(f)(u, 4, v), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.compiled
@pytest.mark.parametrize("f", [row_after_the_step, two_states, row_that_is_written_later])
def test_compiled(f):
    u = rng.normal(size=(9, 10))
    for n in (0, 4):
        np.testing.assert_allclose(grad(f, backend="numba")(u, n), grad(f)(u, n), rtol=1e-10, atol=1e-12)
