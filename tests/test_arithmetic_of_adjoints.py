"""Adjoints compute no more than a person would: constants, shapes, norms and inverses."""

import numpy as np

from sourcead import check_grads, grad, value_and_grad

rng = np.random.default_rng(0)
A, X = rng.standard_normal((9, 9)), rng.standard_normal((12, 9))
SPD = A @ A.T / 9 + np.eye(9)


def text(f, *args, **options):
    """The generated text without comments."""
    return "\n".join(line for line in grad(f, **options).lower(*args).text.splitlines() if not line.strip().startswith("#"))


def likelihood(mean, covariance, x):
    centred = x - mean
    return -0.5 * np.sum(centred * np.linalg.solve(covariance, centred.T).T) - 0.5 * len(x) * np.linalg.slogdet(covariance)[1]


def test_a_solution_that_only_adjoints_read_uses_the_inverse_that_they_need():
    args = X[0], SPD, X
    assert "np.linalg.solve" not in text(likelihood, *args, wrt=(0, 1))
    assert "np.linalg.inv" in text(likelihood, *args, wrt=(0, 1))
    check_grads(likelihood, args, wrt=(0, 1))


def test_the_value_is_that_of_the_solution_that_the_program_asks_for():
    made = value_and_grad(likelihood, wrt=(0, 1))
    assert "np.linalg.solve(covariance" in made.lower(X[0], SPD, X).text
    assert made(X[0], SPD, X)[0] == likelihood(X[0], SPD, X)


def test_a_solution_whose_size_another_adjoint_needs_alone():
    def solved(covariance, x):
        z = np.linalg.solve(covariance, x.T)
        return np.sum(np.tanh(z)) + np.linalg.slogdet(covariance)[1]

    check_grads(solved, (SPD, X))


def test_constants_are_not_broadcast():
    def divergence(mean, log_scale):
        scale = np.exp(log_scale)
        return 0.5 * np.sum(scale**2 + mean**2 - 1 - 2 * log_scale)

    assert "broadcast_to" not in text(divergence, X[0], X[1], wrt=(0, 1))
    check_grads(divergence, (X[0], X[1]))
    for dtype in (np.float32, np.float64):
        found = grad(divergence, wrt=(0, 1))(X[0].astype(dtype), X[1].astype(dtype))
        assert [d.dtype for d in found] == [dtype, dtype]


HALVES, COUNT = 0.5, 3


def test_numbers_of_the_program_are_factors_as_they_are():
    """A global number, a parameter and a literal: no product with 1.0 is left that only makes an integer a float."""
    def of_global(x):
        return HALVES * np.sum(x**2)

    def of_count(x):
        return COUNT * np.sum(x**2)

    def of_parameter(x, n):
        return n * np.sum(x**2)

    def of_count_alone(x):
        return COUNT * np.sum(np.sin(x))

    for f, expected in [(of_global, "2 * HALVES * x"), (of_count, "2.0 * COUNT * x"), (of_count_alone, "COUNT * np.cos(x)")]:
        assert f"return {expected}" in text(f, X[0])
        for dtype in (np.float32, np.float64):
            check_grads(f, (X[0],))
            assert grad(f)(X[0].astype(dtype)).dtype == dtype
    assert "return 2.0 * n * x" in text(of_parameter, X[0], 3)
    np.testing.assert_allclose(grad(of_parameter)(X[0], -4), -8 * X[0], rtol=1e-15)


def test_a_constant_derivative_is_an_array_of_its_own():
    def linear(x, y):
        return np.sum(2 * x - y)

    for d, expected in zip(grad(linear, wrt=(0, 1))(X, X), (2, -1)):
        assert d.shape == X.shape and (d == expected).all()
        d += 1  # which is not read-only


def test_nothing_is_computed_for_the_shape_of_a_diagonal():
    def contrast(x):
        shifted = x - np.max(x, axis=1, keepdims=True)
        log_probs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
        return -np.mean(np.diag(log_probs))

    assert "np.log" not in text(contrast, A)
    for n in (1, 2, 9):
        check_grads(contrast, (A[:, :n],))
        check_grads(contrast, (A[:n],))


def normalised(x, v):
    z = np.tanh(x)
    return np.sum(np.sin(z / np.linalg.norm(z, axis=1, keepdims=True)) * v)


def test_the_adjoint_of_a_norm_uses_the_quotient_by_it():
    assert "divide_or_zero" not in text(normalised, X, X)
    check_grads(normalised, (X, X))


def test_rows_of_norm_zero_are_as_undefined_as_their_quotient():
    x = X.copy()
    x[3] = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        found = grad(normalised)(x, X)
    assert not np.isfinite(found[3]).any()
    np.testing.assert_allclose(np.delete(found, 3, 0), grad(normalised)(np.delete(x, 3, 0), np.delete(X, 3, 0)))


def test_a_norm_that_is_kept_from_zero_has_a_slope_there():
    def safe(x):
        norm = np.linalg.norm(x, axis=1, keepdims=True)
        return np.sum(np.sin(x / np.maximum(norm, 1e-3)))

    x = X.copy()
    x[3] = 0
    assert np.isfinite(grad(safe)(x)).all()
    check_grads(safe, (X,))


def weighted(x, w):
    return np.mean(x**2 / w) + np.sum(w * np.sin(x))


def test_a_cotangent_that_is_one_number_is_multiplied_with_weights_of_columns_before_both_are_broadcast():
    w = 1 + rng.random(9)
    made = text(weighted, X, w, wrt=(0, 1))
    assert "broadcast_to" not in made
    check_grads(weighted, (X, w), wrt=(0, 1))
    single = grad(weighted, wrt=(0, 1))(X.astype(np.float32), w)
    assert [d.dtype for d in single] == [np.float32, np.float64]
