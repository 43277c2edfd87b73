"""Shifts in a circle are written as two slices that are copied, where the shift and the axis are known."""

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.runtime import roll_axis

X = np.random.default_rng(0).normal(size=(9, 10))


@pytest.mark.parametrize("shape", [(1,), (5,), (3, 4), (2, 1, 3), (0,), (1, 0)])
@pytest.mark.parametrize("order", "CF")
def test_the_helper_is_roll(shape, order):
    x = np.asarray(np.arange(np.prod(shape)).reshape(shape), order=order)
    for axis, n in enumerate(shape):
        for shift in {1, -1, n, -n, n - 1, 1 - n} - {0}:
            if abs(shift) <= max(1, n):
                expected, found = np.roll(x, shift, axis), roll_axis(x, shift, axis)
                np.testing.assert_array_equal(found, expected)
                assert found.dtype == expected.dtype and found.flags.f_contiguous == expected.flags.f_contiguous


PERIODIC = {
    "axes": lambda x: np.sum(np.sin(x) * np.roll(x, 1, axis=0) * np.roll(np.cos(x), -1, 1) + np.roll(x, 2, -1) ** 2),
    "a vector": lambda x: np.sum(np.roll(x[0], 3) * x[0] ** 2 + np.roll(x[1], -1, 0) * x[1]),
    "a short axis": lambda x: np.sum(np.roll(x[:3], -3, 0) * x[:3] ** 2),
}


def statements(program):
    """Return the generated text without comments."""
    return "\n".join(line for line in grad(program).lower(X).text.splitlines() if not line.strip().startswith("#"))


@pytest.mark.parametrize("name", PERIODIC)
def test_known_shifts_are_copied_slices(name):
    text = statements(PERIODIC[name])
    assert "roll_axis" in text and "np.roll(" not in text
    assert "np.roll(" in grad(PERIODIC[name], readable=True).lower(X).text
    check_grads(PERIODIC[name], (X,))


OTHERS = {
    "all elements": lambda x: np.sum(np.roll(x, 1) * x**2),
    "several axes": lambda x: np.sum(np.roll(x, (1, 2), (0, 1)) * x**2),
    "more than the axis may have": lambda x: np.sum(np.roll(x, 9, 1) * x**2),
    "more than the axis has": lambda x: np.sum(np.roll(x[:3], 4, 0) * x[:3] ** 2),
    "by a number of the run": lambda x: np.sum(np.roll(x, int(x[0, 0] > 0), 0) * x**2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_shifts_stay(name):
    assert "roll_axis" not in grad(OTHERS[name]).lower(X).text
    check_grads(OTHERS[name], (X,))


def test_what_a_loop_shifts_is_shifted_again():
    def burgers(u, viscosity):
        for _ in range(20):
            left, right = np.roll(u, 1), np.roll(u, -1)
            u = u - 0.1 * (right**2 - left**2) + viscosity * (right - 2 * u + left)
        return np.sum(u**2)

    text = grad(burgers, wrt=(0, 1)).lower(X[0], 0.1).text
    assert text.count(".append(") == 1 and ".append(u)" in text
    check_grads(burgers, (X[0], 0.1), wrt=(0, 1))
