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
    assert absent not in "".join(s for s in gradient.source.split("# reverse")[-1].split("\n") if "# return" not in s)


def test_a_divisor_of_one_term_stays():
    def f(s, x, y):
        e = np.exp(s)
        return np.sum(np.sin(x / e)) + np.sum(y * e)

    check_grads(f, (0.3, Y, Y))


def entropy(w):
    return -np.sum(w * np.log(w))


def divergence(p, q):
    return np.sum(p * np.log(p / q))


def divergence_of_logarithms(p, q):
    return np.sum(p * (np.log(p) - np.log(q)))


def entropy_of_a_softmax(z):
    p = np.exp(z) / np.sum(np.exp(z))
    return np.sum(0.1 * p * np.log(p)) + p @ z


def log_of_a_product(s, r):
    return np.sum(np.log(2 * np.pi * s) + r**2 / s)


def log_of_a_quotient(s, k):
    return np.sum(np.log(s / k) * np.sin(k) + s)


@pytest.mark.parametrize("f, args, absent", [
    (log_of_a_quotient, (Y, Y[::-1].copy()), "/ ratio"),
    (entropy, (Y,), "w / w"), (divergence, (X[0], X[1]), "p / ratio"), (divergence_of_logarithms, (X[0], X[1]), "p / p"),
    (entropy_of_a_softmax, (Y,), "p / p"), (log_of_a_product, (Y, Y), "np.pi"),
])  # fmt: skip
def test_quotients_of_a_value_and_itself(f, args, absent):
    check_grads(f, args)
    gradient = grad(f, wrt=tuple(range(len(args))))
    for dtype in (np.float32, np.float64):
        given = tuple(a.astype(dtype) for a in args)
        assert all(d.dtype == dtype for d in gradient(*given))
        assert absent not in "".join(s for s in gradient.source.split("# reverse")[-1].split("\n") if "# return" not in s)
