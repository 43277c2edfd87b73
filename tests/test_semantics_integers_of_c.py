"""Integers of `ctypes`, which keep some bits of a number, as generators of random numbers use them."""

import ctypes
from ctypes import c_int64

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.errors import SourceADError

X = np.linspace(0.3, 1.7, 8)


def overflow(x):
    return c_int64(x).value


def shuffled(x, seed=5):
    """A permutation of a linear congruential generator weighs the elements."""
    places, source = np.zeros(8, dtype=np.int64), np.arange(8)
    for i in range(7, -1, -1):
        seed = overflow(seed * 6364136223846793005 + 1442695040888963407)
        r = int((seed + 31) % (i + 1))
        if r < 0:
            r += i + 1
        places[i] = source[r]
        source[r] = source[i]
    return np.sum(x[places] * np.arange(8) * x)


def of_other_sizes(x):
    made = [ctypes.c_int8(200), ctypes.c_uint8(-3), ctypes.c_int32(2**31), ctypes.c_uint16(), c_int64(7)]
    return sum(n.value * v for n, v in zip(made, x)) * x[0] * 1e-6


def of_a_number_of_the_run(x):
    count = int(np.sum(x > 1.0)) * 60
    return np.sum(x**2) * ctypes.c_int8(count).value


@pytest.mark.parametrize("function", [shuffled, of_other_sizes, of_a_number_of_the_run])
def test_gradient_is_that_of_differences(function):
    value, _ = value_and_grad(function)(X)
    assert value == pytest.approx(function(X))
    check_grads(function, (X,))


def test_value_is_not_assigned():
    def f(x):
        count = ctypes.c_int8(3)
        count.value = 300
        return count.value * x

    with pytest.raises(SourceADError):
        grad(f)(1.0)
