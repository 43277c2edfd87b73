"""Objects of classes with `__slots__` in lists, where each is one value of the text."""

import numpy as np
import pytest

from sourcead import grad, hvp
from tests.semantics import judged_in_all_modes


class Pair:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Base:
    def __init__(self, v):
        self.v = v


class Derived(Base):
    __slots__ = ("w",)

    def __init__(self, v, w):
        super().__init__(v)
        self.w = w


class Private:
    __slots__ = "__u"

    def __init__(self, u):
        self.__u = u

    def get(self):
        return self.__u**2


def largest(x):
    return max([Pair(x[k], x[k] * x[0]) for k in range(3)], key=lambda p: p.x + p.y).y


def slots_and_attributes(x):
    best = max([Derived(x[k], x[k] * x[1]) for k in range(3)], key=lambda p: p.w)
    return best.v**2 * best.w


def private_slot(x):
    return min([Private(x[k] * x[1]) for k in range(3)], key=lambda p: p.get()).get()


def sorted_by_slot(x):
    pairs = sorted([Pair(x[k], x[k] * x[0] * k) for k in range(3)], key=lambda p: p.x)
    return pairs[0].y + pairs[1].x * pairs[2].y


@pytest.mark.parametrize("f", [largest, slots_and_attributes, private_slot, sorted_by_slot], ids=lambda f: f.__name__)
def test_slots_are_data_of_an_object(f):
    assert judged_in_all_modes(f, np.array([0.7, 0.2, 0.4])) == "right"


def test_gradients_and_second_derivatives_of_an_argument_with_slots():
    def f(p):
        return p.x**2 * p.y

    d = grad(f)(Pair(2.0, 3.0))
    assert (d.x, d.y) == (12.0, 4.0)
    x, v = np.array([0.7, 0.2, 0.4]), np.array([1.0, 0.5, -1.0])
    h = 1e-6
    ahead, behind = grad(slots_and_attributes)(x + h * v), grad(slots_and_attributes)(x - h * v)
    np.testing.assert_allclose(hvp(slots_and_attributes)(x, v), (ahead - behind) / (2 * h), rtol=1e-5)
