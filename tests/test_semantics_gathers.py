"""Reads at repeated positions add up in the cotangent, whatever is known of the type of the array and of the subscript."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.arange(1.0, 10.0).reshape(3, 3) * 0.3 - 1.0


def places():
    return np.array([1, 1, 2])


def computed_einsum(x):
    spec = "ij->" + "ji"
    return np.sum(np.einsum(spec, x)[places()] ** 2)


def computed_split(x):
    return np.sum(np.split(x, int(1.0))[0][places()] ** 2)


def computed_split_of_columns(x):
    return np.sum(np.split(x, int(1.0))[0][1:, places()] ** 2)


def list_as_subscript(x):
    spec = "ij->" + "ji"
    return np.sum(np.einsum(spec, x)[[1, 1]] ** 2)


def after_an_ellipsis(x):
    spec = "ij->" + "ji"
    return np.sum(np.einsum(spec, x)[..., places()] ** 2)


def in_a_loop(x):
    spec, total = "ij->" + "ji", 0.0
    p = np.einsum(spec, x)
    for i in range(2):
        total += np.sum(p[places()[i:]] ** 2) * np.sum(p[i])
    return total


def in_a_while_loop(x):
    p, i, total = np.split(x, int(1.0))[0], 0, 0.0
    while i < 2:
        total = total + np.sum(p[places(), i] ** 2)
        i += 1
    return total


def in_a_branch(x):
    p = np.split(x, int(1.0))[0]
    q = p[places()] if x[0, 0] < 0 else p[[0]]
    return np.sum(q**2)


def in_a_callee(x):
    def read(a, i):
        return a[i] ** 3

    p = np.split(x, int(1.0))[0]
    return np.sum(read(p, places())) + np.sum(read(p, (places(), places())))


def in_a_comprehension(x):
    return sum(np.sum(q[k] ** 2) for q in np.split(x, int(1.0)) for k in (places(), [1, 1], 2, slice(1, 3)))


def subscript_of_unknown_kind(x):
    k = [places(), 1, (places(), places())][int(2.0)]
    return np.sum(np.split(x, int(1.0))[0][k] ** 2) + np.sum(x[k] ** 2)


def array_from_a_list_of_several_kinds(x):
    items = [x, 1.0, (x, x[places()])]
    return np.sum(items[int(2.0)][1][places()] ** 2)


def arrays_appended_in_a_loop(x):
    items = []
    for i in range(int(2.0)):
        items.append(x * (i + 1))
    return np.sum(items[1][places()] ** 2) + np.sum(items[0][places(), 1:] ** 2)


def write_at_repeated_positions(x):
    p = np.split(x * 1.0, int(1.0))[0]
    p[places()] = np.arange(9.0).reshape(3, 3) * x
    return np.sum(p**2)


def tuples_between_commas(x):
    return np.sum(x[(1, 1), (0, 0)] ** 2) + np.sum(x[:, (1, 1)] ** 2)


def tuples_in_a_name(x):
    k = ((1, 1), (0, 0))
    return np.sum(x[k] ** 2) + np.sum(np.split(x, int(1.0))[0][k] ** 2)


def tuple_chosen_by_the_run(x):
    ks = [(1, 1), (0, 2)]
    k = ks[len(x) % 2]
    return np.sum(x[k, 0] ** 2) + np.sum(x[k] ** 2) + np.sum(x[:, k] ** 2)


def tuple_in_an_assignment(x):
    for k in [(1, 1), (0, 2), (2, 2)]:
        x[k, 0] = x[k, k] * 2
    return np.sum(x**2)


def tuple_in_an_augmented_assignment(x):
    y = x * 1.0
    for k in [(1, 1), (0, 2), (2, 2)]:
        y[k, 0] += y[k, k] * 2
    return np.sum(y**2)


def tuples_in_add_at(x):
    y = x * 1.0
    np.add.at(y, ((1, 1), (0, 0)), x[0, 0] ** 2)
    return np.sum(y**2)


def arange_is_broadcast(x):
    return np.sum(x[np.arange(1), places()] ** 2)


def arange_of_unknown_length_is_broadcast(x):
    n = int(1.0)
    return np.sum(x[np.arange(n), places()] ** 2)


def arange_beside_an_array_of_two_axes(x):
    k = (np.array([[1], [1]]), 3)[int(0.0)]
    return np.sum(x[np.arange(2), [[1], [1]]] ** 2) + np.sum(x[np.arange(2), k] ** 2)


PROGRAMS = {name: f for name, f in globals().items() if callable(f) and f.__module__ == __name__ and name != "places"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) == "right"
