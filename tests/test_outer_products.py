"""Products with outer products are computed with their vectors, and what is regrouped for that stays the same gradient."""

import numpy as np
import pytest

from sourcead import check_grads, grad

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 10)), rng.normal(size=30)


def ridge(x, y):
    a = x.T @ x + np.eye(x.shape[1])
    return np.sum(np.linalg.solve(a, x.T @ y) ** 2)


def ridge_by_its_factor(x, y):
    factor = np.linalg.cholesky(x.T @ x + np.eye(x.shape[1]))
    return np.sum(np.linalg.solve(factor.T, np.linalg.solve(factor, x.T @ y)) ** 2)


def test_the_gradient_of_ridge_regression_multiplies_no_matrices():
    text = grad(ridge).lower(X, Y).text
    reverse = text.split("# reverse")[1]
    assert reverse.count("np.outer") == 2 and "@ -np.outer" not in reverse and ".T @ x" not in reverse
    check_grads(ridge, (X, Y))


def test_a_symmetric_matrix_is_multiplied_once():
    text = grad(ridge_by_its_factor).lower(X, Y).text
    assert "lower_half" not in text and text.split("# reverse")[1].count("x @ ") == 1
    check_grads(ridge_by_its_factor, (X, Y))


def of_a_vector(u, v, w):
    return np.sum(np.sin(w @ np.outer(u, v)) ** 2)


def of_matrices(u, v, w):
    return np.sum((np.outer(u, v) @ w) ** 3) + np.sum(w @ np.outer(v, u))


def of_differences(u, v, w):
    return np.sum(((np.outer(u, v) - w @ w.T).T @ w) ** 2)


def of_one_and_many(u, v, w):
    return np.sum(np.tanh(np.outer(u, v)[:, :, None] * w[:, None]) ** 2)


@pytest.mark.parametrize("f", [of_a_vector, of_matrices, of_differences, of_one_and_many])
@pytest.mark.parametrize("n", [3, 9])
def test_products_with_outer_products(f, n):
    u, v, w = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, n)) / n
    w = w[0] if f is of_a_vector else w
    check_grads(f, (u, v, w), wrt=(0, 1, 2))
    exact = grad(f, wrt=(0, 1, 2))(u, v, w)
    for d, expected in zip(grad(f, wrt=(0, 1, 2))(*(np.float32(z) for z in (u, v, w))), exact, strict=True):
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, expected, rtol=1e-3, atol=1e-4)
