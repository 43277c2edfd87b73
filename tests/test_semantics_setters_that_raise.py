"""Properties, descriptors and `__setattr__` that raise in some runs what the function that sets the attribute handles."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


class Bounded:
    def __init__(self, v):
        self._v = v

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        if value > 0.6:
            raise ValueError("too large", value)
        self._v = value


class Doubling:
    def __init__(self, v):
        self.v = v

    def __setattr__(self, name, value):
        if value > 0.6:
            raise ValueError("too large")
        object.__setattr__(self, name, value * 2)


class SetWhenMade(Bounded):
    def __init__(self, v):
        self.v = v


class Limited:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, cls=None):
        return getattr(obj, self.name)

    def __set__(self, obj, value):
        if value > 0.6:
            raise ValueError("too large")
        setattr(obj, self.name, value)


class Described:
    v = Limited()

    def __init__(self, v):
        self.v = v


def property_in_a_loop(x):
    o, total = Bounded(x[1]), 0.0
    for u in x:
        try:
            o.v = u * 1.3
            total += o.v**2
        except ValueError as e:
            total += e.args[1] * x[0]
        else:
            total *= 0.9
    return total * o.v


def own_setattr(x):
    o = Doubling(x[1] * 0.5)
    try:
        o.v = x[0] * x[1] + np.sin(x[1])
        o.v = x[0]
    except ValueError:
        pass
    return o.v * x[2]


def in_the_constructor(x):
    total = 0.0
    for u in x:
        try:
            total += SetWhenMade(u * 1.1).v ** 2
        except ValueError:
            total += u * x[1]
    return total


def descriptor_and_name(x):
    o = Described(x[2])
    try:
        o.v = w = x[0] ** 2 + 0.2
    except ValueError:
        w = x[1]
    return o.v * w


def two_at_once(x):
    o, p = Bounded(x[2]), Bounded(x[1])
    try:
        p.v = o.v = x[0]
    except ValueError:
        pass
    finally:
        o.v = o.v * 0.5
    return o.v * p.v


def in_a_function(x):
    o = Bounded(x[2])

    def put(u):
        o.v = u
        return u * 2

    try:
        w = put(x[0])
    except ValueError:
        w = x[1]
    return o.v * w


PROGRAMS = [property_in_a_loop, own_setattr, in_the_constructor, descriptor_and_name, two_at_once, in_a_function]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_a_setter_raises_is_handled(f):
    for x in (np.array([0.7, 0.2, 0.4]), np.array([0.2, 0.55, 0.45])):
        assert judged_in_all_modes(f, x) == "right"


def test_a_value_with_a_comprehension_is_set():
    def f(x):
        o = Bounded(x[2])
        try:
            o.v = w = sum(u * x[1] for u in x) * 0.5 + x[0] * 0.4
        except ValueError:
            w = x[1]
        return o.v * w

    for x in (np.array([0.7, 0.9, 0.4]), np.array([0.2, 0.55, 0.45])):
        assert judged_in_all_modes(f, x) == "right"
