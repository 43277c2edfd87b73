"""A factor that two terms of an adjoint have in common is multiplied with once."""

import numpy as np
import pytest
from scipy.special import ndtr

from sourcead import check_grads, grad, hvp, jvp

rng = np.random.default_rng(0)
A, B, S = (rng.standard_normal((9, 11)) for _ in range(3))
W = rng.standard_normal((11, 12))


def text(f, *args, **options):
    """The generated text without comments."""
    return "\n".join(line for line in grad(f, **options).lower(*args).text.splitlines() if not line.strip().startswith("#"))


def mixed(z, n, h):
    return np.sum(((1 - z) * n + z * h) ** 2)


def counted(eta, counts):
    return -np.mean(counts * eta - np.exp(eta))


def shared_matrix(a, b, w):
    h = np.tanh(a) * b
    return np.sum(np.sin(h @ w) + np.cos(np.tanh(a) @ w))


def divided(a, b, s):
    x = a * b
    return np.sum(np.sin(x / s) + np.cos(x) / s)


CASES = {
    "mixed": (mixed, (A, B, S)),
    "counted": (counted, (A, B)),
    "matrix": (shared_matrix, (A, B, W)),
    "divided": (divided, (A, B, S * S + 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_central_differences(name):
    f, args = CASES[name]
    wrt = tuple(range(len(args)))
    check_grads(f, args, wrt=wrt)
    for order in ("C", "F"):
        ordered = [np.array(a, order=order) for a in args]
        expected = grad(f, wrt=wrt)(*ordered)
        single = grad(f, wrt=wrt)(*(a.astype(np.float32) for a in ordered))
        for d, e in zip(single, expected):
            assert d.dtype == np.float32
            np.testing.assert_allclose(d, e, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_are_differences_of_gradients(name):
    f, (x, *others) = CASES[name]
    v, step = np.cos(np.arange(x.size)).reshape(x.shape), 1e-6
    differences = (grad(f)(x + step * v, *others) - grad(f)(x - step * v, *others)) / (2 * step)
    np.testing.assert_allclose(hvp(f, wrt=0)(x, *others, v), differences, rtol=1e-5, atol=1e-7)
    value, slope = jvp(f, (x, *others), (v, *(None for _ in others)))
    np.testing.assert_allclose(slope, np.sum(grad(f)(x, *others) * v))


def test_two_products_with_one_cotangent_are_one():
    assert "(h - n)" in text(mixed, A, B, S)
    assert "(np.exp(eta) - counts)" in text(counted, A, B)


def test_factors_of_another_dtype_keep_the_dtype_of_the_cotangent():
    counts = rng.integers(0, 5, A.shape)
    check_grads(counted, (A, counts), wrt=0)
    assert grad(counted)(A.astype(np.float32), counts).dtype == np.float32


def test_terms_that_something_else_reads_are_computed_once_each():
    def both(a, b):
        p = a * b
        return np.sum(p * a) + np.sum(np.sin(p)) + np.sum(p * b)

    check_grads(both, (A, B))


def test_a_factor_that_was_broadcast_and_terms_of_other_shapes():
    def spread(row, column, a):
        return np.sum((row * a + row * column) ** 2) + np.sum(column * a)

    check_grads(spread, (A[0], B[:, :1], S), wrt=(0, 1, 2))


def test_signs_go_with_numbers_and_divisors_cancel():
    def scaled(lengths, x):
        z = x / np.exp(lengths)
        return -0.5 * np.sum(z**2)

    written = text(scaled, A[0], B)
    assert "/ exp) * exp" not in written and "-(-" not in written
    check_grads(scaled, (A[0], B))


def test_a_statement_is_not_delayed_across_another_value_of_its_operand():
    def gated(p, xs):
        h = np.zeros((xs.shape[1], 12))
        for x in xs:
            z = 1 / (1 + np.exp(-(x @ p)))
            r = np.tanh(h)
            h = (1 - z) * r + z * h
        return np.sum(h**2)

    xs = rng.standard_normal((9, 10, 11))
    assert "d_h_1" not in text(gated, W, xs)
    check_grads(gated, (W, xs))


def normalised(x, v):
    z = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.sum(np.sin(z) * v)


def standardised(x, v):
    centred = x - np.mean(x, axis=0)
    z = centred / np.sqrt(np.mean(centred**2, axis=0) + 0.1)
    return np.sum(np.sin(z) * v)


@pytest.mark.parametrize("f", [normalised, standardised])
def test_one_division_for_what_is_divided_and_for_the_divisor(f):
    check_grads(f, (A, B), wrt=(0, 1))
    d = grad(f)(A, B)
    for dtype, order in ((np.float32, "C"), (np.float64, "F")):
        found = grad(f)(np.array(A, dtype, order=order), np.array(B, dtype, order=order))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, d, rtol=2e-3, atol=1e-5)
    v = np.cos(np.arange(A.size)).reshape(A.shape)
    differences = (grad(f)(A + 1e-6 * v, B) - grad(f)(A - 1e-6 * v, B)) / 2e-6
    np.testing.assert_allclose(hvp(f, wrt=0)(A, B, v), differences, rtol=1e-5, atol=1e-7)
    reverse = text(f, A, B).split("z = ")[-1]
    assert reverse.count("/ norm_x") + reverse.count("/ sqrt") == (1 if f is normalised else 2)


def test_a_product_that_is_there_is_read():
    def decay(a, k, t, y):
        level = a * np.exp(-k * t)
        return np.sum((level - y) ** 2)

    t, y = np.linspace(0, 1, 12), rng.standard_normal(12)
    for a in (np.cos(t), 1.3):
        check_grads(decay, (a, np.sin(t) + 2, t, y), wrt=(0, 1))
        written = grad(decay, wrt=1).lower(a, np.sin(t) + 2, t, y).text
        assert "* level *" in written and "* a *" not in written
    single = [v.astype(np.float32) for v in (np.cos(t), np.sin(t) + 2, t, y)]
    assert all(d.dtype == np.float32 for d in grad(decay, wrt=(0, 1))(*single))


def test_choices_between_values_and_their_negatives_are_products_with_signs():
    def payoffs(x, y, up):
        call = x * ndtr(y) - y * ndtr(x + y)
        put = y * ndtr(-x - y) - x * ndtr(-y)
        return np.sum(S * np.where(up, call, put))

    up = rng.random(A.shape) < 0.5
    check_grads(payoffs, (A, B, up), wrt=(0, 1))
    check_grads(payoffs, (A, B, up[:1]), wrt=(0, 1))
    for dtype in (np.float64, np.float32):
        args = A.astype(dtype), B.astype(dtype), up
        written = grad(payoffs, wrt=(0, 1)).lower(*args).text
        assert all(d.dtype == dtype for d in grad(payoffs, wrt=(0, 1))(*args))
        assert "* up - 1.0" in written


def soft_minimum(x, y, t):
    a, b, c = -x / t, -y / t, -x * y / t
    e, f, g = np.exp(a), np.exp(b), np.exp(c)
    return np.sum(-t * np.log(e + f + g) * S)


def soft_path(xs, t):
    r = np.zeros(len(xs) + 2)
    for i in range(len(xs)):
        a, b = -r[i + 1] / t, -r[i] / t
        top = max(a, b)
        r[i + 2] = xs[i] - t * (np.log(np.exp(a - top) + np.exp(b - top)) + top)
    return r[len(xs) + 1] ** 2


@pytest.mark.parametrize(("f", "args"), [(soft_minimum, (A**2, B**2, 0.7)), (soft_path, (A[0], 0.7))], ids=["arrays", "numbers"])
def test_a_cotangent_is_divided_once_and_not_each_of_its_multiples(f, args):
    check_grads(f, args, wrt=tuple(range(len(args))))
    written = grad(f, wrt=0).lower(*args).text.partition("# reverse")[2]
    assert "/ t" not in "".join(line for line in written.splitlines() if not line.strip().startswith("#"))
