"""An arm of a branch that cannot be differentiated is refused in the runs that come there, not in the others."""

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad, hvp, jvp, value_and_grad

STEP = 1e-6


def reads_a_file(x):
    y = x * x
    if y > 4.0:
        with open("calibration.txt") as file:
            y = y + float(file.read())
    return y * 3.0


def warns_once(x):
    for _ in range(3):
        if x > 50.0:
            if "warned" not in globals():
                global warned
                warned = True
                print("large")
            x = x / 2
        x = x * np.sin(x)
    return x


def nowhere(x):
    if x > 0:
        y = float(open("a").read())
    else:
        y = float(open("b").read())
    return x * y


def error_or_refused(x):
    if x > 0:
        return x * float(open("a").read())
    raise ValueError("negative")


def handles(x):
    y = x * x
    try:
        if y > 4.0:
            y = y * float(open("no such file").read())
    except OSError:
        y = y * 10.0
    return y


@pytest.mark.parametrize("f", [reads_a_file, warns_once, handles])
def test_the_runs_that_do_not_come_there_have_their_derivative(f):
    expected = (f(1.3 + STEP) - f(1.3 - STEP)) / (2 * STEP)
    value, d_x = value_and_grad(f)(1.3)
    assert value == f(1.3)
    assert d_x == pytest.approx(expected, rel=1e-8)
    assert jvp(f, (1.3,), (2.0,))[1] == pytest.approx(2 * expected, rel=1e-8)
    second = (grad(f)(1.3 + STEP) - grad(f)(1.3 - STEP)) / (2 * STEP)
    assert hvp(f)(1.3, 1.0) == pytest.approx(second, rel=1e-6)


@pytest.mark.parametrize("f, x", [(reads_a_file, 3.0), (warns_once, 60.0), (handles, 3.0)])
def test_a_run_that_comes_there_is_refused_with_the_place(f, x):
    with pytest.raises(UnsupportedSyntaxError, match="open|outlives") as caught:
        grad(f)(x)
    assert caught.value.at.text.strip().startswith(("open", "global", "warned"))


@pytest.mark.parametrize("f", [nowhere, error_or_refused])
def test_a_function_whose_arms_are_all_refused_is_refused(f):
    with pytest.raises(UnsupportedSyntaxError, match="open"):
        grad(f).lower(1.3)


@pytest.mark.compiled
def test_compiled_text_refuses_in_the_run():
    d = grad(reads_a_file, backend="numba")
    assert d(1.3) == pytest.approx(7.8)
    with pytest.raises(UnsupportedSyntaxError, match="open"):
        d(3.0)


COUNTS = {"calls": 0}


def counted_by_a_new_key(x):
    if x > 0:
        COUNTS["positive"] = 1
    return x * x


def test_what_is_told_of_a_refused_arm_is_what_remains_refused_when_the_change_outside_is_allowed():
    assert grad(counted_by_a_new_key)(-2.0) == -4.0
    with pytest.raises(UnsupportedSyntaxError, match=r"gets the key 'positive' in a branch(.*\n){3}.*give the dict this key before"):
        grad(counted_by_a_new_key)(2.0)
    assert COUNTS == {"calls": 0}
