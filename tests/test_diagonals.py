"""Diagonals and traces of matrices and stacks of them, of all shapes and offsets, against Python and differences."""

import numpy as np
import pytest

from sourcead import grad
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
