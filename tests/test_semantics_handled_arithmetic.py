"""Programs that handle the errors of arithmetic, in which it matters whether a number is one of Python or one of NumPy."""

import cmath
import heapq
import math

import numpy as np
import pytest

from sourcead import grad, jvp, value_and_grad
from sourcead.errors import UnsupportedArgumentError
from tests.semantics import judged_in_all_modes

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
        except UnsupportedArgumentError as refusal:  # of a sum it is not known whether it is one of Python
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


def safe(a, b, default=0.5):
    try:
        return a / b
    except ZeroDivisionError:
        return default


class V:
    def __init__(self, v):
        self.v = v

    def __truediv__(self, o):
        if o.v == 0:
            raise ZeroDivisionError("own")
        return V(self.v / o.v)


def a_quotient(x, w):
    try:
        v = w / (float(x[0]) - 0.3)
    except ZeroDivisionError:
        v = x[1] * w
    return v


def a_known_divisor(x, w):
    try:
        v = w / (0 if x[0] > 0 else 2)
    except ZeroDivisionError:
        v = x[1] * w
    return v


def each_of_a_list(x, w):
    r = 0.0
    for q in x.tolist():
        try:
            r += w / (q - 0.5)
        except ZeroDivisionError:
            r += 3 * w
    return r


def with_continue_and_finally(x, w):
    r = 0.0
    for q in x.tolist():
        try:
            t = w / (q - 0.5)
        except ZeroDivisionError:
            continue
        finally:
            r += w
        r += t * q
    return r


def of_integers(x, w):
    k = int(x[0] > 0)
    try:
        v = (7 // k) * w + (7 % k)
    except ZeroDivisionError:
        v = x[1] * w
    return v


def a_negative_power(x, w):
    k = 0.0 if x[0] > 0 else 2.0
    try:
        v = w * k**-1
    except ZeroDivisionError:
        v = x[1] * w
    return v


def in_a_function(x, w):
    return safe(w, x.tolist()[0] - 0.3) + safe(w, x.tolist()[1], 0.2) * w


def an_index(x, w):
    try:
        v = [w, w * 2][0 if x[0] < 0 else 5]
    except IndexError:
        v = x[1] * w
    return v


def the_real_part(x, w):
    try:
        v = complex(x[0], x[1]).real / (0 if x[2] > 0 else 2)
    except ZeroDivisionError:
        v = w * x[1]
    return v


def a_remainder(x, w):
    try:
        v = w % (0 if x[2] > 0 else 2)
    except ZeroDivisionError:
        v = w * x[1]
    return v


def that_ends_a_loop(x, w):
    i = 0
    v = 0.0
    while True:
        try:
            v += w / (3 - i)
        except ZeroDivisionError:
            break
        i += 1
    return v * x[0]


def an_operator_of_a_class(x, w):
    try:
        r = (V(w) / V(float(x[2]))).v
    except ZeroDivisionError:
        r = w * x[1]
    return r


def shapes(x, w):
    try:
        r = x / (np.zeros(3) if x[0] > 0 else np.ones(5))
    except ValueError:
        r = x * w
    return r.sum()


def calls_one_by_one(x, w):
    a = []

    def g(q):
        a.append(q * w)
        return q

    try:
        r = g(w) / g(float(x[2])) + g(3.0)
    except ZeroDivisionError:
        r = sum(a)
    return r + len(a)


def in_a_list(x, w):
    out = []
    for q in x.tolist():
        try:
            out.append(w / q)
        except ZeroDivisionError:
            out.append(0.3 * w)
    return sum(out)


def in_a_dict(x, w):
    out = {}
    for i, q in enumerate(x.tolist()):
        try:
            out[i] = w / q + 1 / (i - 2)
        except ZeroDivisionError:
            pass
    return sum(out.values())


def two_values(x, w):
    try:
        a, b = w / float(x[2]), w * 2
    except ZeroDivisionError:
        a, b = x[0], x[1]
    return a * b


def returned(x, w):
    try:
        return w / float(x[2])
    except ZeroDivisionError:
        return w * x[0]


def the_second_statement(x, w):
    try:
        v = w
        v = v * 2 / float(x[2])
        v = v + 1
    except ZeroDivisionError:
        v = v * x[0]
    return v


def a_floor(x, w):
    try:
        v = -7 // int(x[2] * 3) * w
    except ZeroDivisionError:
        v = w * 2
    return v


def its_message(x, w):
    try:
        v = w / float(x[2])
    except ZeroDivisionError as error:
        v = w * len(str(error))
    return v


PROGRAMS = [
    a_quotient, a_known_divisor, each_of_a_list, with_continue_and_finally, of_integers, a_negative_power, in_a_function,
    an_index, the_real_part, a_remainder, that_ends_a_loop, an_operator_of_a_class, shapes, calls_one_by_one,
    in_a_list, in_a_dict, two_values, returned, the_second_statement, a_floor, its_message,
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_errors_of_arithmetic_that_are_handled(program):
    def f(w, x):
        return program(x, w)

    for x in [0.3, 0.5, 0.0, 2.0, 3.0], [-0.3, 0.5, -1.0, 0.2, 0.5], [-0.3, -0.5, 0.0, 0.2, 0.25]:
        assert judged_in_all_modes(f, 0.7, np.array(x)) == "right"


CLASSES = [
    lambda x: complex(x[0], x[1]).real, lambda x: abs(complex(x[0], x[1])), lambda x: (x.tolist()[0] + 1j).conjugate().real,
    lambda x: math.remainder(x[0], 2), lambda x: min(x.tolist()), lambda x: max(x.tolist()), lambda x: cmath.phase(x[0] + 1j),
    lambda x: cmath.exp(x[0]).real, lambda x: cmath.log(x[0], 2).imag,
]  # fmt: skip


@pytest.mark.parametrize("number", CLASSES)
def test_numbers_of_python_are_no_numbers_of_numpy(number):
    def f(x):
        y = number(x)
        return x[0] if type(y) is float and not isinstance(y, np.float64) and not hasattr(y, "dtype") else 2 * x[0]

    assert judged_in_all_modes(f, np.array([0.3, 0.5])) == "right"
