"""`np.emath`: real where a real number has a real result, complex for complex numbers, refused where the type would depend on the run."""

import numpy as np
import pytest

from sourcead import UnsupportedArgumentError, grad, jvp

INSIDE = np.array([0.2, 0.5, 0.9])
FUNCTIONS = {
    "sqrt": lambda x: np.emath.sqrt(x),
    "log": lambda x: np.emath.log(x),
    "log2": lambda x: np.emath.log2(x),
    "log10": lambda x: np.emath.log10(x),
    "logn": lambda x: np.emath.logn(3.0, x),
    "power": lambda x: np.emath.power(x, 2.5),
    "arcsin": lambda x: np.emath.arcsin(x),
    "arccos": lambda x: np.emath.arccos(x),
    "arctanh": lambda x: np.emath.arctanh(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_real_numbers(name):
    f = FUNCTIONS[name]
    slopes = (f(INSIDE + 1e-6) - f(INSIDE - 1e-6)) / 2e-6
    total = lambda x: np.sum(f(x))  # noqa: E731
    assert grad(total)(INSIDE) == pytest.approx(slopes, rel=1e-7)
    assert jvp(total, (INSIDE,), (np.ones(3),))[1] == pytest.approx(np.sum(slopes), rel=1e-7)
    assert grad(f)(0.5) == pytest.approx(slopes[1], rel=1e-7)
    assert grad(total)(INSIDE.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_complex_numbers(name):
    f = lambda x: np.real(FUNCTIONS[name](x * (-2.0 + 0.3j)))  # noqa: E731
    assert grad(f)(0.7) == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_real_numbers_with_a_complex_result(name):
    with pytest.raises(UnsupportedArgumentError, match=f"emath.{name}.*complex"):
        grad(lambda x: np.real(FUNCTIONS[name](x)))(-2.0)
