"""Names that comprehensions and functions bind of their own, while another variable of the same name is read around them."""
# ruff: noqa: B023, C416, C420, F841

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes


def a_list_in_a_loop(x):
    b = np.sum(x)

    def fn(m):
        for q in x:
            t = [a for a, b in zip(x, x)]
        return m * b

    return 1.01 * b + fn(x[1])


def a_function_in_a_loop(x):
    b = x[0]

    def fn(m):
        for q in x:

            def h():
                b = q
                return b

            m = m + 0.1 * h()
        return m * b

    return b + fn(x[1])


def a_dict_in_a_while(x):
    b = x[0]

    def fn(m):
        k = 0
        while k < 3:
            k += 1
            t = {b: 1 for b in range(3)}
        return m * b

    return b + fn(x[1])


def a_parameter_in_a_loop(x):
    b = x[0]

    def fn(m):
        for q in x:
            g = lambda b: b * q
            m += g(2.0)
            s = [b for b in range(2)]
        return m * b

    return b + fn(x[1])


def a_list_beside_nonlocal(x):
    b = x[0]

    def mid():
        t = [b for b in x]

        def inner():
            nonlocal b
            b = 2 * b + x[1]

        inner()
        return t[0]

    r = mid()
    return b * r


def a_class_in_a_loop(x):
    b = x[0]

    def mid(k):
        for q in x:

            class C:
                b = q

            k += C.b
        return k * b

    return mid(x[1]) * b


CASES = [
    a_list_in_a_loop,
    a_function_in_a_loop,
    a_dict_in_a_while,
    a_parameter_in_a_loop,
    a_list_beside_nonlocal,
    a_class_in_a_loop,
]


@pytest.mark.parametrize("program", CASES, ids=lambda f: f.__name__)
def test_the_variable_around_keeps_its_value(program):
    assert judged_in_all_modes(program, np.array([0.61, 0.33, -0.42, 0.83])) == "right"
