"""Iterators read what was written after they were made, and stop where Python stops."""
# ruff: noqa: B015, B023, C416, C417, C419, E731, F401, F841, RUF, SIM, UP, PERF

import itertools

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.1, 0.3, 0.5])


def walk(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from walk(part)
    else:
        yield tree


def chain_(x):
    yield from (q * q for q in x)
    yield from [x[0], x[1]]
    yield from map(lambda q: q * 3, x)


def right_a01(v):
    if any((w := q) > 0.2 for q in v):
        return w * w
    return v[0]


def right_a02(v):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q > 0.2

    any(f(q) for q in v)
    return n * v[0]


def right_a03(v):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q

    f(v[2]) < f(v[1]) < f(v[0])
    return n * v[0]


def right_a04(x):
    c = x[0]
    g = (q * c for q in x)
    c = x[1] * 5
    return sum(g)


def right_a05(x):
    a = x.copy()
    m = map(lambda q: q * q, a)
    a[1] = 5 * x[0]
    return sum(m)


def right_a06(x):
    a = x.copy()
    s = 0.0
    for k, q in enumerate(w * 2 for w in a):
        if k < 2:
            a[k + 1] += q
        s += q * q
    return s


def right_a07(x):
    L = [x[0], x[1], x[2]]
    m = reversed(L)
    L[1] = 5 * x[0]
    s = 0.0
    for q in m:
        s = s * 2 + q
    return s


def right_a08(x):
    d = {"a": x[0], "b": x[1]}
    v = d.values()
    d["b"] = 5 * x[2]
    return sum(v)


def right_a09(x):
    g = np.empty(3)
    g[:] = (0.7, 0.6)[(0.08 > 0.65) != (0.56 > 0)]
    return np.sum(g) * x[0]


def right_a10(x):
    for f, g in zip(x, np.lib.stride_tricks.sliding_window_view(x, 2)):
        pass
    return f


def right_a12(x):
    if any(x[k] > 0.2 for k in range(10)):
        return x[1] ** 2
    return x[0]


def right_a15(w):
    b = filter(lambda q: q > 0, w)
    w[0] = 1.05
    return sum(b)


def right_a16(w):
    d = 0

    def a(q):
        nonlocal d
        d += 1
        return q

    b = (a(q) for q in w)
    return d * w[0] + w[1]


def right_a17(x):
    for a in filter(lambda q: q, x):
        x[-1] *= 0.5
    return a


def right_a18(x):
    z = {"b": x[0]}
    d = z.keys()
    z["zy"] = 0.5
    return len(d) * z["b"]


def right_a20(y):
    s = 0.0

    def g1(y2):
        for q in y2:
            nonlocal s
            s += 0
        yield s

    c = max(g1(y))
    return s + y[0]


def right_a21(x):
    s = 0.0
    w = 0.5
    for a, e in [(x[0], x[1]), (x[1], x[2])]:
        w = list(walk(w))
        s += a * w[0]
    return s


def right_a21b(x):
    return sum(walk([x[0], [x[1] * x[1], [x[2]]]]))


def right_b05(x):
    it = iter(x)
    a = next(it)
    b = next(it)
    return a * b + sum(q * q for q in it)


def right_b06(x):
    it = iter([x[0], x[1]])
    return next(it, 0.0) + 2 * next(it, 1.0) + 3 * next(it, 2.0) * x[2]


def right_b07(x):
    g = (q for q in x if q > 0.2)
    return next(g) ** 2


def right_b10(x):

    def gen():
        r = yield x[0]
        yield (x[1] * 3)
        return x[2]

    def outer():
        r = yield from gen()
        yield (r * 7)

    return sum(outer())


def right_b11(x):
    a = x.copy()
    z = zip(a, x)
    a[0] = 9 * x[1]
    return sum((p * q for p, q in z))


def right_b12(x):
    L = [x[0], x[1]]
    e = enumerate(L)
    L.append(x[2])
    L[0] = x[2] * 3
    s = 0.0
    for k, q in e:
        s += (k + 1) * q * q
    return s


def right_b14(x):
    L = [q * 1.0 for q in x]
    s = 0.0
    for k, q in enumerate(L):
        if k < 2:
            L[k + 1] = L[k + 1] + q
        s += q * q
    return s


def right_b16(x):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q

    r = 0.3 in (f(q) for q in x)
    return n * x[0]


def right_b17(x):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q

    r = all(f(q) < 0.2 for q in x)
    return n * x[0]


def right_b18(x):
    n = 0

    def f(q):
        nonlocal n
        n += 1
        return q

    r = any([f(q) > 0.2 for q in x])
    return n * x[0]


def right_b19(x):
    q = x[0] * 10
    fs = [lambda: q * 2 for q in x]
    return fs[0]() + q


def right_b21(x):
    s = 0.0
    log = []
    for q in map(lambda w: (log.append(w), w * w)[1], x):
        if q > 0.05:
            break
        s += q
    return s + len(log) * x[0]


def right_b22(x):
    d = {"a": x[0], "b": x[1]}
    it = d.items()
    d["a"] = x[2] * 3
    return sum((v for k, v in it))


def right_b23(x):
    d = {k: q for k, q in enumerate(x)}
    s = 0.0
    for k in range(3):
        d[k] = d.get(k, 0.0) * 2
    v = d.values()
    d[0] = x[1] * 7
    return sum(v)


def right_b24(x):
    it = iter(x)
    s = 0.0
    for k in range(2):
        s = s * 2 + next(it)
    return s


def right_b26(x):
    it = iter(x)
    return sum((a * b for a, b in zip(it, x)))


def right_b30(x):
    a = [1.0, 2.0]
    g = (q * r * x[0] for q in [1.0] for r in a)
    a = [5.0]
    return sum(g)


def right_b31(x):
    s = 0.0
    for q in chain_(x):
        s += q
    return s


def right_b32(x):
    g = itertools.chain((q for q in x), [x[0] * x[1]])
    x[0] = x[2] * 3
    return sum(g)


def right_b33(x):
    a = x.copy()
    g = itertools.accumulate(a)
    a[0] = x[2] * 3
    return sum(g)


def right_b42(x):
    k = 0
    while any(q * 2**k < 1.0 for q in x):
        k += 1
    return x[0] * k


def right_b43(x):
    k = 0
    while max(q * 2**k for q in x) < 1.1:
        k += 1
    return x[0] * k


def right_c01(x):
    last = 0.0
    for _, x_item in zip("abc", x):
        x[2] *= x[0]
        last = x_item
    return last * np.sum(x)


def right_c02(x):
    for _ in range(1):
        y = x
    for a, b in zip(y, x):
        x[2] *= x[0]
    return a * np.sum(x) + b


def right_c03(x):
    rows = {}
    for k, (name, a) in enumerate(zip("abc", x)):
        x[2] += x[0]
        rows[name] = a * k
    return rows["c"] * x[1]


def right_c04(x):
    pairs = zip("abc", x)
    _, first = next(pairs)
    x[1] *= 3
    total = first
    for name, a in pairs:
        x[2] *= x[0]
        total = total + a * len(name)
    return total


def right_c05(x):
    rows = {}
    for (one, a), (_, b) in itertools.pairwise(zip("abc", x * 2)):
        rows[one] = a * b
    return rows["a"] + rows["b"]


def right_c06(x):
    rows = {}
    for name, a in map(lambda name, a: (name, a * a), "abc", x):
        x[2] *= 0.5
        rows[name] = a
    return rows["c"] + x[2]


@pytest.mark.parametrize(
    "program", [f for name, f in globals().items() if name.startswith("right_")], ids=lambda f: f.__name__
)
def test_lazy_right(program):
    assert judged_in_all_modes(program, X) == "right"
