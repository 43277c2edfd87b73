"""Parts of cotangents are set where they are first added to, and not cleared where nothing reads them again."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.analysis.boxes import Boxes
from sourcead.ir.nodes import Block, Const, Function, Slice, Var
from sourcead.ir.types import INT, Array, Sym


def tridiagonal(lower, diagonal, upper, rhs):
    n = len(diagonal)
    c, d, x = np.zeros(n), np.zeros_like(rhs), np.zeros_like(rhs)
    c[0], d[0] = upper[0] / diagonal[0], rhs[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / pivot
        d[i] = (rhs[i] - lower[i - 1] * d[i - 1]) / pivot
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x**2)


def test_the_adjoint_of_a_tridiagonal_solve_neither_clears_nor_adds_to_zeros():
    rng = np.random.default_rng(0)
    args = rng.normal(size=8), 4 + rng.random(9), rng.normal(size=8), rng.normal(size=(9, 10))
    text = grad(tridiagonal, wrt=(0, 1, 2, 3)).lower(*args).text
    assert "= 0.0" not in text and "np.sum" not in text
    assert re.findall(r"(\S+\[.*\]) [-+]= ", text) == ["d_x[i + 1]", "d_d[i - 1]", "d_c[i - 1]"]
    check_grads(tridiagonal, args, wrt=(0, 1, 2, 3))


def several_to_one_place(x):
    y = np.zeros_like(x)
    for i, j in enumerate([0, 2, 2, 1, 4, 4]):
        y[j] = y[j] * 2 + x[i]
        y[i] = x[j] * y[i] + x[i]
    return y @ y


def from_the_end(x):
    y = np.zeros(6)
    for i in range(len(x)):
        y[-1] = y[-1] * x[i] + x[i]
        y[i % 6] = y[-1] * 2
        y[5 - i % 3] = x[i]
    return y @ y


def swapped(x):
    y = x.copy()
    for i in range(len(x) - 1):
        before = y[i]
        y[i] = y[i + 1]
        y[i + 1] = before * x[i]
    return y @ np.arange(len(x))


def twice_over(x):
    y = np.zeros(len(x) + 1)
    for _ in range(3):
        for i in range(len(x)):
            y[i + 1] = y[i] * 0.5 + x[i] * y[i + 1]
    return np.sum(y**3) + y[0]


def clamped(x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        j = min(i + 2, n - 1)
        y[i] = x[i] * x[j]
        y[j] = y[i] * x[i]
    return y @ x


def counted_on(x):
    y, j = np.zeros(len(x)), 0
    for i in range(len(x)):
        if x[i] > 0.1:
            y[j] = x[i] ** 2
            j += 1
    return np.sum(y**2) + y[0] * y[-1]


def parts_that_meet(x):
    n = len(x)
    y = x.copy()
    for i in range(1, n - 1):
        y[i - 1 : i + 2] = y[i - 1 : i + 2] * np.array([0.5, x[i], 0.25])
        y[i] = y[i - 1]
    return y @ x


def exchanged(x):
    y, z = x.copy(), x**2
    for i in range(len(x) - 1):
        y[i] = z[i] * x[i]
        z[i + 1] = y[i] * y[i + 1]
        y, z = z, y
    return y @ x + z[0] * z[2]


def added_to_as_a_whole(x):
    y, s = x.copy(), 0.0
    for i in range(4):
        s = s + np.sum(np.sin(y))
        y[i] = y[i + 1] ** 2 * y[i]
    return s * y[0]


def left_early(x):
    y, z = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] ** 2
            z[i] = y[i] * 3
        elif i > 0:
            z[i] = x[i]
            y[i - 1] = z[i] * x[i - 1]
        if i > 4:
            break
    return y @ z + np.sum(y)


@pytest.mark.parametrize(
    "f",
    [
        several_to_one_place, from_the_end, swapped, twice_over, clamped, counted_on, parts_that_meet, added_to_as_a_whole, exchanged,
        left_early,
    ],
)
@pytest.mark.parametrize("n", [6, 9])
def test_places_that_meet_again_are_added_to_and_cleared(f, n):
    x = 0.1 + 0.7 * np.random.default_rng(n).normal(size=n)
    check_grads(f, (x,))


def test_parts_that_are_written_by_steps_back_are_not_cleared():
    def reflected(r):
        n = len(r) - 1
        a, error = np.zeros(n), r[0]
        for m in range(n):
            k = (r[m + 1] - a[:m] @ r[1 : m + 1][::-1]) / error
            a[:m] = a[:m] - k * a[:m][::-1]
            a[m] = k
            error = error * (1 - k * k)
        return error + np.sum(a**2)

    r = 0.5 ** np.arange(9.0) + 0.1
    assert "= 0.0" not in grad(reflected).lower(r).text
    check_grads(reflected, (r,))


def test_boxes_are_apart_only_if_they_are_so_for_all_sizes():
    n, i = Sym(8), Var("i", INT)
    x = Var("x", Array(np.dtype(float), (n,)))
    boxes = Boxes(Function("f", (x, i), Block((), ())))

    def box(key):
        return boxes.of(x, key)

    first, last = box(Const(0)), box(Const(-1))
    assert first.apart(last) and last.apart(box(Const(-2))) and not last.apart(box(Const(8)))
    assert not first.apart(box(i))
    assert first.apart(box(Slice(Const(1), None, None))) and not last.apart(box(Slice(Const(1), None, None)))
    assert last.apart(box(Slice(None, Const(-1), None))) and not first.apart(box(Slice(None, None, Const(-1))))


def read_and_written(x, k):
    x, total = x.copy(), 0.0
    for i in range(1, len(x)):
        x[i] = x[i] * np.sin(k * x[i - 1])
        total = np.tanh(total + x[i])
    return total


def in_rows_and_columns(m, k):
    m = m * 1.0
    for i in range(1, len(m)):
        for j in range(1, m.shape[1]):
            m[i, j] = m[i, j] * m[i - 1, j] * k + m[j, i]
        m[i] = np.tanh(m[i])
    return np.sum(m * m)


def test_a_part_that_is_cleared_and_added_to_is_set():
    x = np.linspace(0.3, 0.9, 9)
    text = grad(read_and_written).lower(x, 1.3).text
    assert "d_x[i] = d_x_item" in text and "= 0.0\n        d_x" not in text
    check_grads(read_and_written, (x, 1.3), wrt=(0, 1))
    check_grads(in_rows_and_columns, (x.reshape(3, 3), 1.3), wrt=(0, 1))


def cleared_by_steps(x):
    y = np.zeros(len(x))
    y += x * 2
    y[::2] = 0.0
    y[:] += x
    y[1:] = 0.0
    y[1:][1] += x[0]
    y[2 * len(x) // len(x)] += x[1]
    return y @ y


def cleared_in_an_inner_loop(x):
    y = x**2
    for i in range(len(x)):
        for _ in range(i % 2):
            y[i] = 0.0
        y[i] += x[i]
        y[i - 1] = y[i] * 2 if x[i] > 0 else 0.0
        y[i - 1] += x[0]
    return y @ y


@pytest.mark.parametrize("f", [cleared_by_steps, cleared_in_an_inner_loop])
def test_a_part_that_is_cleared_in_part_is_added_to(f):
    for n in (1, 2, 5):
        x = np.random.default_rng(n).normal(size=n + 2)
        check_grads(f, (x,))
        check_grads(lambda x: np.sum(grad(f)(x) ** 2), (x,))
