"""Text that lets go of large arrays that nothing reads any more: where that saves memory, and never of what is read again."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad, vjp
from sourcead.emit.memory import reuse
from sourcead.emit.text import let_go
from tests.benchmarks.workers import peak_bytes

pytestmark = pytest.mark.sampled(3)

X = np.linspace(0.2, 1.0, 1200).reshape(30, 40)


def solved(x):
    K = x @ x.T + 30 * np.eye(len(x))
    L = np.linalg.cholesky(K)
    inverse = np.linalg.inv(L)
    return np.sum(np.log(np.abs(inverse @ inverse.T) + 1)) + np.sum(np.tanh(x))


def listed(x):
    states = []
    h = x
    for _ in range(4):
        h = np.tanh(h * 1.1)
        states.append(h)
    stack = np.stack(states)
    return np.sum(np.exp(stack) / np.sum(stack, axis=0))


def views(x):
    a = x @ x.T
    b = a.T
    c = b[::-1]
    d = np.exp(c @ x / 1000) / np.sum(c)
    e = d - np.max(d, axis=1, keepdims=True)
    return np.sum(np.exp(e) * d) + np.sum(c[1:] * 2)


def in_some_runs(x):
    a = x @ x.T
    if np.sum(a) > 1:
        b = np.exp(a / np.max(a))
        c = b @ x
    else:
        c = x - np.sum(a)
    d = np.tanh(c - np.mean(c, axis=0))
    return np.sum(d @ d.T / np.sum(d * d))


FUNCTIONS = [solved, listed, views, in_some_runs]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("often", [False, True])
def test_what_is_let_go_of_changes_no_gradient(f, often, monkeypatch):
    if often:
        monkeypatch.setattr(let_go, "SAVING", 0.0)
        monkeypatch.setattr(let_go, "LARGE", 0.0)
        monkeypatch.setattr(reuse, "SMALLEST", 0)
    text = grad(f).lower(X).text
    assert not often or f in (listed, views) or "del " in text
    plain = grad(f, readable=True)
    assert "del " not in plain.lower(X).text
    assert np.allclose(grad(f)(X), plain(X), rtol=1e-12, atol=1e-12)
    value, gradient = value_and_grad(f)(X)
    assert np.isclose(value, f(X)) and np.allclose(gradient, plain(X), rtol=1e-12, atol=1e-12)
    _, pullback = vjp(f, X)
    assert np.array_equal(pullback(1.0), pullback(1.0))
    check_grads(f, (X[:9, :10],))  # the same text


def test_memory_is_let_go_of_where_most_is_held():
    gradient = grad(solved)
    dropped = re.search(r"del (.*)", gradient.lower(X).text)
    assert {"K", "L"} & {*dropped[1].split(", ")}
    x = np.tile(X, (10, 10))
    plain = grad(solved, readable=True)
    gradient(x), plain(x)
    assert peak_bytes(lambda: gradient(x)) < 0.95 * peak_bytes(lambda: plain(x))


def test_numbers_and_vectors_keep_their_names():
    def f(x):
        a = np.exp(x)
        b = a - np.sum(a)
        c = np.tanh(b)
        return np.sum(c / np.sum(c * c))

    assert "del " not in grad(f).lower(X[0]).text
    assert "del " not in grad(f).lower(0.5).text


def rows_of_a_product(states, w):
    y = states[1:] @ w
    return np.sum(y * y)


def written_by_the_program(x, w):
    a = np.exp(x)
    a[1:] = a[:-1] @ (x.T @ x * np.sum(w) / 1000)
    return np.sum(a / np.sum(a))


def of_fewer_axes(x, w):
    a = np.zeros((3, *x.shape))
    a[1:] = x @ w
    return np.sum(np.tanh(a) * np.arange(3)[:, None, None])


def of_another_dtype(x, w):
    a = np.zeros(x.shape, np.float32)
    a[:] = x @ w
    return np.sum(np.tanh(a) * a)


@pytest.mark.parametrize("f", [rows_of_a_product, written_by_the_program, of_fewer_axes, of_another_dtype])
def test_a_product_is_written_into_rows_of_exactly_its_type(f):
    x, w = np.linspace(-1, 1, 1200).reshape(30, 40), np.linspace(0, 0.1, 1600).reshape(40, 40)
    text = grad(f, wrt=(0, 1)).lower(x, w).text
    assert ("np.matmul(" in text) is (f in (rows_of_a_product, written_by_the_program)), text
    assert "matmul" not in grad(f, wrt=(0, 1), readable=True).lower(x, w).text
    for size in (30, 1, 2):
        if f is not of_another_dtype:
            check_grads(f, (x[:size, :9], w[:9, :9]))
        value, gradients = value_and_grad(f, wrt=(0, 1))(x[:size], w)
        assert np.isclose(value, f(x[:size], w))
        for a, b in zip(gradients, grad(f, wrt=(0, 1), readable=True)(x[:size], w)):
            assert np.allclose(a, b, rtol=1e-12)
