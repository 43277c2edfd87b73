"""Classes that are defined inside a differentiated function, against Python and differences."""

import dataclasses
import functools

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import UnsupportedSyntaxError
from tests.semantics import judged_in_all_modes
from tests.test_semantics_exceptions import X, agrees


class Outside:
    scale = 0.5

    def __init__(self, v):
        self.v = v

    def times(self, q):
        return self.v * q * self.scale


def items(x):
    class Held:
        def __init__(self, q):
            self.q = q

        def __getitem__(self, k):
            return self.q[k]

        def __setitem__(self, k, p):
            self.q[k] = p

    a = x * 1.0
    held = Held(a)
    held[0] = x[1] ** 2
    return held[0] * a[0] + held[2]


def derived(x):
    class Inner(Outside):
        def times(self, q):
            self.v = self.v + q
            return super().times(q) * x[2]

    inner = Inner(x[0])
    return inner.times(x[1]) * inner.v


def data_of_class(x):
    class Data:
        q = x[0] * 2
        r = q * x[1]
        kept = []

        def __init__(self):
            self.kept.append(self.q)

    Data()
    Data()
    return Data.r * sum(Data.kept) * Data().q


def properties(x):
    class Held:
        q = x[0]

        @property
        def p(self):
            return self.q * 2

        @p.setter
        def p(self, to):
            self.q = to * x[1]

        @staticmethod
        def half(v):
            return v * 0.5

        @classmethod
        def made(cls, v):
            held = cls()
            held.p = v
            return held

        @functools.cached_property
        def once(self):
            self.q = self.q + 1
            return self.q

    held = Held()
    held.p = x[2]
    return held.p * Held.half(x[1]) + Held.made(x[0]).p + held.once * held.once


def in_loop(x):
    s = 0.0
    for v in x:
        class Held:
            factor = 3

            def __init__(self, q):
                self.q = q

            def of(self):
                return self.q * v * self.factor  # noqa: B023

        s = s + Held(v * 2).of()
    return s


def dataclass_inside(x):
    @dataclasses.dataclass
    class Pair:
        v: float
        w: float = 0.4

        def times(self, q):
            self.v = self.v * q
            return self.v

    pair = Pair(x[0])
    return pair.times(x[1]) * Pair(x[2], w=x[1]).w + pair.v * pair.w


def factories_of_fields(x):
    def start():
        return x[1] * 2.0

    @dataclasses.dataclass
    class Particle:
        position: np.ndarray
        speed: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(3))
        kept: list = dataclasses.field(default_factory=list)
        mass: float = dataclasses.field(default_factory=start, compare=False)
        n: int = dataclasses.field(default=2, repr=False)

    p, q = Particle(x * 2.0), Particle(x)
    p.speed = p.speed * x
    p.kept.append(x[0] ** 2)
    q.speed *= 3.0
    return np.sum(p.position * p.speed) * p.n + sum(p.kept) + len(q.kept) + np.sum(q.speed) * q.mass


def chained(x):
    class Held:
        def __init__(self):
            self.held = []

        def add(self, q):
            self.held.append(q)
            return self

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.held.append(x[2])

    with Held().add(x[0]).add(x[1] ** 2) as held:
        held.add(x[1])
    return held.held[0] * held.held[1] + held.held[-1] * len(held.held)


def operators(x):
    class V:
        def __init__(self, q):
            self.q = q

        def __add__(self, other):
            return V(self.q + 2 * other.q)

        def __call__(self, by):
            return self.q * by

        def __len__(self):
            return 3

        def __iter__(self):
            yield self.q
            yield x[2]

    v = V(x[0]) + V(x[1])
    return v(x[2]) + len(v) + sum(v)


def returned_by_callee(x):
    def make(by):
        class Scaled:
            def of(self, q):
                return q * by

        return Scaled

    return make(x[0])().of(x[1]) + make(x[2])().of(x[1] ** 2)


RIGHT = [items, derived, data_of_class, properties, in_loop, dataclass_inside, factories_of_fields, chained, operators, returned_by_callee]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f):
    agrees(f, np.array(X))


def test_a_cached_property_that_a_loop_reads_first():
    class Table:
        def __init__(self, m):
            self.m = m

        @functools.cached_property
        def size(self):
            return 0.5 * self.m[0]

    def f(x):
        table, s = Table(x), 0.0
        for i in range(3):
            s += table.size * x[i]
            table.m = table.m * 2
        return s + table.size

    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


def test_what_a_class_inside_says_of_its_truth_and_its_items():
    def f(x):
        class Bag:
            def __init__(self, items):
                self.items, self.place = items, 0

            def __bool__(self):
                return bool(self.items[0] > 0.1)

            def __iter__(self):
                return self

            def __next__(self):
                if self.place >= len(self.items):
                    raise StopIteration
                self.place += 1
                return self.items[self.place - 1] * 2.0

        bag, s = Bag(x), 0.0
        if not bag:
            s += x[2]
        return s + (sum(bag) if bag else x[1])

    for x in (np.array([0.5, -1.2, 2.0]), np.array([-0.5, -1.2, 2.0])):
        assert judged_in_all_modes(f, x) == "right"


def test_a_special_method_of_a_class_inside_that_python_calls_itself_is_refused():
    def f(x):
        class Ordered:
            def __init__(self, v):
                self.v = v

            def __lt__(self, other):
                return self.v < other.v

        return sorted([Ordered(v) for v in x])[0].v

    with pytest.raises(UnsupportedSyntaxError, match="define the class outside of the function"):
        value_and_grad(f)(np.array([0.5, -1.2, 2.0]))


class Listed:
    """A class of whose objects NumPy makes arrays, because they have a length and items."""

    def __init__(self, v):
        self.v = v

    def __len__(self):
        return len(self.v)

    def __getitem__(self, i):
        return self.v[i] * 3.0

    def __iter__(self):
        return (v * 3.0 for v in self.v)

    def __radd__(self, other):
        return Listed(self.v + other)

    __rmul__ = __radd__

    def __gt__(self, other):
        return True


class ListedLater(Listed):
    __array_priority__ = 1.0


class ListedAlone(Listed):
    __array_ufunc__ = None


class Single:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, other):
        return self.v * other

    def __getitem__(self, i):
        return self.v[i]


@pytest.mark.parametrize("cls", [Listed, ListedLater, ListedAlone])
def test_an_operator_of_numpy_takes_the_items_of_an_object_to_its_right_unless_the_class_asks_to_be_left(cls):
    def f(x):
        q = cls(x * 2.0)
        return (x + q)[1] * 0.5 + (x[0] * q)[2] ** 2 + (2.0 * q)[0] + np.sum(x[x[0] < q])

    if cls is Listed:
        assert judged_in_all_modes(f, X) == "right"
    else:
        assert judged_in_all_modes(lambda x: (x + cls(x * 2.0))[1] + (x[0] * cls(x))[2] ** 2, X) == "right"


def test_an_operator_of_an_array_that_makes_an_array_of_objects_is_refused_and_one_of_a_number_is_not():
    assert judged_in_all_modes(lambda x: np.sum(x[0] * Single(x)), X) == "right"
    with pytest.raises(UnsupportedSyntaxError, match="array of objects of class Single"):
        value_and_grad(lambda x: np.sum((x * Single(x))[0]))(X)
