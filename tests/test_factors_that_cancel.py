"""Factors of an adjoint that cancel are not written: neither `(v / c - w / c) * c` nor `2 * (0.5 * x)`."""

import numpy as np
import pytest

from sourcead import check_grads, grad

RNG = np.random.default_rng(0)
W, X, Y = RNG.random(5), RNG.random((9, 5)), RNG.random(9)


def of_a_width(s, x, y):
    e = np.exp(2 * s)
    return np.sum(np.exp(-0.5 * x / e)) + np.sum(np.sin(np.exp(0.5 * y / e)))


def of_one_width(s, x):
    return np.sum(np.tanh(x / np.exp(s)))


def of_halves(w, x, y):
    return 0.5 * w @ w + np.sum(np.maximum(0, 1 - y * (x @ w)))


@pytest.mark.parametrize("f, args, absent", [
    (of_a_width, (0.3, X, np.append(Y, 0.5)), "e * "), (of_one_width, (0.3, Y), " * exp_s"), (of_halves, (W, X, np.sign(Y - 0.5)), "2 *"),
])  # fmt: skip
def test_factors_that_cancel(f, args, absent):
    check_grads(f, args)
    gradient = grad(f)
    gradient(*args)
    assert absent not in gradient.source.split("# reverse")[-1]


def test_a_divisor_of_one_term_stays():
    def f(s, x, y):
        e = np.exp(s)
        return np.sum(np.sin(x / e)) + np.sum(y * e)

    check_grads(f, (0.3, Y, Y))
