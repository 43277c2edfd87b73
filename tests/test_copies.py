"""`copy.copy`, `copy.deepcopy`, and what walks through rows and columns of lists: `zip(*rows)`, names with numbers."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import check_grads

rng = np.random.default_rng(0)


@dataclass
class Part:
    a: float
    b: np.ndarray


class Stubborn:
    def __init__(self, a):
        self.a = a

    def __deepcopy__(self, memo):
        return self


def of_parameters(x):
    model = {"layers": [{"w": x[:2], "b": x[2]}, {"w": x[3:5], "b": x[5]}], "name": ("net", 3)}
    deep, shallow = copy.deepcopy(model), copy.copy(model)
    deep["layers"][0]["w"] *= 2
    shallow["layers"][0]["w"][0] = 7.0
    total = x[0]
    for layer, other in zip(model["layers"], deep["layers"]):
        total += np.sum(layer["w"] ** 2) * layer["b"] + other["w"][0]
    return total


def of_objects(x):
    p = Part(x[0], x[1:3].copy())
    deep, shallow = copy.deepcopy(p), copy.copy(p)
    deep.b[0] = 3.0
    shallow.a = 5.0 * x[1]
    shallow.b[1] = x[3] ** 2
    return p.a * np.sum(p.b) + deep.b @ deep.b * shallow.a


def of_lists(x):
    rows = [x * k for k in range(9)]
    others = copy.deepcopy(rows)
    others[3][0] = 1.0
    first = copy.copy(x)
    first[0] = 0.0
    return sum(r @ r for r in rows) + sum(np.sum(r) * k for k, r in enumerate(others)) + first @ first


def the_same_twice(x):
    row = x * 2
    both = copy.deepcopy((row, [row]))
    both[0][0] = 5.0
    return both[1][0] @ both[1][0] + row @ row


def product_of_lists(x, n):
    a = [[x[n * i + j] for j in range(n)] for i in range(n)]
    product = [[sum(p * q for p, q in zip(row, column)) for column in zip(*a)] for row in a]
    columns = list(map(list, zip(*product)))
    return sum(columns[i][2 * i % n] * i for i in range(n))


def columns_of_a_matrix(a):
    return sum(max(column) * k for k, column in enumerate(zip(*a))) + sum(sum(row) ** 2 for row in zip(*a.T))


def named(x):
    values = dict(zip("w b c".split(), x))
    combine = lambda **kw: kw["w"] * kw["b"] + kw.get("d", 1.0) * kw["c"]  # noqa: E731
    return combine(**values) + sum(v for k, v in values.items() if k != "b")


def places_by_item(x):
    items = list(x)
    for i in range(len(items)):
        k = min(range(i, len(items)), key=items.__getitem__)
        items[i], items[k] = items[k], items[i]
    return items[0] * items[1] + items[-1]


@pytest.mark.parametrize("f, n", [(of_parameters, 6), (of_objects, 6), (of_lists, 6), (the_same_twice, 6), (named, 3), (places_by_item, 9)])
def test_copies_and_names(f, n):
    check_grads(f, (rng.normal(size=n),))


@pytest.mark.parametrize("n", [3, 9])
def test_columns_of_lists(n):
    check_grads(product_of_lists, (rng.normal(size=n * n), n), wrt=0)


@pytest.mark.parametrize("shape", [(3, 4), (9, 10), (9, 1)])
def test_columns_of_arrays(shape):
    check_grads(columns_of_a_matrix, (rng.normal(size=shape),))


def stubborn(x):
    return copy.deepcopy(Stubborn(x)).a @ x


def test_own_ways_to_copy_are_called():
    check_grads(stubborn, (rng.normal(size=3),))
