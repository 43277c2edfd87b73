"""Lazy evaluation: chained comparisons, `any`, `next`, generators that write, iterators of `itertools`."""
# ruff: noqa: B015, B023, C416, C417, C419, E731, F401, F841, RUF, SIM, UP, PERF

import functools
import itertools
import math

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.1, 0.3, 0.5])


def right_b49(x):

    def f(v):
        return (q * v for q in x)

    return sum(f(2.0)) + sum((a * b for a, b in zip(f(x[0]), f(x[1]))))


def right_b52(x):
    s = 0.0
    it = iter(x)
    while True:
        q = next(it, None)
        if q is None:
            break
        s += q * q
    return s


def right_b53(x):
    a = {"g": (q * q for q in x)}
    x[0] = 3.0
    return sum(a["g"])


def right_b54(x):
    t = (map(lambda q: q * q, x), 2)
    x[0] = 3 * x[1]
    return sum(t[0]) * t[1]


def right_b55(x):
    n = 0

    def h(q):
        nonlocal n
        n += 1
        return q

    r = h(x[0]) < h(x[1]) < h(x[2]) < h(x[0]) < h(x[1])
    return n * x[0]


def right_b56(x):
    n = 0

    def h(q):
        nonlocal n
        n += 1
        return q

    s = 0.0
    for k in range(4):
        if x[0] * k < h(x[1]) <= h(x[0] * 2):
            s += x[2]
    return n * s


def right_b57(x):
    n = 0

    def h(q):
        nonlocal n
        n += 1
        return q

    r = h(0) or h(0.0) or h(x[0]) or h(x[1])
    return n * r


def right_b60(x):
    total = 0.0

    def gen():
        nonlocal total
        for q in x:
            total += q
            yield q

    for q in gen():
        if q > 0.2:
            break
    return total


def right_b64(x):
    c = x[0]
    s = 0.0
    for k, a in enumerate(q * c for q in x):
        c = c * 2
        s += a * k
    return s


def right_b66(x):
    it = zip(x, x[1:])
    a, b = next(it)
    return a * b + sum((c * d for c, d in it))


def right_b69(x):
    e = list(enumerate(q * q for q in x))
    return e[0][1] + e[2][0] * e[2][1]


def right_c01(x):
    it = iter(x)
    first = next(it)
    for k in range(2):
        first = first * 2 + next(it, 7.0)
    return first


def right_c02(x):
    it = iter([x[0] * k for k in range(4)])
    s = 0.0
    while (q := next(it, None)) is not None:
        s += q * q
    return s


def right_c03(x):
    it = iter([x[0], x[1]])
    if x[0] > 0:
        a = next(it)
    else:
        a = 0.0
    return a * next(it)


def right_c04(x):
    d = {}
    for k in range(3):
        d[k % 2] = x[k]
    v = d.values()
    i = d.items()
    d[0] = x[1] * 3
    return sum(v) + sum((q * k for k, q in i)) + len(v)


def right_c08(x):
    s = 0.0
    for k in range(3):
        if all(q > 0.1 * k for q in x[k:]) and any(x[j] > 0.2 for j in range(20)):
            s += x[k] * k
    return s


def right_c11(x):
    acc = []
    m = map(acc.append, x)
    n = len(acc)
    list(m)
    return x[0] * n + x[1] * len(acc)


def right_c12(x):
    acc = []
    f = filter(lambda q: acc.append(q) or q > 0.2, x)
    s = x[0] * len(acc)
    for q in f:
        s += q
        break
    return s + len(acc)


def right_c14(x):
    L = [q for q in x]
    for k in range(len(L)):
        L[k] = L[k] * 2
    z = zip(L, x)
    L[0] = x[2] * 9
    s = 0.0
    for a, b in z:
        s += a * b
    return s


def right_c15(x):
    L = [q for q in x]
    r = reversed(L)
    L[0] = x[2] * 9
    s = 0.0
    for a in r:
        s = s * 2 + a
    return s


def right_c17(x):
    y = x.copy()
    s = 0.0
    for a, b in zip(y, y[1:]):
        y[-1] = a * b
        s += a + b
    return s


def right_c18(x):
    y = x.copy()
    s = 0.0
    for a in reversed(y):
        y[0] = y[0] + a
        s += a * a
    return s


def right_c19(x):
    y = x.copy()
    m = map(lambda q: q * y[0], x)
    s = 0.0
    for a in m:
        y[0] = y[0] + 1.0
        s += a
    return s


def right_c20(x):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q

    ok = f(x[0]) < f(x[1]) and (f(x[0]) > f(x[1]) > f(x[2]) or f(x[0]) < f(x[2]))
    return n * x[0] if ok else 0.0


def right_c22(x):
    k = 0
    while 0 <= k < 3 and x[k] < 0.4:
        k += 1
    return x[k] * k


def right_c24(x):

    def gen():
        for q in x:
            got = yield q
            if got is None:
                yield (q * q)

    s = 0.0
    for k, q in enumerate(gen()):
        if k > 3:
            break
        s += q * (k + 1)
    return s


def right_c26(x):

    def inner():
        yield x[0]
        yield x[1]
        return x[2] * 5

    def outer():
        a = yield from inner()
        b = yield from inner()
        yield (a + b)

    s = 0.0
    for q in outer():
        s = s * 2 + q
    return s


def right_c28(x):
    log = []

    def g():
        for q in x:
            log.append(q)
            yield q

    def chainy():
        yield from g()
        log.append(1.0)
        yield 2.0

    for q in chainy():
        if q > 0.2:
            break
    return sum(log) + q


def right_c31(x):
    return functools.reduce(lambda a, b: a * b, (q + 1 for q in x)) + functools.reduce(
        lambda a, b: a + b, map(lambda q: q * q, x), 1.0
    )


def right_c38(x):
    i = 0

    def nxt():
        nonlocal i
        i += 1
        return x[i - 1]

    g = (nxt() * q for q in x)
    a = nxt()
    return a * 10 + next(g)


def right_c40(x):
    g = ((last := q) for q in x)
    last = x[0] * 10
    s = last
    t = sum(g)
    return s + t * last


def right_c42(x):
    fs = [lambda v=q: v * 2 for q in x]
    gs = [lambda: q * 2 for q in x]
    return fs[0]() + gs[0]()


def right_c45(x):
    s = "".join(str(k) for k in range(3))
    return x[0] * len(s) + x[1] * math.prod(k for k in range(1, 4))


def right_d01(x):
    c = itertools.count(1)
    return x[0] * next(c) + x[1] * next(c) + sum((k * q for k, q in zip(c, x)))


def right_d05(x):
    g = itertools.islice(x, 2)
    x[0] = 4.0
    return sum(g)


def right_d06(x):
    return sum((a * b for a, b in itertools.zip_longest([x[0], x[1]], [x[2]], fillvalue=2.0))) + sum(
        (a * b for a, b in zip(x, itertools.cycle([1.0, 2.0])))
    )


def right_d07(x):
    total = 0.0
    for a, b, c in itertools.zip_longest(x, x[1:], [q for q in x if q > 0.2], fillvalue=x[0]):
        total = total * a + b * c
    return total + sum(a * (3.0 if b is None else b) for a, b in itertools.zip_longest(x, x[1:]))


def right_d14(x):
    L = [q for q in x]
    s = 0.0
    for k, q in enumerate(L):
        if q > 0.2:
            L.pop(k)
            break
    return s + sum(L)


def right_d18(x):
    rows = [[q] for q in x]
    for r in rows:
        r.append(2.0)
    return sum(sum(r) for r in rows)


@pytest.mark.parametrize(
    "program", [f for name, f in globals().items() if name.startswith("right_")], ids=lambda f: f.__name__
)
def test_lazy_right(program):
    assert judged_in_all_modes(program, X) == "right"
