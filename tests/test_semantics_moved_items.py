"""Methods of dicts and deques that move items: `popitem`, `rotate`; and patterns of sequences that objects do not fit."""

import collections

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.5, -1.2, 2.0])


def last_key_after_a_deletion(x):
    d = {"a": x[0], "b": x[1]}
    del d["a"]
    d["a"] = x[2] * 2
    k, v = d.popitem()
    return v * 3 + sum(w * 2 for w in d.values()) + len(k)


def of_a_copy(x):
    m = {"a": x[0], "b": np.sin(x)}
    m["b"] *= 2
    n = m.copy()
    v = m.popitem()[1]
    w = m.popitem()
    return np.sum(v * n["b"]) + w[1] + len(m)


def until_it_is_empty(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    while d:
        _, v = d.popitem()
        s += v**2
    return s


def array_kept_twice(x):
    d = {"a": x, "b": x}
    _, v = d.popitem()
    v[0] = 3.0
    return np.sum(d["a"] ** 2)


def of_keys_that_the_run_computes(x):
    d = {}
    for i in range(len(x)):
        d[f"k{i}"] = x[i] * (i + 1)
    s = 0.0
    while d:
        key, v = d.popitem()
        s = s * 2 + v * len(d) + (v if key == "k1" else 0.0)
    return s


def first_of_keys_that_the_run_computes(x):
    d = collections.OrderedDict()
    for i in range(len(x)):
        if x[i] > -5:
            d[f"k{i}"] = x[i] * (i + 1)
    _, v = d.popitem(last=False)
    _, w = d.popitem()
    return v * 3 + w * len(d)


def rotated_both_ways(x):
    d = collections.deque([x[0], x[1] ** 2, x[2]])
    d.rotate(1)
    s = d[0]
    d.rotate(-2)
    d.append(x[0])
    return s * d[0] + d[1] * 3 + d[-1] * d[2] ** 2


def rotated_in_a_loop(x):
    ring = collections.deque([x[0], x[1] ** 2, x[2]], maxlen=3)
    for _ in range(4):
        ring.rotate()
        ring[0] = ring[0] * 2
    return ring[0] * 3 + ring[1] ** 2 + ring[-1]


class Pair:
    def __init__(self, v, w):
        self.v, self.w = v, w

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return (self.v, self.w)[k]


def no_sequence(x):
    match Pair(x[0], x[1]):
        case (a, b):
            return a * b
        case Pair(v=a, w=b):
            return a**2 * b


@pytest.mark.parametrize(
    "f",
    [
        last_key_after_a_deletion, of_a_copy, until_it_is_empty, of_keys_that_the_run_computes, first_of_keys_that_the_run_computes,
        array_kept_twice, rotated_both_ways, rotated_in_a_loop, no_sequence,
    ],
)
def test_items_that_move(f):
    assert judged_in_all_modes(f, X) == "right"
