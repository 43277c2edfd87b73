"""Diagonals and traces of matrices and stacks of them, of all shapes and offsets, against Python and differences."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.random.default_rng(0).normal(size=(3, 4))
STACK = np.random.default_rng(1).normal(size=(2, 3, 4))


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3, 4])
def test_diagonals_of_a_matrix(k):
    def f(x):
        return np.sum(np.diag(x, k) ** 3) + np.sum(x.diagonal(k) ** 2) + np.trace(x @ x.T * x[0, 0], k % 2)

    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (2, 1), (-1, 0)])
def test_diagonals_of_a_stack(axes):
    def f(x):
        return np.sum(np.diagonal(x, 1, *axes) ** 3) + np.sum(np.trace(x, -1, *axes) ** 2)

    assert judged_in_all_modes(f, STACK) == "right"


def test_diagonals_of_the_last_axes():
    def f(x):
        return np.sum(np.diagonal(x, axis1=-2, axis2=-1) ** 3) + np.sum(np.linalg.det(x @ np.swapaxes(x, 1, 2)))

    assert judged_in_all_modes(f, STACK) == "right"


def test_no_positions_of_all_elements_are_made():
    text = grad(lambda x: np.sum(np.diag(x @ x.T) ** 2)).lower(X).text
    assert "arange" not in text
    assert "gather" not in text


def of_the_diagonal(logits):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_probs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.diag(log_probs))


def both_ways(logits):
    return 0.5 * (of_the_diagonal(logits) + of_the_diagonal(logits.T))


def weighted(logits):
    log_probs = logits - np.log(np.sum(np.exp(logits), axis=0, keepdims=True))
    return np.sum(np.diagonal(log_probs) ** 2)


@pytest.mark.parametrize("f", [of_the_diagonal, both_ways, weighted])
@pytest.mark.parametrize("shape", [(9, 9), (12, 9), (9, 12), (3, 5), (1, 9), (9, 1)])
def test_diagonals_of_a_softmax_are_picked(f, shape):
    x = np.random.default_rng(2).normal(size=shape)
    check_grads(f, (x,))
    found = grad(f)(x)
    for other in (np.asfortranarray(x), x.astype(np.float32)):
        d = grad(f)(other)
        assert d.dtype == other.dtype and d.shape == shape
        np.testing.assert_allclose(d, found, rtol=1e-3, atol=1e-5)
    v = np.cos(np.arange(x.size)).reshape(shape)
    differences = (grad(f)(x + 1e-6 * v) - grad(f)(x - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f)(x, v), differences, rtol=1e-5, atol=1e-7)


def test_no_matrix_of_zeros_is_made_for_a_diagonal_whose_rows_are_summed():
    text = grad(both_ways).lower(np.random.default_rng(2).normal(size=(12, 9))).text
    assert "zeros" not in text and "diagonal_cotangent" not in text
    assert text.count("np.diag(") - text.count("# return") == 1


def test_columns_of_which_the_first_ones_have_an_element():
    def f(x, labels):
        log_probs = x - np.log(np.sum(np.exp(x), axis=0, keepdims=True))
        return -np.sum(log_probs[labels, np.arange(len(labels))])

    x, labels = np.random.default_rng(3).normal(size=(9, 12)), np.arange(8)
    check_grads(f, (x, labels), wrt=0)
    assert grad(f)(x.astype(np.float32), labels).dtype == np.float32
    assert "zeros" not in grad(f).lower(x, labels).text
