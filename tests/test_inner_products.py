"""Products that the reverse sweep only adds up are added up in one call."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, value_and_grad

rng = np.random.default_rng(0)
V, U = rng.standard_normal((2, 12))
A, B = rng.standard_normal((2, 9, 11))
STACK = rng.standard_normal((9, 10, 11))


def of_vectors(scale, x, y):
    return np.sum(np.tanh(np.exp(scale) * x) * y)


def of_matrices(scale, x, y):
    return np.sum(np.tanh(np.exp(scale) * x) * y)


def of_columns(gain, x, y):
    return np.sum(np.tanh(gain * x) * y)


def of_rows(gain, x, y):
    return np.sum(np.sin(gain[:, None] * x) * y)


def of_kept_rows(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(np.sin(e / np.sum(e, axis=1, keepdims=True)) * y)


def of_stacks(gain, x):
    return np.sum(np.sin(gain * x))


CASES = {
    "vectors": (of_vectors, (np.float64(0.3), V, U)), "matrices": (of_matrices, (np.float64(0.3), A, B)),
    "columns": (of_columns, (B[0], A, B)), "rows": (of_rows, (B[:, 0], A, B)), "kept rows": (of_kept_rows, (A, B)),
    "stacks": (of_stacks, (B[0], STACK)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_central_differences(name):
    f, args = CASES[name]
    wrt = tuple(range(len(args)))
    check_grads(f, args, wrt=wrt)
    expected = grad(f, wrt=wrt)(*args)
    for change in (np.asfortranarray, lambda a: np.asarray(a, np.float32), lambda a: np.repeat(a, 2, axis=-1)[..., ::2]):
        given = [change(a) if np.ndim(a) else a.astype(change(V).dtype) for a in args]
        for d, e, a in zip(grad(f, wrt=wrt)(*given), expected, given):
            assert np.asarray(d).dtype == a.dtype and np.shape(d) == np.shape(a)
            np.testing.assert_allclose(d, e, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name):
    f, (x, *others) = CASES[name]
    v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))[()]
    differences = (grad(f)(x + 1e-6 * v, *others) - grad(f)(x - 1e-6 * v, *others)) / 2e-6
    np.testing.assert_allclose(hvp(f, wrt=0)(x, *others, v), differences, rtol=1e-5, atol=1e-7)


def reverse(name, dtype=np.float64):
    f, args = CASES[name]
    return grad(f).lower(*(np.asarray(a, dtype)[()] for a in args)).text


def test_no_array_of_products_is_made():
    assert "np.sum" not in reverse("vectors") and " @ " in reverse("vectors")
    assert '"ij,ij->"' in reverse("matrices")
    assert '"ij,ij->i"' in reverse("kept rows") and "[:, None]" in reverse("kept rows")
    for dtype in (np.float32, np.float64):
        assert '"ij,ij->j"' in reverse("columns", dtype)


def test_sums_along_the_last_axis_are_pairwise_in_single_precision():
    for name in ("matrices", "rows", "kept rows"):
        assert "einsum" not in reverse(name, np.float32)


def test_products_that_were_broadcast_and_short_axes():
    def spread(a, row, points):
        return np.sum(np.sin(a * row)) + np.sum(np.cos(points * a[:, :1]) * points)

    check_grads(spread, (A, B[0], rng.standard_normal((9, 3))), wrt=(0, 1, 2))
    check_grads(spread, (A[:, :1], B[:, 0], rng.standard_normal((9, 3))), wrt=(0, 1, 2))


def test_the_value_is_that_of_the_program():
    def energy(x, y):
        return np.sum(x * y)

    a, b = rng.standard_normal((2, 3000)).astype(np.float32)
    check_grads(energy, (V, U), wrt=(0, 1))
    np.testing.assert_array_equal(grad(energy)(a, b), b)


def test_a_state_that_begins_as_a_number_is_no_array():
    def f(x, a, n):
        h = 0.0
        for _ in range(n):
            h = np.tanh(a * h + x)
        return np.sum(h * x)

    x = np.linspace(0.1, 1, 9)
    for n in (1, 3):
        check_grads(f, (x, 0.9, n), wrt=(0, 1))
    assert np.sum(grad(f, wrt=1)(x, 0.9, 0)) == 0


def of_squares(x, y):
    r = ((x - y) ** 2).sum(-1)
    return np.sum(np.exp(-r / np.sum(x * y, axis=0, keepdims=True).T.sum()))


def until_small(x, y):
    while np.sum(x * y) > 0.1:
        x = 0.5 * x
    return np.sum(np.exp(np.sum(x * y, axis=1)))


def test_sums_of_the_program_on_which_the_value_does_not_depend():
    text = grad(of_squares).lower(A, B).text
    assert '"ij,ij->i"' in text.split("# reverse")[0]
    check_grads(of_squares, (A, B), wrt=(0, 1))
    value, _ = value_and_grad(of_squares)(A, B)
    assert value == of_squares(A, B)
    assert "einsum" not in value_and_grad(of_squares).lower(A, B).text.split("# reverse")[0]


def test_conditions_are_those_of_the_program():
    x, y = np.abs(A), np.abs(B)
    check_grads(until_small, (x, y), wrt=(0, 1))
    assert "while np.sum(x * y) > 0.1" in grad(until_small).lower(x, y).text
