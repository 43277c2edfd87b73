"""Integers in compiled gradients: as in Python and NumPy, or an error."""

import numpy as np
import pytest

from sourcead import Numba, value_and_grad

pytestmark = pytest.mark.sampled(3)

pytest.importorskip("numba")


def divides(x, i, n):
    return x * (i // n) + x * (i % n)


def divides_floats(x, y):
    return x % y + x // y


def to_a_power(x, n):
    return x * 2**n


def shifts(x, n):
    return x * (1 << n)


def grows(x, n):
    k = 1
    for _ in range(n):
        k = k * 10
    return x * k


def small_integers(x, k):
    return x[0] * (k[0] - k[1]) + x[1] * (k[0] * k[1])


def pick(x, i):
    return x[i] * x[-1] + x[-i - 1]


V, X = np.arange(1.0, 5.0), np.ones(2)
CASES = {
    divides: [((2.0, 7, 3), None), ((2.0, -7, 3), None), ((2.0, 7, 0), ZeroDivisionError)],
    divides_floats: [((5.5, 2.0), None), ((-5.5, 2.0), None), ((5.5, 0.0), ZeroDivisionError)],
    to_a_power: [((1.0, 3), None), ((1.0, -2), ValueError), ((1.0, 70), OverflowError)],
    shifts: [((1.0, 40), None), ((1.0, 64), OverflowError)],
    grows: [((1.0, 18), None), ((1.0, 25), OverflowError)],
    small_integers: [((X, np.array([1, 2], np.uint8)), None), ((X, np.array([100, 100], np.int8)), None)],
    pick: [((V, 2), None), ((V, -3), None), ((V, 7), IndexError), ((V, -9), IndexError)],
}  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_integers_are_those_of_python_or_an_error(f):
    compiled, plain = value_and_grad(f, backend=Numba(cache=False)), value_and_grad(f)
    for args, error in CASES[f]:
        if error is not None:
            with pytest.raises(error):
                compiled(*args)
            continue
        with np.errstate(over="ignore"):
            expected = plain(*args)
        for got, wanted in zip(compiled(*args), expected):
            np.testing.assert_array_equal(got, wanted)
