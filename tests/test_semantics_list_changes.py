"""Lists that lose items with gaps between them, that are extended by themselves, and that get items of several kinds, as in Python."""

from dataclasses import dataclass

import numpy as np
import pytest

from sourcead import hvp
from tests.semantics import judged_in_all_modes

X = np.array([0.5, 0.3, 0.7])


@dataclass
class Pair:
    a: object
    b: object


def right_every_second_item_deleted(x):
    a = [x[0], x[1], x[2] * 2.0, x[0]]
    b = a
    del a[::2]
    return b[0] * b[1] ** 2


def right_every_second_item_deleted_backwards(x):
    a = [x[0], x[1] * 3.0, x[2] * 2.0, x[0] * 4.0]
    del a[::-2]
    return a[0] * a[1] ** 2


def right_items_deleted_in_a_loop(x):
    a = [x[0], x[1] * 3.0, x[2] * 2.0, x[0] * 4.0]
    for _ in range(2):
        del a[::2]
    return a[0] ** 2


def right_starred_items_deleted(x):
    e, *a = x
    del a[::2]
    return e * a[0] ** 2


def right_too_many_items_for_a_slice(x):
    a = [x[0], x[1], x[2]]
    try:
        a[::2] = [1.0, 2.0, 3.0]
    except ValueError:
        a.append(x[2])
    return a[0] * a[1] * a[2] * a[3]


def right_too_many_items_in_an_arm(x):
    a = [x[0], x[1], x[2]]
    if x[0] > 100:
        a[::2] = [1.0, 2.0, 3.0]
    return a[0] * a[1]


def right_extended_by_itself(x):
    b = [x, x]
    for i in range(2):
        b.append(x * i)
    b.extend(b)
    b[0] = b[5] * 2
    return np.sum(b[0] * b[1] + b[4] * b[7][0])


def right_extended_by_itself_and_written(x):
    b = [[q * 2.0, 1.0] for q in x]
    b.extend(b)
    b[0][0] = x[1]
    return b[3][0] * b[4][0]


def right_object_and_number_before_arrays(x):
    w = [x * 2.0, x * 1.5]
    for k in range(2):
        w.append(x * k)
    if x[1] > 0:
        w[:0] = [Pair(w[0], 2.0), 3.0]
    w[0] = x[0]
    return w[0] * w[2][0]


def right_dict_and_list_before_arrays(x):
    w = [x * 2.0, x * 1.5]
    for k in range(2):
        w.append(x * k)
    if x[1] > 0:
        w[:0] = [{"a": x[0], "b": 2.0}, 3.0, [x[1], [x[2]]], (x[0] ** 2, x[1])]
    return w[0]["a"] * w[2][1][0] * w[3][0]


def right_values_of_a_dict_in_the_order_of_its_keys(x):
    w = {"m": x * 2.0, "k": x**2}
    c = [w[k] for k in sorted(w)]
    return np.sum(c[1] ** 2)


PROGRAMS = {name: f for name, f in globals().items() if name.startswith(("right_", "refused_"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) == name.partition("_")[0]


def test_hessian_product_of_a_dict_whose_keys_are_sorted():
    def f(w):
        c = [w[k] for k in sorted(w)]
        return np.sum(c[1] ** 3)

    w = {"m": X.copy(), "k": np.ones((2, 3))}
    product = hvp(f)(w, w)
    np.testing.assert_allclose(product["m"], 6 * X**2)
    np.testing.assert_allclose(product["k"], np.zeros((2, 3)))
