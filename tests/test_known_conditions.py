"""Branches on conditions that are known where they stand, values that only one side of a branch reads, and arrays assigned as a whole."""

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged

X = np.array([0.5, -1.2, 2.0])


def guards(x):
    if x[0] > 5:
        raise ValueError("too large")
    if not x[1] < 5:
        raise ValueError("too large")
    return np.sum(x**2)


def guard_inside(x):
    y = x * 2
    if x[0] > 0:
        if x[1] > 0:
            raise ValueError("positive")
        y = y * x
    return np.sum(y * x)


def guard_in_both_arms(x):
    if x[0] > 0:
        if x[1] > 3:
            raise ValueError
        y = np.sum(x) ** 2
    else:
        if x[1] > 3:
            raise ValueError
        y = np.sum(x) ** 3
    return y * x[1] if x[1] > 3 else y


def guard_in_a_loop_that_may_not_run(x):
    t = 1.0
    for v in x[3:]:
        if x[0] > 0:
            raise ValueError
        t = t * v
    if x[0] > 0:
        t = t * x[0]
    return t * x[1]


def guard_in_a_loop(x):
    t = 0.0
    for v in x:
        if v > 3:
            raise ValueError
        if v > 0:
            t += v * v
        elif v < -5:
            raise KeyError
        else:
            t += v
    return t


def condition_that_changes(x):
    t = 0.0
    positive = x[0] > 0
    for v in x:
        if positive:
            z = v * 2
        t += v
        if positive:
            t += z * v
        positive = not positive
    return t


def negation_of_a_negation(x):
    a = x[0] > 0
    b = not a
    c = not b
    if a:
        y = x * 3
    else:
        y = x
    if c:
        z = y * x
    else:
        z = y
    return np.sum(z) if not b else np.sum(y)


def value_of_either_arm(x):
    a = x[0] > 0
    b = x[1] > 0 if a else x[2] > 0
    if b:
        y = x * 2
    else:
        y = x * 3
    if a:
        y = y * x if x[1] > 0 else y
    return np.sum(y)


def conjunction(x):
    if x[0] > 0 and x[1] > 0:
        raise ValueError
    if x[0] > 0:
        return np.sum(x) * x[1] if x[1] > 0 else np.sum(x**2)
    return np.sum(x**3)


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (-1, -1, -1)], ids=str)
@pytest.mark.parametrize(
    "f",
    [
        guards, guard_inside, guard_in_both_arms, guard_in_a_loop_that_may_not_run, guard_in_a_loop, condition_that_changes,
        negation_of_a_negation, value_of_either_arm, conjunction,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_derivative(f, signs):
    x = X * signs
    try:
        f(x)
    except (ValueError, KeyError) as error:
        with pytest.raises(type(error)):
            grad(f, verify=False)(x)
    else:
        judged(f, x)


def guard_before_a_name_of_the_other_arm(x, n):
    c = x[0] > 0
    if c:
        z = x * 2
    if not c:
        raise ValueError
    for i in range(n):
        w = x * 3
    return np.sum(z * w)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=pytest.mark.compiled)])
def test_name_that_a_guard_makes_sure_of_is_not_checked(backend):
    derivative = grad(guard_before_a_name_of_the_other_arm, backend=backend, verify=False)
    np.testing.assert_allclose(derivative(abs(X), 2), 12 * abs(X))
    with pytest.raises(UnboundLocalError, match="'w'"):
        derivative(abs(X), 0)
    with pytest.raises(ValueError):
        derivative(-abs(X), 2)
    assert "z_assigned" not in derivative.source


@pytest.mark.parametrize("f", [guards, conjunction])
def test_what_reverses_an_arm_that_raised_is_gone(f):
    text = grad(f, verify=False).lower(X).text
    assert "None" not in text and "zeros" not in text


def flag_of_unknown_type(x):
    for k in range(3):
        w = x * (k + 1)
        if w[0] > 2:
            found = w
            break
    else:
        found = -x
    return np.sum(found * x)


@pytest.mark.parametrize("x", [X, abs(X) * 3])
def test_end_of_a_loop_is_known_by_its_break(x):
    assert judged(flag_of_unknown_type, x) == "right"
    assert "no value" not in grad(flag_of_unknown_type).lower(x).text


def copied_into(y, v):
    np.copyto(y, v)


def by_ellipsis(y, v):
    y[...] = v


def by_slice(y, v):
    y[:] = v


@pytest.mark.parametrize("assign", [copied_into, by_ellipsis, by_slice])
def test_assignment_to_all_of_an_array_leaves_no_cotangent_of_what_was_there(assign):
    def f(x):
        y = x * 2
        assign(y, x[::-1] ** 2)
        return np.sum(y * x)

    x = np.array([1.0, 2.0, 3.0])
    derivative = grad(f)
    np.testing.assert_allclose(derivative(x), x[::-1] ** 2 + 2 * x * x[::-1])
    assert "assigned_cotangent" not in derivative.source and "= 0.0" not in derivative.source
