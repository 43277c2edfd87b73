"""Loops over lists that grow while they are walked: as Python walks them, or refused."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.5, -1.2, 2.0])


class Holder:
    pass


def grown_on_a_path(x):
    l = [x[0]]
    for v in l:
        if v > 0.5:
            l.append(v - 0.7)
    return sum(l)


def list_of_work(x):
    l = [1]
    t = 0.0
    for v in l:
        t += x[v % 3]
        if v < 4:
            l.append(v + 1)
    return t


def comprehension_that_grows(x):
    l = [x[0]]
    s = [v * 2 for v in l if len(l) > 4 or l.append(v + 1) is None]
    return sum(s)


def grown_by_another_name(x):
    l = [x[0]]
    m = l
    for v in l:
        if v > 0.1:
            m.append(v - 0.7)
    return sum(l)


def grown_in_enumerate(x):
    l = [1, 2]
    t = 0.0
    for i, v in enumerate(l):
        if len(l) < 4:
            l.append(v + 1)
        t += x[i % 3] * v
    return t


def grown_in_map(x):
    l = [1]

    def g(v):
        if len(l) < 4:
            l.append(v + 1)
        return v * x[0]

    return sum(map(g, l))


def grown_behind_iterator(x):
    l = [1]
    t = 0.0
    it = iter(l)
    for v in it:
        if len(l) < 4:
            l.append(v + 1)
        t += v * x[1]
    return t


def grown_with_else(x):
    l = [1]
    t = 0.0
    for v in l:
        t += x[v % 3]
        if len(l) < 3:
            l.append(v + 1)
            continue
        if t > 100:
            break
    else:
        t *= 2
    return t


def grown_and_left(x):
    l = [1]
    for v in l:
        l.append(2)
        break
    return x[0] * len(l)


def grown_and_perhaps_left(x):
    l = [1]
    for v in l:
        l.append(2)
        if x[0] > 0:
            break
        if len(l) > 3:
            break
    return x[0] * len(l)


def emptied_and_filled(x):
    l = [1]
    t = 0.0
    for v in l:
        l.pop()
        l.extend([2, 3]) if v < 2 else None
        t += v * x[0]
    return t


def grown_in_a_condition(x):
    l = [x[0]]
    return sum(v for v in l if v < 0.2 or l.append(v - 0.5) is None)


def tree_of_work(x):
    t = 0.0
    todo = [(0, x[0])]
    for depth, v in todo:
        t += v * v
        if depth < 2:
            todo.append((depth + 1, v * x[1]))
            todo.append((depth + 1, v * x[2]))
    return t


def grown_in_an_attribute(x):
    o = Holder()
    o.l = [1]
    t = 0.0
    for v in o.l:
        if v < 3:
            o.l.append(v + 1)
        t += v * x[0]
    return t


def grown_in_zip(x):
    l = [1]
    t = 0.0
    for v in zip(l, [1, 2, 3]):
        if len(l) < 3:
            l.append(4)
        t += v[0] * x[0]
    return t


def grown_from_the_end(x):
    l = [1, 2, 3]
    t = 0.0
    for v in reversed(l):
        l.append(v + 1)
        t += v * x[0]
    return t + len(l)


def written_and_grown(x):
    l = [1, 2]
    t = 0.0
    for v in l:
        if v == 1:
            l[1] = x[0]
            l.append(x[1])
        t += v**2
    return t


REFUSED = (
    grown_on_a_path, grown_by_another_name, grown_in_enumerate, grown_and_perhaps_left, emptied_and_filled, grown_in_a_condition,
    grown_in_zip, written_and_grown,
)  # fmt: skip
RIGHT = (
    list_of_work, comprehension_that_grows, grown_in_map, grown_behind_iterator, grown_with_else, grown_and_left, tree_of_work,
    grown_in_an_attribute, grown_from_the_end,
)  # fmt: skip


@pytest.mark.parametrize("f", [*RIGHT, *REFUSED], ids=lambda f: f.__name__)
def test_a_list_that_grows_while_it_is_walked(f):
    assert judged_in_all_modes(f, X) in (["right"] if f in RIGHT else ["right", "refused"])
