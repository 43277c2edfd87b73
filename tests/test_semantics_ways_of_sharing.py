"""Containers made of the items of others, in a loop or by `tuple`, and names and attributes that are deleted."""

import itertools

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged, judged_in_all_modes, made

X, Y = np.array([0.5, 0.6, 0.8]), np.array([1.5, -0.3, 0.9])


class Box:
    def __init__(self, v):
        self.v = v


def tuple_of_a_generator(x, y):
    xs = [x * k for k in range(len(x))]
    p = tuple(q for q in xs)
    xs[1][...] = 2
    return np.sum(p[0] * y) + np.sum(p[1] * y)


def tuple_of_a_list_of_items(x, y):
    xs = [x * k for k in range(len(x))]
    items = []
    for q in xs:
        items.append(q)
    p = tuple(items)
    for q in p:
        q *= y
    return np.sum(xs[1]) + np.sum(xs[2])


def number_that_becomes_a_list(x, y):
    z, w = x * 1.0, 0.5
    for _ in range(2):
        a, w = w, [z]
    z *= y
    return np.sum(a[0])


def starred_target_in_a_loop(x, y):
    z, w = (0.5, x * 2), 0.5
    for _ in range(len(x)):
        *w, a = (z[1], w)
    z[1][1] *= -1
    return np.sum(a[0] * y)


def number_that_becomes_a_tuple_of_the_last(x, y):
    z, w = x * 1.0, 1.0
    for _ in range(len(x)):
        w = (z, w)
    z *= y
    return np.sum(w[0]) + np.sum(w[1][0])


def list_that_holds_the_last(x, y):
    z, a = x * 1.0, [0, y]
    for _, h in itertools.product(range(2), a):
        z = [*a, z]
    np.clip(-1, 0.5, 1.3, out=a[1])
    return np.sum(z[2][2][1])


def attribute_deleted_in_a_loop(x, y):
    m, d = Box(0.5), x * 1.0
    for _ in range(len(x)):
        try:
            del m.v
        except AttributeError:
            d *= y
    return np.sum(d)


def attribute_asked_for_in_a_loop(x, y):
    m, d = Box([x, y]), x * 1.0
    for _ in range(len(x)):
        if hasattr(m, "v"):
            del m.v
        else:
            d = d * y
    return np.sum(d)


def attribute_asked_for_after_a_branch(x, y):
    m = Box(x)
    if x[0] > 0:
        del m.v
    return np.sum(x) if hasattr(m, "v") else np.sum(x * y)


def name_deleted_in_a_loop(x, y):
    d = x * 1.0
    for _ in range(3):
        try:
            del q
        except NameError:
            d *= y
            q = 1  # noqa: F841
    return np.sum(d)


def deleted_and_made_again(x, y):
    m, t = Box(x), 0.0
    for k in range(len(x)):
        t = t + np.sum(m.v * y)
        del m.v
        m.v = x * k
    return t


REFUSED = [attribute_deleted_in_a_loop]


@pytest.mark.parametrize(
    "f",
    [
        tuple_of_a_generator, tuple_of_a_list_of_items, number_that_becomes_a_list, starred_target_in_a_loop,
        number_that_becomes_a_tuple_of_the_last, list_that_holds_the_last, attribute_deleted_in_a_loop, attribute_asked_for_in_a_loop,
        attribute_asked_for_after_a_branch, name_deleted_in_a_loop, deleted_and_made_again,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
@pytest.mark.parametrize("sign", [1, -1])
def test_gradient(f, sign):
    assert judged(f, sign * X, Y) == ("refused" if f in REFUSED else "right")


def test_deleted_name_has_no_value():
    def f(x):
        q = x * 2
        if x[0] > 0:
            del q
        return np.sum(q * q)

    with pytest.raises(UnboundLocalError):
        grad(f, verify=False)(X)
    np.testing.assert_array_equal(grad(f, verify=False)(-X), -8 * X)


def real_part_and_copy(x):
    a = (x + 1j * x).real  # every other number in memory
    a.ravel()[0] = x[1] * 5
    return a @ x


def real_part_of_a_sum(x):
    a = np.real(x + 1j * np.sum(x))
    b = np.ravel(a)
    b[1] = x[0]
    return a @ x


def real_part_of_floats(x):
    a = (x * 2).real
    a.ravel()[0] = x[1] * 5
    return a @ x


@pytest.mark.parametrize("f, expected", [(real_part_and_copy, "refused"), (real_part_of_a_sum, "refused"), (real_part_of_floats, "right")])
def test_the_real_part_of_a_complex_array_is_not_in_one_piece(f, expected):
    assert judged(f, X) == expected


def through_an_argument(x):
    def helper(a):
        b = a
        b.shape = (3, 1)
        return a.ndim * np.sum(a * np.ones(3))

    return helper(x * 2)


def through_a_closure(x):
    def kept(a):
        return lambda: a

    y = x * 2
    f = kept(y)
    y.shape = (3, 1)
    return np.sum(f() * np.ones(3)) + np.sum(y)


def through_its_own_variable(x):
    y = x * 2

    def f():
        return y

    y.shape = (3, 1)
    return np.sum(f() * np.ones(3))


@pytest.mark.parametrize("f", [through_an_argument, through_a_closure, through_its_own_variable])
def test_a_shape_is_assigned_of_an_array_with_one_name(f):
    assert judged_in_all_modes(f, np.array([0.3, 0.7, -1.2])) == ("right" if f is through_its_own_variable else "refused")


@pytest.mark.parametrize("copy", ["np.asarray(x, dtype=np.float32)", "np.asanyarray(x, 'float32')", "np.require(x, np.complex128)"])
def test_what_is_converted_to_another_dtype_is_a_copy(copy):
    f = made(f"y = {copy}\ny[:] = 3.0\nreturn np.sum(x * y.real)", np=np)
    assert judged_in_all_modes(f, np.array([0.5, 2.0])) == "right"


def in_a_dict_that_grows(x):
    groups = {}
    for i, row in enumerate(np.outer(x, x)):
        groups.setdefault(i % 2, []).append(row)
    return sum(np.sum(np.mean(rows, axis=0) ** 2) for rows in groups.values())


def in_a_list_of_lists(x):
    rows, lists = np.outer(x, x), [[] for _ in range(2)]
    for i in range(len(x)):
        lists[i % 2].append(rows[i])
        lists[i % 2].append(rows[i] * x[0])
    return sum((k + 1) * np.sum(row**2) for k, each in enumerate(lists) for row in each)


def of_one_list_twice(x):
    rows, lists = np.outer(x, x), []
    for row in rows:
        each = []
        lists.append(each)
        lists.append(each)
    for i in range(len(x)):
        lists[i].append(rows[i])
    return sum(np.sum(row**2) for each in lists for row in each)


def written_through_a_list(x):
    rows, lists = np.outer(x, x), [[] for _ in range(2)]
    for i in range(len(x)):
        lists[i % 2].append(rows[i])
        lists[i % 2][0][0] = 2.0
    return np.sum(rows**3) + sum(np.sum(row**2) for each in lists for row in each)


@pytest.mark.parametrize("f", [in_a_dict_that_grows, in_a_list_of_lists, of_one_list_twice, written_through_a_list])
def test_rows_in_lists_that_are_in_a_list(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"


def stacked_by_asarray(x):
    rows = [x, x * 2]
    stacked = np.asarray(rows)
    stacked[0] += 1
    rows[0][1] = 5.0
    return np.sum(x**2) + np.sum(stacked**2)


def stacked_of_a_tuple(x):
    stacked = np.ascontiguousarray((x, x * 2))
    stacked[0] += 1
    return np.sum(x**2) + np.sum(stacked**2)


def stacked_of_a_list_that_grew(x):
    rows = [x]
    for _ in range(3):
        rows.append(rows[-1] * 1.5)
    stacked = np.asarray(rows)
    stacked[1] *= 2
    return np.sum(x**2) + np.sum(stacked**2) + np.sum(rows[1])


def asarray_of_what_may_be_an_array(x):
    rows = x if x[0] > 0 else [x[0], x[1], 2.0]
    taken = np.asarray(rows)
    taken[0] = 3
    return np.sum(x**2) + np.sum(taken**2)


@pytest.mark.parametrize("f", [stacked_by_asarray, stacked_of_a_tuple, stacked_of_a_list_that_grew, asarray_of_what_may_be_an_array])
def test_arrays_that_are_made_of_lists_are_in_new_memory(f):
    assert judged_in_all_modes(f, np.array([0.5, -1.2, 2.0])) == "right"
