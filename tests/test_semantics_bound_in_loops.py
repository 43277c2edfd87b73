"""Names that a loop or branch binds and that are read after it: the last row that a loop wrote, a view, a result of changing length."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

V, W = np.array([0.1, 0.3, 0.5]), np.arange(6.0).reshape(2, 3) * 0.2 + 0.1


def view_of_growing_length_written(x):
    for k in range(3):
        b = x[:k + 1]
        b[0] *= 0.5
    return np.sum(b)


def result_of_shrinking_length(x):
    for k in range(3):
        b = x[k:] * 2
    return np.sum(b)


def result_of_shrinking_length_that_is_also_read(x):
    s = 0.0
    for k in range(3):
        b = x[k:] * 2
        s += np.sum(b * b)
    return np.sum(b) + s


def bound_in_an_inner_loop_that_may_not_run(x):
    for k in range(3):
        for j in range(k):
            b = x[j:] * k
    return np.sum(b * b)


def view_written_in_an_inner_loop_that_may_not_run(x):
    for k in range(3):
        for j in range(k):
            b = x[j:]
            b[0] = 3 * x[1]
    return np.sum(b * b)


def row_bound_in_a_branch(x):
    for r in x:
        if r[0] > 0.2:
            b = r
            b[1] *= r[2]
    return np.sum(b * b)


def row_in_a_while_loop(x):
    i = 0
    while i < 2:
        r = x[i]
        r[0] = r[1] * 3
        i += 1
    return np.sum(r * r)


def view_of_a_row(x):
    for i, r in enumerate(x):
        q = r[1:]
        q *= r[:2]
    return np.sum(q * q) + np.sum(r)


def row_returned_by_a_callee(x):
    def f(w):
        for r in w:
            r += r * r
        return r
    return np.sum(f(x)**2)


def array_beside_a_written_row(x):
    for r in x:
        y = x * 1.
        r[0] = np.sum(y)
    return np.sum(y * y) + np.sum(r * r)


def row_view_and_its_namesake(x):
    for k in range(2):
        u = x[k]
        for j in range(3):
            v = u[j:]
            v *= 0.5
        w = v
    return np.sum(w) + np.sum(u * u)


def names_swapped_at_the_end_of_an_iteration(b):
    for _ in range(2):
        for _ in range(2):
            c = b * 1.0
        d = c > 0.51
        c, d = d, c
    return np.sum(d)


def taken_in_one_branch_and_read_in_another_under_the_same_condition(w):
    s = 0.0
    if w[1] > 0:
        c = w[0]
    if w[1] > 0:
        while True:
            d = w[1:]
            d[0] = np.sin(s) + c * d[1]
            break
    return s + c * 1.17 + np.sum(d)


PROGRAMS = [
    (view_of_growing_length_written, V),
    (result_of_shrinking_length, V),
    (result_of_shrinking_length_that_is_also_read, V),
    (bound_in_an_inner_loop_that_may_not_run, V),
    (view_written_in_an_inner_loop_that_may_not_run, V),
    (row_bound_in_a_branch, W),
    (row_in_a_while_loop, W),
    (view_of_a_row, W),
    (row_returned_by_a_callee, W),
    (array_beside_a_written_row, W),
    (row_view_and_its_namesake, W),
    (names_swapped_at_the_end_of_an_iteration, V),
    (taken_in_one_branch_and_read_in_another_under_the_same_condition, V),
]


@pytest.mark.parametrize("program, argument", PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_names_bound_in_a_loop_are_read_after_it(program, argument):
    assert judged_in_all_modes(program, argument) == "right"
