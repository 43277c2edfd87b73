"""Rows of an array appended to a list while the array is written elsewhere: right where no row is overwritten, else refused."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
W, X = rng.normal(size=(3, 3)), rng.normal(size=(9, 3))


def rows(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
        outs.append(hs[t + 1])
    return sum(o @ o for o in outs) + np.sum(np.stack(outs)[3:]) + np.sum(hs[-1])


def of_several_arrays(w, x):
    outs, total = [], 0.0
    for r in range(3):
        hs = np.zeros((10, 3))
        for t in range(9):
            hs[t + 1] = np.tanh(w @ hs[t] + x[t] * r)
            outs.append(hs[t + 1])
        total += np.sum(outs[-1])
    return total + sum(o @ o for o in outs)


@pytest.mark.parametrize("f", [rows, of_several_arrays])
def test_rows_that_stay(f):
    check_grads(f, (W, X), wrt=(0, 1))


def written_after_the_loop(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
        outs.append(hs[t])
    hs[3] = 0.0
    return sum(o @ o for o in outs)


def written_in_the_iteration(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        outs.append(hs[t])
        hs[t] = np.tanh(w @ hs[t] + x[t])
    return sum(o @ o for o in outs)


def written_a_second_time(w, x):
    hs, outs = np.zeros((10, 3)), []
    for r in range(2):
        for t in range(9):
            hs[t + 1] = np.tanh(w @ hs[t] + x[t] * r)
            outs.append(hs[t + 1])
    return sum(o @ o for o in outs)


def written_through_the_list(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
        outs.append(hs[t + 1])
    for o in outs:
        o *= 2
    return np.sum(hs**2)


def written_through_a_part_of_the_list(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
        outs.append(hs[t + 1])
    last = outs.pop()
    last *= 3
    some = outs[2:4]
    some[0][1] = 5.0
    return np.sum(hs**2) + sum(o @ o for o in outs)


def beside_the_whole(w, x):
    hs, outs = np.zeros((10, 3)), []
    for t in range(9):
        hs[t + 1] = np.tanh(w @ hs[t] + x[t])
        outs.append(hs[t + 1])
        outs.append(hs)
    return sum(np.sum(o * o) for o in outs)


@pytest.mark.parametrize(
    "f",
    [written_after_the_loop, written_in_the_iteration, written_a_second_time, written_through_the_list,
     written_through_a_part_of_the_list, beside_the_whole],
)  # fmt: skip
def test_rows_that_change(f):  # the loops are taken iteration by iteration
    check_grads(f, (W, X), wrt=(0, 1))


def part_of_a_split(x):
    u, halves = list(x[0]), np.split(x, [1])
    u.append(halves[0])
    x += np.sin(x)
    return np.sum(u[-1] ** 2) + u[0]


def part_of_an_array_split(x):
    halves = np.array_split(x, 2)
    u = [*(q * 2 for q in x[0]), halves[1]]
    x += np.sin(x)
    return np.sum(np.exp(u[-1])) + u[0]


def part_of_a_transposed_split(x):
    u = [q * 2 for q in x[0]]
    columns = np.split(x.T, 3)
    for _ in range(2):
        u.append(columns[1][0])
    x *= 0.5
    return np.sum(u[-1] ** 3) * u[0]


@pytest.mark.parametrize("f", [part_of_a_split, part_of_an_array_split, part_of_a_transposed_split])
def test_parts_of_splits_show_later_writes(f):
    check_grads(f, (X[:3],))


def row_overwritten(x):
    u = [*x]
    x[0] = np.arange(3.0)
    return sum(np.sum(r * r) for r in u)


def element_overwritten(x):
    u = list(x)
    x[0] = 2.0
    t = 0.0
    for v in u[0]:
        t = t + np.tanh(v)
    return t * np.sum(u[1] ** 2)


@pytest.mark.parametrize("f", [row_overwritten, element_overwritten])
def test_second_derivative_sees_the_overwritten_row(f):
    x, v = X[:3].copy(), X[3:6]
    gradient = grad(f)
    slope = (gradient(x + 1e-6 * v) - gradient(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f)(x, v), slope, atol=1e-7)
