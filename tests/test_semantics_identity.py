"""Decorators of functions inside a function, `is`, and containers inside themselves, as in Python."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.5, 0.3, 0.7])
G = np.array([1.0, 2.0])


def doubled(f):

    def g(*args, **more):
        return 2 * f(*args, **more)

    return g


def times(k):

    def decorate(f):

        @functools.wraps(f)
        def g(*a):
            return k * f(*a)

        return g

    return decorate


def ignoring(f):
    return lambda *a: 3.0 * a[0]


def right_decorator_a1(x):

    @doubled
    def d(q):
        return q * q

    return d(x)


def right_decorator_a2(x):

    @doubled
    @times(3)
    @ignoring
    def d(q):
        return q * q

    return d(x)


def right_decorator_a3(x):

    @times(x)
    def d(q):
        return q * q

    return d(x)


def right_decorator_a5(x):

    @functools.lru_cache
    def fib(n):
        return x if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(6)


def right_decorator_a7(x):

    def twice(f):
        return lambda q: f(f(q))

    @twice
    def d(q):
        return q * q

    return d(x)


def right_decorator_a8(x):
    s = 0.0
    for k in range(3):

        @times(k)
        def d(q):
            return q * q

        s += d(x)
    return s


def right_decorator_b2(x):
    L = []

    def register(f):
        L.append(f)
        return f

    @register
    def d(q):
        return q * q

    @register
    def e(q):
        return q * q * q

    return sum(f(x) for f in L)


def right_decorator_b3(x):
    fs = {}

    def register(name):

        def deco(f):
            fs[name] = f
            return f

        return deco

    @register("a")
    def d(q):
        return q * q

    return fs["a"](x)


def right_decorator_b9(x):
    y = x

    def show(f):
        nonlocal y
        y = y * 3
        return f

    @show
    @show
    def d(q=y):
        return q * q

    return d() + d(y)


def right_decorator_c3(x):

    def inner(z):

        @doubled
        def d(q):
            return q * q

        return d(z)

    return sum(inner(x * k) for k in range(3))


def right_identity_of_a1(x):
    e = (x[0],)
    return (np.sin if e is e else np.cos)(x[1])


def right_identity_of_a2(x):
    e = (1, 2)
    f = e
    return x[0] if e is f else x[1]


def right_identity_of_a4(x):
    e = [1.0]
    f = [1.0]
    g = e
    return x[0] * (e is f) + x[1] * (e is g) + x[2] * (e is not f)


def right_identity_of_a6(x):
    t = (x, (1.0, 2.0))
    return x[0] * (t[0] is x) + x[1] * (t[1] is t[1])


def right_identity_of_a7(x):
    t = (1.0, 2.0)
    L = [t, t, (1.0, 2.0)]
    return x[0] * (L[0] is L[1]) + x[1] * (L[0] is t)


def right_cycle_j5(x):
    L = [x[0], 0.0]
    L[1] = L
    for k in range(len(x)):
        L[1][0] = L[1][0] * x[k]
    return L[1][0] * L[0]


def right_cycle_j7(x):
    a = SimpleNamespace(v=x[0])
    b = SimpleNamespace(v=x[1], o=a)
    a.o = b
    if x[0] > 0.2:
        a.v = x[2]
    for k in range(3):
        a.o.v = a.o.v * x[k]
    return b.o.v * a.o.v


def right_identity_a4(x):
    m = None
    for k in range(3):
        if m is None:
            m = x[k]
        else:
            m = m * x[k]
    return m


def right_identity_a5(x):
    f = lambda q: q
    g = f
    h = lambda q: q * 2
    return x[0] * (f is g) + x[1] * (f is h) + x[2] * (f is np.sin)


def right_identity_a6(x):
    b = bool(x[0] > 0.3)
    return x[0] * (b is True) + x[1] * (b is False) + x[2] * ((x[0] > 0.3) is True)


def right_identity_a8(x):
    s = 0.0
    for f in (np.sin, np.cos):
        s += f(x[0]) if f is np.sin else x[1]
    return s


def right_identity_b1(x):
    L = [x * 1, x * 2]
    s = 0.0
    for q in L:
        for r in L:
            if q is not r:
                s += np.sum(q * r)
    return s


def right_identity_c1(x):
    a = G
    return x[0] * (a is G)


def right_identity_c3(x):

    def f(v, into=None):
        into = [] if into is None else into
        into.append(v)
        return into

    return f(x[1], f(x[0]))[0]


def refused_identity_of_c4(x):
    r = range(3)
    q = r
    return x[0] * (r is q) + x[1] * (r is range(3))


def refused_decorator_b4(x):
    n = 0.0

    @functools.cache
    def d(q):
        nonlocal n
        n += 1.0
        return q * q

    return d(x) + d(x) + n * x


def refused_identity_of_a3(x):
    e = (x[0],)
    f = (x[0],)
    return x[0] if e is f else x[1]


def refused_identity_of_b4(x):
    f = x[0]
    g = f
    return x[0] * (f is g) + x[1] * (x[0] is x[0])


def refused_identity_of_b9(x):
    t = (x[0], 1.0)
    u = t if x[0] > 0.4 else (x[1], 2.0)
    return x[0] * (u is t)


def refused_identity_of_c8(x):
    a, b = (x[0], x[1])
    t = (a, b)
    u = (a, b)
    return x[0] * (t is not u) + x[1] * (t is not t)


def refused_cycle_h1(x):
    d = {}
    if x[0] > 0.1:
        d["b"] = d
    return x[0]


def refused_cycle_j1(x):
    d = {}
    for k in range(3):
        if x[k] > 0.4:
            d["b"] = d
    return x[0] * len(d)


def refused_cycle_j8(x):
    a = SimpleNamespace(v=x[0])
    b = SimpleNamespace(v=x[1], o=a)
    a.o = b
    q = a if x[0] > 0.2 else b
    return q.v


def refused_identity_c2(x):
    a = x.sum()
    b = a
    return x[0] * (a is b)


def right_identity_c4(x):
    c = x if x[0] > 0.1 else x * 2
    return x[0] * (c is x)


PROGRAMS = {name: f for name, f in globals().items() if name.startswith(("right_", "refused_"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], 0.5 if "_decorator_" in name else X.copy()) == name.partition("_")[0]


def test_numbers_of_iterations_are_compared_by_identity():
    def f(x):
        s = 0.0
        for i in range(3):
            for j in range(3):
                if i is not j:
                    s = s + x[i] * x[j] ** 2
        return s

    assert judged_in_all_modes(f, X) == "right"
