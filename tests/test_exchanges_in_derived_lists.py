"""`rows[i], rows[k] = rows[k], rows[i]` in an object of a class derived from `list` leaves the same rows in it."""

import copy

import pytest

from sourcead import AliasError, check_grads


class Rows(list):
    pass


class Doubling(list):
    def __getitem__(self, k):
        return list.__getitem__(self, 0)


def determinant(rows):
    rows, sign = copy.deepcopy(rows), 1.0
    for k in range(len(rows) - 1, 0, -1):
        first = max((abs(rows[i][k]), i) for i in range(k + 1))[1]
        rows[first], rows[k] = rows[k], rows[first]
        sign *= rows[k][k] if first == k else -rows[k][k]
        for i in range(k):
            factor = rows[i][k] / rows[k][k]
            for j in range(k):
                rows[i][j] -= factor * rows[k][j]
    return sign * rows[0][0]


def test_rows_are_written_after_an_exchange():
    for a, b in ((0.7, 4.0), (4.0, 0.7)):
        check_grads(lambda a, b: determinant(Rows([[a, 1.0, 0.5], [0.3, 2.0, b], [b, 0.2, 3.0]])), (a, b))


def test_a_class_with_items_of_its_own_may_hold_a_row_twice():
    with pytest.raises(AliasError, match="several times"):
        check_grads(lambda a, b: determinant(Doubling([[a, 1.0], [b, 2.0]])), (0.7, 4.0))


def place_that_changes(a, b):
    rows = Rows([[a, 1.0], [b, 2.0]])
    rows[int(rows[0][1]) - 1], rows[1] = rows[1], rows[int(rows[0][1]) - 1]
    rows[0][0] *= 3.0
    return rows[0][0] + 5.0 * rows[1][0]


def test_a_place_that_is_read_from_the_list_itself():
    check_grads(place_that_changes, (0.7, 4.0))
