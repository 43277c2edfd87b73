"""A name that is one of several objects, as the run decides: what is written to it is written to the object, and the other way round."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


class Held:
    def __init__(self, v):
        self.v, self.log = v, [v, 1.0]

    def put(self, v):
        self.log.append(v)
        self.v = self.v * 0.5 + v


def pick(condition, one, other):
    return one if condition else other


def objects(x):
    a, b = Held(x[0]), Held(x[1])
    one = pick(x[2] > 1.0, a, b)
    one.put(x[1])
    a.put(x[0])
    one.log[0] *= 3.0
    b.log = [x[2]]
    return a.v + 2 * b.v + 5 * one.v + sum(a.log) + 3 * sum(one.log) + 7 * sum(b.log)


def lists_that_grow(x):
    a, b = [x[0], 1.0], [x[1], 2.0, 3.0]
    one = pick(x[2] < 1.0, a, b)
    one[0] *= 3.0
    one.append(x[2])
    a.append(x[0])
    return sum(a) + 2 * sum(b) + 5 * sum(one) + len(one) * x[1]


def arrays(x):
    a, b = x * 1.0, x * 2.0
    one = pick(x[2] > 1.0, a, b)
    one[0] = 9.0 * x[1]
    a *= 2.0
    one[1:] += x[0]
    return np.sum(a) + 2 * np.sum(b * x) + 5 * np.sum(one)


def rows(x):
    grid = np.outer(x, x)
    row = pick(x[2] > 1.0, grid[0], grid[1])
    row *= 2.0
    grid[0, 0] += x[1]
    row[1] = x[0]
    return np.sum(grid * np.arange(9.0).reshape(3, 3)) + np.sum(row * x)


def dicts(x):
    a, b = {"a": x[0]}, {"a": x[1]}
    one = pick(x[2] > 1.0, a, b)
    one["a"] *= 3.0
    one["b"] = x[0]
    a["a"] += 1.0
    return sum(a.values()) + 2 * sum(b.values()) + 5 * one["a"] + len(one)


def of_three(x):
    a, b, c = Held(x[0]), Held(x[1]), Held(x[2])
    one = pick(x[2] > 1.0, pick(x[0] > 1.0, a, b), c)
    again = pick(x[0] < 0.0, c, one)
    again.v *= 3.0
    one.v += 2.0
    c.v *= again.v
    b.v += 1.0
    return a.v + 2 * b.v + 5 * one.v + 7 * c.v + 11 * again.v


def in_order(x):
    items = [Held(v) for v in x]
    ordered = sorted(items, key=lambda h: h.v, reverse=True)
    ordered[0].put(x[2])
    items[1].v *= 7.0
    return sum((k + 1) * h.v for k, h in enumerate(items)) + sum((k + 2) * h.v for k, h in enumerate(ordered)) + sum(ordered[0].log)


def in_a_loop(x):
    a, b = Held(x[0]), Held(x[1])
    one = a
    for v in x:
        one.v = one.v * 0.5 + v
        one = pick(v > 0.0, b, a)
        if v > 1.0:
            a.v += v
    return a.v + 2 * b.v + 3 * one.v


def exchanged(x):
    a, b = Held(x[0]), Held(x[1])
    c, d = a, b
    for v in x[1:]:
        if v > 0.0:
            a, b = b, a
        a.v = a.v * 0.5 + v
        b.v += c.v
    return a.v + 2 * b.v + 3 * c.v + 5 * d.v


def by_place_key_and_size(x):
    items, keyed = [Held(v) for v in x], {"a": [x[0]], "b": [x[1]]}
    items[int(x[2] > 1.0)].v *= 5.0
    items[1].v += x[2]
    max(items, key=lambda h: h.v).v *= x[0]
    keyed["a" if x[1] < 0.0 else "b"].append(x[2])
    return sum((k + 1) * h.v for k, h in enumerate(items)) + sum(keyed["a"]) + 2 * sum(keyed["b"])


@pytest.mark.parametrize(
    "f", [objects, lists_that_grow, arrays, rows, dicts, of_three, in_order, in_a_loop, exchanged, by_place_key_and_size]
)
def test_a_name_of_one_of_several_objects(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


def with_another_reason_to_share(x):
    """The first of two arrays may be the other one, too: which of the two names a write reaches is not known."""
    a = x * 1.0
    b = np.ravel(pick(x[0] > 0.0, a, x * 3.0))
    one = pick(x[2] > 1.0, a, b)
    one[0] = 4.0 * x[1]
    return np.sum(b) + np.sum(a * x)


def of_nine(x):
    items = [Held(v * k) for v in x for k in range(3)]
    max(items, key=lambda h: h.v).v *= x[0]
    return sum(h.v for h in items)


def rows_written_after_they_were_appended(x):
    """The list that is `one` holds a row of an array, which is seen in it."""
    rows, lists = np.outer(x, x), [[], [], []]
    for i in range(len(x)):
        lists[int(x[i] > 1.0)].append(rows[i])
    rows[1] = 4.0
    return sum(np.sum(row**2) for each in lists for row in each)


@pytest.mark.parametrize("f", [with_another_reason_to_share, of_nine, rows_written_after_they_were_appended])
def test_where_it_is_not_known_it_is_refused(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "refused"


def made_in_an_arm(x):
    one = a = Held(x[0])
    if x[2] > 1.0:
        one = Held(x[2])
    other = pick(x[0] > 1.0, Held(3.0), one)
    one.v *= x[1]
    other.v += a.v
    a.v *= 3.0
    return a.v + 2 * one.v + 5 * other.v


def dicts_by_place(x):
    one, other = {}, {}
    for i in range(2):
        one[i] = x[2]
        other[i] = x[i]
    return 6 * (one, other)[int(x[0] > x[1])][0]


def asked_which_it_is(x):
    a, b = Held(x[0]), Held(x[1])
    one, other = pick(x[2] > 1.0, a, b), [a, b][int(x[0] < 0.0)]
    if one is a:
        one.v += x[1]
    for each in (a, b):
        if each is not other:
            each.v *= 5.0 * x[2]
    return a.v * (one is other) + b.v * (b is one) + 3 * a.v + 7 * b.v + x[2] * [a, b].index(other)


@pytest.mark.parametrize("f", [made_in_an_arm, dicts_by_place, asked_which_it_is])
def test_an_object_that_an_arm_makes(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"
