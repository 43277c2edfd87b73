"""Items that a call takes at once, ranges that NumPy takes, and the keys of dicts and their order, as in Python."""
# ruff: noqa: C416


import itertools

import numpy as np
import pytest

from sourcead import hvp
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.5, 0.3, 0.7])


def weigh(d):
    return sum(((i + 1) * q for i, q in enumerate(d.values())))


def right_dict_a1(v):
    z = {k: q for k, q in enumerate(v)}
    z = dict(z, b=z[2] * 10.0)
    return weigh(z)


def right_dict_a4(v):
    z = {k: q for k, q in zip("abc", v)}
    z = dict(z, b=z["c"] * 10.0, d=v[0])
    return weigh(z)


def right_dict_a5(v):
    z = dict(zip("abc", v), b=v[0])
    return weigh(z)


def right_dict_a6(v):
    z = dict({"a": v[0], "b": v[1]}, b=v[2], c=v[0] * 2)
    return weigh(z)


def right_dict_b8(v):
    z = {k: q for k, q in enumerate(v)}
    y = dict(z.items(), b=v[0] * 3)
    return weigh(y)


def right_items_e1(w):
    for k, a in itertools.product(range(2), w):
        w += w
    return a


def right_items_e3(w):
    L = [w[0], w[1]]
    s = 0.0
    P = itertools.product(L, L)
    L[0] = 5.0
    for a, b in P:
        s += a * b
    return s


def right_items_e5(w):
    w = w * 1
    s = 0.0
    for a, b in itertools.combinations(w, 2):
        w *= 2
        s += a * b
    return s


def right_items_e6(w):
    w = w * 1
    s = 0.0
    for a, b in itertools.permutations(w, 2):
        w *= 2
        s += a * b
    return s


def right_items_e7(w):
    w = w * 1
    s = 0.0
    for a, b in itertools.combinations_with_replacement(w, 2):
        w *= 2
        s += a * b
    return s


def right_items_f2(w):
    m = np.outer(w, w)
    s = 0.0
    for r, q in itertools.product(m, m):
        m[0] *= 2
        s += np.sum(r * q)
    return s


def right_items_f3(w):
    w = w * 1
    s = 0.0
    it = itertools.product(w, range(2))
    w *= 2
    for a, b in it:
        s += a
    return s


def right_items_ea(w):
    w = w * 1
    s = 0.0
    for (i, a), b in itertools.product(enumerate(w), range(2)):
        w *= 2
        s += a * b + i * a
    return s


def right_items_eb(w):
    w = w * 1
    s = 0.0
    for a, b in itertools.product(reversed(w), w):
        w *= 2
        s += a * b
    return s


def right_items_ec(w):
    L = [q for q in w]
    s = 0.0
    for a, b in itertools.product(L, range(2)):
        L[0] = L[0] * 2
        L.append(1.0)
        s += a * b
    return s


def right_items_ej(w):
    d = {k: q for k, q in enumerate(w)}
    s = 0.0
    for a, b in itertools.product(d.values(), d):
        d[1] = d[1] * 2
        s += a * b
    return s


def right_items_em(w):
    w = w * 1
    s = 0.0
    for k in range(2):
        for a, b in itertools.combinations(w, 2):
            w[0] += 1.0
            s += a * b
    return s


def right_items_eg(w):
    w = w * 1
    s = 0.0
    for a, b in zip([1.0, 2.0, 3.0, 4.0], itertools.cycle(w)):
        s += a * b
    for a, b in itertools.pairwise(w):
        s += a * b
    w *= 2
    return s


def right_items_fa(w):
    w = w * 1
    L = list(itertools.islice(w, 2))
    w *= 2
    return L[0] * L[1] * w[0]


def right_range_a1(x):
    s = 0.0
    for j in np.copy(range(1, len(x))):
        s += x[j] ** 2
    return s


def right_range_a3(x):
    return np.sum(np.asarray(range(len(x))) * x)


def right_range_a4(x):
    return np.sum(np.multiply(range(len(x)), range(len(x))) * x)


def right_range_a7(x):
    r = range(len(x))
    return np.sum(np.stack([r, x]))


def right_range_b1(x):
    return np.sum(np.cumsum(range(3)) * x) + np.sum(np.flip(range(len(x))) * x) + np.outer(range(3), x)[1, 2]


def right_range_b2(x):
    return np.sum(np.append(range(2), x)) + np.sum(np.concatenate([range(2), x]))


def right_range_b6(x):
    return np.take(x, range(2)).sum() + np.sum(np.copy(list(range(len(x)))) * x)


def right_dict_c1(x):
    d = {"b": x[1]}
    if x[0] > 100:
        print(d[:])
    return x[0] * d["b"]


def right_dict_c2(x):
    d = {"b": x[1]}
    if x[0] > 100:
        d[1:] = x[1]
    return x[0] * d["b"]


def right_dict_c3(x):
    d = {"b": x[1]}
    if x[0] > 100:
        d[[1]] = x[1]
    return x[0] * d["b"]


def right_dict_c6(x):
    d = {"b": x[1]}
    if x[0] > 100:
        del d[:]
    return x[0] * d["b"]


def refused_items_e8(w):
    w = w * 1
    s = 0.0
    for a, b in itertools.pairwise(w):
        w *= 2
        s += a * b
    return s


def refused_items_e9(w):
    w = w * 1
    s = 0.0
    k = 0
    for a in itertools.cycle(w):
        w *= 2
        s += a
        k += 1
        if k == 5:
            break
    return s


def right_items_ed(w):
    L = [w * q for q in w]
    s = 0.0
    for a, b in itertools.product(L, range(2)):
        L[0] = w
        s += np.sum(a) * b
    return s


def refused_items_f5(w):
    w = w * 1
    s = 0.0
    for a in itertools.islice(w, 2):
        w *= 2
        s += a
    return s


def right_items_fe(w):
    w = w * 1
    s = 0.0
    it = itertools.islice(w, 2)
    w *= 2
    for a in it:
        s += a
    return s


def right_items_d02(x):
    a = x.copy()
    g = itertools.product(a, repeat=2)
    a[0] = 5.0
    return sum((p * q for p, q in g))


def right_keys_none_in_arm(v):
    ds = []
    for i in range(len(v)):
        ds.append({None: v[i] * i, "b": v[i]})
    s = 0.0
    for d in ds:
        y = 1.0
        if d["b"] > 0.4:
            y = d[None] * 3.0
        s += y * d["b"] + np.sin(d[None]) * d["b"]
    return s


def right_keys_nested_in_arm(v):
    ds = []
    for i in range(len(v)):
        ds.append({("x", (1, "y")): v[i] * i, "b": v[i]})
    s = 0.0
    for d in ds:
        y = 1.0
        if d["b"] > 0.4:
            y = d["x", (1, "y")] * 3.0
        s += y * d["b"]
    return s


def right_keys_nested_stored(v):
    ds = []
    for i in range(len(v)):
        ds.append({("x", (1, "y")): v[i] * i, (): v[i]})
    s = 0.0
    for d in ds:
        if d[()] > 0.4:
            d["x", (1, "y")] = d[()] * 2.0
        s += d["x", (1, "y")] ** 2 * d[()]
    return s


def right_keys_nested_in_loop(v):
    m = {}
    for i in range(len(v)):
        m[i, (i + 1, 2)] = v[i] * i
        m[i, (i, 2)] = m.get((i, (i + 1, 2)), v[0]) * v[i]
        m[i, (i, 2)] += m[i, (i, 2)] * v[i]
    s = 0.0
    for (a, (b, _)), q in m.items():
        s += q**2 * (a + b)
    return s


def right_keys_nested_of_arrays(v):
    m = {}
    for i in range(3):
        m[i, (i + 1, 2)] = v * i
    for i in range(3):
        m[i, (i + 1, 2)][1] *= v[0]
        m[i, (i + 1, 2)] += v
    return sum(np.sum(m[i, (i + 1, 2)] ** 2) for i in range(3))


PROGRAMS = {name: f for name, f in globals().items() if name.startswith(("right_", "refused_"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) == name.partition("_")[0]


def test_second_derivatives_of_the_items_of_a_dict_whose_keys_depend_on_the_run():
    def written_where_positive(d, x):
        if x[0] > 0:
            d["b"][:] = x
            d.get("zz")
        return np.sum(d["a"]) + np.sum(np.sin(d["b"]))

    def items_of_list(rows):
        d = {k: q for k, q in enumerate(rows)}
        return np.sum(np.full(d[2].shape, 0.0)) + sum(np.sum(q) for q in d.values()) + np.sum(d[1] ** 3)

    ones = np.ones(2)
    found = hvp(written_where_positive, "d", verify=False)({"a": ones * 1, "b": ones * 2}, -ones, {"a": ones, "b": ones})
    np.testing.assert_allclose(found["a"], 0 * ones)
    np.testing.assert_allclose(found["b"], -np.sin(2.0) * ones)
    found = hvp(items_of_list, verify=False)([ones * 1, ones * 2, ones * 3], [ones, ones, ones])
    np.testing.assert_allclose(found, [0 * ones, 12 * ones, 0 * ones])
