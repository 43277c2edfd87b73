"""`minimize` on structures: every method finds the minimum, results have the structure of the start, bounds hold."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is not installed: pip install '.[examples]'")

from sourcead import grad, minimize, value_and_grad  # noqa: E402
from sourcead.errors import ArgumentError, UnsupportedArgumentError  # noqa: E402

T = np.linspace(0, 1, 30)
Y = 2 * np.exp(-3 * T) + 0.5


@dataclass
class Decay:
    size: float
    rate: float
    shift: np.ndarray


class Pair(NamedTuple):
    a: np.ndarray
    b: float


def misfit(p, t, y):
    return np.sum((p.size * np.exp(-p.rate * t) + p.shift - y) ** 2)


def bowl(p):
    return np.sum((p["w"] - np.array([1.0, -2.0])) ** 2) + (p["b"][0] - 3.0) ** 4


METHODS = [None, "BFGS", "L-BFGS-B", "CG", "Newton-CG", "TNC", "SLSQP", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"]


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    found = minimize(bowl, {"w": np.zeros(2), "b": (0.0,)}, method=method)
    np.testing.assert_allclose(found.x["w"], [1, -2], atol=1e-3)
    assert found.x["b"][0] == pytest.approx(3, abs=0.2) and type(found.x["b"]) is tuple
    assert found.fun < 1e-3


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell"])
def test_methods_without_gradients(method):
    found = minimize(bowl, {"w": np.zeros(2), "b": (0.0,)}, method=method, tol=1e-8)
    np.testing.assert_allclose(found.x["w"], [1, -2], atol=1e-2)


def test_dataclasses_keep_their_class_and_dtypes():
    start = Decay(np.float32(1.0), 1.0, np.zeros(1, np.float32))
    found = minimize(misfit, start, T, Y)
    assert type(found.x) is Decay and type(found.x.size) is np.float32 and found.x.shift.dtype == np.float32
    assert (found.x.size, found.x.rate, found.x.shift[0]) == pytest.approx((2, 3, 0.5), abs=1e-2)
    assert type(found.jac) is Decay
    assert start.rate == 1.0 and not start.shift.any()


@pytest.mark.parametrize("f", [bowl, grad(bowl), value_and_grad(bowl)], ids=["function", "grad", "value_and_grad"])
def test_derivatives_are_taken_for_their_function(f):
    assert minimize(f, {"w": np.zeros(2), "b": (0.0,)}).fun < 1e-3


def test_numbers_and_arrays():
    assert minimize(lambda x: (x - 2) ** 2, 0).x == pytest.approx(2)
    assert minimize(lambda x: np.sum((x - 2) ** 2), np.zeros((2, 3))).x.shape == (2, 3)


@pytest.mark.parametrize(
    "bounds, a",
    [((0.5, None), [1, 0.5]), ((None, Pair(np.array([0.25, 9.0]), 9.0)), [0.25, -2]), (([Pair(0.0, 0.0), 2.0]), [1, 0])],
)
def test_bounds(bounds, a):
    found = minimize(lambda p: np.sum((p.a - np.array([1.0, -2.0])) ** 2) + (p.b - 1) ** 2, Pair(np.ones(2), 1.0), bounds=bounds)
    np.testing.assert_allclose(found.x.a, a, atol=1e-5)


def test_a_callback_sees_the_structure_and_may_stop():
    seen = []

    def stop(p):
        seen.append(p["w"].copy())
        if len(seen) == 2:
            raise StopIteration

    found = minimize(bowl, {"w": np.zeros(2), "b": (0.0,)}, callback=stop)
    assert len(seen) == 2 and found.nit == 2


@pytest.mark.parametrize(
    "given, error, text",
    [
        ({"x0": {}}, UnsupportedArgumentError, "without numbers"),
        ({"x0": np.array([1j])}, UnsupportedArgumentError, "complex"),
        ({"x0": 1.0, "bounds": 3.0}, ArgumentError, "no pair"),
        ({"x0": np.ones(2), "bounds": (np.zeros(3), None)}, ArgumentError, "another structure"),
        ({"x0": 1.0, "bounds": (0.0, 1.0), "method": "BFGS"}, ArgumentError, "takes no bounds"),
        ({"x0": 1.0, "jac": True}, ArgumentError, "gives SciPy `jac` itself"),
    ],
)
def test_refused(given, error, text):
    with pytest.raises(error, match=text):
        minimize(lambda x: np.sum(x**2), **given)
