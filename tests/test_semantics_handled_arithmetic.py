"""Programs that handle the errors of arithmetic, in which it matters whether a number is one of Python or one of NumPy."""

import heapq
import math

import numpy as np
import pytest

from sourcead import grad, jvp, value_and_grad
from sourcead.errors import UnsupportedArgumentError

PYTHON_NUMBERS = {
    "the real part of a complex number": lambda x: complex(x[0], x[1]).real,
    "float": lambda x: float(x[0]),
    "item": lambda x: x[0].item(),
    "tolist": lambda x: x.tolist()[0],
    "a sum of floats": lambda x: sum([float(q) for q in x]),
    "a function of math": lambda x: math.sin(x[0]),
}


@pytest.mark.parametrize("number", PYTHON_NUMBERS.values(), ids=PYTHON_NUMBERS)
def test_division_by_zero_of_a_number_of_python_that_is_one_of_numpy_in_the_text(number):
    def f(x, w):
        try:
            y = number(x) / (0 if x[1] > 0 else 2)
        except ZeroDivisionError:
            y = w * w
        return y

    derivative = value_and_grad(f, wrt=(0, 1), verify=False)
    for x in np.array([1.0, -2.0]), np.array([1.0, 2.0]):
        try:
            value, (_, d_w) = derivative(x, 3.0)
        except UnsupportedArgumentError as refusal:
            assert "the program handles ZeroDivisionError here" in str(refusal)
        else:
            assert value == f(x, 3.0) and d_w == (6.0 if x[1] > 0 else 0.0)


def smallest_of_a_heap_that_is_made_in_a_try(x):
    try:
        heap = [x[0] * x[1] + 0.1, x[1], x[2]]
        heapq.heapify(heap)
    except ValueError:
        heap = [x[2]]
    return heap[0] * x[0]


def hole_moved_down(x):
    h, hole, child = [x[0], x[1], x[2]], 0, 1
    try:
        while child < 3:
            right = child + 1
            if right < 3 and h[child] > h[right]:
                child = right
            h[hole] = h[child]
            hole = child
            child = 2 * hole + 1
        h[hole] = x[1] * 3
    except ValueError:
        return 0.0
    return h[0] * x[0] + h[1] + h[2]


@pytest.mark.parametrize("f", [smallest_of_a_heap_that_is_made_in_a_try, hole_moved_down])
def test_items_that_a_loop_reads_have_no_value_after_it(f):
    for x in np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0]):
        h = 1e-6 * np.eye(3)
        expected = [(f(x + d) - f(x - d)) / 2e-6 for d in h]
        np.testing.assert_allclose(grad(f, verify=False)(x), expected, atol=1e-8)


EXTREMES = {
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, b),
    "max of nan": lambda a, b: max(a, math.nan) * 2,
    "min of nan": lambda a, b: min(a, float("nan")) * 3,
    "max of three": lambda a, b: max(a, math.nan, b),
}


@pytest.mark.parametrize("f", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("a", [0.5, 2.0])
@pytest.mark.parametrize("b", [1.0, math.nan])
def test_python_takes_the_first_of_two_numbers_unless_the_second_wins(f, a, b):
    h = 1e-6
    expected = (f(a + h, b) - f(a - h, b)) / (2 * h), (f(a, b + h) - f(a, b - h)) / (2 * h)
    found = value_and_grad(f, wrt=(0, 1), verify=False)(a, b)
    np.testing.assert_allclose(found[0], f(a, b))
    np.testing.assert_allclose(found[1], expected, atol=1e-8)
    if not math.isnan(b):
        slope = jvp(f, (a, b), (1.0, 2.0), verify=False)[1]
        np.testing.assert_allclose(slope, expected[0] + 2 * expected[1], atol=1e-8)
