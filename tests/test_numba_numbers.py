"""Under Numba, a number and an array without axes, which NumPy takes for each other, do not exclude each other."""

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from sourcead import value_and_grad  # noqa: E402

pytestmark = pytest.mark.compiled


class Neuron:
    """A state that begins with numbers; `np.where` makes arrays without axes of it."""

    def __init__(self):
        self.v = -65.0
        self.u = 0.0

    def step(self, a, dt):
        self.v += (0.04 * self.v**2 + 5 * self.v + 140 - self.u + 8 * a) * dt
        self.u += a * (0.2 * self.v - self.u) * dt
        spike = self.v >= -58.0
        self.v = np.where(spike, -65.0 + a, self.v)
        self.u = np.where(spike, self.u + a, self.u)


def spikes(a, n):
    neuron = Neuron()
    for _ in range(n):
        neuron.step(a, 0.2)
    return neuron.v * neuron.u


def limited(a, n):
    v = -65.0
    for _ in range(n):
        v = v + a * 8
        v = np.where(v >= -30.0, a, v)
    return v


def a_number_in_one_arm(a, n):
    v = np.maximum(a, 0) if n > 2 else np.where(a > 1, a, 0.0)
    return v * a


def an_integer_first(a, n):
    u = 0
    for i in range(n):
        u += a * (a - u)
        u = np.where(u >= 3.0, u - a, u) if i > 1 else np.where(u > 1, 1, u)
    return u


def unrolled(a, n):
    v = 1.0
    for _ in range(3):
        w = v
        v += a
        v = np.where(a > 1, a * w + v, v)
    return v * w


def repeated(a, n):
    b = np.resize(np.atleast_1d(a), (n,))
    return np.sum(b * np.arange(n))


CASES = [spikes, limited, a_number_in_one_arm, an_integer_first, unrolled, repeated]


@pytest.mark.parametrize("n", [2, 9])
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_gradient_is_that_of_numpy(f, n):
    value, gradient = value_and_grad(f)(2.5, n)
    compiled, compiled_gradient = value_and_grad(f, backend="numba")(2.5, n)
    np.testing.assert_allclose(value, f(2.5, n), rtol=1e-12)
    np.testing.assert_allclose(gradient, (f(2.5 + 1e-6, n) - f(2.5 - 1e-6, n)) / 2e-6, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(compiled, value, rtol=1e-12)
    np.testing.assert_allclose(compiled_gradient, gradient, rtol=1e-10)
