"""A user's rule that does not fit its function is an error that names the rule and says what it must return, never another number."""

import numpy as np
import pytest

from sourcead import RuleError, VerificationError, adjoint, grad, jvp, tangent
from sourcead.primitives.registry import forget_users

V = np.array([1.0, 2.0, 3.0])


def a_number(y, a, b, d_y):
    return np.sum(a)


def an_array(y, a, b, d_y):
    return 2.0 * a


def one_of_unknown_type(y, a, b, d_y):
    return d_y * b


def three(y, a, b, d_y):
    return d_y * b, d_y * a, None


def a_dict(y, a, b, d_y):
    return {"a": d_y * b, "b": d_y * a}


def nothing(y, a, b, d_y):
    d_y * b


@pytest.mark.parametrize("rule", [a_number, an_array, one_of_unknown_type, three, a_dict, nothing], ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("args", [(2.0, 3.0), (V, V)], ids=["numbers", "arrays"])
def test_an_adjoint_rule_that_does_not_return_a_cotangent_for_each_argument(rule, args):
    def times(a, b):
        return a * b

    adjoint(times)(rule)
    with pytest.raises(RuleError, match="for each") as caught:
        grad(lambda a, b: np.sum(times(a, b)), wrt=("a", "b"))(*args)
    assert rule.__name__ in str(caught.value) or "rule of times" in str(caught.value)


@pytest.mark.parametrize("rule", [
    lambda y, a, b, t_a, t_b: t_a * b + a * t_b, lambda y, a, b, t_a, t_b: (t_a * b, a * t_b, 0.0),
    lambda y, a, b, t_a, t_b: y * t_a,
], ids=["one", "three", "one of unknown type"])  # fmt: skip
def test_a_tangent_rule_that_does_not_return_a_contribution_of_each_tangent(rule):
    def times(a, b):
        return a * b

    tangent(times)(rule)
    with pytest.raises(RuleError, match="for each"):
        jvp(lambda a, b: times(a, b), (V, V), (V, V))


def cube(x):
    return x**3


@pytest.fixture
def primal():
    def cube(x):
        return x**3

    return cube


@pytest.mark.parametrize("rule", [lambda y, x, d_y: (3 * x**2 * d_y,), lambda y, x, d_y: np.sum(x) * 2.0, lambda y, x, d_y: np.outer(x, x),
                                  lambda y, x, d_y: [d_y, 1.0], lambda y, x, d_y: {"x": d_y}],
                         ids=["tuple", "number", "matrix", "list", "dict"])  # fmt: skip
def test_a_cotangent_of_another_kind_than_its_argument(rule, primal):
    adjoint(primal)(rule)
    with pytest.raises(RuleError, match="as the cotangent of x, which is an array with 1 axis\n.*return the cotangent of x"):
        grad(lambda x: np.sum(primal(x)))(V)


def test_a_derivative_of_another_shape_than_its_argument(primal):
    adjoint(primal)(lambda y, x, d_y: np.ones(7))
    with pytest.raises(VerificationError, match=r"has the shape \(7,\), and `x`, to which it belongs, the shape \(3,\)"):
        grad(lambda x: np.sum(primal(x)))(V)
    tangent(primal)(lambda y, x, t_x: (t_x * 3 * x**2,))
    with pytest.raises(RuleError, match="the rule of .*cube returns a tuple"):
        jvp(lambda x: primal(x), (V,), (V,))


def test_a_name_that_a_rule_misspells(primal):
    adjoint(primal)(lambda y, x, d_y: 3 * xx**2 * d_y)  # noqa: F821
    with pytest.raises(NameError, match="the name `xx` is not defined"):
        grad(lambda x: primal(x))(2.0)


def test_a_rule_whose_result_is_known_at_run_time_alone_is_differentiated_again():
    def times(a, b):
        return a * b

    def both(a, b, d):
        return d * b, d * a

    adjoint(times)(lambda y, a, b, d_y: both(a, b, d_y) if np.ndim(y) else [d_y * b, d_y * a])
    gradient = grad(lambda a: np.sum(times(a, a) * a))
    np.testing.assert_allclose(gradient(V), 3 * V**2)
    assert "one_for_each" in gradient.source


@pytest.mark.parametrize("register", [adjoint, tangent])
@pytest.mark.parametrize(
    "given", [3, "np.sin", None, np, lambda y, x, d_y: d_y, lambda y, x, t_x: t_x],
    ids=["a number", "a text", "None", "a module", "an adjoint rule", "a tangent rule"],
)  # fmt: skip
def test_a_rule_is_registered_for_a_function(register, given):
    with pytest.raises(RuleError, match=rf"in place of the function.*\nWrite instead: `@{register.__name__}\(f\)` above the rule of f"):
        register(given)


def test_a_rule_is_a_function():
    with pytest.raises(RuleError, match="the rule of cube is given as 2.0, which is no function"):
        adjoint(cube)(2.0)


@pytest.mark.parametrize("args", [2.0, V], ids=["number", "array"])
@pytest.mark.parametrize("rule, kind", [
    (lambda y, x, t_x: (3 * x**2 * t_x, 1.0), "tuple"), (lambda y, x, t_x: [t_x, 1.0], "list"), (lambda y, x, t_x: {"x": t_x}, "dict"),
], ids=["tuple", "list", "dict"])  # fmt: skip
def test_a_structure_as_the_tangent_of_what_is_none(primal, args, rule, kind):
    tangent(primal)(rule)
    with pytest.raises(RuleError, match=f"the rule of .*cube returns a {kind}, and the result of .*cube, .* is a"):
        jvp(lambda x: np.sum(primal(x) * 2), (args,), (args,))


def test_a_tuple_as_the_tangent_of_a_tuple():
    def both(x):
        return x, 2 * x

    tangent(both)(lambda y, x, t_x: (t_x, 2 * t_x))
    assert jvp(lambda x: both(x)[0] * both(x)[1], (2.0,), (1.0,)) == (8.0, 8.0)


def squared(x):
    return x * x


def sum_of_squares(x):
    return np.sum(squared(x))


def test_a_rule_that_is_registered_again_takes_the_place_of_the_one_before():
    gradient = grad(sum_of_squares)
    assert gradient(3.0) == 6.0
    for factor in (10.0, 20.0):

        @adjoint(squared)
        def rule(y, x, d_y, factor=factor):
            return factor * d_y

        assert (gradient(3.0), grad(sum_of_squares)(3.0), grad(lambda x: squared(x))(3.0)) == (factor, factor, factor)
    forget_users(squared)
    assert gradient(3.0) == 6.0


def nothing(y, x, d_y):
    return


def nothing_for_some(y, x, d_y):
    if y > 3:
        return d_y


def nothing_below(y, x, d_y):
    if np.all(y > 3):
        return d_y
    else:
        np.sum(d_y)


@pytest.mark.parametrize("rule", [nothing, nothing_for_some, nothing_below])
@pytest.mark.parametrize("verify", [None, False])
def test_a_rule_that_returns_nothing_is_refused(rule, verify):
    adjoint(squared)(rule)
    try:
        with pytest.raises(RuleError, match="returns nothing\n(.|\n)*return the derivative of"):
            grad(sum_of_squares, verify=verify)(1.0)
    finally:
        forget_users(squared)
