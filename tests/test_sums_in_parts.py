"""`a[i:j] = a[i:j] + v` has the adjoint of `a[i:j] += v`, in whatever words."""

import numpy as np
import pytest

from sourcead import Numba, check_grads, grad

RNG = np.random.default_rng(0)
U, C = RNG.random(12), 0.1


def in_place(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def assigned(u, c, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def the_other_way_round(u, c, n):
    u = u.copy()
    for _ in range(n):
        new = c * (u[2:] - 2 * u[1:-1] + u[:-2]) + u[1:-1]
        u[1:-1] = new
    return np.sum(u**2)


def through_a_name(u, c, n):
    u = u.copy()
    for _ in range(n):
        inner = u[1:-1].copy()
        u[1:-1] = inner + c * (u[2:] - 2 * inner + u[:-2])
    return np.sum(u**2)


@pytest.mark.parametrize("f", [in_place, assigned, the_other_way_round])
def test_no_cotangent_is_cleared(f):
    gradient = grad(f, wrt=(0, 1))
    for mine, expected in zip(gradient(U, C, 5), grad(in_place, wrt=(0, 1))(U, C, 5)):
        np.testing.assert_allclose(mine, expected)
    assert "= 0.0" not in gradient.source.split("# reverse")[-1].replace("d_c = 0.0", "")
    check_grads(f, (U, C, 3))


def test_a_copy_of_the_part():
    np.testing.assert_allclose(grad(through_a_name)(U, C, 5), grad(in_place)(U, C, 5))


def of_elements(a, b):
    a = a.copy()
    for i in range(1, len(a)):
        a[i] = a[i] + b[i] * a[i - 1] - 0.5 * b[i] ** 2
    return np.sum(a**2)


def of_differences(a, b):
    a = a.copy()
    for i in range(len(a) - 1):
        a[i + 1] = a[i + 1] - np.sin(a[i]) * b[i]
    return np.sum(a**2)


def read_twice(a, b):
    a = a.copy()
    for i in range(1, len(a)):
        new = a[i] + b[i]
        a[i] = new
        a[i - 1] = new * a[i - 1]
    return np.sum(a**2)


def positions_that_repeat(a, b):
    a = a.copy()
    at = np.array([1, 1, 2])
    a[at] = a[at] + b[:3]
    return np.sum(a**2)


def a_row_that_is_broadcast(a, b):
    m = np.zeros((3, len(a)))
    m[1:] = a + m[1:] * b
    m[0] = m[0] + b * a
    return np.sum(np.sin(m))


def a_list_of_arrays(a, b):
    rows = [a, b]
    rows[0] = rows[0] + b
    rows[1] = rows[1] + rows[0]
    return np.sum(rows[1] * a)


def another_array(a, b):
    new = np.empty_like(a)
    for i in range(len(a)):
        new[i] = a[i] + b[i] * a[i - 1]
    return np.sum(new**2)


@pytest.mark.parametrize("f", [
    of_elements, of_differences, read_twice, positions_that_repeat, a_row_that_is_broadcast, a_list_of_arrays, another_array,
])  # fmt: skip
def test_programs(f):
    a, b = RNG.random(9), RNG.random(9)
    kept = a.copy()
    check_grads(f, (a, b))
    np.testing.assert_array_equal(a, kept)


def test_with_numba_and_float32():
    for f in (of_elements, assigned):
        args = (RNG.random(9), RNG.random(9)) if f is of_elements else (U, C, 3)
        np.testing.assert_allclose(grad(f, backend=Numba())(*args), grad(f)(*args))
    assert grad(of_elements)(U.astype(np.float32), U.astype(np.float32)).dtype == np.float32
