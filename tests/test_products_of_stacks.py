"""Products of stacks of matrices with one matrix: the cotangent of that is one product, in every way of writing it."""

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(3, 5))


def operator(w):
    return np.sum((X @ w) ** 2)


def function(w):
    return np.sum(np.matmul(X, w) ** 3)


def of_four_axes(w):
    return np.sum(np.tanh(X[None] @ w))


def transposed(w):
    return np.sum(np.tanh(X @ w @ w.T))


def of_the_stack(x):
    return np.sum(np.tanh(x @ W) @ W.T)


def of_its_own_part(x):
    return np.sum((x @ x[0].T) ** 2)


def stacks_on_both_sides(x):
    return np.sum((x @ np.swapaxes(x, 1, 2)) ** 2)


def matrix_before_a_stack(x):
    return np.sum((W.T @ np.swapaxes(x, 1, 2)) ** 2)


@pytest.mark.parametrize("f", [operator, function, of_four_axes, transposed])
def test_the_cotangent_of_a_matrix_is_one_product(f):
    assert judged_in_all_modes(f, W) == "right"
    text = grad(f).lower(W).text
    assert "np.tensordot(" in text
    assert "unbroadcast" not in text
    assert "swapaxes" not in text


@pytest.mark.parametrize("f", [of_the_stack, of_its_own_part, stacks_on_both_sides, matrix_before_a_stack])
def test_cotangents_of_stacks(f):
    assert judged_in_all_modes(f, X) == "right"


def test_matrices_without_rows():
    assert grad(lambda w: np.sum((np.ones((2, 3, 0)) @ w) ** 2))(np.ones((0, 3))).shape == (0, 3)
