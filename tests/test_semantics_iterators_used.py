"""Iterators that were used before have no more elements if all were taken; where that is not known, they are refused, never wrong."""
# ruff: noqa: B015, B023, C416, C417, C419, E731, F401, F841, RUF, SIM, UP, PERF

import itertools

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.1, 0.3, 0.5])


def refused_a11(x):
    d = [[q] * 2 for q in x]
    for b in d[-1]:
        c = d[-1].pop()
    return b * c


def right_a19(y):
    s = np.sum(y)
    if s > 100:

        def items(z):
            yield z[0]

        seq = items(y)
        if len(seq) > 0:
            s = s + 1.0
    return s


def right_b02(x):
    g = (q * q for q in x)
    return sum(g) + sum(g)


def right_b03(x):
    g = (q * q for q in x)
    s = 0.0
    for k in range(3):
        s += sum(g)
    return s


def refused_b04(x):
    g = (q * q for q in x)
    s = 0.0
    if x[0] > 0:
        s += sum(g)
    return s + sum(g)


def right_b08(x):

    def gen():
        yield x[0]
        yield x[1]

    g = gen()
    return next(g) * 2 + next(g) * 3


def refused_b09(x):
    log = []

    def gen():
        for q in x:
            log.append(q)
            yield (q * 2)

    s = 0.0
    for q, r in zip(gen(), [x[0], x[1]]):
        s += q * r
    return s + len(log) * x[0]


def right_b13(x):
    L = [x[0], x[1]]
    s = 0.0
    for q in L:
        if len(L) < 4:
            L.append(q * 2)
        s += q
    return s


def right_b25(x):
    it = iter(x)
    s = 0.0
    for q in it:
        s = s * 2 + q
        break
    return s + sum(it)


def right_b27(x):
    it = iter([x[0], x[1], x[2], x[0]])
    return sum((a * b for a, b in zip(it, it)))


def right_b48(x):
    gs = [(q * k for q in x) for k in range(3)]
    return sum(sum(g) for g in gs)


def refused_b51(x):
    L = [x[0], x[1]]
    r = reversed(L)
    L.append(x[2])
    return sum(q * 2 for q in r)


def refused_b61(x):
    total = 0.0

    def gen():
        nonlocal total
        for q in x:
            total += q
            yield q

    for q, k in zip(gen(), range(1)):
        pass
    return total


def refused_b62(x):
    total = 0.0

    def gen():
        nonlocal total
        for q in x:
            total += q
            yield q

    for k, q in zip(range(1), gen()):
        pass
    return total * x[0] + x[1]


def refused_b63(x):
    c = x[0]
    s = 0.0
    for a, b in zip((q * c for q in x), x):
        c = c * 2
        s += a * b
    return s


def refused_b65(x):
    c = [x[0]]
    s = 0.0
    for k, a in zip(range(3), (q * c[0] for q in x)):
        c[0] = c[0] * 2
        s += a * k
    return s


def right_c16(x):
    L = []
    for q in x:
        L.append(q)
        if len(L) > 10:
            break
    s = 0.0
    n = 0
    for q in L:
        n += 1
        if n < 3:
            L.append(q * 2)
        s += q
    return s


def refused_d12(x):
    todo = [x[0], x[1]]
    s = 0.0
    for q in todo:
        if q > 0.2 and len(todo) < 5:
            todo.append(q * 2)
        s += q
    return s


def right_d04(x):
    it = iter(x)
    a = list(itertools.islice(it, 2))
    return a[0] * a[1] + next(it)


def right_ended_zip(x):
    z = zip(x, x[1:])
    a = list(z)
    b = list(z)
    return sum(p * q for p, q in a) + len(b)


def right_ended_array(x):
    it = iter(x)
    s = 0.0
    for v in it:
        s += v * v
    for v in it:
        s += 100.0
    return s + next(it, 0.5)


def right_ended_expression(x):
    g = (v * v for v in x)
    s = sum(g)
    for v in g:
        s = s + v
    return s


def right_ended_generator(x):
    def gen():
        for v in x:
            yield v * 2
    g = gen()
    a = [v for v in g]
    b = [v for v in g]
    return sum(a) * sum(a) + len(b)


def right_ended_enumerate(x):
    e = enumerate(x)
    s = 0.0
    for i, v in e:
        s += i * v
    return s * x[0] + sum(v for i, v in e)


def right_ended_filter(x):
    f = filter(lambda v: v > 0, x)
    a = list(f)
    return sum(a) * len(list(f)) + sum(a)


def right_ended_dict(x):
    z = zip(range(3), x)
    d = dict(z)
    return d[0] * d[1] + len(dict(z))


def right_ended_chain(x):
    c = itertools.chain(x, x)
    s = sum(c)
    t = max(c, default=0.5)
    return s * t


def refused_left_by_a_branch(x):
    it = iter(x)
    s = 0.0
    if x[0] > 0:
        for v in it:
            s += v * v
    for v in it:
        s += v
    return s


def right_left_by_break(x):
    it = iter(x)
    s = 0.0
    for v in it:
        s += v * v
        if s > 0.05:
            break
    for v in it:
        s += v
    return s


@pytest.mark.parametrize(
    "program", [f for name, f in globals().items() if name.startswith(("refused_", "right_"))], ids=lambda f: f.__name__
)
def test_lazy(program):
    assert judged_in_all_modes(program, X) == program.__name__.partition("_")[0]
