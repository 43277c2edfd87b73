"""A ufunc with `where=` and without `out=`: no derivative passes through the elements that it leaves as the memory was."""

import numpy as np
import pytest

from sourcead import grad, jvp

pytestmark = pytest.mark.filterwarnings("ignore:'where' used without 'out'")
X, Y = np.array([1.0, -0.5, 3.0]), np.array([0.3, 2.0, 2.0])


def angle(x, y):
    quotient = np.divide(y, x, where=x > 0)
    return np.sum(np.where(x > 0, np.arctan(quotient), x) * x)


def root(x):
    return np.sum(np.where(x > 0, np.sqrt(x, out=None, where=x > 0), 0.0) * x)


def test_elements_that_are_computed():
    inside = X > 0
    expected = np.where(inside, np.arctan(Y / X) - X * Y / (X**2 + Y**2), 2 * X)
    d_x, d_y = grad(angle, wrt=(0, 1))(X, Y)
    assert d_x == pytest.approx(expected)
    assert d_y == pytest.approx(np.where(inside, X * X / (X**2 + Y**2), 0.0))
    assert jvp(angle, (X, Y), (X, Y))[1] == pytest.approx(np.dot(d_x, X) + np.dot(d_y, Y))
    assert grad(root)(X) == pytest.approx(np.where(inside, 1.5 * np.sqrt(np.abs(X)), 0.0))


def test_numbers_and_single_precision():
    assert grad(angle)(1.0, 2.0) == pytest.approx(np.arctan(2.0) - 2 / 5)
    assert grad(root)(X.astype(np.float32)).dtype == np.float32
