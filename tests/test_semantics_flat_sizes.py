"""`array.flat[places] = value` takes as many elements as it needs, of the value again and again; so does `array.flat = value`."""

import numpy as np
import pytest

from tests.semantics import judged_in_all_modes

X = np.array([[1.3, 2.1, -0.7], [0.4, 0.9, 1.7]])
WEIGHTS = np.arange(1.0, 7.0).reshape(2, 3)


def value_repeated(x):
    y = x * 1.0
    y.flat[:] = x[0] * 2.0
    return np.sum(y * WEIGHTS)


def value_cut(x):
    y = x * 1.0
    y.flat[1:3] = np.sin(x[0])
    return np.sum(y * WEIGHTS)


def value_of_more_axes(x):
    y = x * 1.0
    y.flat[:] = x.T**2
    return np.sum(y * WEIGHTS)


def value_cut_within_a_repetition(x):
    y = x * 1.0
    y.flat[1:] = x[1, :2] ** 2
    return np.sum(y * WEIGHTS)


def places_by_numbers(x):
    y = x * 1.0
    y.T.flat[[0, 3, 4, 1]] = x[0] ** 3
    return np.sum(y * WEIGHTS)


def places_by_a_mask(x):
    y = x * 1.0
    y.flat[y.ravel() > 0.5] = [x[0, 0] ** 2, x[1, 0]]
    return np.sum(y * WEIGHTS)


def places_known_only_now(x):
    y, n = x * 1.0, 0
    while n < x[0, 1] + 2:
        n += 1
    y.flat[:n] = x[0, :2]
    return np.sum(y * WEIGHTS)


def value_of_as_many(x):
    y = x * 1.0
    y.flat[1:4] = x[1] ** 2
    y.flat[::5] = x[0, 0], 4.0
    return np.sum(y * WEIGHTS)


def attribute_assigned(x):
    y = x * 1.0
    y.flat = x[1] ** 2
    return np.sum(y * WEIGHTS)


def attribute_assigned_of_more_axes(x):
    y, z = x * 1.0, np.zeros(4)
    y.flat, z.flat = x.T**2, 2.0 * x
    return np.sum(y * WEIGHTS) + np.sum(z**2)


def nothing_assigned(x):
    y = x * 1.0
    y.flat[1:] = x[0][x[0] > 20.0]
    y.flat[2:] = x[1][x[1] > 0.5]
    y.flat[:] = []
    return np.sum(y * WEIGHTS)


PROGRAMS = [value for value in list(globals().values()) if getattr(value, "__module__", None) == __name__]


@pytest.mark.parametrize("f", PROGRAMS)
def test_elements_are_repeated_or_cut(f):
    assert judged_in_all_modes(f, X) == "right"
