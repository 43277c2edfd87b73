"""Names that are of another kind after a loop: a dict or a set is not read by position, and a defaultdict keeps its factory."""

import collections

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.5, -1.2, 2.0])


def number_becomes_dict(x):
    a = 1
    for c in range(2):
        a = {'b': x}
    return sum(np.mean(a[k]) for k in a)


def set_becomes_list(x):
    a = {1, 2}
    for v in x:
        a = [v]
    return sum(a)


def list_becomes_set(x):
    a = [1.0]
    for v in x:
        a = {1.0, 2.0}
    t = 0.0
    for k in a:
        t = t + k
    return t * x[0]


def array_becomes_dict(x):
    a = x
    for v in x[1:]:
        a = {"a": v, "b": x}
    t = 1.0
    for k in a.values():
        t = t * np.sum(k)
    return t


def none_becomes_dict(x):
    a = None
    for v in x[1:]:
        a = {"a": v, "b": x}
    return np.sum(a["b"])


def text_becomes_dict(x):
    a = "s"
    i = 0
    while i < 2:
        a = {"a": x[i]}
        i += 1
    return a["a"] + len(a)


def defaultdict_made_in_a_loop(x):
    for k1 in range(2):
        w = collections.defaultdict(float)
        for it3 in x:
            w[int(it3 * 2)] += it3
    return w[2]


def value_of_unknown_kind_becomes_deque(x):
    w = collections.Counter("abca")["a"] * x[0]
    k = 0
    while k < len(x) - 2:
        k += 1
        w = collections.deque([w, np.linalg.norm(x)], maxlen=3)
    return k * w[1] + w[1]


Point = collections.namedtuple("Point", "p q")


def array_becomes_named_tuple(x):
    y = x
    for _ in range(1):
        h = y
        y = Point(0.0, h)
    return sum(q for q in h) * y.q[0]


@pytest.mark.parametrize(
    "f",
    [
        number_becomes_dict, set_becomes_list, list_becomes_set, array_becomes_dict, none_becomes_dict, text_becomes_dict,
        array_becomes_named_tuple, defaultdict_made_in_a_loop, value_of_unknown_kind_becomes_deque,
    ],
)
def test_kind_after_the_loop_is_that_of_the_body(f):
    assert judged_in_all_modes(f, X) == "right"
