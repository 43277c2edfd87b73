"""The table of docs/conventions.md holds, row by row and in both modes; complex numbers keep their convention at second order."""

import re
from pathlib import Path

import numpy as np
import pytest

from sourcead import UnsupportedArgumentError, grad, hessian, hvp, jacobian, jvp
from sourcead.backends.load import load

pytestmark = pytest.mark.sampled(2)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "conventions.md"
ROWS = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|", PAGE.read_text(), re.M)


def function_of(expression):
    namespace = {"np": np}
    return load(f"def f(x):\n    return {expression}\n", "f", namespace)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression, at, expected", ROWS)
def test_the_table(expression, at, expected):
    f = function_of(expression)
    x = np.array(eval(at)) if at.startswith("[") else float(at)
    derivative = np.array(eval(expected), dtype=float)
    np.testing.assert_allclose(grad(f)(x), derivative, atol=1e-12)
    units = np.eye(np.size(x)) if np.ndim(x) else [1.0]
    tangents = [jvp(f, (x,), (unit,))[1] for unit in units]
    np.testing.assert_allclose(tangents if np.ndim(x) else tangents[0], derivative, atol=1e-12)


def test_the_table_is_read():
    assert len(ROWS) >= 23


M = np.random.default_rng(0).normal(size=(3, 3)) + 1j * np.random.default_rng(1).normal(size=(3, 3))


def loop(z):
    h = np.zeros(3, dtype=complex)
    for _ in range(3):
        h = np.tanh(M @ h * 0.3 + z)
    return np.sum(np.abs(h) ** 2)


def writes(z):
    a = np.zeros(4, dtype=complex)
    a[1:] = z * z
    a[0] = z[0] * np.conj(z[1])
    return np.sum(np.abs(a) ** 2 * np.arange(4))


COMPLEX = {
    "squares": lambda z: np.sum(np.abs(z) ** 2 * np.arange(1, 4)),
    "conjugate": lambda z: np.sum((z * z * np.conj(z)).real),
    "exp": lambda z: np.sum(np.exp(z).imag),
    "matmul": lambda z: np.sum(np.abs(M @ z) ** 4),
    "fft": lambda z: np.sum(np.abs(np.fft.fft(z)) ** 3),
    "ifft": lambda z: np.sum(np.real(np.fft.ifft(z**2)) ** 2),
    "reciprocal": lambda z: np.sum((1 / z).real),
    "power": lambda z: np.sum((z**3).imag * np.abs(z)),
    "angle": lambda z: np.sum(np.angle(z) * z.real),
    "solve": lambda z: np.sum(np.abs(np.linalg.solve(M + 3 * np.eye(3), z * z)) ** 2),
    "log": lambda z: np.sum(np.log(z).real * np.sqrt(z).imag),
    "trigonometric": lambda z: np.sum((np.sin(z) * np.tanh(z)).real),
    "det": lambda z: np.abs(np.linalg.det(M + np.diag(z))) ** 2,
    "inverse": lambda z: np.sum(np.abs(np.linalg.inv(M + np.diag(z) + 4 * np.eye(3))) ** 2),
    "outer": lambda z: np.sum(np.abs(np.outer(z, np.conj(z))) ** 2 * np.arange(9).reshape(3, 3)),
    "elements": lambda z: (z[0] * z[1] * np.conj(z[2])).real,
    "einsum": lambda z: np.einsum("i,ij,j->", np.conj(z), M, z).real ** 2,
    "cumsum": lambda z: np.sum(np.abs(np.cumsum(z)) ** 2),
    "loop": loop,
    "writes": writes,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_first_and_second_order(name):
    f = COMPLEX[name]
    rng = np.random.default_rng(2)
    z, v = (rng.normal(size=3) + 1j * rng.normal(size=3) for _ in range(2))
    directions = [*np.eye(3), *(1j * np.eye(3))]
    slopes = np.array([(f(z + 1e-6 * d) - f(z - 1e-6 * d)) / 2e-6 for d in directions])
    np.testing.assert_allclose(grad(f)(z), slopes[:3] - 1j * slopes[3:], rtol=1e-5, atol=1e-6)
    turned = (grad(f)(z + 1e-5 * v) - grad(f)(z - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(hvp(f)(z, v), turned, rtol=1e-5, atol=1e-5)
    inner = [(grad(f)(z + 1e-5 * d) - grad(f)(z - 1e-5 * d)) / 2e-5 for d in directions]
    curved = np.array([np.sum((g * v).real) for g in inner])
    twice = grad(lambda z: np.sum((grad(f)(z) * v).real))(z)
    np.testing.assert_allclose(twice, curved[:3] - 1j * curved[3:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("derivative", [jacobian, hessian])
def test_jacobians_by_complex_arguments_are_refused(derivative):
    with pytest.raises(UnsupportedArgumentError, match="real and the imaginary part as two arguments"):
        derivative(COMPLEX["squares"])(np.ones(3) * 1j)


@pytest.mark.parametrize(
    "f",
    [lambda u: np.sum(np.polyval([1.0, 2.0, 2.0], u)), lambda u: np.sum(np.polyfit(np.arange(3.0), u, 1)), lambda u: np.sum(u[()] * 2)],
    ids=["polyval", "polyfit", "item"],
)
def test_float32_beside_constants_of_float64_has_a_gradient_of_float32(f):
    u = np.float32([0.5, 1.5, 2.5])
    assert grad(f)(u).dtype == np.float32


def test_an_array_without_axes_has_a_gradient_of_its_dtype():
    gradient = grad(lambda u: u[()] * 2)(np.array(0.5, np.float32))
    assert isinstance(gradient, np.ndarray) and gradient.dtype == np.float32 and gradient.shape == ()


@pytest.mark.parametrize("u", [np.float64(0.7), np.array(0.7), np.float32(0.5)])
def test_the_whole_of_a_number_is_taken_by_an_empty_subscript(u):
    assert np.allclose(grad(lambda u: u[()] ** 2 + u)(u), 2 * u + 1)
