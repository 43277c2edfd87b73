"""Aliases that cannot be established: a write through one of them is refused, or seen as Python shows it."""

import copy
import dataclasses
from collections import deque, namedtuple

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.1, 0.3, 0.5])



def refused_a4(x):
    if x[0] > 0:
        a = x * 2.0
        c = (a, a[:2])
    else:
        a = x * 3.0
        c = (a, a[1:])
    c[1][0] = 3 * x[1]
    return np.sum(np.sin(c[0]))


def refused_a5(x):
    L = [x * 1.0, x * 2.0]
    if x[0] > 0:
        M = L
    else:
        M = [x, x]
    M[0] = x * 7
    return np.sum(L[0] * L[1])


def refused_a6(x):
    L = [x * 1.0, x * 2.0]
    if x[0] > 0:
        M = L
    else:
        M = [x, x]
    M[0][1] = x[0] * 7
    return np.sum(L[0] * L[1])


def refused_a9(x):
    if x[0] > 0:
        d = {}
        for k, q in enumerate(x):
            d[k] = q * q
    else:
        d = {0: x[0]}
    return sum(d.values())


def refused_b1(x):
    d = [x * 2, x]
    if np.all(x < 0.2):
        f = d
        f.append(x)
        d = 3
    x[0] = 7.0
    return np.sum(d[1])


def refused_b3(x):
    c = (np.zeros(2), np.ones(2))
    s = 0.0
    for k in range(3):
        c[1][0] += x[0]
        s += np.sum(np.sin(c[0]) * k)
        a = c[0] * x[0] + 0.3
        c = (a, a)
    return s


def refused_b5(x):
    L = [x * 1.0, x * 2.0]
    for k in range(2):
        g = sorted(L, key=lambda q: np.sum(q))
    g[0][0] = 7 * x[1]
    return np.sum(L[0] * L[1])


def refused_b7(x):
    best = x
    for k in range(3):
        if x[k] > 0.2:
            best = x
    best[0] = 3.0
    return np.sum(x * best)


def refused_b8(x):
    L = []
    for k in range(3):
        L.append(x)
    L[0][0] = 2.0
    return np.sum(L[1] * x)


def refused_c2(x):
    a = x * 1.0
    b = a
    for k in range(3):
        b = b * 2 if k == 5 else b
    a[0] = 5.0
    return np.sum(b * b)


def refused_c8(x):
    s = 0
    L = []
    for k in range(3):
        s += x * (k + 1)
        L.append(s)
    return np.sum(L[0] * np.arange(3)) + np.sum(L[2])


def refused_c9(x):
    s = x * 0.0
    L = []
    for k in range(3):
        s += x * (k + 1)
        L.append(s)
    return np.sum(L[0] * np.arange(3)) + np.sum(L[2])


def refused_d5(x):
    if x[0] > 0:
        a = x * 1.0
        b = a
    else:
        a = x * 2.0
        b = x * 3.0
    b[0] = 4.0
    return np.sum(a)


def refused_d6(x):
    a = x * 1.0
    L = [a, x * 2.0] if x[0] > 0 else [x * 3.0, a]
    L[0][0] = 8.0
    return np.sum(a)


def refused_d7(x):
    rows = [x * k for k in range(3)]
    for k in range(3):
        r = rows[k]
    r[0] = 5.0
    return np.sum(rows[2]) + np.sum(rows[0])


def refused_d8(x):
    rows = [x * k for k in range(3)]
    r = rows[0]
    for k in range(3):
        if x[k] > 0.2:
            r = rows[k]
    r[0] = 5.0
    return np.sum(rows[2]) + np.sum(rows[0])


def refused_d9(x):
    m = np.outer(x, x)
    r = m[0]
    for k in range(3):
        r = m[k]
    r[0] = 5.0
    return np.sum(m * m)


def refused_e1(x):
    a = x
    if x[0] > 0:
        L = [a]
        L.append(a)
    else:
        L = [a * 1.0]
    a[0] = 3.0
    return np.sum(L[0]) + len(L)


def refused_e2(x):
    L = [x * 1.0]
    K = [L, L]
    for k in range(2):
        K = [K[1], K[0]]
    K[0].append(x * 2.0)
    return len(L) * np.sum(K[1][-1])


def refused_e3(x):
    out = {}
    for k in range(3):
        v = x * k
        out = {"v": v, "w": v}
    out["v"] += 1.0
    return np.sum(out["w"])


def refused_e8(x):
    a = x * 1.0
    for k in range(2):
        b = a.T if k else a.reshape(3)
    b[0] = 7.0
    return np.sum(a * a)


def refused_e9(x):
    a = x * 1.0
    if x[0] > 0:
        b = a[1:]
    else:
        b = a[:2]
    a[1] = 4.0
    return np.sum(b)


def refused_f1(x):
    a = x * 1.0
    if x[0] > 0:
        b = a[1:]
    else:
        b = a[:2]
    b[0] = 4.0
    return np.sum(a * x)


def refused_f3(x):
    st = [x * 1.0]
    for k in range(2):
        top = st.pop()
        st.append(top)
        st.append(top * 2.0)
    top[0] = 3.0
    return np.sum(st[0]) + np.sum(st[-1])


def refused_g1(x):
    A = []
    B = []
    for k in range(2):
        t = x * k
        A.append(t)
        B.append(t)
    A[1][0] = 5.0
    return np.sum(B[1])


def refused_g2(x):
    A = []
    B = []
    for k in range(2):
        t = x * k
        A.append(t)
        B.append(t)
        A[0][0] = 5.0
    return np.sum(B[1]) + np.sum(B[0])


def refused_g3(x):
    s = x * 1.0
    L = []
    for k in range(3):
        s[0] += 1.0
        s = s * 2
        L.append(s)
    return np.sum(L[0]) + np.sum(L[1])


def refused_g6(x):
    L = []
    for k in range(3):
        L.append(x * k)
    M = L[1:]
    M[0][0] = 3.0
    return np.sum(L[1])


def refused_g7(x):
    L = []
    for k in range(3):
        L.append(x * k)
    M = L[::-1]
    for m in M:
        m[0] = 3.0 * x[1]
    return np.sum(L[1]) + np.sum(L[2])


def refused_g8(x):
    L = []
    for k in range(3):
        L.append(x * k)
    d = {}
    for k in range(3):
        d[k] = L[k]
    d[1][0] = 9.0
    return np.sum(L[1])


def refused_h1(x):
    y = np.ascontiguousarray(x[::1])
    z = np.ascontiguousarray(x)
    y[0] = 4.0
    return np.sum(z)


def refused_h2(x):
    a = x * 1.0
    L = [a]
    for k in range(2):
        L = L + [a]
    L[2][0] = 3.0
    return np.sum(L[0]) + np.sum(a)


def refused_h3(x):
    q = deque()
    for k in range(3):
        t = x * k
        q.append(t)
        last = t
    last[0] = 4.0
    return sum(np.sum(v) for v in q)


def refused_h4(x):
    d = {}
    for k in range(3):
        t = x * k
        d[k] = t
    t[0] = 4.0
    return sum(np.sum(v) for v in d.values())


def refused_h5(x):
    rows = []
    r = x * 1.0
    for k in range(3):
        rows.append(r)
        r = r * 2.0
    r[0] = 1.0
    rows[0][0] = 9.0
    return np.sum(rows[1]) + np.sum(r) + np.sum(rows[0])


def refused_h8(x):
    L = []
    for k in range(2):
        L.append(x * k)
    L *= 2
    L[1][0] = 5.0
    return np.sum(L[3])


def refused_i2(x):
    best, arg = -1.0, None
    for k in range(3):
        c = x * k
        if np.sum(c) > best:
            best, arg = np.sum(c), c
        c[0] = 0.0
    return np.sum(arg)


def refused_i8(x):
    L = [[]] * 2
    for k in range(3):
        L[k % 2].append(x[k])
    return sum(L[0]) * 2 + sum(L[1])


def refused_truth_of_a_list_that_may_have_changed(x):
    a, b = [x[0]], [2 * x[0]]
    c = a if x[1] > 0 else b
    c.pop()
    return np.sum(x * x) if a else np.sum(x)


def refused_match_of_a_list_that_may_have_changed(x):
    a, b = [x[0]], [2 * x[0]]
    c = a if x[1] > 0 else b
    c[0] = x[2] ** 3
    match a:
        case [first]:
            return first * x[0]


def with_an_unsure_key(x):
    d = {"text": "t", "items": [1.0]}
    if x[1] > 1:
        d["a"] = 3
    return d


def number_of(x, **given):
    return np.sum(x) * len(given)


def refused_copy_of_a_dict_whose_keys_are_not_known(x):
    return np.sum(x) * len(dict(with_an_unsure_key(x)))


def refused_union_of_a_dict_whose_keys_are_not_known(x):
    return np.sum(x) * len(with_an_unsure_key(x) | {"b": 2})


def refused_keywords_of_a_dict_whose_keys_are_not_known(x):
    return number_of(x, **with_an_unsure_key(x))


def one_of_two_lists(x, first, second):
    """Change the one or the other list: afterwards the first is not known."""
    one = first if x[1] > 0 else second
    one[0] = one[1]
    return first


def refused_set_of_a_list_that_may_have_changed(x):
    return np.sum(x) * len(set(one_of_two_lists(x, [1, 2], [3, 4])))


Pair = namedtuple("Pair", "u v")


def refused_array_of_named_tuples_that_may_have_changed(x):
    pairs = one_of_two_lists(x, [Pair(x[0], 1.0), Pair(x[1], 3.0)], [Pair(x[2], 1.0), Pair(x[1], 3.0)])
    return np.sum(np.array(pairs) ** 2)


@dataclasses.dataclass
class Holder:
    items: list


def refused_asdict_of_a_list_that_may_have_changed(x):
    first = [x[0], x[1]]
    holder = Holder(first)
    one_of_two_lists(x, first, [x[2], x[1]])
    return dataclasses.asdict(holder)["items"][0] * x[0]


class Bag:
    def __init__(self, v):
        self.v = v


def refused_hasattr_of_an_object_that_may_have_changed(x):
    one, other = Bag(x), Bag(x)
    either = one if x[1] > 0 else other
    either.w = 1.0
    return np.sum(x * x) * getattr(one, "w", 2.0) if hasattr(one, "w") else np.sum(x)


def refused_ranges_in_a_list_that_may_have_changed(x):
    ranges = one_of_two_lists(x, [range(2), range(3)], [range(2), range(3)])
    return np.sum(np.concatenate(ranges)) * np.sum(x * x)


def rows_of(x):
    rows = []
    for k in range(4 if x[0] > 0 else 5):
        rows.append(x * (k + 1))
    return rows


def refused_exchange_of_places_that_differ_when_they_are_asked_again(x):
    rows, places = rows_of(x), [0, 1, 2, 3]
    rows[places.pop()], rows[places.pop()] = rows[places.pop()], rows[places.pop()]
    rows[3][0] = 5.0
    return np.sum(rows[1] * x) + np.sum(rows[3]) + rows[0][0]


def refused_exchange_of_places_that_the_list_tells(x):
    rows = rows_of(x * 10)
    rows[0], rows[int(rows[0][0])] = rows[int(rows[0][0])], rows[0]
    rows[1][0] = 5.0
    return np.sum(rows[0] * x) + np.sum(rows[3] * x) + rows[1][0]


class Keeping:
    """Keeps what it returns, by methods that look like those of arrays."""

    def __init__(self, a):
        self.a, self.read = a, None

    def copy(self):
        self.kept = self.a.copy()
        return self.kept

    def __add__(self, other):
        self.kept = self.a + other
        return self.kept

    def astype(self, made):
        self.read = lambda: made
        return made


def refused_reshape_of_a_copy_that_is_kept(x):
    keeping = Keeping(x)
    keeping.copy().reshape(3, 1)[0, 0] = 5.0
    return np.sum(keeping.kept**2)


def refused_reshape_of_a_sum_that_is_kept(x):
    keeping = Keeping(x)
    np.reshape(keeping + 1.0, (3, 1))[0, 0] = 5.0
    return np.sum(keeping.kept**2)


def refused_reshape_of_an_array_that_a_function_reads(x):
    keeping = Keeping(x)
    keeping.astype(x.astype(float)).reshape(3, 1)[0, 0] = 5.0
    return np.sum(keeping.read() ** 2)


def refused_deep_copy_of_a_list_that_holds_an_array_twice(x):
    rows = []
    for _ in range(4 if x[0] > 0 else 3):
        rows.append(x)
    copies = copy.deepcopy(rows)
    copies[0][0] = 5.0
    return np.sum(copies[1] * x)


class Held:
    def __init__(self, v):
        self.v = v


def refused_list_named_in_some_iterations_and_written_after(x):
    kept = [x[0], 2.0]
    for q in x:
        if q < 0.4:
            seen = kept
        kept[0] += q
    return seen[0]


def refused_object_named_in_some_iterations_and_written_after(x):
    kept = Held(x[0])
    for q in x:
        if q < 0.4:
            seen = kept
        kept.v += q
    return seen.v


def refused_dict_or_another_named_in_an_iteration_and_read_in_the_next(x):
    kept, seen, total = {"a": x[0]}, {"a": 0.0}, 0.0
    for q in x:
        total += seen["a"]
        if q < 0.4:
            seen = kept
        kept["a"] *= 3.0
    return total


def refused_list_in_a_tuple_of_some_iterations(x):
    kept = [x[0], 2.0]
    for q in x:
        if q < 0.4:
            seen = (kept, q)
        kept[0] += q
    return seen[0][0]


PROGRAMS = {name: f for name, f in globals().items() if name.startswith("refused_")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) in ("refused", "right")
