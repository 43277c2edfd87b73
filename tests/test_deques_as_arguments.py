"""Deques of any length and chains of dicts are arguments like lists and dicts; inside others they carry no derivative, which is said."""

import collections
from collections import ChainMap, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sourcead import WrtError, grad


def weighted(items):
    return sum(i * item**2 for i, item in enumerate(items, 1))


def test_a_deque_is_differentiated_like_a_list():
    gradient = grad(weighted)
    assert gradient(deque([1.0, 3.0])) == [2.0, 12.0]
    assert gradient(deque([1.0, 3.0, 4.0])) == [2.0, 12.0, 24.0]  # another length
    assert gradient([1.0, 3.0]) == gradient(deque([1, 3])) == [2.0, 12.0]


def test_a_deque_of_arrays_is_differentiated():
    d = grad(weighted_arrays)(deque([np.ones(2), np.full(3, 2.0)]))
    np.testing.assert_allclose(np.concatenate(d), [2.0, 2.0, 4.0, 4.0, 4.0])


def weighted_arrays(items):
    return sum(np.sum(a**2) for a in items)


def used_up(x, queue):
    total = 0.0
    while queue:
        total = total * x + queue.popleft()
        if len(queue) == 1:
            queue.appendleft(total)
            total += queue.pop()
    return total


def test_a_deque_that_is_used_up_beside_wrt_stays_as_it_was():
    queue = deque([2.0, 3.0, 5.0])
    h = 1e-6
    difference = (used_up(1.5 + h, deque(queue)) - used_up(1.5 - h, deque(queue))) / (2 * h)
    assert grad(used_up)(1.5, queue) == pytest.approx(difference) and len(queue) == 3


def test_a_chain_of_dicts_is_differentiated_like_the_dict_that_it_is():
    def loss(p, name):
        return p["a"] ** 2 * p[name]

    chain = ChainMap({"a": 3.0}, {"a": 100.0, "b": 2.0})
    assert grad(loss)(chain, "b") == {"a": 12.0, "b": 9.0}
    assert grad(lambda x, p: x * p["b"])(1.0, chain) == 2.0


@dataclass
class Held:
    items: Any
    rate: float


@pytest.mark.parametrize("items, instead", [
    (deque([1.0, 2.0]), "list"), (deque([1.0], 3), "list"), (ChainMap({"a": 1.0}), "dict"), ({1.0, 2.0}, "sorted"),
])  # fmt: skip
def test_what_carries_no_derivative_inside_is_refused_with_what_to_write(items, instead):
    for held, name in (({"d": items, "k": 2.0}, "s['d']"), (Held(items, 2.0), "s.items")):
        with pytest.raises(WrtError) as caught:
            grad(lambda s: sum(s["d"]) * s["k"] if isinstance(s, dict) else sum(s.items) * s.rate)(held)
        assert f"Write instead: `{instead}({name})`" in str(caught.value)


def test_a_deque_of_limited_length_is_refused_with_what_to_write():
    with pytest.raises(WrtError, match=r"`list\(items\)`"):
        grad(weighted)(deque([1.0, 2.0], 5))


def test_labels_in_a_set_or_deque_stay_beside_numbers():
    def loss(p):
        return p["w"] ** 2 * len(p["labels"])

    for labels in ({1, 2}, {"a", "b"}, collections.deque(["a", "b"])):
        assert grad(loss)({"w": 3.0, "labels": labels})["w"] == 12.0


WAITING = deque()


@pytest.mark.parametrize("take", [lambda: WAITING.popleft(), lambda: WAITING.appendleft(4.0) or WAITING.pop()])
def test_a_deque_of_a_global_is_asked_itself(take):
    def f(x):
        return x * take() * WAITING[0]

    WAITING.extend([1.0, 2.0, 3.0])
    expected, after = f(2.0), list(WAITING)
    WAITING.clear()
    WAITING.extend([1.0, 2.0, 3.0])
    assert grad(f, verify=False)(2.0) == expected / 2 and list(WAITING) == after
    WAITING.clear()
