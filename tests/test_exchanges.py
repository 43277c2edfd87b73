"""`rows[i], rows[k] = rows[k], rows[i]`: rows of a list change places, and are written afterwards."""

import numpy as np
import pytest

from sourcead import check_grads

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)


def pivoted(a, b):
    rows = [list(row) + [v] for row, v in zip(a, b)]
    n = len(rows)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(k + 1, n):
            f = rows[i][k] / rows[k][k]
            for j in range(k, n + 1):
                rows[i][j] -= f * rows[k][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return sum(x)


def written_in_both_places(x):
    rows = [x * k for k in range(9)]
    for t in range(20):
        i, j = t % 9, (3 * t + 1) % 9
        rows[i], rows[j] = rows[j], rows[i]
        rows[i][t % 3] += 0.1 * rows[j][0]
        rows[j] *= 1.1
    return sum(np.sum(row) * k for k, row in enumerate(rows))


def two_buffers(x):
    buffers = [x * 1, x * 2]
    for _ in range(7):
        buffers[1] += np.sin(buffers[0])
        buffers[0], buffers[1] = buffers[1], buffers[0]
        buffers[0][0] *= 0.5
    return buffers[0] @ buffers[1]


def bubbles(x):
    pairs = [[v, 2 * v] for v in x]
    n = len(pairs)
    for i in range(n):
        for j in range(n - 1 - i):
            if pairs[j][0] > pairs[j + 1][0]:
                pairs[j], pairs[j + 1] = pairs[j + 1], pairs[j]
    pairs[0][1] *= 3.0
    return sum(a * b * (k + 1) for k, (a, b) in enumerate(pairs))


@pytest.mark.parametrize(
    "f, args",
    [
        (pivoted, (rng.normal(size=(4, 4)), rng.normal(size=4))),
        (pivoted, (rng.normal(size=(9, 9)), rng.normal(size=9))),
        (written_in_both_places, (rng.normal(size=3),)),
        (two_buffers, (rng.normal(size=3),)),
        (bubbles, (np.array([0.3, -1.2, 2.1, 0.9, -0.4, 1.5, -2.0, 0.1, 0.6]),)),
    ],
)
def test_exchanged_rows(f, args):
    check_grads(f, args, wrt=tuple(range(len(args))))


def one_row_twice(x):
    rows = [x * k for k in range(9)]
    rows[2] = rows[3]
    for t in range(3):
        rows[t], rows[t + 1] = rows[t + 1], rows[t]
        rows[t][0] += 1.0
    return sum(np.sum(row) for row in rows)


def read_under_an_old_name(x):
    rows = [x * k for k in range(9)]
    row = rows[4]
    for t in range(6):
        rows[t], rows[t + 1] = rows[t + 1], rows[t]
        rows[t][1] = rows[t + 1][0] ** 2
    return sum(np.sum(row) for row in rows) + np.sum(row)


@pytest.mark.parametrize("f", [one_row_twice, read_under_an_old_name])
def test_exchanged_iteration_by_iteration(f):
    check_grads(f, (rng.normal(size=3),))
