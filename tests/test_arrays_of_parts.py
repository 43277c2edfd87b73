"""Cotangents of arrays whose parts the program reads one by one are made of the cotangents of the parts."""

from typing import NamedTuple

import numpy as np
import pytest

from sourcead import Numba, check_grads, grad, hvp

RNG = np.random.default_rng(0)
X, V = RNG.random(3), RNG.random((9, 2))


def unpacked(p):
    omega, alpha, beta = p
    return omega * np.sin(alpha) + beta**2 * omega


def a_helper(p):
    def f(a, b):
        return a * b

    return f(p[0], p[2]) + f(p[1], p[1])


def rows_in_a_loop(steps):
    x = y = 0.0
    for step in steps:
        speed, turn = step
        x += speed * np.cos(turn) * (y + 1)
        y += speed * np.sin(turn)
    return x * y


def state_of_two(p, n):
    y = np.array([1.0, 0.5])
    for _ in range(n):
        y = y + 0.1 * np.array([p[0] * y[1], -p[1] * y[0] * p[2]])
    return y[0] * y[1]


def rows_of_a_matrix(p, v):
    (a, b), (c, d) = p
    return (a * d - b * c) * v + a * b


ELEMENTS = {"unpacked": (unpacked, X), "a_helper": (a_helper, X), "rows": (rows_in_a_loop, V), "state": (state_of_two, X, 7),
            "matrix": (rows_of_a_matrix, RNG.random((2, 2)), 0.5)}  # fmt: skip


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in ELEMENTS.values()], ids=ELEMENTS)
def test_elements(f, args):
    check_grads(f, args)
    gradient = grad(f)
    gradient(*args)
    assert "np.array([" in gradient.source.split("# reverse")[-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_the_dtype_of_the_gradient_is_that_of_the_argument(dtype):
    def f(p, scale):
        return p[0] * 2.0 + p[1] * scale + p[2] * np.float64(3)

    assert grad(f)(X.astype(dtype), 1.5).dtype == dtype
    assert grad(f)(X.astype(dtype), 2).dtype == dtype
    assert grad(f)(X, np.longdouble(2)).dtype == np.float64


def test_integers_make_an_array_of_floats():
    assert grad(lambda p: p[0] * 1 + p[1] * 2 + 3 * p[2])(X).dtype == np.float64


def an_element_twice(p):
    return p[0] * p[1] + p[-1] + p[2] ** 2


def of_five(p):
    return p[0] * p[1] + p[2] * p[4]


def read_as_a_whole(p):
    return p[0] * p[1] * p[2] + np.sum(p**2)


@pytest.mark.parametrize("f, p", [(an_element_twice, X), (of_five, RNG.random(5)), (read_as_a_whole, X)])
def test_other_reads(f, p):
    check_grads(f, (p,))


def test_additions_to_zeros_are_assignments():
    gradient = grad(of_five)
    gradient(RNG.random(5))
    assert "+=" not in gradient.source


class Gates(NamedTuple):
    w: np.ndarray
    b: np.ndarray


def gates_by_bounds(p, x, c):
    n = len(c)
    z = p.w @ x + p.b
    i, f, o = z[:n], z[n : 2 * n], z[2 * n : 3 * n]
    return np.sum(np.tanh(f * c + i) * o)


def gates_by_size(p, x, c):
    size = p.w.shape[0] // 3
    z = x @ p.w.T + p.b
    return np.sum(np.tanh(z[size : 2 * size] * c + z[:size]) * z[2 * size :])


def columns_from_the_end(x):
    return np.sum(np.sin(x[:, :-9])) + np.sum(np.cos(x[:, -9:]) ** 2)


GATES = Gates(RNG.random((30, 9)), RNG.random(30)), RNG.random(9), RNG.random(10)
SLICES = {
    "bounds": (gates_by_bounds, GATES), "size": (gates_by_size, GATES), "from_the_end": (columns_from_the_end, (RNG.random((9, 20)),)),
}  # fmt: skip


@pytest.mark.parametrize("f, args", SLICES.values(), ids=SLICES)
def test_slices(f, args):
    check_grads(f, args)
    gradient = grad(f)
    gradient(*args)
    assert "unbroadcast" not in gradient.source and "zeros" not in gradient.source.split("# reverse")[-1]


@pytest.mark.parametrize("rows, n", [(30, 10), (40, 10), (30, 8), (31, 10), (24, 8)])
def test_a_text_serves_the_sizes_that_it_relies_on_alone(rows, n):
    gradient = grad(gates_by_bounds)
    gradient(*GATES)
    args = Gates(RNG.random((rows, 9)), RNG.random(rows)), RNG.random(9), RNG.random(n)
    found = gradient(*args)
    expected = grad(gates_by_bounds)(*args)
    np.testing.assert_array_equal(found.w, expected.w)
    check_grads(gates_by_bounds, args)
    assert np.any(found.w[3 * n :]) == 0


def test_a_slice_that_is_broadcast():
    gradient = grad(gates_by_bounds)
    gradient(*GATES)
    args = Gates(RNG.random((21, 9)), RNG.random(21)), RNG.random(9), RNG.random(10)  # one gate is broadcast
    assert grad(gates_by_bounds)(*args).w.shape == gradient(*args).w.shape == (21, 9)
    np.testing.assert_allclose(gradient(*args).w, grad(gates_by_bounds)(*args).w)
    check_grads(gates_by_bounds, args)


def test_bounds_out_of_order():
    def f(x, k):
        return np.sum(x[:k] ** 2) + np.sum(x[k : 2 * k] ** 3) + np.sum(x[2 * k :])

    gradient = grad(f)
    for k in (4, -2, 12, -7, 0, 9):
        x = RNG.random(12)
        each = np.zeros(12)
        each[:k] += 2 * x[:k]
        each[k : 2 * k] += 3 * x[k : 2 * k] ** 2
        each[2 * k :] += 1
        np.testing.assert_allclose(gradient(x, k), each)


def test_with_numba_and_to_second_order():
    args = Gates(RNG.random((30, 9)), RNG.random(30)), RNG.random(9), RNG.random(10)
    np.testing.assert_allclose(grad(gates_by_bounds, backend=Numba())(*args).w, grad(gates_by_bounds)(*args).w)
    np.testing.assert_allclose(grad(state_of_two, backend=Numba())(X, 5), grad(state_of_two)(X, 5))
    v = RNG.random(3)
    step = 1e-5
    ahead, back = (grad(state_of_two)(X + s * v, 5) for s in (step, -step))
    np.testing.assert_allclose(hvp(state_of_two)(X, 5, v), (ahead - back) / (2 * step), rtol=1e-6)


def in_batches(w, x, y, size):
    loss = 0.0
    for i in range(0, len(x), size):
        loss += np.sum((x[i : i + size] @ w - y[i : i + size]) ** 2)
    return loss


def test_slices_of_two_arrays_are_as_long_as_each_other_where_the_arrays_are():
    w, gradient = RNG.random(9), grad(in_batches)
    gradient(w, RNG.random((20, 9)), RNG.random(20), 6)
    assert "unbroadcast" not in gradient.source
    for rows, count, size in ((20, 20, 7), (31, 31, 4), (13, 31, 6), (12, 9, 4), (9, 10, 3)):  # one of the last has a batch of one
        args = w, RNG.random((rows, 9)), RNG.random(count), size
        try:
            in_batches(*args)
        except ValueError:
            with pytest.raises(ValueError):
                gradient(*args)
        else:
            np.testing.assert_allclose(gradient(*args), grad(in_batches)(*args))
            check_grads(in_batches, args, wrt=0)


def of_columns(points, a):
    x, y = points[:, 0] + a, points[:, -1] * a
    return np.sum(x / (x + y))


def of_a_row_and_columns(m):
    return np.sum(m[0] ** 2) + np.sum(np.sin(m[:, 1])) + m[2, 0] * m[0, 1]


def test_columns_are_assigned_and_what_overlaps_is_added():
    check_grads(of_columns, (RNG.random((12, 2)), 0.5))
    assert "+=" not in grad(of_columns).lower(RNG.random((12, 2)), 0.5).text.split("# reverse")[-1]
    check_grads(of_a_row_and_columns, (RNG.random((4, 3)),))
    check_grads(of_a_row_and_columns, (RNG.random((12, 11)),))
