"""`copy.copy` of what Python copies in a way of its own: classes with `__copy__`, deques of limited length, chains of dicts, iterators."""

import copy
import functools
import itertools
from collections import ChainMap, deque

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.7, -0.4, 1.3])


class Doubling:
    def __init__(self, v):
        self.v = v

    def __copy__(self):
        return Doubling(self.v * 2.0)

    def sum(self):
        return np.sum(self.v)


def deque_changed_after_it_was_copied(x):
    last = deque([x[0], x[1]], maxlen=2)
    before = copy.copy(last)
    last.append(x[2])
    return before[-1] * x[0] + last[-1]


def deque_copied_in_a_loop(x):
    last = deque([x[0], x[1]], maxlen=2)
    for v in np.repeat(x, 3):
        before = copy.copy(last)
        last.append(v * before[0])
    return before[-1] * last[0]


def chain_of_dicts_changed_after_it_was_copied(x):
    chain = ChainMap({"a": x[0]}, {"b": x[1]})
    before = copy.copy(chain)
    chain["a"] = x[2]
    return before["a"] * 3.0 + chain["a"] * before["b"]


def object_that_says_how_it_is_copied(x):
    one = Doubling(x * 1.0)
    other = copy.copy(one)
    other.v[0] = 5.0
    return np.sum(one.v * other.v)


def deep_copy_does_not_ask_that(x):
    one = Doubling(x * 1.0)
    other = copy.deepcopy(one)
    other.v[0] = 5.0
    return np.sum(one.v * other.v)


def deep_copy_of_what_may_be_none(x):
    one = None
    if x[0] > 0:
        one = x * 1.0, x[0]
    other = copy.deepcopy(one)
    one[0][0] = 5.0
    return np.sum(one[0]) * np.sum(other[0])


RIGHT = [
    deque_changed_after_it_was_copied, deque_copied_in_a_loop, chain_of_dicts_changed_after_it_was_copied,
    object_that_says_how_it_is_copied, deep_copy_does_not_ask_that, deep_copy_of_what_may_be_none,
]  # fmt: skip


@pytest.mark.filterwarnings("error::SyntaxWarning")  # of generated text: an item of None stood in it
@pytest.mark.parametrize("f", RIGHT)
def test_copies(f):
    assert judged_in_all_modes(f, X) == "right"


def iterator_of_a_list(x):
    one = iter([x[0], x[1], x[2]])
    next(one)
    other = copy.copy(one)
    return next(one) * 3.0 + next(other)


def counter(x):
    one = itertools.count()
    next(one)
    other = copy.copy(one)
    return x[next(one)] * 3.0 + x[next(other)]


def deep_copy_of_a_partial(x):
    a = x * 1.0
    one = functools.partial(np.sum, a)
    other = copy.deepcopy(one)
    a[0] = 5.0
    return one() * other()


def deep_copy_of_a_method(x):
    one = Doubling(x * 1.0).sum
    other = copy.deepcopy(one)
    one.__self__.v[0] = 5.0
    return one() * other()


REFUSED = [iterator_of_a_list, counter, deep_copy_of_a_partial, deep_copy_of_a_method]


@pytest.mark.parametrize("f", REFUSED)
def test_copies_that_are_refused(f):
    assert judged_in_all_modes(f, X) == "refused"
