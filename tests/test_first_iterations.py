"""A loop whose first iteration changes the rank or dtype of a variant: it stands before the others, with types of its own."""

import numpy as np
import pytest

from sourcead import check_grads, grad


def bias_before_products(k, b, x):
    y = b
    for i in range(len(k)):
        y = y + x[:, i : i + 2] @ k[i]
    return np.sum(np.tanh(y))


def number_before_arrays(k, b, x):
    y = b[0]
    for k_i in k:
        y = np.tanh(y + x[:, :2] @ k_i)
    return np.sum(y)


def backward(k, b, x):
    y = b
    for i in reversed(range(len(k))):
        y = np.tanh(y + x[:, :2] @ k[i])
    return np.sum(y * i)


def two_at_once(k, b, x):
    y = b
    for k_i, again in zip(k, k[::-1]):
        y = np.tanh(y + x[:, :2] @ (k_i * again))
    return np.sum(y)


def nested(k, b, x):
    y = b
    for k_i in k:
        for j in range(2):
            y = y + j * x[:, :2] @ k_i
    return np.sum(np.sin(y))


def asks_for_the_shape(k, b, x):
    y = b
    for k_i in k:
        y = y * y.ndim + x[:, :2] @ k_i * len(y)
    return np.sum(y**2)


def counts_in_integers(k, b, x):
    y = np.arange(2)
    for k_i in k:
        y = np.tanh(k_i @ y + b[:2])
    return np.sum(y)


PROGRAMS = bias_before_products, number_before_arrays, backward, two_at_once, nested, asks_for_the_shape, counts_in_integers


def arguments(program):
    rng = np.random.default_rng(0)
    k = rng.normal(size=(9, 2, 2 if program is counts_in_integers else 3))
    return k, rng.normal(size=3), rng.normal(size=(10, 12))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_types_are_known_behind_the_first_iteration(program):
    args = arguments(program)
    text = grad(program, wrt=("k", "b")).lower(*args).text
    assert not any(asked in text for asked in ("unbroadcast", "_adjoint", "zeros_like(y)"))
    check_grads(program, args, wrt=("k", "b"))


def test_a_state_that_float32_begins_is_of_float64_from_then_on():
    def program(m, ys):
        for y in ys:
            m = np.array([[1.0, 0.1], [0.2, 1.0]]) @ m + y
        return np.sum(m**2)

    args = np.ones(2, np.float32), np.linspace(0, 1, 9).astype(np.float32)
    assert "unbroadcast" not in grad(program).lower(*args).text
    gradient = grad(program)(*args)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, grad(program)(*(a.astype(float) for a in args)), rtol=1e-5)


def breaks(k, b, x):
    y = b
    for k_i in k:
        y = y + x[:, :2] @ k_i
        if np.sum(y) > 3:
            break
    return np.sum(np.sin(y))


def lags_by_one(k, b, x):
    y = before = b
    for k_i in k:
        before, y = y, y + x[:, :2] @ k_i
    return np.sum(np.sin(y) * before)


def grows_in_each(k, b, x):
    y = b
    for _ in range(3):
        y = y[None] * 2
    return np.sum(y)


def may_have_no_iteration(k, b, x):
    y = b
    for i in range(int(np.sum(b > 9))):
        y = y + x[:, :2] @ k[i]
    return np.sum(y**2)


@pytest.mark.parametrize("program", (breaks, lags_by_one, grows_in_each, may_have_no_iteration), ids=lambda program: program.__name__)
def test_other_loops_stay_one_loop(program):
    args = arguments(program)
    check_grads(program, args, wrt=("k", "b"))
