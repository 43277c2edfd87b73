"""Objects with `__next__` that are unpacked, as names, arguments and items; and dict displays whose keys depend on the run."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.arange(1.0, 7.0)


class Items:
    def __init__(self, items):
        self.items, self.k = items, 0

    def __iter__(self):
        self.k = 0
        return self

    def __next__(self):
        if self.k >= len(self.items):
            raise StopIteration
        self.k += 1
        return self.items[self.k - 1]


class Halves:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return self

    def __next__(self):
        if self.v < 1.0:
            raise StopIteration
        self.v = self.v / 2
        return self.v


def product(a, b):
    return np.sum(a * b)


def unpacked_as_names(x):
    a, b = Items([x, x * x])
    (c, d), e = Items([x[:2] * x[2:4], x[5]])
    return np.sum(a * b) * c + d * e


def unpacked_as_arguments(x):
    return product(*Items([x, x * x])) * product(x[0], *Items([x[2]]))


def as_many_as_the_run_makes(x):
    a, b, c = Halves(x[5])
    return a * b + c


def object_read_afterwards(x):
    items = Items([x, x[1] * x])
    a, b = items
    return np.sum(a * b) + items.k * x[0] + len(items.items)


def items_assigned_to_a_part(x):
    m = [0.0, x[1], x[2], 0.0]
    m[1:3] = Items([x[0] * x[1], x[1]])
    return m[1] * m[2] + m[0]


def starred_name(x):
    a, *b = Items([x[0], x[1] * 2, x[2]])
    return a * b[0] * b[1]


def one_key_that_depends_on_the_run(x):
    n = sum(1 for v in x if v > 3.5)
    h = {f"k{n}": x[0] * x[1]}
    h[f"k{n}"] *= 2.0
    return h["k3"] * x[2]


def keys_before_and_after_it(x):
    n = 0
    while x[n] < 2.5:
        n += 1
    h = {"a": x[2], f"k{n}": x[0] * x[1], "b": x[3] ** 2, **{"c": x[4]}}
    return h["k2"] * sum(h.values()) + list(h).index("b") * h["c"]


def key_that_may_be_another(x):
    n = int(x[1] + 0.5)
    h = {2: x[2], n: x[3] * x[0], n + 1: x[4]}
    return h[2] * h[3] * len(h)


HELPERS = (Items, Halves, product)
PROGRAMS = [v for v in list(globals().values()) if getattr(v, "__module__", None) == __name__ and v not in HELPERS]


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not starred_name])
def test_what_is_known_only_at_run_time_is_unpacked(f):
    assert judged_in_all_modes(f, X) == "right"


def test_a_starred_name_for_the_rest_of_an_iterator():
    """Python calls `__iter__` a second time for the starred name."""
    judged_in_all_modes(starred_name, X)
