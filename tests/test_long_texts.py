"""Functions whose calls would make a long text are functions of the text (`frontend/control/long_texts.py`)."""

import math

import numpy as np
import pytest

from sourcead import grad, jvp, value_and_grad, vjp
from sourcead.frontend.control import functions, long_texts
from tests.semantics import judged_in_all_modes

X = np.array([0.5, 0.75, 0.25, 1.25])


@pytest.fixture
def kept(monkeypatch):
    """Let every call of a function that is called twice stay a call, however small the function is."""
    for name in ("LONG", "LARGE", "SAVED"):
        monkeypatch.setattr(long_texts, name, 1)


class Ellipsoid:
    def __init__(self, a):
        self.a = a
        self.coefficients = [0.5, 0.25 * a]

    def series(self, eps, c):
        d = eps
        for k in range(len(c)):
            c[k] = d * (k + 1) * self.coefficients[k % 2]
            d = d * eps
        return d


EARTH = Ellipsoid(1.5)


class Sum:
    def __init__(self, v):
        self.s, self.n = v, 0

    def add(self, v):
        self.s = self.s + v * self.s
        self.n += 1


def square(v):
    return v * v + math.sin(v)


def both(v, w):
    return square(v) * w, square(w) - v


def into_list(eps, c):
    for k in range(len(c)):
        c[k] = c[k] * eps + k


def into_array(eps, c):
    c[1:] *= eps


def same(a):
    return a


def chosen(v, power):
    if power == 2:
        return v * v
    return np.exp(v) if power > 2 else v


def checked(v):
    if v > 1:
        raise ValueError("too large")
    return v * 2


def appended(values, v):
    if v > 0.4:
        values.append(v * v)


def of_numbers(x):
    return square(x[0]) * square(x[1]) + square(x[2])


def of_functions_that_call(x):
    a, b = both(x[0], x[1])
    c, d = both(x[2], a * b)
    return c * d


def of_lists_that_are_written(x):
    c = [x[0], 2.0, x[1]]
    into_list(x[2], c)
    into_list(x[3], c)
    return c[0] * c[1] + c[2]


def of_lists_of_unknown_length(x):
    c = list(range(int(x[3] * 4 + 0.5)))
    into_list(x[2], c)
    into_list(x[3], c)
    return sum(c) + c[1] * c[2]


def of_arrays_that_are_written(x):
    c = x * 2.0
    into_array(x[2], c)
    into_array(x[3], c)
    return np.sum(c**2)


def of_two_names_of_a_list(x):
    c = [x[0], x[1]]
    also = c
    into_list(x[2], c)
    into_list(x[3], also)
    return c[0] * also[1]


def of_rows_of_a_list(x):
    c = [[x[0], x[1]], [x[2], 1.0]]
    into_list(x[2], c[0])
    into_list(x[3], c[1])
    return c[0][0] * c[1][1] + c[0][1] * c[1][0]


def of_a_global_object(x):
    c, d = [0.0, 0.0, 0.0], [0.0, 1.0]
    s = EARTH.series(x[0], c) + EARTH.series(x[1], d) * EARTH.series(x[2], c)
    return s * c[1] + d[0] * c[2]


def of_objects_that_are_written(x):
    total = Sum(x[0])
    total.add(x[1])
    total.add(x[2])
    return total.s * total.n


def of_results_that_are_arguments(x):
    a = x * 1.0
    b = same(a)
    c = same(b)
    c[0] = x[1] * x[2]
    return np.sum(a * b * x)


def of_results_that_are_arguments_and_lists(x):
    a = [x[0], x[1]]
    b = same(a)
    c = same(b)
    c[0] = x[1] * x[2]
    return a[0] * b[0] + b[1]


def of_integers_that_choose(x):
    return sum(chosen(v, power) for power in (1, 2, 3) for v in (x[0], x[1] * x[2]))


def in_loops(x):
    s = 0.0
    for v in x:
        s = square(s) + square(v) * v
    return s


def in_branches(x):
    if x[0] > x[1]:
        s = square(x[0])
    else:
        s = square(x[2]) * 3
    return s + square(x[3])


def that_raise(x):
    s = 0.0
    for v in x:
        try:
            s += checked(v) * x[0]
        except ValueError:
            s += v * v * v
    return s + checked(x[0])


def of_lists_that_grow_in_some_runs(x):
    values = []
    for v in (x[0], x[1], x[2]):
        appended(values, v)
    return sum(values) * len(values)


def of_closures(x):
    scale = x[3] * 2

    def scaled(v):
        return square(v) * scale

    return scaled(x[0]) * scaled(x[1]) + scaled(x[2])


def of_closures_that_write(x):
    found = []

    def note(v):
        found.append(v * x[0])
        return v * v

    return note(x[0]) + note(x[1]) * len(found) + found[0]


def of_arrays_and_numbers(x):
    return np.sum(square(x[0]) * np.sin(x)) + sum(chosen(v, 3) for v in (x, x * x))[1]


def of_generators(x):
    return sum(square(v) for v in x if square(v) > 0.5)


PROGRAMS = [value for name, value in list(globals().items()) if name.startswith(("of_", "in_", "that_"))]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_calls_that_are_kept(kept, f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("f", [
    of_numbers, of_functions_that_call, of_lists_that_are_written, of_lists_of_unknown_length, of_a_global_object,
    of_objects_that_are_written, in_loops, in_branches, of_closures,
], ids=lambda f: f.__name__)  # fmt: skip
def test_functions_are_functions_of_the_text(kept, f):
    assert grad(f).lower(X).text.count("_vjp(") >= 3  # it is defined, and called twice


def test_calls_are_lowered_in_place_where_lowering_began_again_too_often(kept, monkeypatch):
    def f(x):
        return both(x[0], x[1])[0]

    assert "_vjp(" in grad(f).lower(X).text
    monkeypatch.setattr(functions, "MOST_RESTARTS", 0)
    text = grad(lambda x: both(x[0], x[1])[0]).lower(X).text
    assert "_vjp(" not in text
    np.testing.assert_allclose(grad(lambda x: f(x) + 0.0)(X), grad(f)(X), rtol=1e-12)


def test_calls_are_lowered_in_place_where_objects_are_shared_or_exceptions_handled(kept):
    assert "_vjp(" not in grad(of_results_that_are_arguments_and_lists).lower(X).text
    assert grad(that_raise).lower(X).text.count("checked_vjp(") == 2  # it is defined, and called after the loop


def step(a, b, c, t):
    u = a * t + b
    v = u * u - c / (1 + t * t)
    if v > u:
        w = math.sin(v) * a
    elif v > 0:
        w = math.cos(u) + b * c
    else:
        w = math.exp(-u * u) * c
    p = w * a + b * v - c * u
    q = p * p / (1 + w * w) - u * v * w
    r = math.sqrt(1 + q * q) + math.atan2(p, 2 + w * w)
    for k in range(3):
        a = a * 0.5 + math.tanh(r * k + b)
        b = b + a * c * 0.25
    return math.tanh(a + p * 0.125), math.tanh(b * 0.5 - q / (1 + q * q)), math.tanh(c - r / (1 + r * r))


def many_steps(x):
    a, b, c = x[0], x[1], x[2]
    a, b, c = step(a, b, c, 0.1)
    a, b, c = step(*step(a, b, c, 0.2), 0.3)
    if a > b:
        a, b, c = step(*step(*step(a, b, c, 0.4), 0.5), 0.6)
    else:
        a, b, c = step(*step(*step(a, c, b, 0.3), 0.2), 0.1)
    a, b, c = step(*step(*step(*step(a, b, c, 0.35), 0.25), 0.55), 0.65)
    a, b, c = step(*step(*step(*step(a, b, c, 0.45), 0.35), 0.65), 0.75)
    for t in (0.15, 0.45, 0.75, 0.95):
        if a + b > t:
            a, b, c = step(*step(a, b, c, t), 2 * t)
        else:
            a, c, b = step(*step(b, a, c, t), 3 * t)
    return a * b + c


@pytest.mark.long
def test_all_kinds_of_derivatives_of_a_long_text():
    assert judged_in_all_modes(many_steps, X) == "right"


def test_a_long_text_is_short():
    text = grad(many_steps).lower(X).text
    assert text.count("def step_vjp(") == 1
    assert len(text.splitlines()) < 450


def test_kinds_of_derivatives_agree():
    value, pullback = vjp(many_steps, X)
    expected, gradient = value_and_grad(many_steps)(X)
    assert value == expected
    np.testing.assert_allclose(pullback(1.0), gradient, rtol=1e-12)
    np.testing.assert_allclose(jvp(many_steps, (X,), (np.ones(4),))[1], np.sum(gradient), rtol=1e-9)


def both_of_one(v, n):
    if n <= 0:
        return v
    return other_of_one(v * 1.1, n) + both_of_one(v * 0.5, n - 1)


def other_of_one(v, n):
    if v > 100.0:
        return v * v
    return both_of_one(v * v + 0.3, n - 1) * 0.5


def both_call_each_other(x):
    return both_of_one(x[0], int(3 * x[3] + 0.5)) * other_of_one(x[1], 3) + other_of_one(x[2], 2) + both_of_one(x[2], 2)


def outer(v, n):
    if n <= 0:
        return v
    return inner(v, n) * inner(v + 1, n - 1)


def inner(v, n):
    if n <= 1:
        return v * 2
    return outer(v * 0.5, n - 1) + v


def kept_inside_recursive(x):
    return outer(x[0], int(4 * x[3] + 0.5)) + inner(x[1], 3) * outer(x[2], 2)


@pytest.mark.parametrize("f", [both_call_each_other, kept_inside_recursive])
def test_a_kept_function_inside_a_recursive_one_has_all_its_branches(kept, f):
    assert judged_in_all_modes(f, X) == "right"
