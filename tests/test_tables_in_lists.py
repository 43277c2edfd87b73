"""Tables as lists of lists: the cotangent of one number is one element, whatever the way of reading and writing it."""

import math
import re

import numpy as np
import pytest

from sourcead import check_grads, grad

pytestmark = pytest.mark.sampled(2)

C = np.random.default_rng(0).normal(size=(4, 5))


def soft(*xs):
    return -math.log(sum(math.exp(-x) for x in xs))


def by_indices(c):
    n, m = c.shape
    t = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            t[i][j] = c[i - 1, j - 1] ** 2 + soft(t[i - 1][j], t[i][j - 1], t[i - 1][j - 1])
    return t[n][m]


def rows_by_name(c):
    n, m = c.shape
    table = [[0.0 for _ in range(m)] for _ in range(n)]
    for i in range(n):
        row, above = table[i], table[i - 1]
        for j in range(m):
            row[j] = c[i, j] * row[j - 1] + math.sin(above[j]) + c[i, j]
    return sum(table[-1])


def rows_that_are_appended(c):
    rows = [list(c[0])]
    for i in range(1, len(c)):
        row = []
        for j in range(c.shape[1]):
            row.append(c[i, j] * rows[i - 1][j] + rows[i - 1][j - 1] ** 2)
        rows.append(row)
    return rows[-1][2] + rows[2][1]


def of_three_axes(c):
    t = [[[0.1] * 3 for _ in range(4)] for _ in range(2)]
    for k in range(1, 6):
        for i in range(1, 4):
            for j in range(1, 3):
                t[k % 2][i][j] = c[i, j] * t[(k + 1) % 2][i - 1][j] + math.cos(t[k % 2][i][j - 1])
    return t[0][3][2] * t[1][2][1]


def added_to(c):
    t = [[0.0] * 5 for _ in range(4)]
    for i in range(4):
        for j in range(5):
            t[i][j] += c[i, j] ** 2
            t[j % 4][i] += t[i][j] * c[i, j]
            t[i][j] *= c[j % 4, i]
    return sum(sum(row) for row in t)


def rows_of_arrays(c):
    t = [[c[0] * k, c[1] + k] for k in range(3)]
    for k in range(3):
        for j in range(2):
            t[k][j] = t[k][j] * t[(k + 1) % 3][(j + 1) % 2]
    return sum(np.sum(a) for row in t for a in row)


def read_before_and_after_a_write(c):
    t = [[c[i, j] for j in range(5)] for i in range(4)]
    total = 0.0
    for i in range(4):
        row = t[i]
        for j in range(4):
            before = row[j]
            t[i][j] = before * t[i][j + 1]
            total = total + before * row[j] + t[i][j] ** 2
    return total


def swapped_and_aliased(c):
    t = [[c[i, j] for j in range(5)] for i in range(4)]
    for i in range(3):
        t[i][0], t[i + 1][1] = t[i + 1][1], t[i][0] * t[i][2]
        t[i], t[i + 1] = t[i + 1], t[i]
    return sum(t[i][i] ** 2 for i in range(4)) + t[3][4]


def with_a_condition(c):
    best = [[-9.0] * 5 for _ in range(4)]
    for i in range(4):
        for j in range(5):
            if i == 0 or best[i - 1][j] > best[i][j - 1]:
                best[i][j] = c[i, j] + (best[i - 1][j] if i > 0 else 0.5)
            else:
                best[i][j] = c[i, j] * best[i][j - 1]
    return best[3][4] + best[2][2]


def smallest_of_those_there_are(c):
    t = [[0.0] * 5 for _ in range(4)]
    for i in range(4):
        for j in range(5):
            before = [t[a][b] for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            t[i][j] = c[i, j] ** 2 + (min(before) if before else 0.0)
    return t[-1][-1]


def held_in_a_dict(c):
    d = {"t": [[0.3] * 5 for _ in range(4)]}
    for i in range(1, 4):
        for j in range(5):
            d["t"][i][j] = d["t"][i - 1][j] * c[i, j] + d["t"][i][j - 1]
    return d["t"][3][2]


TABLES = [
    by_indices, rows_by_name, rows_that_are_appended, of_three_axes, added_to, rows_of_arrays, read_before_and_after_a_write,
    swapped_and_aliased, with_a_condition, smallest_of_those_there_are, held_in_a_dict,
]


@pytest.mark.parametrize("f", TABLES)
def test_the_gradient_is_that_of_differences(f):
    check_grads(f, (C,))


@pytest.mark.parametrize("f", [by_indices, of_three_axes, with_a_condition, smallest_of_those_there_are])
def test_nothing_is_copied_in_the_loops(f):
    text = grad(f).lower(C).text
    assert not re.search(r"^ {8,}.*(copy\(|zeros_like\((?!before))", text, re.M), text


def raised_in_place(c):
    t, total = [[c[i, j] for j in range(5)] for i in range(4)], 0.0
    for k in range(8):
        t[k % 4][0] = t[k % 4][0] + total
        total = total + t[k % 4][1] * t[(k + 2) % 4][0]
    return total


def test_a_cotangent_is_not_written_back_to_where_it_was_read_from():
    check_grads(raised_in_place, (C,))
    text = grad(raised_in_place).lower(C).text
    assert not re.search(r"(\w+) = (d_t\S+)\n(?:.*\n)?\s+\2 = \1\n", text), text
