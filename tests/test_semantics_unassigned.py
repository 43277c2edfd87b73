"""A name that is not assigned on the path that the run takes raises what Python raises, with each engine; it is never None, or zero."""

import copy

import numpy as np
import pytest

from sourcead import Revolve, Segments, jvp, value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import differences, judged_in_all_modes, program_of

pytestmark = pytest.mark.sampled(3)


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


z = 3.0


def read_before_it_is_bound_in_the_other_arm(x):
    if x[0] > 0:
        y = z * x  # noqa: F823
    else:
        z = 2.0
        y = z * x
    return np.sum(y)


def bound_in_an_earlier_iteration(x):
    t = 0.0
    for i in range(3):
        if x[i] > 0:
            t += z * x[i]  # noqa: F823
        else:
            z = x[i] * 2  # noqa: F841
    return t


def the_previous_element(x):
    t = 0.0
    for v in x:
        t += z * v if t != 0.0 else v  # noqa: F823
        z = v  # noqa: F841
    return t


def free_variable(x):
    def inner(v):
        return v * z

    if x[0] > 0:
        z = x[1]
    return inner(x[0])


def position_that_is_not_there(x):
    if x[0] < 0:
        return (1.0, 2.0)[5] * x[0]
    return x[0]


def key_that_is_not_there(x):
    items = {}
    y = items["k"] * x[0] if x[0] < 0 else x[0]
    return y * x[1]


def name_that_does_not_exist(x):
    y = x[0] if x[0] > 0 else no_such_name  # noqa: F821
    return y * x[1]


def target_of_a_comprehension(x):
    return sum([z * z for z in x]) + z * x[0]


def global_by_declaration(x):
    global z
    return z * x[0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "f",
    [
        read_before_it_is_bound_in_the_other_arm, bound_in_an_earlier_iteration, the_previous_element, free_variable,
        position_that_is_not_there, key_that_is_not_there, name_that_does_not_exist, target_of_a_comprehension, global_by_declaration,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_arm_that_surely_raises(f, sign):
    x = sign * np.array([0.5, -1.2, 2.0])
    try:
        expected = f(x)
    except (LookupError, NameError) as error:
        with pytest.raises((LookupError, NameError)) as raised:
            value_and_grad(f, verify=False)(x)
        assert issubclass(raised.type, LookupError) == isinstance(error, LookupError)
    else:
        value, gradient = value_and_grad(f, verify=False)(x)
        assert value == pytest.approx(expected)
        steps = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(gradient, steps, rtol=1e-6, atol=1e-8)


def one_condition(x):
    c = x[0] > 0
    if c:
        y = x * 2
    total = np.sum(x)
    if not c:
        return total
    return total + np.sum(y * x)


def test_a_name_is_not_missing_under_the_condition_that_bound_it():
    derivative = value_and_grad(one_condition, verify=False)
    for x in (X, -X):
        derivative(x)
        assert "None" not in derivative.source and "UnboundLocalError" not in derivative.source


class Point:
    def __init__(self, x):
        self.x = x


def product(a, b):
    return a * b


def attribute_of_an_object(x):
    p = Point(x)
    return p.y * x[1] if x[0] < 0 else p.x[0]


def attribute_of_a_module(x):
    return np.no_such_function(x) if x[0] < 0 else x[0] * x[1]


def arguments_that_do_not_fit(x):
    return product(x[0]) if x[0] < 0 else product(x[0], x[1])


@pytest.mark.parametrize(
    "f, raised", [(attribute_of_an_object, AttributeError), (attribute_of_a_module, AttributeError), (arguments_that_do_not_fit, TypeError)]
)
def test_an_arm_with_what_is_not_there(f, raised):
    derivative = value_and_grad(f, verify=False)
    value, gradient = derivative(np.array([0.5, -1.2]))
    assert value == f(np.array([0.5, -1.2])) and gradient.shape == (2,)
    with pytest.raises(raised):
        derivative(np.array([-0.5, -1.2]))


def attribute_of_an_array_caught(x):
    try:
        return x.no_such_attribute
    except AttributeError:
        return x[0] ** 2


def call_that_does_not_fit_caught(x):
    try:
        y = product(x[0])
    except TypeError:
        y = x[0] ** 2
    return y


@pytest.mark.parametrize("f", [attribute_of_an_array_caught, call_that_does_not_fit_caught])
def test_what_surely_raises_is_caught(f):
    value, gradient = value_and_grad(f, verify=False)(X)
    assert value == f(X)
    np.testing.assert_array_equal(gradient, [3.0, 0.0])


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


@pytest.mark.parametrize("policy", [Segments(2), Revolve(2), "states"])
def test_a_name_without_a_value_is_copied_where_a_policy_runs_again(policy):
    def f(x):
        s = 0.0
        for i in range(3):
            if i == 0:
                b = x * 2
            np.maximum(b, 0.69, out=b)
            s = s + b.sum() ** 2
        return s

    x = np.array([0.87, -1.14, 0.96])
    np.testing.assert_allclose(value_and_grad(f, checkpoint=policy)(x)[1], differences(f, (x,)), rtol=1e-5)
