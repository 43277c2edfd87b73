"""Functions of a user that `functools.wraps` gives the name and module of a function of NumPy, `math` or `operator`."""

import functools
import math
import operator

import numpy as np
import pytest
import scipy.stats

from sourcead import grad, jvp


def in_degrees(fn):
    @functools.wraps(fn)
    def wrapper(x):
        return 2 * fn(np.radians(x))

    return wrapper


def of_values(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        first, *rest = args
        return Quantity(fn(first.value, *rest))

    return wrapper


class Quantity:
    def __init__(self, value):
        self.value = value

    __add__, __mul__ = of_values(operator.add), of_values(operator.mul)


SIN, EXP = in_degrees(np.sin), in_degrees(math.exp)


def test_of_functions():
    f = lambda x: SIN(x) + EXP(x)  # noqa: E731
    expected = 2 * np.pi / 180 * (np.cos(np.pi / 6) + np.exp(np.pi / 6))
    assert grad(f)(30.0) == pytest.approx(expected)
    assert jvp(f, (30.0,), (2.0,))[1] == pytest.approx(2 * expected)


def test_of_operators_of_a_class():
    assert grad(lambda x: ((Quantity(x) + 2.0) * 3.0).value * x)(2.0) == pytest.approx(18.0)


class Gumbel(scipy.stats._continuous_distns.gumbel_r_gen):
    def scaled(self, x):
        return x * (self.numargs + 2)


GUMBEL = Gumbel(name="gumbel")


def test_a_number_of_an_object_of_a_library():
    assert grad(lambda x: GUMBEL.scaled(x) * x)(3.0) == pytest.approx(12.0)
