"""A cotangent of few rows is made of them, and an array of few rows is unpacked, where the program does so."""

import numpy as np
import pytest

from sourcead import check_grads, grad

RNG = np.random.default_rng(1)
T, X, S, A = RNG.standard_normal(3), RNG.standard_normal(20), RNG.standard_normal((2, 15)), RNG.standard_normal((20, 3))


def of_numbers(t, x):
    a, b, c = np.exp(t)
    return np.sum(a * x**2 + b * x - c * np.sin(b * x)) + a * b


def by_subscripts(t, x):
    return np.sum(t[0] * x**2 - t[1] * x) - np.sum(np.exp(t[-1] * x))


def of_columns(a):
    x, v, w = a.T
    return np.sum(x * v * np.sin(w)) + np.sum(x)


def of_rows(s):
    x, v = s
    for _ in range(3):
        x, v = x + 0.1 * v, v - 0.1 * x
    return np.sum(x * v) - np.sum(v)


@pytest.mark.parametrize("f, args", [(of_numbers, (T, X)), (by_subscripts, (T, X)), (of_columns, (A,)), (of_rows, (S,))])
def test_is_made_of_its_rows(f, args):
    check_grads(f, args)
    made = "np.array([" if args[0] is T else "np.stack(["
    text = grad(f).lower(*args).text
    assert made in text and "np.zeros" not in text and "[0]" not in text.replace("t[0]", "")
    single = tuple(a.astype(np.float32) for a in args)
    found = grad(f)(*single)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(f)(*args), rtol=1e-3, atol=1e-4)


def one_is_missing(t, x):
    return np.sum(t[0] * x**2) + t[2] ** 2


def is_read_twice(t, x):
    return np.sum(t[0] * x) * t[0] + t[1] * t[2]


def is_broadcast(s):
    x, v = s
    return np.sum(x) + np.sum(v[:1] * v)


def begins_as_a_number(s, n):
    x, v = s
    h = 0.0
    for _ in range(n):
        h = np.sin(h + v)
    return np.sum(h * x) + np.sum(v)


def is_overwritten(t, x):
    t = t * 1.0
    a, b, c = t
    t[0] = 3.0
    return np.sum(a * np.sin(b * x)) * t[0] * t[1] + c


@pytest.mark.parametrize(
    "f, args",
    [(one_is_missing, (T, X)), (is_read_twice, (T, X)), (is_broadcast, (S,)), (begins_as_a_number, (S, 2)), (is_overwritten, (T, X))],
)
def test_others_are_right(f, args):
    check_grads(f, args, wrt=0)
    if f is begins_as_a_number:
        check_grads(f, (S, 0), wrt=0)


def test_the_text_unpacks_arrays():
    assert "a, b, c = np.exp(t)" in grad(of_numbers).lower(T, X).text.replace("exp_t\n", "np.exp(t)\n")
    assert "x, v, w = a.T" in grad(of_columns).lower(A).text
