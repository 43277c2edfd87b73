"""Loops that add to an element while they read others of the same array save what they overwrite once."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad

pytestmark = pytest.mark.sampled(3)


def triangular_product(A, B):
    m, n = B.shape
    for i in range(m):
        for j in range(n):
            for k in range(i + 1, m):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = 1.5 * B[i, j]
    return np.sum(B * B)


def without_a_read_beside(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] -= A[k, i] * B[k, j] ** 2
    return np.sum(np.sin(B))


def solved_twice(A, x):
    for i in range(len(x)):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
        x[i] = x[i] / (3 + A[i, i])
    for i in range(len(x) - 1, -1, -1):
        for j in range(i + 1, len(x)):
            x[i] -= np.sin(A[i, j] * x[j])
    return np.sum(x**3)


def again_and_again(A, x):
    for _ in range(3):
        for i in range(1, len(x)):
            for j in range(i):
                x[i] += np.tanh(A[i, j] * x[j])
                x[i] = x[i] * 0.5
    return np.sum(x**3)


def downward(A, x):
    for _ in range(2):
        for i in range(len(x)):
            for j in range(len(x) - 1, i, -1):
                x[i] = x[i] * x[j] + A[i, j]
    return np.sum(x**2)


def may_be_the_same_element(A, x):
    for i in range(len(x)):
        for j in range(len(x)):
            x[i] += A[i, j] * x[j]
    return np.sum(x**2)


def the_element_itself_is_read(A, x):
    for i in range(1, len(x)):
        for j in range(i):
            y = x[i] * A[i, j]
            x[i] = y + x[j]
    return np.sum(x**2)


def two_arrays(A, x):
    y = x * 1.0
    for _ in range(2):
        for i in range(1, len(x)):
            for j in range(i):
                x[i] += A[i, j] * x[j] * y[j]
                y[i] -= np.cos(x[j])
    return np.sum(x * y)


MATRICES = (triangular_product, without_a_read_beside)
VECTORS = (solved_twice, again_and_again, downward, may_be_the_same_element, the_element_itself_is_read, two_arrays)


def arguments(program, n):
    rng = np.random.default_rng(n)
    return 0.5 * rng.normal(size=(n, n)), rng.normal(size=(n, 3) if program in MATRICES else n)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("program", MATRICES + VECTORS, ids=lambda f: f.__name__)
def test_gradients(program, n):
    args = arguments(program, n)
    check_grads(program, args, wrt=(0, 1), order=2 if n == 5 else 1)
    given = [a.copy() for a in args]
    made, stored = (grad(program, wrt=(0, 1), checkpoint=policy)(*given) for policy in ("auto", "states"))
    for a, b in zip(made, stored):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    assert all(np.array_equal(a, b) for a, b in zip(args, given))


def forward_sweep(program):
    return grad(program, wrt=(0, 1)).lower(*arguments(program, 6)).text.partition("# reverse")[0]


def test_what_is_overwritten_is_saved_outside_the_inner_loop():
    for program, loop in ((triangular_product, "            for k in"), (without_a_read_beside, "                for k in")):
        inner = forward_sweep(program).partition(loop)[2]
        assert re.search(r"B_item(_1)? [+-]=", inner.partition("B[i, j] = B_item")[0])
        assert ".append(" not in inner.partition("B[i, j] = B_item")[0]


def test_elements_that_may_be_the_same_stay_in_the_array():
    assert "x[i] += A[i, j] * x[j]" in forward_sweep(may_be_the_same_element)


def test_a_subscript_out_of_bounds_that_is_not_reached_is_no_error():
    def f(x, n):
        for i in range(5):
            for k in range(i + 1, n):
                x[i] += x[k] ** 2
        return np.sum(x**2)

    x = np.arange(1.0, 4.0)
    assert "x_item = x[i]" in grad(f).lower(x, 3).text
    check_grads(f, (x, 3))
    check_grads(f, (x, 0))
