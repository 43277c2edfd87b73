"""Laziness in loops, callees, containers and objects with `__iter__`."""
# ruff: noqa: B015, B023, C416, C417, C419, E731, F401, F841, RUF, SIM, UP, PERF, RET, B007

import itertools
import math

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.1, 0.3, 0.5])


class Up:
    def __init__(self, v):
        self.v, self.k = (v, 0)

    def __iter__(self):
        return self

    def __next__(self):
        if self.k >= 3:
            raise StopIteration
        self.k += 1
        return self.v * self.k


class Bag:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return iter(self.v)


class Gen:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        for q in self.v:
            yield (q * q)


def right_e01(x):
    b = Bag([x[0], x[1]])
    s = 0.0
    for q in b:
        s += q
    for q in b:
        s += q * 2
    b.v[0] = x[2]
    return s + sum(b) + max(b) + sum(q for q in b)


def right_e02(x):
    g = Gen(x)
    return sum(g) + sum(g) + sum((a * b for a, b in zip(g, g))) + max(g) + list(g)[1] + len(list(g))


def right_e04(x):

    def f(g):
        return sum(g)

    def h(x):
        c = x[0]
        g = (q * c for q in x)
        c = x[1]
        return f(g)

    return h(x) + h(x * 2)


def right_e05(x):
    s = 0.0
    for k in range(3):
        c = x[k]
        g = (q * c for q in x)
        c = c * 2
        for q in g:
            s += q
            if q > 0.31:
                break
    return s


def right_e06(x):
    s = 0.0
    k = 0
    while k < 3:
        z = zip(x, x[k:])
        x = x * 1.5
        for a, b in z:
            s += a * b
        k += 1
    return s


def right_e07(x):
    d = {"a": x[0]}
    if x[0] > 0:
        v = d.values()
        d["b"] = x[1]
        s = sum(v)
    else:
        s = 0.0
    return s


def right_e16(x):
    L = [x * 1.0, x * 2.0]
    g = (np.sum(q) for q in L)
    L[0][0] = 5.0
    L.append(x * 3.0)
    return sum(g)


def right_e19(x):
    n = [0]

    def pred(q):
        n[0] += 1
        return q > 0.2

    f = filter(pred, x)
    a = next(f)
    return a * n[0]


def right_e30(x):

    def take(it):
        return next(it) * 2

    it = iter(x)
    return take(it) + take(it) * take(it)


def right_e31(x):
    h = {"it": iter(x)}
    return next(h["it"]) + 3 * next(h["it"])


def right_e32(x):

    class C:
        pass

    it = iter(x)
    if x[0] > 0:
        next(it)
    return sum(q * q for q in it)


def right_e33(x):
    it = iter(x)
    for k in range(len(x) - 1):
        next(it)
    return sum(q * q for q in it)


def right_e36(x):

    def outer():
        c = x[0]

        def inner():
            nonlocal c
            for q in x:
                c = c * 2
                yield (q * c)

        s = 0.0
        for v in inner():
            c = c + 1
            s += v
        return s + c

    return outer()


def right_e38(x):
    d = {"a": x[0], "b": x[1]}
    g = ((k, v * 2) for k, v in d.items())
    d["a"] = x[2]
    e = dict(g)
    return e["a"] * e["b"]


def right_f01(x):
    s = 0.0
    for k in range(3):
        for q in (w * k for w in x):
            if q > 0.35:
                break
            s += q
        else:
            s += 10.0
    return s


def right_f03(x):
    h = []

    def gen():
        try:
            for q in x:
                h.append(q)
                yield q
        finally:
            h.append(1.0)

    for q in gen():
        if q > 0.2:
            break
    return sum(h)


def right_f05(x):
    d = {k: x[k] for k in range(3)}
    s = 0.0
    for k, v in d.items():
        d[k] = v * 2
        s += d[2]
    return s + sum(d.values())


def right_f07(x):
    L = []
    for k in range(4):
        L.append(x[k % 3])
    s = 0.0
    for a, b in zip(L, L[1:]):
        L[3] = a * b
        s += a + b
    return s + L[3]


def right_f08(x):
    L = []
    for k in range(4):
        L.append(x[k % 3])
    s = 0.0
    for i, a in enumerate(reversed(L)):
        L[0] = a * 2
        s += a * i
    return s


def right_f09(x):
    it = iter(x)
    L = [next(it) for _ in range(2)]
    return L[0] * L[1] + next(it)


def right_f11(x):
    it = iter(x)
    s = 0.0
    for k in range(5):
        q = next(it, None)
        if q is None:
            break
        s += q * k
    return s


def right_f12(x):
    it = iter(x)
    a = next(it) if x[0] > 5 else 3.0
    return a * next(it)


def right_f14(x):
    m = {"k": 0.0}

    def f(q):
        m["k"] += q
        return q > 0.2

    if any(map(f, x)) and (not all(map(f, x))):
        return m["k"] * x[0]
    return 0.0


def right_f15(x):
    e = enumerate(x)
    k, q = next(e)
    s = q
    for k, q in e:
        s += k * q
    return s


def right_f16(x):
    r = range(3)
    it = iter(r)
    a = next(it)
    return sum(x[k] for k in it) + a + sum(x[k] for k in r)


def right_f17(x):

    def g():
        yield 1.0
        yield x[0]

    a, b = g()
    (c, d), (e, f) = zip(g(), g())
    return a * b + c * f


def right_f18(x):
    total = 0.0
    rows = (q * np.ones(2) for q in x)
    for r in rows:
        r[0] = 3.0
        total += np.sum(r * r)
    return total


def right_f20(x):
    import copy

    a = [q for q in x]
    g = (a[i] * 2 for i in range(len(a)))
    a.reverse()
    return sum((v * k for k, v in enumerate(g)))


def right_f21(x):
    return 1.0 * (x[0] in (q for q in x)) + x[1] * (5.0 not in (q for q in x)) + (0.3 in map(float, x))


@pytest.mark.parametrize(
    "program", [f for name, f in globals().items() if name.startswith("right_")], ids=lambda f: f.__name__
)
def test_lazy_right(program):
    assert judged_in_all_modes(program, X) == "right"
