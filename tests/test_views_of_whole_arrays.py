"""The cotangent of a view that only adds axes or turns some round is summed or turned back, without an array of zeros and a write."""

import numpy as np
import pytest

from sourcead import check_grads, grad

X = np.random.default_rng(5).normal(size=(3, 4))


def differences(x):
    apart = x[:, None, :] - x[None, :, :]
    return np.sum(np.sqrt(1 + np.sum(apart**2, axis=2)))


def of_an_outer_sum(x):
    u, v = x[:, 0] * 2, x[0] ** 2
    return np.sum(np.sin(u[:, np.newaxis] + v[np.newaxis]) ** 2)


def in_a_loop(x):
    a = x[0]
    for k in range(1, 3):
        a = np.tanh(a[..., None] * 0.5 + x[k] * np.ones((4, 1))).sum(axis=0) + a[:, None][:, 0]
    return np.sum(a)


def turned(x):
    totals = np.cumsum(np.exp(x[0][::-1]))[::-1]
    return np.sum(np.log(totals) * x[1]) + np.sum(x[::-1, ::-1] ** 2 * x) + np.sum(x[:, ::-1][0] ** 3)


def with_more_axes(x):
    y = np.stack([x, x**2])[:, :3, :3]
    return np.sum(x[:, None, None, :] ** 2 * x[None, :, :, None][0]) + np.sum(np.sin(y[..., None, :] * y[..., None, :, :] ** 2))


@pytest.mark.parametrize("f", [differences, of_an_outer_sum, in_a_loop, turned, with_more_axes])
def test_gradients_through_views_of_whole_arrays(f):
    check_grads(f, (X,))
    check_grads(f, (X[:, ::-1].T[::-1].T,))
    check_grads(f, (np.asfortranarray(X),))


def test_no_zeros_are_made_for_axes_that_are_added():
    text = grad(differences).lower(X).text
    assert "zeros" not in text and "-np.einsum(" in text


def test_what_is_turned_twice_is_not_turned():
    def risks(x):
        return np.sum(np.log(np.cumsum(np.exp(x)[::-1])[::-1]))

    text = grad(risks).lower(X[0]).text
    assert "zeros" not in text and text.count("[::-1]") == 2


def test_a_gradient_through_a_view_is_an_array_of_its_own():
    def f(x, weights):
        return np.sum(x[:, None, :] * weights) + np.sum(x[::-1] * weights[:, 0])

    weights = np.ones((3, 1, 4))
    gradient = grad(f)(X, weights)
    gradient += 1
    np.testing.assert_array_equal(weights, 1)
    np.testing.assert_array_equal(gradient, 3)
