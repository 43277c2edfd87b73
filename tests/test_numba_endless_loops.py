"""Loops that only their body leaves, under Numba: arrays that they carry hold what the program assigned, also before a `break`."""

import numpy as np
import pytest

from sourcead import value_and_grad

pytest.importorskip("numba")

pytestmark = pytest.mark.compiled

X = np.array([1.3, 0.4])


def replaced_before_the_end(x, n):
    scale = np.array([0.8, 1.2])
    k = 0
    while 1:
        total = np.sum(np.sin(x * scale))
        new = np.zeros(2)
        new[0] = x[0] / scale[0] + 1.0
        new[1] = x[1] / scale[1] + 1.0
        scale = new
        k += 1
        if k >= n:
            break
    return total


def until_it_stays(x, n):
    before, scale = None, np.array([0.8, 1.2])
    while True:
        total = np.sum(np.cos(x * scale))
        new = np.empty(2)
        for i in range(2):
            new[i] = 0.3 * x[i] * scale[i] + 1.0
        scale = new
        if before is not None:
            if abs(total - before) < 10.0**-n:
                break
        before = total
    return total + scale[0]


def largest(values):
    found = 0.0
    for v in values:
        if v > found:
            found = v
    return found


def with_a_test_that_is_computed(x, n):
    scale = np.array([0.8, 1.2])
    while largest(scale) < 3.0 * n:
        new = np.zeros(2)
        new[0], new[1] = x[0] * scale[1] + 1.0, scale[0] * x[1] + 1.0 + n / 6
        if new[1] > 2.5:
            scale = new
            break
        scale = new
    return np.sum(scale * x)


@pytest.mark.parametrize("f", [replaced_before_the_end, until_it_stays, with_a_test_that_is_computed], ids=lambda f: f.__name__)
def test_arrays_assigned_before_a_break_and_after_it(f):
    value, d_x = value_and_grad(f)(X, 6)
    assert np.isclose(value, f(X, 6), rtol=1e-12)
    compiled = value_and_grad(f, backend="numba", verify=False)(X, 6)
    assert np.isclose(compiled[0], value, rtol=1e-12)
    assert np.allclose(compiled[1], d_x, rtol=1e-10)
