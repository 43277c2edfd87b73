"""Names and attributes that one side of a branch binds alone, and attributes of the class behind them, against Python and differences."""

import numpy as np
import pytest

from sourcead import value_and_grad
from tests.semantics import judged, judged_in_all_modes

X = np.array([0.3, 0.7, -1.2])


class C:
    w = 3.0

    def __init__(self, v):
        self.v = v


def attribute_set_on_the_other_side(x):
    c = C(x)
    if x[0] > 5:
        c.w = x[0]
    return c.w * x[1]


def attribute_set_in_some_iteration(x):
    c = C(x)
    for v in x:
        if v > 5:
            c.w = v
    return c.w * x[1]


def attribute_read_and_set_in_a_loop(x):
    c = C(x)
    for v in x:
        c.w = v * c.w
    return c.w * x[1]


def attribute_deleted(x):
    c = C(x)
    c.w = x * 2
    before = c.w.sum()
    if x[0] > 0:
        del c.w
    return np.sum(c.v[0] * c.w) * before


def array_written_later(x):
    y = x * 2
    if x[0] < 0.5:
        a = y
    y[2] = 5.0 * x[1]
    a[1] = x[0] ** 2
    return np.sum(y * a)


def view_written_later(x):
    y = x * 2
    if x[0] < 0.5:
        a = y[1:]
        b = a[1:]
    a[0] = x[0] ** 2
    y[2] = 5.0 * x[1]
    return np.sum(y * y) * a[1] * b[0]


def one_view_on_both_sides(x):
    y = x * 2
    if x[0] < 0.5:
        a = y[1:]
    else:
        a = y[1:]
        y[1] = 3.0
    a[0] = x[0] ** 2
    y[2] = 5.0 * x[1]
    return np.sum(y * y) * a[1]


def one_view_in_every_iteration(x):
    y, total = x * 2, 0.0
    for v in x:
        g = y[0:2]
        total += g[0] * v
        y[0] = v
    g[1] = total * x[1]
    return np.sum(y * y) * total


def items_of_a_tuple(x):
    w = [x * 1, x * 2]
    if x[0] < 0.5:
        a = (w[-1], w[0])
    if x[0] < 0.5:
        w[-1][0] = x[1] ** 2
    return np.sum(a[0]) * np.sum(a[1] * w[0])


def dict_written_in_a_loop(x):
    d = {"a": x * 1, "b": 2.0}
    for v in x:
        if v > 0.5:
            m = d
            m["b"] = x[1]
    d["a"][0] = 3.0
    return d["a"].sum() * m["b"]


def joined_dicts(x):
    d = {k: q * 2 for k, q in enumerate(x)}
    m = d | {0: x[1]}
    n = {7: x[0]} | d
    d[1] = 5.0
    return m[0] * m[1] + d[1] * d[0] + n[7] * n[1]


RIGHT = [
    attribute_set_on_the_other_side, attribute_set_in_some_iteration, attribute_read_and_set_in_a_loop, attribute_deleted,
    one_view_on_both_sides, one_view_in_every_iteration, joined_dicts, array_written_later, view_written_later, items_of_a_tuple,
]  # fmt: skip


@pytest.mark.parametrize("program", RIGHT)
def test_one_side(program):
    assert judged_in_all_modes(program, X) == "right"


def the_same_view_or_another_of_its_part(x):
    y = x * 2
    if x[0] > 0:
        p = q = y[1:]
    else:
        q, p = y[1:], y[1:]
    return (1.0 if p is q else 2.0) * x[0]


def object_of_before_on_one_side(x, n):
    if n > 0:
        a = x
    return np.sum(a * x)


def view_of_before_on_one_side(x, n):
    for _ in range(3):
        if n > 0:
            a = x[1:]
    return np.sum(a * a)


def object_of_before_in_a_loop(x, n):
    for _ in range(n):
        a = x
    return np.sum(a * x)


@pytest.mark.parametrize("program", [object_of_before_on_one_side, view_of_before_on_one_side, object_of_before_in_a_loop])
def test_a_name_that_the_other_side_leaves_without_a_value_is_none_of_an_older_object(program):
    derivative = value_and_grad(program, verify=False)
    assert derivative(X, 1)[0] == program(X, 1)
    with pytest.raises(UnboundLocalError):
        derivative(X, 0)


UNKNOWN = [the_same_view_or_another_of_its_part, dict_written_in_a_loop]


@pytest.mark.parametrize("program", UNKNOWN)
def test_what_is_not_known_is_refused(program):
    assert judged(program, X) == "refused"
