"""Numbers that come out of arrays: which of them arrays are, and which are numbers, decides what Python raises."""

import warnings

import numpy as np
import pytest

from sourcead import check_grads, grad

ROW, TABLE = np.array([0.7, -0.4, 1.3, 0.2]), np.array([[0.5, 1.5, 0.3, 0.8], [0.2, -0.7, 1.1, 0.4]])


def of_spline(x):
    """A place in an array without axes picks a number, which `*=` does not change in place."""
    place = np.asarray(np.sum(x) * 0.0 + 1.0).astype(int)
    rows = iter(TABLE)
    value = next(rows)[place]
    for row in rows:
        value *= x[0]
        value += row[place]
    return value


def of_two_places(x):
    place = np.array(1)
    y = np.outer(x, x)
    value = y[place, place]
    value += y[place, 2]
    return value * y[0, place, ...].sum()


def of_place_in_a_list(x):
    places = [np.array(2), np.array(0), np.array(2)]
    total = x[places[0]] * 2
    for place in places[1:]:
        total *= x[place]
    return total


def squeezed(x):
    """`[()]` of a number of NumPy is the number."""

    def limited(y):
        value = np.sinh(y) - 0.1 * y
        small = abs(np.cos(y)) <= 1e-9
        try:
            value[small] = np.sign(y[small]) * np.inf
        except TypeError:
            if small:
                value = np.sign(y) * np.inf
        return value.squeeze()[()]

    first, second = np.broadcast_arrays(np.sum(x), x[0])
    slope = np.arctan2(limited(first), limited(second))
    try:
        slope[slope > 9.0] = 0.0
    except (AttributeError, TypeError):
        if slope > 9.0:
            slope = 0.0
    return slope


class Four:
    """Made of one number, or of several."""

    def __init__(self, value):
        try:
            self.items = np.array([float(value), 0.0, 0.0, 0.0])
            return
        except TypeError:
            pass
        self.items = np.asarray([float(v) for v in value])


def of_number_or_sequence(x):
    first = Four(x)
    return np.dot(Four(2.0 * first.items).items, Four(x[1]).items) + np.sum(first.items**3)


def of_number_or_list(x):
    halves = [v / 2 for v in x]
    return np.dot(Four(np.array(halves)).items, Four(halves).items)


@pytest.mark.parametrize("function", [of_spline, of_two_places, of_place_in_a_list, squeezed])
def test_gradient_is_that_of_differences(function):
    check_grads(function, (ROW,))


def of_as_many_as_there_are(x):
    items = Four(2 * x).items
    return np.sum(items**3) * len(items)


@pytest.mark.parametrize("function", [of_number_or_sequence, of_number_or_list, of_as_many_as_there_are])
def test_an_array_that_python_converts_to_no_number(function):
    check_grads(function, (ROW,))


def test_whether_python_converts_an_array_is_decided_by_its_size():
    """Before NumPy 2.4 `float` takes an array of one element, and no other; since then it takes none with axes."""
    for first, second in [(ROW, ROW[:1]), (ROW[:1], ROW)]:
        gradient = grad(of_as_many_as_there_are)
        for x in (first, second):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                count = len(Four(x).items)
                np.testing.assert_allclose(gradient(x), 24 * x**2 * count)
