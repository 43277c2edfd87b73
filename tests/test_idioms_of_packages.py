"""Idioms of public packages, each in small programs: value and all derivatives as Python and central differences have them."""

import numpy as np
import pytest
from numpy import array

from tests.semantics import judged_in_all_modes, made

X, A, S = np.array([0.4, 0.7, -0.3, 0.9]), np.arange(12.0).reshape(4, 3) / 7, 0.6

RIGHT = {
    "diagonals are written through einsum": """
        eye = np.zeros((2, 2, 2))
        np.einsum('ijj->ij', eye)[...] = x.reshape(2, 2) ** 2
        other = np.einsum('ijj->ji', eye)
        other *= s
        return np.sum(np.sin(eye) @ x[:2])""",
    "a diagonal is a view": """
        y = np.outer(x, x)
        line = np.einsum('ii->i', y)
        y[0, 0] = s * x[1]
        return np.sum(line ** 3) + y[1, 1]""",
    "a number becomes an array": """
        y = array(s * x[0], dtype=complex).reshape(-1)
        z = np.array(x[1]).reshape(1, 1)
        y[y == np.inf] = 1e9
        z[z > 0.6] *= x[2]
        return np.abs(y[0] - 3j) * np.sum(z)""",
    "an array without axes is written through its views": """
        y = np.array(x[0])
        flat = y.reshape(-1)
        flat[0] = x[1] ** 2
        flat *= s
        y += x[2]
        return np.sum(flat * y)""",
}


KNOWN = {"np": np, "array": array}


@pytest.mark.parametrize("name", RIGHT)
def test_gradient_is_right(name):
    assert judged_in_all_modes(made(RIGHT[name], "x, A, s", **KNOWN), X, A, S) == "right"
