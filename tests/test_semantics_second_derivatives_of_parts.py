"""Second derivatives through parts of an array, whose places the derivative reads again."""

import gast
import numpy as np
import pytest

from sourcead import grad, hvp
from sourcead.ad.apply_rule import find_source
from tests.entered_rules import own_rules

X = np.array([-1.226, -0.565, 0.968])
V = np.array([0.5, -0.3, 0.8])


def split_and_put_together(x):
    parts = np.split(x, [1])
    return np.sum(np.concatenate([parts[1], parts[0] * x[1]]) * np.array([1.0, 2.0, 3.0]))


def one_part(x):
    first, rest = np.split(x, [1])
    return np.sum(first * x[0]) + np.sum(rest)


def places_held_by_a_name(x):
    places = [1, 2]
    _, middle, last = np.array_split(x, places)
    return middle[0] ** 2 * last[0]


def along_an_axis(x):
    left, right = np.split(np.outer(x, x), [1], axis=1)
    return np.sum(left ** 2) + right[0, 0]


def by_columns(x):
    left, right = np.hsplit(np.outer(x, x), [2])
    return np.sum(left) * right[1, 0]


@pytest.mark.parametrize("f", [split_and_put_together, one_part, places_held_by_a_name, along_an_axis, by_columns])
def test_the_second_derivative_of_parts_of_an_array(f):
    h = 1e-5
    expected = (grad(f)(X + h * V) - grad(f)(X - h * V)) / (2 * h)
    np.testing.assert_allclose(hvp(f)(X, V), expected, rtol=1e-6, atol=1e-8)


def returned_rows(rule) -> list[int]:
    """Return how many cotangents each `return` of a rule lists, where it lists them."""
    node = find_source(rule.function).node
    returned = [node.body] if isinstance(node, gast.Lambda) else [n.value for n in gast.walk(node) if isinstance(n, gast.Return)]
    return [len(r.elts) for r in returned if isinstance(r, gast.Tuple) and not any(isinstance(e, gast.Starred) for e in r.elts)]


def test_each_rule_lists_one_cotangent_for_each_argument():
    wrong = {
        f.__name__: rows for f, rule in own_rules().items()
        if rule.star is None and len(rule.params) > 1 and (rows := {n for n in returned_rows(rule) if n != len(rule.params)})
    }  # fmt: skip
    assert not wrong
