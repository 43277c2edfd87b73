"""Values whose kind differs from place to place: items of tuples that hold tuples and lists, arrays of objects, lists of lists."""

import numpy as np
import pytest

from sourcead import value_and_grad
from tests.semantics import judged, judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

V = np.array([0.1, 0.3, 0.5])


def squares_by_position(tree):
    s = 0.0
    for k in range(len(tree)):
        branch = tree[k]
        for j in range(len(branch)):
            s += branch[j] * branch[j]
    return s


def squares_by_item(tree):
    s = 0.0
    for k in range(2):
        for q in tree[k]:
            s += q**2
    return s


def squares_by_recursion(tree):
    if isinstance(tree, (list, tuple)):
        s = 0.0
        for k in range(len(tree)):
            branch = tree[k]
            s += squares_by_recursion(branch)
        return s
    return tree * tree


TREES = [((1.0, 2.0), [3.0]), ([1.0, 2.0], (3.0,)), [(1.0, 2.0), [3.0]], ((1.0, 2.0), (3.0,))]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("program", [squares_by_position, squares_by_item, squares_by_recursion])
def test_gradients_of_trees_have_their_structure(program, tree):
    value, gradient = value_and_grad(program, verify=False)(tree)
    doubled = [[2 * q for q in branch] for branch in tree]
    assert value == 14.0 and gradient == type(tree)(type(b)(d) for b, d in zip(tree, doubled))


def array_of_objects(x):
    a = np.array([x[0], x[1]], dtype=object)
    t = a.sum()
    return a[0] * 2 + t


def test_arrays_of_objects():
    assert judged_in_all_modes(array_of_objects, V) == "right"


def test_a_list_joined_with_what_may_be_an_array():
    def beam_search(p, n):
        beams = [[[], 0.0]]
        for t in range(n):
            found = []
            for path, score in beams:
                for k in range(3):
                    found.append((path + [k], p[k] * score + p[t]))
            beams = found[:2]
        return beams[0][1]

    assert judged(lambda p: beam_search(p, 3), V) == "right"
    assert judged(beam_search, V, 3) == "refused"


def rebound_to_a_list(x):
    """Return an array, a number and a list, whose kinds nothing tells before the function runs."""
    v = 2
    for _ in range(3):
        v = [x, 0.3, [x[0], x[1]]]
    return v


OF_NUMBERS = {
    "mean": lambda v, x: np.mean(v[1]) * x[0] + np.std(v[0]),
    "prod": lambda v, x: np.prod(v[1]) * x[0],
    "max": lambda v, x: np.max(v[1]) * x[0],
    "median": lambda v, x: np.median(v[1]) * x[0],
    "pad": lambda v, x: np.sum(np.pad(v[1], 0)) * x[0],
    "var of a list": lambda v, x: np.var(v[2]) + np.max(v[2]) * np.sum(np.diff(v[2])),
}


@pytest.mark.parametrize("of", OF_NUMBERS.values(), ids=OF_NUMBERS)
def test_rules_for_arrays_take_numbers_whose_kind_is_not_known(of):
    assert judged_in_all_modes(lambda x: of(rebound_to_a_list(x), x), V) == "right"


def rows_beside_a_number(x):
    a = [[p * q for q in x] for p in x]
    a.extend([x, 2.0])
    a[0][::2] = a[1][::2]
    return sum(a[0])


def slice_after_a_loop(x):
    y = x.reshape(1, 3) * 2
    i = 0
    while i < 1:
        i += 1
        y = [y, np.tanh(y)]
    y[0:2] = np.sum([y, y], axis=0)
    return np.sum(y[0])


def sorted_after_a_loop(x):
    z = [0.3, -0.34, 0.86]
    for _ in x:
        z = [[p * q for q in x] for p in x]
    z[0].sort()
    return z[2][0] * z[0][0]


@pytest.mark.parametrize("f", [rows_beside_a_number, slice_after_a_loop, sorted_after_a_loop])
def test_changes_of_what_may_be_a_list(f):
    assert judged_in_all_modes(f, V) == "refused"
