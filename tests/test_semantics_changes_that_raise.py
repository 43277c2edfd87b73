"""Changes of lists, arrays and dicts that may raise what the program handles: the run goes to the handler where they do."""
# ruff: noqa: SIM105

import collections

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes


def takes_from_a_stack(x):
    st = [x[0]]
    r = 0.0
    for q in x:
        try:
            r += st.pop() * q
        except IndexError:
            st.append(q)
            continue
        if q > 0.1:
            st.extend([q, 0.3])
    return r + sum(st)


def sets_an_item(x):
    a = x * 2.0
    k = int(abs(x[0]) * 9)
    r = x[1]
    try:
        a[k] = x[2] ** 2
    except IndexError:
        a[0] += x[3]
    return np.sum(a) * r


def sets_an_item_of_a_list(x):
    L = [x[0], x[1], x[2]]
    for q in x:
        k = int(abs(q) * 5)
        try:
            L[k] = q * q
        except IndexError:
            L.append(q)
    return sum(e * i for i, e in enumerate(L))


def sets_an_item_of_a_matrix(x):
    m = np.outer(x, x)
    for q in x:
        try:
            m[int(abs(q) * 6), int(abs(q) * 4)] = q
        except IndexError:
            m[0] *= q
    return np.sum(m * m)


def counts_in_a_dict(x):
    d = {}
    for q in x:
        try:
            d[int(q > 0)] = d[int(q > 0)] * 2 + q
        except KeyError:
            d[int(q > 0)] = q
    return sum(v * v for v in d.values())


def takes_from_a_queue(x):
    d = collections.deque()
    r = 0.0
    for q in x:
        if q > 0:
            d.append(q)
        try:
            r += d.popleft() * x[0]
        except IndexError:
            r -= q
    return r


def takes_from_a_dict(x):
    d = {"a": x[0], "b": x[1], "c": x[2]}
    r = 0.0
    for q in x:
        k = "abcz"[int(abs(q) * 5) % 4]
        try:
            r += d.pop(k) * q
        except KeyError:
            r *= 0.5
    return r + sum(d.values())


def removes_from_a_list(x):
    L = [1, 2, 3]
    r = 0.0
    for q in x:
        try:
            L.remove(int(abs(q) * 5))
            r += q
        except ValueError:
            r -= q * q
    return r + len(L) * x[0]


def sets_two(x):
    a = x * 1.0
    try:
        a[int(abs(x[0]) * 20)] = a[int(abs(x[1]) * 9)] = x[2]
    except IndexError:
        a *= 2
    return np.sum(a * x)


def evaluates_a_place_once(x):
    a = x * 1.0
    n = 0

    def nxt():
        nonlocal n
        n += 1
        return n * 2

    r = 0.0
    for q in x:
        try:
            a[nxt()] = q if q > 0 else 2 * q
        except IndexError:
            r += q * n
    return np.sum(a * x) + r * n


def evaluates_a_place_once_in_place(x):
    a = x * 1.0
    n = 0

    def nxt():
        nonlocal n
        n += 1
        return n * 2

    r = 0.0
    for q in x:
        try:
            a[nxt()] += q if q > 0 else 2 * q
        except IndexError:
            r += q * n
    return np.sum(a * x) + r * n


def takes_from_either_end(x):
    st = [x[0], x[1]]
    r = 0.0
    for q in x:
        try:
            if q > 0:
                y = st.pop()
            else:
                y = st.pop(0) * 2
            r += y
        except IndexError:
            r *= q
            st.append(r)
        else:
            r += 0.1
        finally:
            r = r * x[2]
    return r


def takes_in_a_function(x):
    st = []

    def take():
        return st.pop()

    r = 0.0
    for q in x:
        if q > 0:
            st.append(q)
        try:
            r += take() * q
        except IndexError:
            r -= q * q
    return r


def walks_to_the_end(x):
    a = list(x)
    i = 0
    while True:
        try:
            a[i] = a[i] * a[i + 1]
        except IndexError:
            break
        i += 1
    return sum(e * k for k, e in enumerate(a))


def takes_pairs(x):
    st = [(0, x[0])]
    r = 0.0
    while True:
        try:
            n, a = st.pop()
        except IndexError:
            break
        r += a / (1 + n)
        if n < 2:
            st.append((n + 1, a * x[1]))
            st.append((n + 2, np.sin(a)))
    return r


def catches_everything(x):
    L = [x[0]]
    for q in x:
        k = int(abs(q) * 3)
        try:
            L[k] = q
        except Exception:
            L.append(q * 2)
    return sum(e * i for i, e in enumerate(L))


CASES = [
    takes_from_a_stack,
    sets_an_item,
    sets_an_item_of_a_list,
    sets_an_item_of_a_matrix,
    counts_in_a_dict,
    takes_from_a_queue,
    takes_from_a_dict,
    removes_from_a_list,
    sets_two,
    evaluates_a_place_once,
    evaluates_a_place_once_in_place,
    takes_from_either_end,
    takes_in_a_function,
    walks_to_the_end,
    takes_pairs,
    catches_everything,
]


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_the_handler_runs_where_the_change_raises(program):
    for x in ([0.61, 0.33, -0.43, 0.83], [-0.23, 0.71, 1.32, -0.46]):
        assert judged_in_all_modes(program, np.array(x)) == "right"


def test_a_way_that_is_not_taken_is_not_warned_of(recwarn):
    np.testing.assert_allclose(grad(counts_in_a_dict)(np.array([0.5, -1.0, 2.0])), [12.0, -2.0, 6.0])
    assert not list(recwarn)
