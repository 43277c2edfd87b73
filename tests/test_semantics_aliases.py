"""Aliases through names, containers, branches and loops: a write is seen wherever Python shows it."""

from collections import defaultdict, deque

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.1, 0.3, 0.5])


def right_a1(x):
    for k in range(2):
        p = x
        q = x
    p[0] = 5.0
    return np.sum(q**2)


def right_a2(x):
    for k in range(2):
        a = x * (k + 1.0)
        c = (a, a)
    c[1][0] *= 3
    return np.sum(np.sin(c[0]))


def right_a3(x):
    if x[0] > 0:
        a = x * 2.0
        c = (a, a)
    else:
        a = x * 3.0
        c = (a, a)
    c[1][0] *= 3
    return np.sum(np.sin(c[0]))


def right_a7(x):
    L = []
    if x[0] > 0:
        L = [q * q for q in x]
    return sum(L) + len(L)


def right_a8(x):
    if x[0] > 0:
        L = []
        for q in x:
            L.append(q * q)
    else:
        L = []
    return sum(L) + len(L) * x[0]


def right_b2(x):
    L = [x * 2.0, x * 1.0]
    for k in range(3):
        M = L
        N = [M[0], x * 3.0]
    N[0][0] = 9.0
    return np.sum(L[0] * M[1]) + np.sum(M[0])


def right_b4(x):
    for k in range(2):
        c = [np.zeros(2)] * 2
        c[0][0] += x[0]
    c[-1][0] *= 3
    return np.sum(np.sin(c[0]))


def right_b6(x):
    d = {}
    for k in range(3):
        d["a"] = x * k
        e = d
    e["a"][0] = 4.0
    return np.sum(d["a"] ** 2)


def right_b9(x):
    a = x * 1.0
    b = x * 2.0
    for k in range(3):
        a, b = b, a
    a[0] = 5.0
    return np.sum(a * b)


def right_c1(x):
    a = x * 1.0
    b = a
    for k in range(3):
        a, b = b, a
    a[0] = 5.0
    return np.sum(a * b)


def right_c3(x):
    L = [x * 1.0, x * 2.0]
    c = tuple(L)
    L[0] = x * 9
    c[0][1] = 4.0
    return np.sum(c[0]) + np.sum(L[0] * L[1])


def right_c4(x):
    M = [x, x * x]

    def double(q):
        q *= 2

    double(M)
    return sum(np.sum(q) * (k + 1) for k, q in enumerate(M))


def right_c5(x):
    L = [x * 1.0]
    M = L
    M += [x * 2.0]
    return len(L) * np.sum(L[-1])


def right_c6(x):
    L = [x[0]]
    for k in range(3):
        M = L
        M += [x[k]]
    return sum(L) * len(M)


def right_c7(x):
    d = {"a": x[0]}
    e = d
    for k in range(2):
        d |= {"a": d["a"] * x[1]}
    return e["a"]


def right_d1(x):
    L = [x * 1.0, x * 2.0]
    for t in range(3):
        L[t % 2] = np.sin(L[t % 2 - 1])
    c = tuple(L)
    return np.sum(c[0]) + 2 * np.sum(c[-1])


def right_d2(x):
    if x[0] > -1:
        d = defaultdict(float)
        for k, q in enumerate(x):
            d[k % 2] += q
    return d[1] * d[0]


def right_d3(x):
    q = deque([x[0]])
    if x[1] > 0:
        q = deque()
        for v in x:
            q.append(v * v)
    return sum(q)


def right_e4(x):
    def g(a=x * 2.0):
        a[0] += x[1]
        return np.sum(a)

    return g() + g()


def right_e5(x):
    a = x * 1.0

    def mk(k):
        return lambda v: v * a[k]

    fs = [mk(0), mk(1)]
    a[0] = 5 * x[2]
    return fs[0](x[1]) + fs[1](x[0])


def right_e6(x):
    i = 0
    while i < 2:
        c = [x * 1.0, None]
        c[1] = c[0]
        i += 1
    c[1][0] = 9.0
    return np.sum(c[0] * x)


def right_e7(x):
    c = None
    for k in range(2):
        if c is None:
            c = x * 2.0
        d = c
    d[0] = 3.0
    return np.sum(c)


def right_f2(x):
    L = [x * 1.0, x * 2.0]
    for a in L:
        a[0] = 3.0
        b = a
    b[1] = 6.0
    return np.sum(L[0] * L[1])


def right_g4(x):
    L = [x * 1.0, x * 2.0]
    for k in range(2):
        g = [q for q in L]  # noqa: C416 (as users write)
    g[0][0] = 7 * x[1]
    return np.sum(L[0] * L[1])


def right_g5(x):
    L = [x * 1.0, x * 2.0]
    for k in range(2):
        g = list(L)
    g[0][0] = 7 * x[1]
    return np.sum(L[0] * L[1])


def right_g9(x):
    y = np.asarray(x)
    z = np.asarray(x)
    y[0] = 4.0
    return np.sum(z)


def right_h6(x):
    prev = None
    s = 0.0
    for k in range(3):
        cur = x * k
        if prev is not None:
            prev[0] = 7.0
            s += np.sum(cur)
        prev = cur
    return s + np.sum(prev)


def right_h7(x):
    L = [x * 1.0]
    L *= 3
    L[0][0] = 5.0
    return np.sum(L[2])


def right_h9(x):
    d = {"a": x * 1.0}
    e = {"b": x * 2.0}
    d |= e
    d["b"][0] = 3.0
    return np.sum(e["b"]) + np.sum(d["a"])


def right_i1(x):
    def f(v, acc):
        acc.append(v)
        return acc

    A = []
    for k in range(3):
        B = f(x * k, A)
    B[0] = x * 5
    return np.sum(A[0]) + np.sum(A[2])


def right_i3(x):
    a = x * 1.0
    h = {"w": a}
    for k in range(3):
        w = h["w"]
        w -= 0.1 * w * w
    return np.sum(a)


def right_i4(x):
    p = {"w": x * 1.0, "b": x[0]}
    for k in range(3):
        p = {k2: v - 0.1 * v for k2, v in p.items()}
    p["w"][0] = 1.0
    return np.sum(p["w"]) * p["b"]


def right_i5(x):
    st = {"m": x * 0.0, "v": x * 0.0}
    for k in range(3):
        g = x * 2.0
        st["m"] = 0.9 * st["m"] + 0.1 * g
        st["v"] = st["m"]
        st["v"][0] += 1.0
    return np.sum(st["m"]) + np.sum(st["v"])


def right_i6(x):
    u = x * 1.0
    v = x * 2.0
    for k in range(4):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - u[:-2])
        u, v = v, u
    return np.sum(u * u)


def right_i7(x):
    L = [[] for _ in range(2)]
    for k in range(3):
        L[k % 2].append(x[k])
    return sum(L[0]) * 2 + sum(L[1])


def right_i9(x):
    a = np.zeros((2, 3))
    v = a[0]
    for k in range(2):
        a[k] = x * (k + 1)
    v[1] += 2.0
    return np.sum(a * a)


PROGRAMS = {name: f for name, f in globals().items() if name.startswith("right_")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) == "right"
