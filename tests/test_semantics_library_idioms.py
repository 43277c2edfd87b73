"""Calls of Python's library: members of enumerations by value or name, frozensets as keys, `move_to_end`, `extendleft`, `np.fromiter`."""

import collections
import enum
import math

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes


class Mode(enum.Enum):
    FAST = 0.5
    SLOW = 2.0


def member_by_value_or_name(x):
    mode = Mode(0.5) if x[0] > 0.5 else Mode["SLOW"]
    table = {Mode(2.0): x[1], Mode["FAST"]: x[2]}
    return mode.value * table[mode] ** 2 * len(Mode(0.5).name)


def frozensets_as_keys(x):
    table = {frozenset([1]): x[0], frozenset({2}): x[1]}
    for k in range(2):
        table[frozenset([k, 5])] = x[k] * x[2]
    total = sum(v * len(key) for key, v in table.items())
    return table[frozenset((2,))] * table[frozenset({5, 0})] ** 2 + total


def moved_to_the_end(x):
    d = collections.OrderedDict(a=x[0], b=x[1], c=x[2])
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    first = next(iter(d.values()))
    return first**2 + d.popitem()[1] * 0.5 + d.popitem(last=False)[1] * x[1]


def extended_to_the_left(x):
    q = collections.deque([x[0], x[1] ** 2])
    q.extendleft([x[2], x[0] * x[1]])
    q.extendleft(v * 2 for v in x if v > 0.3)
    return q[0] * 2 + q[1] * 3 + q[-1] * q[2] + len(q) * x[0]


def from_an_iterator(x):
    return np.fromiter((v * x[0] for v in x), float, 2).sum() + np.fromiter(map(math.sin, x), float, count=-1)[2] ** 2


def reductions_of_a_number(x):
    t, u = float(x[0]), x[1]
    return np.min(t, axis=-1) * x[0] + np.max(u, axis=0) ** 2 + np.max(u, axis=None) * x[2] + np.nanmin(u) + np.ptp(u)


PROGRAMS = [
    member_by_value_or_name, frozensets_as_keys, moved_to_the_end, extended_to_the_left, from_an_iterator, reductions_of_a_number,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_they_are_differentiated(f):
    for x in (np.array([0.7, 0.2, 0.4]), np.array([0.2, 0.7, 0.45])):
        assert judged_in_all_modes(f, x) == "right"


def test_the_least_of_one_number():
    assert grad(lambda t: np.min(t, axis=-1) * t)(0.5) == 1.0
    assert grad(lambda t: np.max(t, axis=0) ** 2)(np.float32(0.5)).dtype == np.float32


def test_a_member_that_depends_on_the_run():
    derivative = grad(lambda x: Mode(0.5 if x > 0 else 2.0).value * x)
    assert (derivative(1.0), derivative(-1.0)) == (0.5, 2.0)
