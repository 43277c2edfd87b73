"""Functions defined inside: their `nonlocal` names in loops, comprehensions and before the first assignment, and their decorators."""

import functools

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

V = np.array([0.1, 0.3, 0.5])


def changes_kind_in_loops_that_do_not_run(z):
    s = 0.0

    def add():
        nonlocal s
        k = 0
        while k < 2 and s:
            k += 1
            while True:
                s += z
                break

    add()
    return s + z[0]


def loop_variable(z):
    mag = 0.0
    for _ in range(2):
        total = 0.0

        def part():
            nonlocal total, k, mag
            for k in range(3):
                total += z[k]
            mag = total + 0.1

        part()
    for k in range(3):
        mag += k * z[k]
    return mag


def assigned_before_the_function_that_owns_it_does(z):
    if len(z) > 5:
        r = z

    def part():
        nonlocal r
        r = z * 2
        for k in range(2):
            r[k] += z[k]

    part()
    return np.sum(r * r)


def of_two_functions_around(z):
    def outer():
        k = 0

        def inner():
            nonlocal k, q
            for k in range(3):
                q += z[k] * k

        inner()
        return k

    q = 1.0
    a = outer()
    for _ in range(2):
        a += outer()
    return q * a


def variable_of_a_comprehension(z):
    q = 5.0

    def part():
        nonlocal q
        s = sum([q * q for q in z])
        q = q * s * next(q for q in z if q > 0.2)

    for _ in range(2):
        part()
    return q


def written_and_rebound(z):
    r = z * 1.0

    def part(n):
        nonlocal r
        for k in range(n):
            r[k] += 1
            r = r * z

    part(2)
    return np.sum(r * r)


def in_a_while_loop_with_else(z):
    r, i = z * 1.0, 0

    def part():
        nonlocal i, r
        while i < 3:
            i += 1
            r = r + z[i - 1]
            if i > 1:
                break
        else:
            r = r * 0

    part()
    part()
    return np.sum(r * r) * i


NONLOCAL = [
    changes_kind_in_loops_that_do_not_run, loop_variable, assigned_before_the_function_that_owns_it_does, of_two_functions_around,
    variable_of_a_comprehension, written_and_rebound, in_a_while_loop_with_else
]  # fmt: skip


@pytest.mark.parametrize("program", NONLOCAL)
def test_nonlocal_names(program):
    assert judged_in_all_modes(program, V) == "right"


def doubled(f):
    def g(*args, **_):
        return 2 * args[0]

    return g


def twice(f):
    def g(x):
        return f(f(x))

    return g


def scaled(by):
    def decorator(f):
        @functools.wraps(f)
        def g(*args, **more):
            return by * f(*args, **more)

        return g

    return decorator


def ignoring_the_function(x):
    @doubled
    def d(q):
        return 0.46 * q

    return d(x)


def two_decorators(x):
    @scaled(3.0)
    @twice
    def d(q):
        return q * q + x

    return d(x)


def decorator_of_the_function(x):
    def here(f):
        return lambda q: f(q) * x

    @here
    def d(q):
        return q * q + x

    s = 0.0
    for _ in range(3):
        s += d(s + x)
    return s


def decorator_with_an_effect(x):
    called = []

    def registered(f):
        called.append(f)
        return f

    @registered
    def d(q):
        return q * q

    return called[0](x) + d(x)


def argument_of_a_decorator_is_read_where_it_stands(x):
    @scaled(x)
    def d(q):
        return q * q

    x = x * 2
    return d(x)


DECORATED = [
    ignoring_the_function, two_decorators, decorator_of_the_function, decorator_with_an_effect,
    argument_of_a_decorator_is_read_where_it_stands
]  # fmt: skip


@pytest.mark.parametrize("program", DECORATED)
def test_decorators_of_functions_inside(program):
    assert judged_in_all_modes(program, 0.5) == "right"
