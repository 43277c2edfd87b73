"""Functions of NumPy that return a view with more axes, or a copy, as their arguments say: what is written is seen where NumPy shows it."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([0.5, -1.2, 2.0])


def row_is_written(x):
    g = np.atleast_2d(x)
    g *= np.ravel(x)[0]
    return np.sum(g**2) * -1.3 + x.sum() * 0.7


def vector_is_written(x):
    g = np.atleast_3d(x)
    x[1] = 3.0 * x[0]
    g[0, 0, 0] = 2.0
    return np.sum(g**2) * -1.3 + x.sum() * 0.7


def matrix_is_written(x):
    m = np.outer(x, x)
    g = np.atleast_3d(m)
    m[1] *= x
    g[0, 0] *= 2.0
    return np.sum(g**2) * -1.3 + m.sum() * 0.7


def row_of_the_row(x):
    g = np.atleast_2d(x)[0]
    g[1] *= x[0]
    return np.sum(g * x)


def numbers(x):
    g = np.atleast_2d(x.sum())
    g[0] *= 3
    h = np.atleast_1d(x[0])
    h += 1
    return np.sum(g) * x[0] * h[0]


def several(x):
    y, z = np.atleast_2d(x, x * 2)
    y[0, 1] = 4.0
    return np.sum(x**2) + np.sum(z * y)


def copy_without_nan(x):
    z = np.nan_to_num(x)
    z[0] = x[1] * 2
    return np.sum(x * z)


def differences(x):
    z = np.diff(x)
    z[0] = x[1] * 2
    w = np.ediff1d(x)
    w[0] *= x[0]
    return np.sum(x) * np.sum(z**2) * np.diff(x, 2)[0] + np.sum(w)


@pytest.mark.parametrize(
    "f",
    [row_is_written, vector_is_written, matrix_is_written, row_of_the_row, numbers, several, copy_without_nan, differences],
)
def test_view_or_copy(f):
    assert judged_in_all_modes(f, X) == "right"
