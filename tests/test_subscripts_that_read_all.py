"""The adjoint of a subscript that reads each element once (`x[:, None]`, `x[::-1]`) is a subscript: no zeros, no write."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, vjp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
X, V, ONE = rng.normal(size=(9, 12)), rng.normal(size=9), rng.normal(size=(9, 1))


def distances(x, v, one):
    return np.sum(np.exp(-np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1)) * v[:, None])


def rows_and_columns(x, v, one):
    return np.sum(1.0 / (1.0 + np.exp(-(v[None, :] - 0.5 * v[:, None]))) * (x[:, 0][:, None] * x[:, 1][None]))


def column_of_one(x, v, one):
    return np.sum(np.tanh(one[:, 0] * v) * (x[:, :1] * one)[:, 0])


def last_of_one(x, v, one):
    return np.sum(one[:, -1] ** 3 * v) + np.sum(one[..., 0] ** 2)


def turned(x, v, one):
    y = x[::-1, ::-1] * v[::-1, None]
    return np.sum(y[::-1] ** 2 * x) + np.sum(v * v[::-1])


def whole(x, v, one):
    return np.sum(x[:] * x[:, :] * one[:]) + np.sum(np.sin(v[:])[:])


def in_a_loop(x, v, one):
    s = np.zeros((9, 9))
    for k in range(4):
        s = np.tanh(s[::-1] + v[:, None] * x[:, k][None, :] * one[:, 0])
    return np.sum(s**2)


def one_row(x, v, one):
    row = (x @ x.T @ v)[None, :]
    return np.sum(np.sin(row)[0] * row[-1]) + row[0, None].sum()


def both_from_one_cotangent(x, v, one):
    return np.sum((v[:, None] + x[:, 0][:, None]) * one)


PROGRAMS = [distances, rows_and_columns, column_of_one, last_of_one, turned, whole, in_a_loop, one_row, both_from_one_cotangent]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    check_grads(f, (X, V, ONE))
    d = rng.normal(size=X.shape)
    difference = (grad(f)(X + 1e-6 * d, V, ONE) - grad(f)(X - 1e-6 * d, V, ONE)) / 2e-6
    assert np.allclose(hvp(f)(X, V, ONE, d), difference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_share_no_memory(f):
    found = grad(f, wrt=("x", "v", "one"))(X, V, ONE)
    for k, a in enumerate(found):
        assert a.flags.writeable and not any(np.shares_memory(a, b) for b in (*found[k + 1 :], X, V, ONE))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_pullbacks_can_be_called_twice(f):
    _, pullback = vjp(f, X, V, ONE, wrt=("x", "v", "one"))
    first = [a.copy() for a in pullback(1.0)]
    assert all(np.array_equal(a, b) for a, b in zip(first, pullback(1.0)))


@pytest.mark.parametrize("f", [distances, rows_and_columns, column_of_one, turned, in_a_loop], ids=lambda f: f.__name__)
def test_nothing_is_written_with_an_added_axis(f):
    text = grad(f, wrt=("x", "v", "one")).lower(X, V, ONE).text
    assert "None] +=" not in text and "None] -=" not in text and "::-1] +=" not in text, text
    assert "keepdims" not in text or f is turned, text


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("f", [distances, rows_and_columns, turned], ids=lambda f: f.__name__)
def test_few_rows(f, size):
    x, v, one = X[:size, : max(size, 2)], V[:size], ONE[:size]
    found = grad(f, wrt=("x", "v", "one"))(x, v, one)
    assert [a.shape for a in found] == [x.shape, v.shape, one.shape]
    if size:
        check_grads(f, (x, v, one))


def test_an_element_of_a_part_is_an_element():
    def f(v):
        joined = np.concatenate([np.array([v[2]]), v[3:] ** 2])
        return np.sum(np.cumsum(joined) ** 2)

    check_grads(f, (V,))
    assert "[:1][0]" not in grad(f).lower(V).text
