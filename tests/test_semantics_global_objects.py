"""Attributes of global objects that a function assigns: the text assigns them too, and reads what they were from a copy."""

import copy
import functools

import numpy as np
import pytest

from sourcead import grad, hvp, jvp, value_and_grad, vjp
from sourcead.errors import SourceADError
from tests.semantics import differences

X = np.array([0.5, -1.2, 2.0])


class State:
    def __init__(self, t, rate):
        self.t, self.rate, self.error, self.table = t, rate, None, np.array([1.0, 2.0, 3.0])

    def advance(self, by):
        self.t = self.t + by
        self.error = 0
        if self.t < 0:
            self.error, self.note = 1, f"before {self.rate}"
        return self.rate * self.t**2


class Copied(State):
    def __copy__(self):
        return self


class Keeping(State):
    @functools.cached_property
    def double(self):
        return 2 * self.t


KEEPING = Keeping(1.0, 1.0)
STATE, FIRST, COPIED, HELD = State(1.0, 0.5), State(2.0, 0.25), Copied(1.0, 1.0), State(1.0, 2.0)
SECOND, LISTED = FIRST, [HELD]


def advanced(x):
    return STATE.advance(x[0]) + STATE.advance(x[1] * x[2]) * STATE.t


def read_before(x):
    before = STATE.t * np.sin(x[0] * STATE.t)
    STATE.t = 10.0
    return before * x[1] + np.sum(STATE.table * x) * STATE.t + STATE.rate * before**2


def in_branches(x):
    total = 0.0
    for v in x:
        if v > 0:
            STATE.t *= 2
            total += v**2 * STATE.t
        else:
            STATE.error = "negative"
            STATE.rate = 3.0
    return total * STATE.rate


def in_a_loop_of_unknown_length(x):
    while STATE.t < 9:
        STATE.t += 2 + x[0] ** 2
    return STATE.t * x[1]


def new_attributes(x):
    STATE.found = x[0] * x[1]
    return STATE.found**2 * x[2]


FUNCTIONS = (advanced, read_before, in_branches, in_a_loop_of_unknown_length, new_attributes)


def with_state(f, *args):
    """What a function gives, and what it leaves in the object."""
    vars(STATE).clear()
    STATE.__init__(1.0, 0.5)
    return f(*args), {name: value for name, value in vars(STATE).items() if name != "table"}


@pytest.mark.parametrize("f", FUNCTIONS)
def test_value_gradient_and_what_is_left_are_as_in_python(f):
    value, left = with_state(f, X)
    slope = differences(lambda x: with_state(f, x)[0], [X])
    (made, gradient), also = with_state(value_and_grad(f), X)
    assert made == pytest.approx(value) and also == left
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7)
    (_, tangent), also = with_state(jvp, f, (X,), (np.cos(X),))
    assert tangent == pytest.approx(np.sum(slope * np.cos(X)), rel=1e-6) and also == left
    (_, pullback), also = with_state(vjp, f, X)
    for _ in range(2):
        np.testing.assert_allclose(pullback(2.0), 2 * slope, rtol=1e-6, atol=1e-6)
    assert also == left and {k: v for k, v in vars(STATE).items() if k != "table"} == left


def test_each_call_begins_with_what_the_last_one_left():
    gradient, python = grad(read_before), copy.deepcopy(STATE)
    found = [with_state(gradient, X)[0], gradient(X)]
    vars(STATE).update(vars(python))
    with_state(read_before, X)
    t, rate = 10.0, 0.5
    slope = (t * t * np.cos(X[0] * t)) * (X[1] + 2 * rate * t * np.sin(X[0] * t)) + 10.0
    assert found[1][0] == pytest.approx(slope) and found[0][0] != pytest.approx(slope)


def two_names(x):
    FIRST.t = x[0]
    return SECOND.t * x[1]


def in_a_list(x):
    HELD.t = x[0]
    return LISTED[0].t * x[1]


def as_argument(x, state):
    STATE.t = x[0]
    return state.t * x[1]


def one_of_two(x):
    state = STATE if x[0] > 0 else State(1.0, 1.0)
    state.t = 5.0
    return STATE.t * x[1]


def copied_its_own_way(x):
    COPIED.t = x[0]
    return COPIED.t * x[1]


def that_keeps_a_property(x):
    before = KEEPING.double
    KEEPING.t = 5.0
    return before * KEEPING.double * x[0]


def by_itself(x, n):
    return x if n == 0 else by_itself(x * STATE.t, n - 1) if x < 3.0 else by_itself(x * 0.5, n)


def read_by_a_function_that_calls_itself(x):
    STATE.t = 2.0
    return by_itself(x[0], 2)


REFUSED = (
    two_names, in_a_list, one_of_two, copied_its_own_way, that_keeps_a_property, read_by_a_function_that_calls_itself
)  # fmt: skip


@pytest.mark.parametrize("f", REFUSED)
def test_what_may_have_another_name_is_refused(f):
    with pytest.raises(SourceADError):
        grad(f)(X)


def test_an_argument_may_be_the_object():
    with pytest.raises(SourceADError):
        grad(as_argument, wrt=0)(X, STATE)


def test_second_derivatives_are_refused():
    with pytest.raises(SourceADError):
        hvp(advanced)(X, np.ones(3))
