"""Recursive functions that write into their arguments, against Python and differences: lowered in place if known values end them."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes
from tests.test_semantics_exceptions import X, agrees


def fib(n, q, memo):
    if n not in memo:
        memo[n] = q if n < 2 else fib(n - 1, q, memo) * 0.5 + fib(n - 2, q, memo)
    return memo[n]


def memo(x):
    return fib(4, x[0], {}) * x[1]


def doubled(a, n):
    if n == 0:
        return
    a[n - 1] *= 2
    doubled(a, n - 1)


def array(x):
    a = x * 1.0
    doubled(a, 3)
    return np.sum(a * a)


def collected(n, v, out):
    if n == 0:
        return out
    out.append(v * n)
    return collected(n - 1, v, out)


def list_of_results(x):
    return sum(collected(3, x[0], [])) * x[1]


def nonlocal_name(x):
    total = 0

    def go(n, v):
        nonlocal total
        total = total + v
        if n > 0:
            go(n - 1, v * x[1])

    go(3, x[0])
    return total


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


def integers(x):
    return x[0] * factorial(4)


def moved(n, a, b, c):
    if n == 0:
        return
    moved(n - 1, a, c, b)
    c.append(a.pop())
    moved(n - 1, b, a, c)


def hanoi(x):
    a, b, c = [x[0], x[1], x[2]], [], []
    moved(3, a, b, c)
    return c[0] * 2 + c[1] ** 2 + c[2]


@pytest.mark.parametrize("f", [memo, array, list_of_results, nonlocal_name, integers, hanoi], ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, X)


def halved(a):
    if a[0] > 0.1:
        a[0] /= 2
        halved(a)


def depth_of_data(x):
    a = x * 1.0
    halved(a)
    return a @ a


def test_a_depth_that_no_known_value_bounds_is_refused():
    with pytest.raises(UnsupportedSyntaxError, match="`halved` calls itself and writes into its arguments"):
        grad(depth_of_data, verify=False)(np.array(X))


class Unit:
    def __init__(self, weight):
        self.weight, self.seen = weight, [weight * 2]

    def __call__(self, value):
        return np.tanh(self.weight * value)


def test_recursion_that_reads_an_object_which_can_be_called():
    def f(x):
        unit = Unit(x)

        def again(value, n=3):
            if n <= 0:
                return value
            value = again(value * 0.5 + 0.1, n - 1) * 0.7
            return value * 0.5 if unit.seen[-1] < 9 else unit(value)

        return again(x) + unit(x)

    assert judged_in_all_modes(f, 0.3) == "right"
