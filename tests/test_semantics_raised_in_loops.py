"""Exceptions that a called function raises in some iterations of a loop whose length is not known while compiling."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.linspace(-0.91, 1.37, 12)


def logarithm(v):
    if v <= 0:
        raise ValueError("not positive")
    return np.log(v + 0.5)


class Scale:
    def __init__(self, by):
        self.by = by

    @property
    def root(self):
        if self.by <= 0:
            raise ArithmeticError
        return np.sqrt(self.by + 0.1)

    def times(self, v):
        if v > 1:
            raise OverflowError
        self.by = self.by + 0.1 * v
        return self.by * v


def sum_of_logarithms(x):
    s = 0.0
    for v in x:
        try:
            s += logarithm(v)
        except ValueError:
            s += v**2
    return s


def elements_written(x):
    out = np.zeros(len(x))
    skipped = 0
    for k in range(len(x)):
        try:
            out[k] = -x[k] * logarithm(x[k]) * x[k % 3]
        except ValueError:
            skipped += 1
            out[k] = x[k] ** 2
    return np.sum(out) / (skipped + 1)


def several_calls_in_a_statement(x):
    s = x[0]
    for v in x:
        try:
            s = s * 0.5 + logarithm(v) * logarithm(1 - v)
        except ValueError:
            s = s + 0.1 * v
    return s


def method_that_writes(x):
    scale = Scale(x[3])
    s = 0.0
    for v in x:
        try:
            s += scale.times(v)
        except OverflowError:
            s -= scale.by
    return s * scale.by


def property_that_raises(x):
    s = 0.0
    for v in x:
        try:
            r = Scale(v).root
            s += r * v
        except ArithmeticError:
            s -= v
    return s


def loop_in_a_loop(x):
    s = 0.0
    for u in x:
        for v in x[1:]:
            try:
                s += logarithm(u + v) * u
            except ValueError:
                s *= 0.9
    return s


def try_in_a_try(x):
    s = 0.0
    for v in x:
        try:
            try:
                s += logarithm(v)
            except KeyError:
                s += 100.0
            s += Scale(0.4 - v).root
        except ValueError:
            s += v
        except ArithmeticError:
            s -= v * v
    return s


def left_at_the_first(x):
    s, k = 0.0, len(x) - 1
    while k >= 0:
        try:
            s += logarithm(x[k])
        except ValueError:
            break
        k -= 1
    return s * x[k]


def in_a_called_function(x):
    def step(s, v):
        try:
            return s + logarithm(v)
        except ValueError:
            return s * 0.5

    s = x[-1]
    for v in x:
        s = step(s, v)
    return s


PROGRAMS = [
    sum_of_logarithms, elements_written, several_calls_in_a_statement, method_that_writes, property_that_raises, loop_in_a_loop,
    try_in_a_try, left_at_the_first, in_a_called_function,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_is_right_in_each_iteration(f):
    assert judged_in_all_modes(f, X) == "right"
