"""Constants whose class is derived from `float`: numbers where the class calculates as `float` does, refused elsewhere."""

import math

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError


class Unit(float):
    scale = 4.0

    def __new__(cls, value, name=""):
        made = float.__new__(cls, value)
        made.name = name
        return made

    def half(self):
        return self / 2

    @property
    def thousand(self):
        return self * 1e3


class Twice(float):
    def __mul__(self, other):
        return float(self) * other * 2


class Reflected(float):
    def __radd__(self, other):
        return 100.0


class Empty(float):
    def __bool__(self):
        return False


class Other(float):
    @property
    def real(self):
        return 50.0


class Written(float):
    def __str__(self):
        return "a text"


class Part(float):
    def __getitem__(self, k):
        return 7.0


class Alone(float):
    __array_ufunc__ = None


class OfNumPy(np.float64):
    def __mul__(self, other):
        return 100.0


class Mixin:
    def __rmul__(self, other):
        return 9.0


class Mixed(Mixin, float):
    pass


METER, SECOND = Unit(2.0, "m"), Unit(3.0, "s")
UNITS, TABLE = [METER, SECOND], {"m": METER, "plain": 2.0}
TWICE, REFLECTED, EMPTY, OTHER, PART = Twice(2.0), Reflected(2.0), Empty(2.0), Other(2.0), Part(2.0)
ALONE, OF_NUMPY, MIXED, WRITTEN = Alone(2.0), OfNumPy(2.0), Mixed(2.0), Written(2.0)

NUMBERS = [
    lambda x: x * METER + math.sin(METER) + x**SECOND + METER**x + SECOND // 2 * x,
    lambda x: np.sum(np.array([x, 2 * x]) * METER),
    lambda x: sum(x * unit for unit in UNITS) * TABLE["m"] * TABLE["plain"],
    lambda x: x * METER.half() + METER.thousand * x * METER.scale,
    lambda x: x * (2.0 if METER.name == "m" else 3.0),
    lambda x: x * (2.0 if isinstance(METER, Unit) else 3.0) * (2.0 if isinstance(METER * 1, Unit) else 3.0),
    lambda x: x * (2.0 if type(METER) is float else 3.0) * (5.0 if hasattr(METER, "name") else 7.0),
    lambda x: x * len(f"{METER}") * max(METER, SECOND),
]
RULES_OF_THEIR_OWN = [
    lambda x: TWICE * x, lambda x: x + REFLECTED, lambda x: x if EMPTY else 2 * x, lambda x: x * OTHER.real, lambda x: x * PART[0],
    lambda x: (np.array([x]) * ALONE)[0], lambda x: OF_NUMPY * x, lambda x: x * MIXED, lambda x: x * len(f"{WRITTEN}"),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(NUMBERS)))
def test_a_class_that_calculates_as_float_does(k):
    f = NUMBERS[k]
    value, slope = value_and_grad(f, verify=False)(1.7)
    assert value == pytest.approx(f(1.7), rel=1e-12)
    assert slope == pytest.approx((f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("k", range(len(RULES_OF_THEIR_OWN)))
def test_a_class_with_rules_of_its_own_is_refused(k):
    with pytest.raises(SourceADError, match="which calculates by rules of its own"):
        value_and_grad(RULES_OF_THEIR_OWN[k], verify=False)(1.7)


def in_a_recursion(unit, x, n):
    return 0.0 if n <= 0 else (2.0 if isinstance(unit, Unit) else 1.0) * x + in_a_recursion(unit, x, n - 1)


def in_a_loop(x):
    unit = METER
    for _ in range(int(x) + 2):
        x = x * (1.5 if isinstance(unit, Unit) else 1.0)
        unit = unit * 1.0
    return x


OPEN = [
    in_a_loop, lambda x: in_a_recursion(METER, x, int(x) + 2), lambda x: x * (2.0 if isinstance(METER if x > 0 else 2.0, Unit) else 3.0),
    lambda x: x * (2.0 if isinstance(max(METER, 1.0), Unit) else 3.0),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(OPEN)))
def test_whether_a_number_is_of_such_a_class_must_be_known(k):
    with pytest.raises(SourceADError, match="one of a class of its own"):
        value_and_grad(OPEN[k], verify=False)(1.7)
