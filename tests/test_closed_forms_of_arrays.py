"""Derivatives that are written in closed form, in place of the derivatives of their parts one after the other."""

import warnings

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp

rng = np.random.default_rng(0)

# ---- the softplus ----


def softplus(x):
    return np.sum(np.logaddexp(0, x))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slope_of_softplus_is_the_sigmoid_without_the_softplus(dtype):
    x = np.array([-800, -80, -1, 0, 1, 80, 800, np.inf, -np.inf], dtype)
    expected = 1 / (1 + np.exp(-x.astype(np.longdouble)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = grad(softplus)(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).smallest_subnormal)
    assert "logaddexp" not in grad(softplus).lower(x).text.partition("# reverse")[2]


def test_softplus_against_an_active_number_has_both_slopes():
    check_grads(lambda x, c: np.sum(np.logaddexp(c, x) ** 2), (rng.normal(size=5), 0.3), wrt=("x", "c"))


def test_softplus_has_a_second_derivative():
    x, v = rng.normal(size=(2, 5))
    s = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(hvp(softplus)(x, v), s * (1 - s) * v)
