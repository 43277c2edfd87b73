"""What the forward sweep of an iteration has calculated is read by its reverse, not calculated again."""

import numpy as np
import pytest

from sourcead import Revolve, check_grads, grad, hvp, vjp

pytestmark = pytest.mark.sampled(2)

X, Y = np.linspace(-0.7, 0.9, 9), np.linspace(0.2, 1.1, 9)


def pendulum(x, y):
    cost = 0.0
    for _ in range(6):
        s, c = np.sin(x), np.cos(x)
        y = y - 0.1 * s * c
        x = x + 0.1 * y
        cost = cost + np.sum(y**2 + s)
    return cost


def logarithms(x, y):
    total = 0.0
    for k in range(4):
        y = 2.0**y * np.log(2.0 + y) / (1.0 + np.exp2(-x * k))
        total = total + np.sum(np.sinh(y * 0.1) * np.cosh(y * 0.1))
    return total


def rebound(x, y):
    total = 0.0
    for _ in range(5):
        c = np.cos(x)
        x = x + 0.1 * np.sin(x)
        total += np.sum(c * np.sin(x))
    return total


def written_between(x, y):
    x, total = x.copy(), 0.0
    for k in range(5):
        c = np.cos(x)
        s = np.sin(x)
        x[k] = 0.5 * s[k + 1]
        total += np.sum(c * s * np.cos(x))
    return total


PROGRAMS = [pendulum, logarithms, rebound, written_between]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    check_grads(f, (X, Y))
    step = np.cos(X)
    difference = (grad(f)(X + 1e-6 * step, Y) - grad(f)(X - 1e-6 * step, Y)) / 2e-6
    assert np.allclose(hvp(f)(X, Y, step), difference, rtol=1e-6, atol=1e-7)
    _, pullback = vjp(f, X, Y)
    assert np.array_equal(pullback(1.0)[0].copy(), pullback(1.0)[0])
    for policy in ("states", Revolve(2)):
        assert np.allclose(grad(f, checkpoint=policy)(X, Y), grad(f)(X, Y), rtol=1e-12)


def test_the_cosine_of_a_sine_is_calculated_once():
    text = "\n".join(line for line in grad(pendulum).lower(X, Y).text.splitlines() if "#" not in line)
    assert text.count("np.sin(") == text.count("np.cos(") == 1, text


def test_the_cotangent_of_a_sum_is_a_number():
    def f(x, y):
        total = 0.0
        for _ in range(4):
            y = y * np.sin(x)
            total += np.sum(y - 0.3 * y**2 + 2.0 * np.sqrt(y**2 + 1.0))
        return total

    check_grads(f, (X, Y))
    assert "np.full" not in grad(f, wrt=("x", "y")).lower(X, Y).text
    for dtype in (np.float32, np.float64):
        assert [d.dtype for d in grad(f, wrt=("x", "y"))(X.astype(dtype), Y.astype(dtype))] == [dtype, dtype]
    mixed = grad(f, wrt=("x", "y"))(X.astype(np.float32), Y)
    assert [d.dtype for d in mixed] == [np.float32, np.float64]


def test_an_identity_matrix_that_is_written_is_made_anew():
    def f(x, y):
        a = np.eye(3)
        a[0, 2] = 0.5
        p = np.eye(3)
        for k in range(4):
            p = a @ p @ a.T * x[k]
        return np.sum(p**2)

    check_grads(f, (X, Y))
    text = grad(f).lower(X, Y).text
    assert text.count("np.eye(3)") == 2 and "copy" not in text, text
