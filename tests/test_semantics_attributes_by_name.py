"""Attributes of which a condition chooses the name: `getattr(obj, "x" if a else "y")`, and `setattr` and `hasattr`."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)


@dataclass
class D:
    """An object with attributes and methods."""

    m: float
    z: float = 0.5
    v: object = None

    def up(self, q):
        return self.m * q

    def down(self, q):
        self.m = self.m - q
        return self.m

    @property
    def both(self):
        return self.m * self.z


def read(x, w):
    return getattr(D(w, x[1]), "m" if x[0] > 0 else "z") * x[2]


def written(x, w):
    d = D(w, x[1])
    setattr(d, "m" if x[0] > 0 else "z", x[2] * w)
    return d.m * d.z


def a_method(x, w):
    return getattr(D(w, x[1]), "up" if x[0] > 0 else "down")(x[2])


def a_method_that_changes_the_object(x, w):
    d = D(w, x[1])
    r = getattr(d, "up" if x[0] > 0 else "down")(x[2])
    return r + d.m


def a_function_of_numpy(x, w):
    return getattr(np, "sin" if x[0] > 0 else "cos")(w)


def one_of_three(x, w):
    return getattr(math, "sin" if x[0] > 0 else "cos" if x[1] > 0 else "tanh")(w)


def has_it(x, w):
    return w if hasattr(D(w), "m" if x[0] > 0 else "q") else 3 * w


def with_a_default(x, w):
    return getattr(D(w), "m" if x[0] > 0 else "q", x[1]) * w


def in_a_loop(x, w):
    d = D(w, x[1])
    for q in x:
        name = "m" if q > 0 else "z"
        setattr(d, name, getattr(d, name) * 0.5 + q)
    return d.m * d.z


def a_property(x, w):
    return getattr(D(w, x[1]), "both" if x[0] > 0 else "z") * x[2]


def of_one_of_two_objects(x, w):
    a, b = D(w), D(x[1])
    setattr(a if x[2] > 0 else b, "m" if x[0] > 0 else "z", x[2] * w)
    return a.m * b.z + a.z * b.m


def the_name_again(x, w):
    d = D(w, x[1])
    name = "m" if x[0] > 0 else "z"
    v = getattr(d, name)
    setattr(d, name, v * 2)
    return vars(d)["m"] * d.z if name == "m" else d.m + d.z


def one_list(x, w):
    d = D(w, x[1], v=[w])
    d.v.append(x[1])
    chosen = getattr(d, "v" if x[0] > 0 else "v")
    chosen.append(w * 2)
    return sum(d.v)


def one_of_two_lists(x, w):
    d = D(w, [x[1]], [w, 1.0])
    chosen = getattr(d, "v" if x[0] > 0 else "z")
    chosen.append(w * 2)
    return sum(d.v) * sum(d.z)


PROGRAMS = [
    read, written, a_method, a_method_that_changes_the_object, a_function_of_numpy, one_of_three, has_it, with_a_default,
    in_a_loop, a_property, of_one_of_two_objects, the_name_again, one_list, one_of_two_lists,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_names_that_a_condition_chooses(program):
    def f(x):
        return program(x[:5], x[5])

    for x in [0.3, 0.5, 1.0, 2.0, 3.0], [-0.3, 0.5, -1.0, 0.2, 0.3], [-0.3, -0.5, 1.0, -0.2, -0.3]:
        assert judged_in_all_modes(f, np.array([*x, 0.5])) == "right"
