"""Objects with `__next__`, unpacked or asked for their next item; and dict displays whose keys depend on the run."""

import numpy as np
import pytest

from sourcead import grad
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


def next_items(x):
    it = Items([x, x * x])
    a, b = next(it), next(it)
    return np.sum(a * b) + next(it, x[0] ** 2) * it.k


def rest_after_the_first(x):
    it = Halves(x[5])
    first = next(it)
    return first * sum(v * x[1] for v in it)


def next_items_in_a_loop(x):
    it, total = Halves(x[5]), 0.0
    for k in range(2):
        total += next(it) * (k + 1)
    return total * it.v


def next_until_it_stops(x):
    it, total = Items(x), 0.0
    while (v := next(it, None)) is not None:
        total += v * it.k
    return total


def stop_that_is_handled(x):
    it, last = Items([x, x * x]), x
    try:
        while True:
            last = next(it)
    except StopIteration:
        last = last * 2
    return np.sum(last)


class Doubled:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return self

    def __next__(self):
        return 2 * next(self.items)


def next_inside_next(x):
    return sum(np.sum(v * v) for v in Doubled(Items([x, x * x])))


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


HELPERS = (Items, Halves, Doubled, product)
MAY_BE_REFUSED = (starred_name, next_inside_next)
PROGRAMS = [v for v in list(globals().values()) if getattr(v, "__module__", None) == __name__ and v not in HELPERS]


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in MAY_BE_REFUSED])
def test_what_is_known_only_at_run_time_is_unpacked(f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("f", MAY_BE_REFUSED)
def test_iterators_that_start_anew_or_end_by_what_they_call(f):
    """Python calls `__iter__` a second time for the starred name; a StopIteration of `next` ends the iteration around it."""
    judged_in_all_modes(f, X)


def test_the_end_of_an_iterator_without_a_default():
    def f(x):
        it = Halves(x[5])
        return next(it) * next(it)

    gradient = grad(f)
    gradient(X)
    with pytest.raises(StopIteration):
        gradient(X / 5)
