"""Classes with a `__new__` or a `__setattr__` of their own."""

import inspect
from dataclasses import dataclass

import pytest

from tests.semantics import judged_in_all_modes


class Pair:

    def __new__(cls, a, b=None):
        if isinstance(a, Pair):
            return a
        if b is None:
            return cls.one(a)
        self = super().__new__(cls)
        self.a = a
        self.b = b
        return self

    @classmethod
    def one(cls, v):
        return cls(v, 2.0)

    def __mul__(self, o):
        return self.a * o.a + self.b * o.b


class Triple(Pair):

    def __new__(cls, *args, **k):
        obj = super().__new__(cls, *args)
        obj.c = k.get("c", 1.0)
        return obj

    def __init__(self, *args, c=1.0):
        self.d = c * 2


@dataclass
class Observer:
    lat: float
    lon: float = 1.0

    def __setattr__(self, n, v):
        if n == "lat":
            v = v * 2
        super().__setattr__(n, v)


class Slotted:
    __slots__ = ("v", "n")

    def __init__(self, v):
        self.n = 0
        self.v = v

    def __setattr__(self, n, v):
        object.__setattr__(self, n, v if n != "v" else v + 1.0)


class Tripled:

    def __new__(cls, x):
        return x * 3


class Refusing(Observer):

    def __setattr__(self, n, v):
        if n == "lon":
            raise AttributeError(n)
        super().__setattr__(n, v)


def made_by_new(x):
    return Pair(x) * Pair(Pair(x, 3.0))


def new_of_a_base(x):
    q = Triple(x, x, c=x)
    return q * Pair(x) + q.c * q.d


def setter_doubles(x):
    o = Observer(x)
    o.lat = o.lat * x
    return o.lat * o.lon


def setter_of_slots(x):
    s = Slotted(x)
    s.v *= x
    s.n = 4
    return s.v * s.n


def new_of_a_number(x):
    return Tripled(x) * x


def setter_raises(x):
    o = Observer(x, lon=2.0)
    try:
        r = Refusing.__new__(Refusing)
        r.lat = x
        r.lon = 3.0
    except AttributeError:
        o.lon = o.lon * 7 * r.lat
    return o.lon * o.lat


def objects_in_a_list(x):
    ps = [Pair(x * k, 2.0) for k in range(3)]
    t = 0.0
    for p in ps:
        if x > 1:
            p.a = p.a * 2
        t = t + p * p
    return t


def object_or_none(x):
    o = None
    for k in range(3):
        o = Observer(x * k) if o is None else Observer(o.lat + x)
    return o.lat


def objects_as_defaults(x, o=Observer(1.0, 2.0), p=Pair(1.0, 2.0)):  # noqa: B008
    return o.lat * x + p * Pair(x)
OBSERVER = Observer(3.0, 4.0)
TRIPLE = Triple(3.0, c=2.0)


def objects_of_the_module(x):
    return OBSERVER.lat * x + TRIPLE.d * TRIPLE.a * (Pair(x) * TRIPLE)



SETTER_OF = object.__setattr__.__get__  # as classes of `attrs` have it, to set attributes of a frozen object


class Frozen:

    def __init__(self, a, b=None):
        setter = SETTER_OF(self)
        setter("a", a)
        setter("b", 2 * a if b is None else b)

    def __setattr__(self, n, v):
        raise AttributeError(n)


class FrozenDerived(Frozen):

    def __init__(self, a):
        super().__init__(a)
        SETTER_OF(self)("c", self.a * self.b)


class Observing(Observer):

    def plus_square(self, y):
        return self.lat + y * y


BINDS = Observing.plus_square.__get__


def bound_setter(x):
    p = Frozen(x)
    return p.a * p.b * Frozen(x, x * x).b


def bound_setter_of_a_derived_class(x):
    return sum(p.c for p in [FrozenDerived(x), FrozenDerived(2 * x)])


def bound_setter_in_a_loop(x):
    p = q = Frozen(x)
    setter = SETTER_OF(p)
    for _ in range(3):
        setter("a", p.a * x)
    return q.a


def bound_setter_is_not_the_own_one(x):
    p = Frozen(x)
    try:
        p.a = 3.0
    except AttributeError:
        return p.a * 5
    return p.a


def bound_function_sees_later_changes(x):
    o = Observing(x)
    bound = BINDS(o)
    o.lat = x**3
    return bound(x) * Observing.plus_square.__get__(o, Observing)(2.0)


PROGRAMS = [f for f in list(globals().values()) if inspect.isfunction(f) and f.__module__ == __name__]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.3, 1.7])
def test_program(f, x):
    assert judged_in_all_modes(f, x) == "right"
