"""Numbers that classes hold and functions assign: the text assigns them at the same place, as often as the function."""

import numpy as np
import pytest

from sourcead import grad, hvp, jvp, value_and_grad, vjp
from sourcead.errors import BackendError, SourceADError, UnsupportedSyntaxError
from tests.semantics import differences

X = np.array([0.5, -1.2, 2.0])


class Thing:
    made, last, names = 0, 0.0, []
    step = 1

    def __init__(self, value):
        self.value = value
        self.name = f"thing {Thing.made}"
        Thing.made += 1


class Other(Thing):
    def __init__(self, value):
        super().__init__(value)
        type(self).last = 2.0


class Ruled(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, 2 * value)


class WithRules(metaclass=Ruled):
    made = 0


@pytest.fixture(autouse=True)
def unchanged():
    Thing.made, Thing.last = 3, 0.25
    if "last" in vars(Other):
        del Other.last


def counted(x):
    things = [Thing(v) for v in x]
    return sum(t.value**2 for t in things) * Thing.made


def in_branches(x):
    total = 0.0
    for v in x:
        if v > 0:
            Thing.made += 1
            total += v**2 * Thing.made
        else:
            Thing.made = 10
    return total * Other.made


def read_through_others(x):
    Thing.made += 1
    other = Other(x[0])
    return other.made * x[1] * x[0] + Other.made * type(other).made * x[2] ** 2


def kept(x):
    before = Thing.last
    Thing.last = x[0] * x[1]
    return Thing.last**2 * x[2] + before * x[1]


def in_a_loop_of_unknown_length(x):
    while Thing.made < 9:
        Thing.made += 2
    return np.sum(x**2) * Thing.made


def one_sided(x):
    thing = Thing(x[0])
    if x[1] > 0:
        thing.step = x[1]
    return thing.step * x[0] ** 2


RIGHT = (counted, in_branches, kept, in_a_loop_of_unknown_length, one_sided)


def with_state(f, *args):
    """What a function gives, and what it leaves in the class."""
    Thing.made, Thing.last = 3, 0.25
    return f(*args), (Thing.made, Thing.last)


@pytest.mark.parametrize("f", RIGHT)
def test_value_gradient_and_what_is_left_are_as_in_python(f):
    value, left = with_state(f, X)
    slope = differences(lambda x: with_state(f, x)[0], [X])
    (made, gradient), also = with_state(value_and_grad(f), X)
    assert made == pytest.approx(value) and also == pytest.approx(left)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
    (_, tangent), also = with_state(jvp, f, (X,), (np.cos(X),))
    assert tangent == pytest.approx(np.sum(slope * np.cos(X))) and also == pytest.approx(left)
    (_, pullback), also = with_state(vjp, f, X)
    np.testing.assert_allclose(pullback(2.0), 2 * slope, rtol=1e-6, atol=1e-8)
    assert (Thing.made, Thing.last) == pytest.approx(left) and also == pytest.approx(left)


def test_the_next_call_begins_with_what_the_last_one_left():
    gradient = grad(counted)
    found = [gradient(X) for _ in range(3)]
    np.testing.assert_allclose(found, [2 * X * n for n in (6, 9, 12)])


def test_second_derivatives_are_refused():
    with pytest.raises(UnsupportedSyntaxError, match="changes something outside"):
        hvp(counted)(X, np.ones(3))


def test_assigned_where_a_derived_class_holds_none_is_refused():
    with pytest.raises(UnsupportedSyntaxError):
        grad(read_through_others)(X)


def holds_an_array(x):
    Thing.last = x * 2
    return np.sum(Thing.last)


def by_rules_of_its_own(x):
    WithRules.made += 1
    return np.sum(x) * WithRules.made


def a_list(x):
    Thing.names = [1.0]
    return np.sum(x)


def powers(x, n):
    return Thing.made if n == 0 else x * powers(x, n - 1) if x > 0.1 else powers(x * 2, n)


def read_by_a_function_that_calls_itself(x):
    before = powers(x[0], 2)
    Thing.made += 4
    return before * powers(x[2], 2)


@pytest.mark.parametrize("f", [read_by_a_function_that_calls_itself, holds_an_array, by_rules_of_its_own, a_list])
def test_what_is_no_number_or_has_rules_is_refused(f):
    with pytest.raises(SourceADError):
        grad(f)(X)


def test_numba_refuses_and_numpy_takes_its_place():
    f = in_a_loop_of_unknown_length
    with pytest.raises(BackendError):
        with_state(grad(f, backend="numba"), X)
    g = grad(f, backend="auto")
    with_state(g, X)  # by NumPy, which serves the first call
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot"):
        gradient, left = with_state(g, X)
    np.testing.assert_allclose(gradient, 2 * X * 9)
    assert left == (9, 0.25)
