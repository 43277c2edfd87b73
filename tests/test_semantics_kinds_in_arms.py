"""Objects and tuples whose parts are of one kind on one side of a branch and of another on the other side, as in Python."""

import numpy as np
import pytest

from sourcead import hvp
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.5, 0.3, 0.7])


class Box:
    def __init__(self, v):
        self.v = v


def right_attribute_array_or_empty_list(x):
    e = Box(x)
    if x[1] > 0:
        e = Box([])
    if x[1] > 0:
        e.v = x * 2.0
    return np.sum(e.v * x)


def right_attribute_array_or_list_read(x):
    e = Box(x * x)
    if x[1] > 0:
        e = Box([x[0], x[1] * 2.0, x[2] ** 2])
    return e.v[0] * e.v[1] + e.v[2]


def right_attribute_list_or_array_read(x):
    if x[1] < 0:
        e = Box([x[0], x[1] * 2.0, x[2] ** 2])
    else:
        e = Box(x * x)
    return e.v[0] * e.v[1] + e.v[2]


def right_item_of_a_tuple(x):
    e = (x, 1.0)
    if x[1] > 0:
        e = ([], x[2] * 2.0)
    return x[0] * e[1]


def right_lists_of_different_length(x):
    e = Box(([x[0]], 2.0))
    if x[1] > 0:
        e = Box(([x[0], x[1] * x[2]], 3.0))
    return sum(e.v[0]) * e.v[1]


def right_list_or_dict(x):
    e = Box([x[0]])
    if x[1] > 0:
        e = Box({"a": x[0], "b": x[1]})
    return len(e.v) * x[2]


def right_list_written_after_the_branch(x):
    e = Box([x[0]])
    if x[1] > 0:
        e = Box([x[0], x[1] * x[2]])
    f = e.v
    e.v.append(x[2] ** 2)
    f[0] = x[1] * 3.0
    return sum(q * q for q in e.v)


def right_array_held_twice(x):
    y = x * 2.0
    e = Box(y)
    if x[1] > 0:
        e = Box([y, x])
    y[0] = x[2] ** 2
    return np.sum(e.v[0]) + np.sum(y)


def right_list_on_one_side_and_array_in_a_loop(x):
    if x[1] < 0:
        g = [x]
    else:
        b = x * x
    for _ in range(3):
        g = b * x
        c = np.sum(b)
    return np.sum(g) + c


def right_list_on_the_other_side_and_array_in_a_loop(x):
    if x[1] > 0:
        g = [x]
    for _ in range(3):
        g = x * x
    return np.sum(g)


def right_list_on_one_side_and_another_in_a_loop(x):
    if x[1] < 0:
        g = [x]
    for k in range(3):
        g = [x * k, x, x**2]
    return np.sum(g[0] * g[1] * g[2])


def right_list_on_one_side_that_grows(x):
    if x[1] < 0:
        g = [x]
    for k in range(3):
        if x[1] < 0:
            g.append(x * k)
    if x[1] < 0:
        return np.sum(g[0] * g[1] * g[2])
    return np.sum(x * x)


def right_list_on_the_other_side_that_grows(x):
    if x[1] < 0:
        s = 0.0
    else:
        g = [x, x**2]
        s = x[2]
    for q in x:
        if x[1] >= 0:
            g.append(x * q)
    if x[1] >= 0:
        return np.sum(g[0] * g[1] * g[2]) * s
    return np.sum(x * x)


def right_list_on_one_side_and_array_where_a_loop_ends(x):
    if x[1] < 0:
        g = [x, x]
    for _ in x:
        for b in x:
            if b > 10:
                break
        else:
            g = np.exp(x)
    return np.sum(g * g)


def right_list_in_nested_branches_inner_first(x):
    if x[1] > 0:
        z = x * x
        if x[0] > 0.1:
            g = [z[0], x[2]]
    for q in x:
        if x[1] > 0:
            if x[0] > 0.1:
                g.append(q)
    if x[1] > 0:
        if x[0] > 0.1:
            return g[0] * g[1] * g[3]
    return x[0] * x[2]


def right_list_in_nested_branches_inner_not_taken(x):
    if x[1] > 0:
        z = x * x
        if x[0] > 10.1:
            g = [z[0], x[2]]
    for q in x:
        if x[1] > 0:
            if x[0] > 10.1:
                g.append(q)
    if x[1] > 0:
        if x[0] > 10.1:
            return g[0] * g[1] * g[3]
    return x[0] * x[2]


def right_list_in_nested_branches_outer_not_taken(x):
    if x[1] > 10:
        z = x * x
        if x[0] > 0:
            g = [z[0], x[2]]
    for q in x:
        if x[1] > 10:
            if x[0] > 0:
                g.append(q)
    if x[1] > 10:
        if x[0] > 0:
            return g[0] * g[1] * g[3]
    return x[0] * x[2]


def right_array_that_becomes_a_number_and_gets_an_axis(x):
    b = x
    c = x[0] * x[1]
    for _ in x:
        s = b[None]
        b = c
    return np.sum(s * s)


def right_array_that_becomes_a_number_and_gets_all_of_it(x):
    b = x
    c = x[0] * x[1]
    for _ in x:
        s = b[...]
        s = s * 2.0
        b = c
    return np.sum(s * s)


PROGRAMS = {name: f for name, f in globals().items() if name.startswith(("right_", "refused_"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    assert judged_in_all_modes(PROGRAMS[name], X.copy()) == name.partition("_")[0]


def test_hessian_product_where_a_name_is_unassigned_in_a_loop_that_does_not_run():
    def f(x, w):
        n = 0
        while n < 1:
            n += 1
            for _ in range(0):
                c = x
        for _ in range(3):
            c = float(w)
        return c * w

    product = hvp(f, wrt=1)(X, 0.7, 2.0)
    np.testing.assert_allclose(product, 4.0)
