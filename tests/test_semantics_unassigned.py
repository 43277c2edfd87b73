"""A name that is not assigned on the path that the run takes raises what Python raises, with each engine; it is never None, or zero."""

import copy

import numpy as np
import pytest

from sourcead import jvp, value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import differences, judged_in_all_modes, program_of


def number(x, n):
    for i in range(n):
        c = x[i]*2
    return c*c


def item_of_a_list(x, n):
    for i in range(n):
        c = [3 * q for q in x]
    return c[0]


def condition(x, n):
    t=0.
    for i in range(n):
        c = x[i]*2
        t += np.sin(c)*c
    if c:
        t = t*2
    return t


def length(x, n):
    for i in range(n):
        c = [q*1. for q in x]
    return len(c)*x[0]


def truth_of_a_list(x, n):
    for i in range(n):
        c = [q*1. for q in x]
    return x[0] if c else x[1]


def array_in_a_branch(x, n):
    if n > 0:
        c = x*2
    return np.sum(c)


def tuple_in_a_branch(x, n):
    if n > 0:
        c = (x[0], 2.)
    return c[0]


def list_in_a_branch_in_a_loop(x, n):
    for i in range(3):
        if i < n:
            c = [x[0]]
        x = x*c[0]
    return np.sum(x)


def number_in_a_branch_in_a_loop(x, n):
    for i in range(3):
        if i < n:
            c = x[0]
        x = x*np.sin(c)
    return np.sum(x)


def list_in_nested_loops(x, n):
    t=0.
    for j in range(2):
        for i in range(n):
            c = [q*x[0] for q in x]
        t += np.sin(c[0])
    return t


def variable_of_a_closure(x, n):
    def g():
        return c
    for i in range(n):
        c = [x*2.]
    return g()[0][0]


def subscript(x, n):
    for i in range(n):
        k = i
    return x[k]


def loop_index(x, n):
    for i in range(n):
        pass
    return x[i]*x[0]


def text(x, n):
    for i in range(n):
        s = "a" if i else "b"
    return x[0] if s == "a" else x[1]


def returned(x, n):
    for i in range(n):
        c = [x[0] * i]
    return c[-1]


def arrays_in_a_list(x, n):
    for _ in range(n):
        c = [x * 1.0, x * 2.0]
        c[0][0] = 3.0
    return np.sum(c[0] * c[1])


CASES = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__]
X = np.array([1.5, 0.5])


def check(f, derivative):
    for n in (2, 0, 1):
        try:
            expected = f(X.copy(), n)
        except NameError:
            with pytest.raises(UnboundLocalError, match="local variable"):
                derivative(X.copy(), n)
            continue
        except IndexError:
            continue
        value, slope = derivative(X.copy(), n)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(slope, differences(f, (copy.copy(X), n)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_unassigned(f):
    check(f, value_and_grad(f, verify=False))
    with pytest.raises(UnboundLocalError):
        jvp(f, (X, 0), (X, None), verify=False)


@pytest.mark.compiled
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_unassigned_in_compiled_code(f):
    check(f, value_and_grad(f, verify=False, backend="numba"))


def test_a_loop_that_surely_runs_needs_no_check():
    def last(y):
        for _ in range(2):
            c = [2 * q for q in y]
        return c[0]

    derivative = value_and_grad(last, verify=False)
    assert derivative(X)[0] == 3.0 and "UnboundLocalError" not in derivative.source


HANDLED = {
    "never bound so far": ("try: s = GLOBAL * x[0]\n except NameError: s = x[1]\n GLOBAL = 1\n return s", "right"),
    "a loop without iterations": ("for i in range(0): c = x\n try: s = c[0]\n except UnboundLocalError: s = x[1]\n return s", "right"),
    "deleted": ("c = x\n del c\n try: s = c[0]\n except UnboundLocalError: s = x[1]\n return s", "right"),
    "of no function": ("try: s = NOWHERE * x[0]\n except NameError: s = x[1]\n return s", "right"),
    "of the function around it": (
        "def g(): return q * x[0]\n try: s = g()\n except UnboundLocalError: s = 0\n except NameError: s = x[1]\n"
        " q = x[1]\n return s + g()",
        "right",
    ),
    "unknown": ("for i in range(len(x) - 2): c = x\n try: s = c[0]\n except NameError: s = x[1]\n return s", "refused"),
    "unknown, in a branch": ("if x[0] < 0: c = x\n try: s = c[0]\n except (KeyError, Exception): s = x[1]\n return s", "refused"),
    "unknown, not used": ("if x[0] < 0: c = x\n s = x[1]\n try: c\n except NameError: s = x[0]\n return s", "refused"),
    "assigned": ("if x[0] > 0: c = x\n try: s = c[0]\n except NameError: s = x[1]\n return s", "right"),
    "a name of a comprehension": ("y = [GLOBAL for GLOBAL in x]\n return y[0] + GLOBAL * x[0]", "right"),
}


@pytest.mark.parametrize("lines, verdict", HANDLED.values(), ids=HANDLED)
def test_a_program_that_handles_that_a_name_has_no_value(lines, verdict):
    assert judged_in_all_modes(program_of([lines], GLOBAL=5.0), X) == verdict


NO_VALUE = {
    "assigned later": "s = GLOBAL * x[0]\n GLOBAL = 3\n return s",
    "imported later": "s = GLOBAL * x[0]\n import math as GLOBAL\n return s",
    "a class later": "s = GLOBAL * x[0]\n class GLOBAL: pass\n return s",
    "the target of a loop that does not run": "for GLOBAL in x[2:]: pass\n return GLOBAL * x[0]",
    "only read": "if x[0] < 0: GLOBAL = 3\n GLOBAL\n return x[0]",
    "of the function around it": "def g(): return GLOBAL * x[0]\n GLOBAL = 2\n s = g()\n del GLOBAL\n return s + g()",
}


@pytest.mark.parametrize("lines", NO_VALUE.values(), ids=NO_VALUE)
def test_a_local_name_is_never_read_from_outside(lines):
    program = program_of([lines], GLOBAL=5.0)
    with pytest.raises(NameError):
        program(X)
    with pytest.raises((NameError, SourceADError)):
        value_and_grad(program, verify=False)(X)
