"""Loops of the forward sweep of which nothing but residuals is needed are part of the loops that reverse them: `fused_sweeps.py`."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, value_and_grad, vjp

rng = np.random.default_rng(0)


def of_nested_loops(x, w):
    s = 0.0
    for i in range(2, len(x)):
        q = np.zeros(3)
        for j in range(3):
            q[j] = np.exp(x[i - j] * w[j])
        s += np.sum(q**2) * np.prod(q)
    return s


def of_pairs(x, w):
    """Springs between neighbours: norms of differences."""
    s = 0.0
    for i in range(len(x) // 3):
        j = (i + 1) % (len(x) // 3)
        d = x[3 * i : 3 * i + 3] - x[3 * j : 3 * j + 3]
        s += (np.linalg.norm(d) - w[j]) ** 2
    return s


def backward_indices(x, w):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        u = np.exp(x[i] * w[i])
        if u > 1.0:
            u = u * np.cos(u)
        s += u**3
    return s


def written_before(x, w):
    y = x.copy()
    y[0] = 3.0
    s = 0.0
    for i in range(1, len(x)):
        u = np.sin(y[i]) * y[0] * w[i]
        s += u * u * u
    return s


def written_between(x, w):
    """What the loop reads is changed before the reverse sweep gets there."""
    y = np.cos(x)
    s = 0.0
    for i in range(len(x)):
        u = np.sin(y[i] * w[i])
        if i > 2:
            u = u * u * y[i]
        s += np.tanh(u) * u
    y[1:] *= w[1:] * np.sin(y[1:])
    return s + np.sum(y * np.sin(y))


def a_view_that_is_written_between(x, w):
    y = np.cos(x)
    part = y[1:]
    s = 0.0
    for i in range(len(part)):
        u = np.tanh(part[i] * w[i]) * part[i] if part[i] > 0.1 else np.sin(part[i])
        s += u * u * np.exp(u)
    y *= np.sin(y)
    return s + np.sum(part**3)


def written_in_the_loop(x, w):
    y = x.copy()
    s = 0.0
    for i in range(1, len(x)):
        u = np.sin(y[i - 1]) * w[i]
        s += u * u * u
        y[i] = y[i] * y[i - 1]
    return s


def inside_a_loop_that_carries(x, w):
    s = 0.0
    for _ in range(3):
        for i in range(len(x)):
            u = np.tanh(x[i] * w[i])
            s += u**2 * w[i]
        w = w * np.cos(w)
    return s


def rows_of_a_list(x, w):
    rows = [np.exp(x[i] * w) for i in range(len(x))]
    s = 0.0
    for row in rows:
        s += np.sum(np.sin(row) ** 2) * row[0]
    return s


def left_early(x, w):
    s = 0.0
    for i in range(len(x)):
        u = np.tanh(x[i] * w[i])
        s += u**2
        if s > 0.5:
            break
    return s


def of_samples(x, w):
    """Each sample runs through a recurrence of its own; nothing but the sum goes on from one to the next."""
    s = 0.0
    for k in range(len(w)):
        h = 0.0
        for i in range(len(x)):
            h = np.tanh(x[i] * w[k] + h)
        s += h * h
    return s


def without_an_index(x, w):
    s = 0.0
    for _ in range(3):
        for i in range(len(x)):
            u = np.tanh(x[i] * w[i])
            for j in range(2):
                v = np.exp(u * x[j])
                s += v * v * u
            s += np.sin(u) * u
    return s


def with_an_index_in_what_is_saved(x, w):
    s = 0.0
    for k in range(1, 4):
        u = np.exp(np.cos(np.arange(12.0) * k) * 0.3)
        v = u / np.sum(u) + u[k]
        s += np.sum(v * x) * np.sum(x * w)
    return s


def triangle_of_pairs(x, w):
    """Discs that overlap: each pair once."""
    e = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            gap = np.sqrt((x[i] - x[j]) ** 2 + 0.1) - w[i] ** 2 - w[j] ** 2
            if gap >= 0:
                continue
            e += 0.5 * gap**2
    return e


def every_second(x, w):
    s = 0.0
    for i in range(1, len(x), 2):
        u = np.exp(x[i] * w[i - 1])
        s += u * np.cos(u) * x[i - 1]
    return s


PROGRAMS = [
    triangle_of_pairs, every_second,
    of_samples, without_an_index, with_an_index_in_what_is_saved, of_nested_loops,
    of_pairs, backward_indices, written_before, written_between, a_view_that_is_written_between, written_in_the_loop,
    inside_a_loop_that_carries, rows_of_a_list, left_early,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    x, w = rng.normal(size=(2, 12))
    check_grads(f, (x, w))
    value, found = value_and_grad(f, wrt=(0, 1))(x, w)
    np.testing.assert_allclose(value, f(x, w), rtol=1e-13)
    _, pullback = vjp(f, x, w, wrt=(0, 1))
    for given in (found, pullback(1.0), pullback(1.0)):
        for a, b in zip(given, grad(f, wrt=(0, 1))(x, w)):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    v, step = rng.normal(size=12), 1e-6
    difference = (grad(f)(x + step * v, w) - grad(f)(x - step * v, w)) / (2 * step)
    np.testing.assert_allclose(hvp(f)(x, w, v), difference, rtol=1e-5, atol=1e-6 * np.abs(difference).max())


ONE_LOOP = [of_nested_loops, of_pairs, triangle_of_pairs, written_before, without_an_index, with_an_index_in_what_is_saved]


@pytest.mark.parametrize("f", ONE_LOOP)
def test_nothing_is_saved(f):
    x, w = rng.normal(size=(2, 12))
    made = grad(f, wrt=(0, 1)).lower(x, w)
    assert ".append(" not in made.text and ".pop(" not in made.text, made.text
    assert any("computed and reversed in one loop" in note for note in made.notes)
    assert not any("saves in each iteration" in note for note in made.notes), made.notes
    assert ".append(" in value_and_grad(f, wrt=(0, 1)).lower(x, w).text


@pytest.mark.compiled
@pytest.mark.parametrize("f", [of_nested_loops, backward_indices, written_between, inside_a_loop_that_carries])
def test_compiled(f):
    x, w = rng.normal(size=(2, 12))
    for a, b in zip(grad(f, wrt=(0, 1), backend="numba")(x, w), grad(f, wrt=(0, 1))(x, w)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
