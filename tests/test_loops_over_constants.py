"""Loops over lists and tuples of numbers that stand in the program stay loops, whatever the way of writing them."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad

EDGES = ((0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 0))
EDGES_IN_A_LIST = list(EDGES)
EDGES_AS_LISTS = [[0, 1, 1.5], [0, 2, 0.5], [1, 3, -1.0], [2, 3, 2.0], [1, 2, 0.1]]
TABLE = [[k % 3, (k + 1) % 4, 0.1 * k] for k in range(60)]
X = np.array([0.7, 1.3, 0.4, -0.9])


def bound_before(x):
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 0)]
    total = 0.0
    for a, b in edges:
        total += np.sin(x[a] - x[b])
    return total


def in_its_place(x):
    total = 0.0
    for a, b in ((0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 0)):
        total += np.sin(x[a] - x[b])
    return total


def of_the_module(x):
    total = 0.0
    for a, b in EDGES:
        total += np.sin(x[a] - x[b])
    return total


def of_the_module_in_a_list(x):
    return sum(np.sin(x[a] - x[b]) for a, b in EDGES_IN_A_LIST)


def of_the_module_in_lists(x):
    total = 0.0
    for k, edge in enumerate(EDGES_AS_LISTS):
        total += edge[2] * np.sin(x[edge[0]] - x[EDGES_AS_LISTS[k][1]])
    return total


def of_a_large_table(x):
    total = 0.0
    for k in range(len(TABLE)):
        for m in range(1, len(TABLE[k])):
            total += TABLE[k][m] * np.sin(x[TABLE[k][0]])
    return total


def counted(x):
    total = 0.0
    for k, edge in enumerate([(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 0)]):
        total += k * np.sin(x[edge[0]] - x[edge[1]])
    return total


def in_two_lists(x):
    total = 0.0
    for a, b in zip([0, 0, 1, 2, 1, 3], [1, 2, 3, 3, 2, 0]):
        total += np.sin(x[a] - x[b])
    return total


def in_an_outer_loop(x):
    dist = [0.0, 9.0, 9.0, 9.0]
    for _ in range(3):
        for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 0)]):
            if dist[a] + x[k % 4] ** 2 < dist[b]:
                dist[b] = dist[a] + x[k % 4] ** 2
    return sum(dist)


def left_early(x):
    total = 0.0
    for c in [1, 0.5, 2, 3.5, 4]:
        if c * x[0] > 2:
            break
        total = total * x[1] + c * np.cos(c * x[0])
    else:
        total = x[2]
    return total * c


def with_lags(x):
    total = 0.0
    for k in (1, 2, 3, 1, 2):
        total += np.sum(x[k:] * x[:-k]) / k
    return total


def with_powers(x):
    return sum(c * x[1] ** p for c, p in [(1.5, 1), (2.0, 0), (3.0, 5), (4.0, 3), (5.0, 7)])


LOOPS = [
    bound_before, in_its_place, of_the_module, of_the_module_in_a_list, of_the_module_in_lists, of_a_large_table, counted, in_two_lists,
    in_an_outer_loop, left_early, with_lags, with_powers
]


@pytest.mark.parametrize("f", LOOPS)
def test_the_loop_stays_and_is_right(f):
    check_grads(f, (X,))
    text = grad(f).lower(X).text
    assert re.search(r"^    for .*:$", text, re.M)
    assert len(text.splitlines()) < 50


def polynomial(x):
    total = 0.0
    coefficients = [0.1, 0.2, 0.3, 0.4, 0.5]
    for k in range(5):
        total = total + coefficients[k] * x**k
    return total


@pytest.mark.parametrize("x", [2.5, 1.5, 0.5])
def test_a_table_that_several_arms_make(x):
    def in_arms(x):
        if x > 2:
            return polynomial(x)
        a = polynomial(3 * x) if x > 1 else 2 * polynomial(x)
        return a * x

    check_grads(in_arms, (x,))


def walks_over_what_it_changes(x):
    kinds = [1, 2, 3, 4, 5]
    total = 0.0
    for k in kinds:
        kinds[0] = 7
        total = total + k * kinds[0] * x[0] ** k
    return total


def is_changed_between_two_loops(x):
    kinds = [1, 2, 3, 4, 5]
    total = 0.0
    for turn in range(3):
        for k in kinds:
            total = total + k * x[turn] ** 2
        kinds.append(turn)
    return total


def takes_an_axis(x):
    total = 0.0
    for axis in (0, 1, 0, 1, -1):
        total += np.sum(np.cumsum(np.outer(x, x), axis=axis) ** 2)
    return total


def takes_options(x):
    total = 0.0
    for keepdims in (True, False, True, True, False):
        total += np.sum(np.sum(np.outer(x, x), axis=0, keepdims=keepdims)) ** 2
    return total


def makes_layers(x):
    h = x[:2]
    for n, m in [(2, 2), (2, 2), (2, 1), (1, 2), (2, 2)]:
        h = np.tanh(h @ x[: n * m].reshape(n, m))
    return np.sum(h)


def makes_layers_as_a_large_table_says(x):
    first, *_ = TABLE
    total = 0.0
    for row in TABLE[:3]:
        total += np.sum(np.outer(x, x).sum(axis=row[1] % 2) * first[1])
    return total


NEEDED = [
    walks_over_what_it_changes, is_changed_between_two_loops, takes_an_axis, takes_options, makes_layers,
    makes_layers_as_a_large_table_says
]


@pytest.mark.parametrize("f", NEEDED)
def test_what_the_loop_needs_to_know_is_known(f):
    check_grads(f, (X,))
    assert "unbroadcast" not in grad(f).lower(X).text


@pytest.mark.parametrize("p", [0, 1, 2, -1, 3])
def test_powers_with_an_integer_that_the_run_gives(p):
    def powers(x, p):
        return np.sum(x**p) + x[0] ** p

    x = np.array([0.7, 1.3, 0.4])
    check_grads(powers, (x, p), wrt=(0,))
    assert "lower_exponent" not in grad(powers).lower(x, p).text
    if p >= 0:
        np.testing.assert_allclose(grad(powers)(np.zeros(3), p), [2.0, 1.0, 1.0] if p == 1 else [0.0] * 3)


def keeps_rows(x, rows):
    kept = None
    for row in rows:
        if kept is not None:
            kept[0] += x * row[1]
        kept = row
    return sum(a * b for a, b in rows)


def changes_another_row(x, rows):
    total = 0.0
    for row in rows:
        rows[2][0] = x * x
        total += row[0] * row[1] * x
    return total


@pytest.mark.parametrize("f", [keeps_rows, changes_another_row])
@pytest.mark.filterwarnings("ignore:.*a derivative uses the new value")
def test_rows_that_the_loop_changes_are_what_they_are_then(f):
    check_grads(f, (0.7, [[1.0, 2.0], [3.0, 4.0], [2.0, 5.0], [1.0, 1.0]]), wrt=0)
