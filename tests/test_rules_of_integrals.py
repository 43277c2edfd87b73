"""`scipy.integrate.quad`: the derivative of an integral by its limits and by what the integrated function reads."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.integrate import quad

from sourcead import check_grads, grad, value_and_grad
from sourcead.errors import SourceADError

SCALE = 1.3


def decay(x, rate, power):
    return x**power * math.exp(-rate * x)


PROGRAMS = {
    "what the function reads": lambda p: quad(lambda x: np.exp(-p * x) * x, 0, 1.5)[0],
    "arguments": lambda p: quad(decay, 0.5, 2.0, args=(p, 2))[0] + quad(lambda x, c: math.sin(c * x), 0.0, 1.0, p)[0],
    "limits": lambda p: integrate.quad(lambda x: np.cos(x) * SCALE, p, p**2 + 1.0)[0],
    "limits in the other order": lambda p: quad(np.cosh, 2.0, p)[0],
    "up to infinity": lambda p: quad(lambda x, c: np.exp(-c * x**2), 0, np.inf, args=(p,))[0],
    "from minus infinity": lambda p: quad(lambda x: math.exp(p * x), -math.inf, p)[0],
    "over all numbers": lambda p: quad(lambda x: np.exp(-((x - p) ** 2) / (1.0 + p)), -np.inf, np.inf)[0],
    "a root at the end": lambda p: quad(lambda x: math.sqrt(p * p - x * x), 0.0, p)[0],
    "a bend": lambda p: quad(lambda x: max(x - p, 0.0) * x, 0.0, 2.0)[0],
    "a peak": lambda p: quad(lambda x: 1.0 / (1e-4 + (x - p) ** 2), 0.0, 2.0)[0],
    "an integral in it": lambda p: quad(lambda x: quad(lambda y: x * y * p, 0.0, x)[0], 0.0, 1.0)[0],
}


def in_a_loop(p):
    total = 0.0
    for k in range(3):
        area, error = quad(decay, k * p, k + 1.0, args=(p, k))
        total += area
    return total


PROGRAMS["in a loop"] = in_a_loop


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradient_is_that_of_differences(name):
    function = PROGRAMS[name]
    value, gradient = value_and_grad(function)(0.8)
    assert value == pytest.approx(function(0.8), rel=1e-9)
    step = 1e-4
    assert gradient == pytest.approx((function(0.8 + step) - function(0.8 - step)) / (2 * step), rel=1e-5)


@pytest.mark.slow
def test_second_derivative():
    derivative = grad(lambda p: quad(lambda x: np.exp(-p * x) * x, 0, 1.5)[0])
    check_grads(derivative, (0.8,))


REFUSED = {
    "a jump, whose place counts": lambda p: quad(lambda x: 1.0 if x < p else 0.0, 0.0, 1.7)[0],
    "a step": lambda p: quad(lambda x: np.floor(x * p), 0.0, 2.9)[0],
    "an infinite value": lambda p: quad(lambda x: p / math.sqrt(x), 0.0, 1.0)[0],
    "options": lambda p: quad(lambda x: p * x, 0.0, 1.0, weight="cos", wvar=2.0)[0],
}


def counted(p):
    calls = [0]

    def integrand(x):
        calls[0] += 1
        return x * p

    return quad(integrand, 0.0, 1.0)[0] * calls[0]


REFUSED["a function that counts its calls"] = counted


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises((SourceADError, ValueError)):
        grad(REFUSED[name], verify=False)(0.8)


def test_error_of_the_integral_is_not_used():
    with pytest.raises(SourceADError):
        grad(lambda p: quad(lambda x: p * x, 0.0, 1.0)[1] * 2.0)(0.8)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9])
def test_simpson_of_values_and_of_places(n):
    rng = np.random.default_rng(n)
    x, y, rows = np.arange(n) + 0.4 * rng.random(n), rng.normal(size=n), rng.normal(size=(n, 2))
    check_grads(lambda y, x: integrate.simpson(y, x=x), (y, x), wrt=(0, 1))
    check_grads(lambda y: np.sum(integrate.simpson(y, dx=0.1, axis=0) ** 2 + integrate.simpson(y, x=x, axis=0)), (rows,))
