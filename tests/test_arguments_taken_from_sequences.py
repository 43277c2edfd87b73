"""`f(*xs)` where the length of `xs` is known only at run time, and `f` takes a certain number of arguments."""

import functools

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

X = np.linspace(0.5, 2.0, 12)


def weighted(a, b, c):
    return a * b**2 + np.sin(c)


def first_of_many(x):
    return weighted(*x[:3]) + np.sum(x)


def rows_of_a_matrix(x):
    y = np.outer(x, x)
    return np.sum(weighted(*y[1:4]))


def as_many_as_a_loop_counted(x):
    n = 0
    while x[n] < 0.8:
        n += 1
    return weighted(*x[:n])


def last_of_a_list(x):
    kept = []
    for v in x:
        if v > 1.0:
            kept.append(v * v)
    return weighted(*kept[-3:])


def part_of_a_tuple(x):
    return weighted(*tuple(v for v in x if v > 1.0)[1:4])


def part_of_what_is_sorted(x):
    return weighted(*sorted(-x)[:3])


def with_further_arguments(x):
    return weighted(x[5], *x[:2]) + weighted(*x[2:4], x[0] * x[1]) + weighted(*x[:2], c=x[7])


def of_a_function_defined_inside(x):
    scale = x[4]

    def inner(a, b, *, c=2.0):
        return scale * a * b + c

    return inner(*x[3:5]) * inner(*x[1:3], c=x[0])


class Line:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def at(self, a, b):
        return self.slope * a + self.offset * b


def of_a_method(x):
    return Line(x[0], x[1]).at(*x[2:4])


def of_a_partial_function(x):
    return functools.partial(weighted, x[0])(*x[6:8])


def evaluated_once(x):
    calls = []

    def taken():
        calls.append(1.0)
        return x[:3]

    return weighted(*taken()) * len(calls)


PROGRAMS = [value for value in list(globals().values()) if getattr(value, "__module__", None) == __name__ and value not in (weighted, Line)]


@pytest.mark.parametrize("f", PROGRAMS)
def test_arguments_from_sequences_of_unknown_length(f):
    assert judged_in_all_modes(f, X) == "right"


def test_another_number_of_items_raises_what_python_raises():
    gradient = grad(as_many_as_a_loop_counted)
    gradient(X)
    with pytest.raises(TypeError, match="takes 3 arguments in place of"):
        gradient(X - 0.3)
