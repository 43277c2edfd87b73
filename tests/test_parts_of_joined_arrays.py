"""Cotangents of what was joined are parts of the cotangent of the whole: nothing is kept for its shape alone."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
X, W = rng.normal(size=(9, 12)), rng.normal(size=(9, 10))


def side_by_side(x, w):
    return np.sum(np.sin(np.concatenate((x, w, x[:, :2]), axis=1)) ** 2)


def on_the_last_axis(x, w):
    return np.sum(np.concatenate([w, x], -1) ** 3)


def below(x, w):
    return np.sum(np.concatenate((x[:, :10], w, w)) ** 3)


def stacked(x, w):
    return np.sum(np.stack((x[:, 0], w[:, 1], x[:, 2]), axis=1) ** 3)


def stacked_rows(x, w):
    rows = []
    for v in x:
        rows.append(np.tanh(v) * w[0, 0])
    return np.sum(np.stack(rows) ** 3)


def stacked_columns(x, w):
    rows = [np.tanh(v) * w[0, 0] for v in x]
    return np.sum(np.stack(rows, axis=1) ** 3)


def numbers(x, w):
    total = 0.0
    for v in x:
        total += np.sum(np.array([np.exp(u) for u in v]) ** 2 * w[0, 0])
    return total


def states_joined(x, w):
    a, b, kept = x[0], w[0], []
    for _ in range(5):
        a, b = np.sin(a) * b[0], np.cos(b) * a[1]
        kept.append(np.concatenate([a, b]))
    return np.sum(np.stack(kept) ** 2)


PROGRAMS = [side_by_side, on_the_last_axis, below, stacked, stacked_rows, stacked_columns, numbers, states_joined]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_parts(f):
    check_grads(f, (X, W))
    step = 1e-6 * np.ones_like(X)
    difference = grad(f)(X + step, W) - grad(f)(X - step, W)
    assert np.allclose(hvp(f)(X, W, step), difference / 2, rtol=1e-5, atol=1e-11)
    assert np.isclose(jvp(f, (X, W), (step, None))[1], np.sum(grad(f)(X, W) * step))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_dtypes(f):
    assert grad(f)(X.astype(np.float32), W).dtype == np.float32
    assert grad(f, wrt="w")(X, W.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_compares_shapes(f):
    text = grad(f, wrt=("x", "w")).lower(X, W).text
    assert not any(helper in text for helper in ("split_like", "like_arrays", "like_sequence")), text
    assert "unstack" not in text or f is stacked_columns


@pytest.mark.parametrize("items", [[0.5, 1.5, 2.5], [np.float64(0.5), np.float64(1.5)], [np.float32(0.5), np.float32(1.5)]])
def test_cotangents_of_items_are_numbers_of_their_precision(items):
    def f(xs):
        return np.sum(np.array(xs) ** 2)

    d_xs = grad(f)(items)
    assert isinstance(d_xs, list) and all(isinstance(d, type(x)) for d, x in zip(d_xs, items))
    assert np.allclose(d_xs, 2 * np.array(items))


def rotated(x, w):
    c, s = np.cos(x[0, 0]), np.sin(x[0, 0])
    return np.sum((w[:, :2] @ np.array([[c, -s], [s, c]])) ** 3 * x[:, :2])


def stretched(x, w):
    d = np.sqrt(x[0, 0] ** 2 + x[0, 1] ** 2)
    h = np.array([(x[0, 0] / d, 0, 1.0), (w[0, 0], d, True)])
    return np.sum((h @ w[:3]) ** 2)


def column_by_column(x, w):
    total = 0.0
    for k in range(len(x)):
        m = np.array([[[x[k, 0]], [w[k, 0] * x[k, 1]]], [[1.0], [w[k, 1]]]])
        total += np.sum(np.sin(m[0] * m[1]))
    return total


PROGRAMS_OF_NUMBERS = [rotated, stretched, column_by_column]


@pytest.mark.parametrize("f", PROGRAMS_OF_NUMBERS, ids=lambda f: f.__name__)
def test_cotangents_of_numbers_in_nested_lists_are_elements(f):
    check_grads(f, (X, W))
    assert "like_sequence" not in grad(f, wrt=("x", "w")).lower(X, W).text
    step = 1e-6 * np.ones_like(X)
    difference = grad(f)(X + step, W) - grad(f)(X - step, W)
    assert np.allclose(hvp(f)(X, W, step), difference / 2, rtol=1e-5, atol=1e-11)
    assert np.isclose(jvp(f, (X, W), (step, None))[1], np.sum(grad(f)(X, W) * step))
