"""Residuals of nested loops lie on one stack."""

import numpy as np
import pytest

from sourcead import check_grads, grad


def three_deep(x):
    s = 1.0
    for i in range(2):
        for j in range(3):
            for k in range(j):
                s = np.sin(s * x[i]) + x[k] * s
    return s


def branch_around_the_inner_loop(x):
    s = 1.0
    for i in range(4):
        if x[i] > 0:
            for j in range(i):
                s = np.exp(-s * x[j]) + s * x[i]
        else:
            s = s * np.cos(x[i])
    return s


def branch_inside_the_inner_loop(x):
    s = 1.0
    for i in range(3):
        for j in range(4):
            if i != j:
                s = s * np.sin(x[j] + s)
    return s


def inner_loop_left_early(x):
    s = 1.0
    for i in range(3):
        for j in range(4):
            if s > 1.5:
                break
            s = s * 1.3 + np.sin(x[j] * s)
        s = s * 0.5
    return s


def inner_while(x):
    s = 3.0
    for i in range(3):
        while s > 1.0:
            s = s * 0.6 + 0.1 * np.sin(s * x[i])
        s = s + x[i] * x[i] + 1.0
    return s


def two_inner_loops(x):
    s = 1.0
    for i in range(3):
        for j in range(2):
            s = np.sin(s) * x[j]
        for j in range(3):
            s = np.tanh(s + x[j])
    return s


def arrays_are_put_back(x):
    a = x * 1.0
    for i in range(3):
        for j in range(3):
            a[j] = a[j] * a[j + 1]
    return np.sum(a)


PROGRAMS = [
    three_deep, branch_around_the_inner_loop, branch_inside_the_inner_loop, inner_loop_left_early, inner_while, two_inner_loops,
    arrays_are_put_back,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_list_holds_lists(f):
    x = np.array([0.7, -0.4, 0.3, 0.9])
    check_grads(f, (x,))
    g = grad(f)
    g(x)
    lists = [line.split(" = ")[0].strip() for line in g.source.splitlines() if line.endswith(" = []")]
    assert lists
    assert not [name for name in lists if any(f".append({other})" in g.source for other in lists)]
    assert all(line.startswith("    ") and line[4] != " " for line in g.source.splitlines() if line.endswith(" = []"))


def test_a_pullback_may_be_called_twice():
    from sourcead import vjp

    x = np.array([0.7, -0.4, 0.3, 0.9])
    _, pullback = vjp(three_deep, x)
    first = pullback(1.0)
    np.testing.assert_array_equal(first, pullback(1.0))


def test_lists_of_the_program_stay_as_they_are():
    def f(x):
        stack = []
        for i in range(3):
            inner = []
            for j in range(3):
                inner.append(x[i] * x[j] + j)
            stack.append(inner)
        s = 0.0
        for i in range(3):
            inner = stack[2 - i]
            s = s + inner[0] * np.sin(s) + inner[2]
        return s

    check_grads(f, (np.array([0.7, -0.4, 0.3]),))
