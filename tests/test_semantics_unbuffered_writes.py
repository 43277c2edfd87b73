"""Writes of which NumPy does not copy the values first: where these lie in the written array, the order of its own steps decides."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.7, -0.4, 1.3])


def weighted(o):
    return np.sum(o * np.arange(1.0, o.size + 1).reshape(o.shape))


def moved_by_concatenate(x):
    o = x * 1.0
    np.concatenate([o[1:], o[:1]], out=o)  # the last element becomes what the first is by then
    return weighted(o)


def reversed_by_stack(x):
    o = np.outer(x, x + 1.0)
    rows = list(o[::-1])
    np.stack(rows, out=o)
    return weighted(o)


def concatenated_into_what_may_be_the_same(x):
    o = x * 1.0
    p = o if x[0] > 0 else x * 2.0
    np.concatenate((p[1:], p[:1]), 0, o)
    return weighted(o)


def rows_given_in_another_order(x):
    o = np.outer(x, x + 1.0)
    o[...] = [o[1], o[0], o[2]]
    return weighted(o)


def rows_given_as_a_tuple_under_another_name(x):
    o = np.outer(x, x + 1.0)
    p = o[:2]
    p[:] = (o[2], o[0])
    return weighted(o)


def rows_in_a_list_of_unknown_length(x):
    xs = np.repeat(x, 3)
    o, rows = np.outer(xs, xs + 1.0), []
    for row in o:
        rows.append(row)
    rows.reverse()
    o[:] = rows
    return weighted(o)


def diagonal_filled_with_a_column(x):
    o = np.outer(x, x + 1.0)
    np.fill_diagonal(o, o[::-1, 0])
    return weighted(o)


REFUSED = [
    moved_by_concatenate, reversed_by_stack, concatenated_into_what_may_be_the_same, rows_given_in_another_order,
    rows_given_as_a_tuple_under_another_name, rows_in_a_list_of_unknown_length, diagonal_filled_with_a_column,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED)
def test_parts_of_the_array_that_is_written_are_not_given_where_numpy_reads_them_late(f):
    assert judged_in_all_modes(f, X) == "refused"


def copies_of_rows_and_new_arrays(x):
    o = np.outer(x, x + 1.0)
    o[:2] = [o[1].copy(), o[0] * 2.0]
    np.concatenate([o[1:] * 1.0, np.sin(o[:1])], out=o)
    np.fill_diagonal(o, o[0] * x)
    return weighted(o)


def numbers_of_its_own(x):
    o = np.append(x, 0.5)
    o[:2] = [o[3], o[0]]
    o[1:] = [u * v for u, v in zip(o, o[1:])]
    return weighted(o)


def rows_that_numpy_copies_first(x):
    o = np.outer(x, x + 1.0)
    o[[0, 1]] = [o[1], o[0]]
    o[:2] += [o[2], o[0]]
    np.copyto(o, list(o[::-1]))
    np.add(o[::-1], [o[1], o[0], o[2]], out=o)
    return weighted(o)


def rows_of_another_array(x):
    o, p = np.outer(x, x + 1.0), np.outer(x, x)
    o[1:] = [p[0], p[1]]
    np.stack(list(p[::-1]), out=p.copy())
    return weighted(np.concatenate([o[:1], p[:2]], out=np.zeros((3, 3)))) * o[1, 1]


@pytest.mark.parametrize("f", [copies_of_rows_and_new_arrays, numbers_of_its_own, rows_that_numpy_copies_first, rows_of_another_array])
def test_other_values_may_be_given(f):
    assert judged_in_all_modes(f, X) == "right"
