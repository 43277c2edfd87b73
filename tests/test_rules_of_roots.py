"""Roots that `scipy.optimize` finds of a function which is defined in the program: the value is SciPy's, the derivative the root's."""

import functools
import math

import numpy as np
import pytest
from scipy.optimize import bisect, brentq, newton, ridder, root_scalar, rosen

from sourcead import UnsupportedArgumentError, UnsupportedSyntaxError, check_grads, grad, hvp, value_and_grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

P = np.array([1.3, 0.7, 2.1])


def cubic(x, a, b):
    return x**3 + a * x - b


def from_a_closure(p):
    return brentq(lambda x: np.exp(x) * p[0] - p[1] - p[2], -3, 3)


def with_further_arguments(p):
    return brentq(cubic, 0.0, 4.0, args=(p[0], p[1] * p[2])) * p[0]


def with_one_further_argument(p):
    return brentq(lambda x, q: math.cos(x) - q * x, 0.0, 2.0, p[1], xtol=1e-15, rtol=1e-15, maxiter=1000)


def in_a_loop_and_a_helper(p):
    def level(q):
        def distance(x):
            return x * math.exp(x) - q

        return brentq(distance, 0.0, 5.0)

    total = 0.0
    for k in range(len(p)):
        total += level(p[k]) ** 2 * (k + 1)
    return total


def in_a_branch(p):
    if p[0] > 1:
        x = bisect(lambda x: x**2 - p[0], 0.0, 5.0)
    else:
        x = p[1]
    return x * p[2]


def by_exponential_interpolation(p):
    def left_over(k, shares):
        return 1 - np.sum(shares**k)

    shares = 0.4 / np.array([p[0], p[1] + 0.3, p[2]])
    k = ridder(left_over, 0, 100, args=(shares,))
    return k + np.sum(shares**k * np.arange(3)) + ridder(lambda x: math.exp(-x) - p[0] * x, 2.0, 0.0, xtol=1e-13)


def at_the_end_of_the_interval(p):
    return ridder(lambda x: (x - 1.0) * p[0] + x**2 - 1.0, 0.0, 1.0) * p[1]


def by_secants(p):
    return newton(lambda x: cubic(x, p[0], p[1]), 0.5) + newton(cubic, p[2], args=(p[0], 4.0), x1=1.0)


def from_a_start_of_unknown_type(p):
    count = int(p[0] > 1) + 1
    return newton(lambda x: cubic(x, p[0], p[1]), count ** -count) * p[2]  # an integer, or not


def by_newton(p):
    return newton(lambda x: cubic(x, p[0], p[1]), 1, fprime=lambda x: 3 * x**2 + p[0])


def by_halley(p):
    return newton(cubic, 2.0, lambda x, a, b: 3 * x**2 + a, (p[0], p[1]), fprime2=lambda x, a, b: 6 * x)


def of_arrays(p):
    return np.sum(newton(lambda x, q: x**3 + x - q, np.ones(3), fprime=lambda x, q: 3 * x**2 + 1, args=(p,)) * np.arange(1, 4))


def of_arrays_by_halley(p):
    return np.sum(newton(lambda x: np.exp(x) - p, p, lambda x: np.exp(x), fprime2=lambda x: np.exp(x)) ** 2)


def of_root_scalar(p):
    found = root_scalar(cubic, (p[0], p[1]), bracket=[0.0, 3.0])
    return found.root * p[2] if found.converged else 0.0


def of_root_scalar_by_methods(p):
    def f(x):
        return cubic(x, p[0], p[1])

    def slope(x):
        return 3 * x**2 + p[0]

    return (root_scalar(f, bracket=(0.0, 3.0), method="bisect").root + 2 * root_scalar(f, x0=1.0, x1=1.2).root
            + 3 * root_scalar(f, x0=1.0, fprime=slope).root + 4 * root_scalar(f, method="secant", x0=1.0, x1=0.9).root)  # fmt: skip


PROGRAMS = [
    from_a_closure, with_further_arguments, with_one_further_argument, in_a_loop_and_a_helper, in_a_branch,
    by_exponential_interpolation, at_the_end_of_the_interval,
    by_secants, from_a_start_of_unknown_type, by_newton, by_halley, of_arrays, of_arrays_by_halley, of_root_scalar,
    of_root_scalar_by_methods,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative_of_a_root(f):
    assert judged_in_all_modes(f, P) == "right"
    assert value_and_grad(f)(P)[0] == pytest.approx(f(P), rel=1e-15)


@pytest.mark.parametrize("f", [with_further_arguments, of_arrays, in_a_loop_and_a_helper], ids=lambda f: f.__name__)
def test_second_derivative_of_a_root(f):
    step = np.array([0.3, -0.5, 0.2])
    expected = (grad(f)(P + 1e-5 * step) - grad(f)(P - 1e-5 * step)) / 2e-5
    np.testing.assert_allclose(hvp(f)(P, step), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(grad(lambda p: np.sum(grad(f)(p) * step))(P), expected, rtol=1e-6, atol=1e-8)


def test_third_derivative_of_a_root_is_refused():
    with pytest.raises(UnsupportedArgumentError, match="third derivative of a root"):
        grad(grad(grad(lambda p: brentq(lambda x: x**2 - p, 0.0, 4.0))))(2.0)


@pytest.mark.parametrize("find", [brentq, bisect, ridder], ids=lambda find: find.__name__)
@pytest.mark.parametrize("ends", [(0.1, 9.3), (9.3, 0.1), (-3.0, 1.7), (0.0, 30.0)], ids=str)
def test_of_many_roots_the_one_that_scipy_finds(find, ends):
    def f(p):
        return find(lambda x: math.sin(p * x) + 0.2 * x - 0.5, *ends)

    value, slope = value_and_grad(f)(1.0)
    assert value == f(1.0)
    assert slope == pytest.approx((f(1 + 1e-6) - f(1 - 1e-6)) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("find", [brentq, bisect, ridder], ids=lambda find: find.__name__)
@pytest.mark.parametrize("ends", [(2.0, 5.0), (-1.0, 2.0)], ids=str)
def test_root_at_an_end(find, ends):
    value, slope = value_and_grad(lambda p: find(lambda x: x**3 - p, *ends))(8.0)
    assert (value, slope) == (2.0, pytest.approx(1 / 12, rel=1e-14))


class Distance:
    """The distance of a power from a number, as a function."""

    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        return x**2 - self.p


FORMS = {
    "partial": lambda p: brentq(functools.partial(cubic, a=p, b=3.0), 0.0, 4.0),
    "object": lambda p: brentq(Distance(p), 0, 4),
    "method": lambda p: bisect(Distance(p).__call__, 0.0, 4.0),
    "function of NumPy": lambda p: brentq(np.sin, 2.0, 4.0) * p,
    "ends that depend on the argument": lambda p: brentq(lambda x: x**2 - p, p - 1, p + 4),
    "elements of an array": lambda p: np.sum(np.vectorize(lambda q: brentq(cubic, 0.0, 4.0, args=(q, 2.0)))(np.array([p, 2 * p]))),
    "start in an array without axes": lambda p: newton(lambda x: x**2 - p, np.array(1.0), lambda x: 2 * x),
    "complex numbers": lambda p: np.imag(newton(lambda x: x**2 + p, 1.0 + 1.0j, lambda x: 2 * x)),
    "an array inside": lambda p: brentq(lambda x, q: np.sum(np.array([x, q]) ** 2) - 9, 0, 4, args=p),
}


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
def test_forms_of_the_function(f):
    value, slope = value_and_grad(f)(2.0)
    assert value == f(2.0)
    assert slope == pytest.approx((f(2 + 1e-6) - f(2 - 1e-6)) / 2e-6, rel=1e-6)


def test_function_that_writes_is_refused():
    def f(p):
        calls = [0]

        def distance(x):
            calls[0] += 1
            return x**2 - p

        return brentq(distance, 0.0, 4.0) + calls[0] * p

    with pytest.raises(UnsupportedSyntaxError, match="changes something outside of it"):
        grad(f)(2.0)


def test_root_that_is_not_enclosed_raises_what_scipy_raises():
    def f(p):
        return brentq(lambda x: x**2 + p, 0.0, 4.0)

    for call in (f, grad(f)):
        with pytest.raises(ValueError, match="different signs"):
            call(2.0)


def test_search_that_does_not_converge_raises():
    for find in (brentq, bisect):
        with pytest.raises(RuntimeError, match="Failed to converge"):
            grad(lambda p: find(lambda x: x**3 - p, 0.0, 4.0, maxiter=3))(2.0)  # noqa: B023


@pytest.mark.parametrize("f", [
    lambda p: brentq(lambda x: x * x - p, 0.0, 4.0, full_output=True)[0], lambda p: root_scalar(lambda x: x * x - p, x0=1.0).root,
    lambda p: np.mean(newton(lambda x: x * x - p, np.ones(2)))
])  # fmt: skip
def test_forms_in_which_scipy_searches(f):
    assert grad(f)(2.0) == pytest.approx(0.5 / 2**0.5, rel=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not from_a_start_of_unknown_type], ids=lambda f: f.__name__)
def test_derivative_of_a_root_with_numba(f):
    np.testing.assert_allclose(grad(f, backend="numba")(P), grad(f)(P), rtol=1e-12)


@pytest.mark.compiled
def test_start_of_an_integer_to_a_negative_power_is_refused_with_numba():
    with pytest.raises(ValueError, match="an integer to a negative power is a float"):
        grad(from_a_start_of_unknown_type, backend="numba")(P)


def test_a_function_that_optimisers_are_shown_with():
    check_grads(lambda x: rosen(x), (np.array([0.5, 1.2, -0.3]),))


def test_a_function_that_makes_an_array_of_its_argument():
    def left(m, a):
        m = np.asanyarray(m)
        if np.any(m < 0.0):
            raise ValueError("negative")
        return m**2 * 1.4 + m - a

    value, slope = value_and_grad(lambda a: newton(left, 2.0, args=(a,)), verify=False)(1.7)
    assert value == pytest.approx(newton(left, 2.0, args=(1.7,)))
    assert slope == pytest.approx(1 / (2.8 * value + 1))
