"""`array.flat`: what is read from it is a copy, what is written into it is written into the array."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([1.3, 2.1, -0.7])


def array_written_after_a_part_was_read(x):
    o = x * 1.0
    part = o.flat[1:]
    o[1] = 5.0 * x[0]
    return part[0] * o[1]


def part_written_after_it_was_read(x):
    o = x * 1.0
    part = o.flat[1:]
    part[0] = 5.0 * x[0]
    return part[0] * o[1]


def part_doubled_under_a_name_of_the_iterator(x):
    o = np.outer(x, x)
    elements = o.flat
    first_row = elements[:3]
    first_row *= x[1]
    return np.sum(first_row) * o[0, 2]


def part_kept_in_a_list(x):
    o = x * 1.0
    kept = [o.flat[:2], o.flat[::-1]]
    o *= x[2]
    return np.sum(kept[0]) * kept[1][0] + np.sum(o**2)


def part_written_by_a_function(x):
    def doubled(part):
        part *= 2.0
        return part

    o = x * 1.0
    return np.sum(doubled(o.flat[:])) * o[0]


def elements_written_one_by_one(x):
    o = np.outer(x, x)
    o.T.flat[1] = x[0] ** 2
    o.flat[[0, 5]] = [x[1], x[2] * 2]
    return np.sum(o * np.arange(9).reshape(3, 3))


def elements_read_while_they_are_written(x):
    o, total = x * 1.0, 0.0
    for k, e in enumerate(o.flat):
        o[2] = e**2
        total += e * (k + 1)
    return total


def added_to_what_they_follow(x):
    o = x * 1.0
    o.flat[1:] *= o[:-1]
    o.flat[1:] += o[:-1]
    return o @ np.array([1.0, 2.0, 3.0])


def given_a_copy_of_its_own_elements(x):
    o = x * 1.0
    o.flat[:] = o.flat[::-1]
    o.flat[1:] = o[:-1].copy()
    return o @ np.array([1.0, 2.0, 3.0])


RIGHT = [
    array_written_after_a_part_was_read, part_written_after_it_was_read, part_doubled_under_a_name_of_the_iterator, part_kept_in_a_list,
    part_written_by_a_function, elements_written_one_by_one, elements_read_while_they_are_written, added_to_what_they_follow,
    given_a_copy_of_its_own_elements,
]  # fmt: skip


@pytest.mark.parametrize("f", RIGHT)
def test_elements_of_flat(f):
    assert judged_in_all_modes(f, X) == "right"


def reversed_in_place(x):
    o = x * 1.0
    o.flat[:] = o[::-1]  # NumPy writes the first element before it reads the last
    return o @ np.array([1.0, 2.0, 3.0])


def moved_by_one_under_other_names(x):
    o = x * 1.0
    elements, before = o.flat, o[:-1]
    elements[1:] = before
    return o @ np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("f", [reversed_in_place, moved_by_one_under_other_names])
def test_elements_of_its_own_array_are_not_given_to_flat(f):
    assert judged_in_all_modes(f, X) == "refused"


def array_of_flat_written(x):
    o = np.outer(x, x + 1.0)
    elements, others = np.array(o.flat), np.copy(o.flat)  # NumPy copies neither
    elements[1] = x[0] ** 2
    o[1] *= x[2]
    return np.sum(o * np.arange(9).reshape(3, 3)) * others[3]


def array_of_the_flat_of_a_transposed_array(x):
    o = np.outer(x, x + 1.0)
    elements, pair = np.asarray(o.T.flat), np.squeeze(o.T.flat)[:2]  # copies, since their order is not that of the memory
    o[:2] *= x[2]
    return elements @ np.arange(9.0) * np.sum(pair) * o[0, 1]


@pytest.mark.parametrize("f", [array_of_flat_written, array_of_the_flat_of_a_transposed_array])
def test_flat_as_the_argument_of_a_function(f):
    assert judged_in_all_modes(f, X) == "right"
