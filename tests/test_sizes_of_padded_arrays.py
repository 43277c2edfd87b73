"""The sizes of padded arrays, of differences, and of what a global integer cuts, are expressions: nothing is compared at run time."""

import numpy as np
import pytest

from sourcead import check_grads, grad

rng = np.random.default_rng(0)
X, W = rng.normal(size=(12, 11)), rng.normal(size=(12, 11))
HEADS = 2


def padded_by_one(x, w):
    p = np.pad(x, 1)
    return np.sum((p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4.0 * x) ** 2 * w)


def padded_unevenly(x, w):
    p = np.pad(x, ((2, 1), (0, 3)), mode="edge")
    return np.sum(p[2:-1, :-3] * w) + np.sum(np.pad(x, ((1, 2),))[1:-2, 1:-2] ** 2 * w)


def padded_by_a_length(x, w):
    n = x.shape[1]
    k = n - 1
    return np.sum(np.pad(x, ((0, 0), (k, 0)))[:, k:] ** 2 * w)


def differences(x, w):
    d = np.diff(x, axis=0)
    return np.sum(d**2 * w[1:]) + np.sum(np.diff(x, n=2) * x[:, :-2] * w[:, 2:])


def cut_by_a_global(x, w):
    width = x.shape[1] // HEADS
    parts = x[:, : width * HEADS].reshape(len(x), HEADS, width).transpose(1, 0, 2)
    other = w[:, : width * HEADS].reshape(len(x), HEADS, width).transpose(1, 0, 2)
    return np.sum(np.tanh(parts @ other.transpose(0, 2, 1)) @ other * parts)


PROGRAMS = [padded_by_one, padded_unevenly, padded_by_a_length, differences, cut_by_a_global]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    check_grads(f, (X, W))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_sizes_are_compared(f):
    assert "unbroadcast" not in grad(f, wrt=("x", "w")).lower(X, W).text


@pytest.mark.parametrize("heads", [1, 3, 4, 11])
def test_the_global_is_read_at_each_call(heads, monkeypatch):
    gradient = grad(cut_by_a_global, wrt=("x", "w"))
    gradient(X, W)
    monkeypatch.setitem(globals(), "HEADS", heads)
    d, step = rng.normal(size=X.shape), 1e-6
    slope = (cut_by_a_global(X + step * d, W) - cut_by_a_global(X - step * d, W)) / (2 * step)
    assert np.isclose(np.sum(gradient(X, W)[0] * d), slope, rtol=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows(rows):
    for f in (differences, padded_by_one):
        found = grad(f)(X[:rows], W[:rows])
        assert found.shape == (rows, 11)
