"""Functions and slices that loops and branches make, and objects of NumPy that are called by a subscript."""

import sys

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.errors import UnsupportedSyntaxError

rng = np.random.default_rng(5)
X = rng.uniform(0.4, 1.6, (5, 5))
V = rng.uniform(0.4, 1.6, 5)


def lambda_in_a_loop(x):
    h = 0.3 * np.ones(x.shape[1])
    for row in x:
        gate = lambda z: 1 / (1 + np.exp(-z * h))  # noqa: B023
        h = gate(row) * h
    return np.sum(h)


def function_in_a_while(x):
    total, k = 0.0, 0
    while k < len(x):

        def square(z):
            return z * z * k  # noqa: B023

        total = total + np.sum(square(x[k]))
        k += 1
    return total + np.sum(square(x[0]))


def slice_in_a_loop(x):
    total = 0.0
    for k in range(len(x) - 1):
        rows = slice(k, k + 2)
        total = total + k * np.sum(x[rows] ** 2) * rows.stop
    return total


def slices_in_a_list(x):
    total = 0.0
    for key in [np.s_[k : k + 2, 1:] for k in range(3)]:
        total = total + (key[0].start + 1) * np.sum(x[key] ** 2)
    return total


def keys_put_together(x):
    total = 0.0
    for k in range(x.shape[0]):
        key = [slice(None)] * x.ndim
        key[1] = slice(k, None)
        total = total + k * np.sum(x[tuple(key)] ** 2)
    return total


def slice_of_a_branch(x):
    if x[0, 0] > 0:
        rows = slice(1, x.shape[0])
    else:
        rows = slice(2)
    columns = slice(2, 4) if x[0, 1] > 9 else slice(3)
    return np.sum(x[rows, columns] ** 2)


def pixels_moved(x, turn=0.2):
    n, m = x.shape
    rows, columns = np.mgrid[0:n, 0:m] + x
    moved = np.cos(turn) * rows - np.sin(turn) * columns
    return np.sum((moved - moved.astype(int)) ** 2 * x)


def open_grid(x):
    rows, columns = np.ogrid[: x.shape[0], : x.shape[1]]
    return np.sum(x[(rows - 2) ** 2 + (columns - 2) ** 2 <= 4] ** 3) + np.sum(np.exp(-rows * x[0, 0]) * columns)


def grid_of_fractions(x):
    return np.sum(x @ np.mgrid[-1:1.5:0.5] * x[:, 0]) + np.sum(np.mgrid[0:1:5j] * x)


def range_in_brackets(x):
    return np.sum(np.r_[x[0], 0 : len(x), x[1, 1]] ** 2) + np.sum(np.c_[x[0], 1:6] ** 3) + np.sum(np.r_[1:4:2, x[2, 2]] ** 2)


def key_from_brackets(x, n=1):
    return np.sum(x[np.s_[n:, ::2]] ** 2) + np.sum(x[np.index_exp[n : n + 1]] ** 3)


def descriptions_of_types(x):
    described = x.dtype
    scale = described.itemsize * 1.0
    if described.kind == "f" and sys.version_info.major == 3 and float in FLOATS.__args__:
        scale += np.finfo(described).bits + 1e300 * sys.float_info.min
    return np.sum(x**2) * scale / (1 + np.iinfo(np.int8).max) + np.sum(x) * np.finfo(x.dtype).eps


FLOATS = float | np.float64

PROGRAMS = [
    lambda_in_a_loop, function_in_a_while, slice_in_a_loop, slices_in_a_list, keys_put_together, slice_of_a_branch, pixels_moved,
    open_grid, grid_of_fractions, range_in_brackets, key_from_brackets,
    descriptions_of_types,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative(f):
    check_grads(f, (X,))
    assert grad(f).lower(X).text.count("unbroadcast") == 0


def test_a_loop_that_makes_functions_stays_a_loop():
    text = grad(lambda_in_a_loop).lower(X).text
    assert "for row in x:" in text and "lambda " not in text


def function_of_the_iteration_before(x):
    h, total = np.sin, 0.0
    for k in range(len(x)):
        total = total + np.sum(h(x[k]))
        h = np.cos if k % 2 == 0 else lambda z, k=k: z * z * k
    return total


def slice_of_the_iteration_before(x):
    rows, total = slice(0, 2), 0.0
    for k in range(3):
        total = total + np.sum(x[rows] ** 2) * k
        rows = slice(k, k + 3)
    return total


def test_few_iterations_are_taken_one_by_one_where_what_is_no_data_differs():
    check_grads(function_of_the_iteration_before, (X,))
    check_grads(slice_of_the_iteration_before, (X,))


def another_function_each_time(x):
    h = lambda z: z
    for k in range(len(x)):
        h(x[k])
        h = lambda z, k=k: z * k
    return h(x[0])


def slice_read_after_its_loop(x):
    for k in range(len(x)):
        rows = slice(k, k + 2)
    return np.sum(x[rows])


@pytest.mark.parametrize(("f", "name"), [(another_function_each_time, "h"), (slice_read_after_its_loop, "rows")])
def test_what_differs_between_iterations_is_refused_where_it_is_read(f, name):
    with pytest.raises(UnsupportedSyntaxError, match=f"`{name}` is one .* in an iteration and another in the next"):
        grad(f)(np.ones(100))


MASK = np.array([True, False, True, True, False])
PLACES = np.array([3, 0, 0, 1, 4])


def test_constant_arrays_are_keys_of_writes():
    def f(x):
        a = x.copy()
        a[MASK] *= 2
        np.add.at(a, PLACES, x)
        return np.sum(a**2)

    check_grads(f, (V,))


def test_what_is_cast_to_integers_carries_no_derivative_where_types_are_unknown():
    def f(x, n):
        z = [x, 2.0][0 if n > 1 else 1]
        whole = z.astype(int)
        again = np.asarray(z, dtype="int64")
        return np.sum((z - whole) ** 2 * again)

    x = 3 * V
    np.testing.assert_allclose(grad(f)(x, 2), 2 * (x - x.astype(int)) * x.astype(int))
