"""Derivatives of `np.linalg.det` of singular matrices: a polynomial has derivatives of all orders everywhere."""

import numpy as np
import pytest

from sourcead import grad, hessian, jvp
from tests.semantics import differences

SINGULAR = {
    "rank two of three": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),
    "rank one of three": np.outer([1.0, 2.0, 3.0], [1.0, 0.5, -1.0]),
    "zero": np.zeros((2, 2)),
    "rank two of four, rounded": np.array([[0.1, 0.3], [0.2, 0.1], [0.3, 0.7], [0.7, 0.1]]) @ np.cos(np.arange(8.0)).reshape(2, 4),
    "a stack with a regular one": np.stack([np.outer([1.0, 2.0], [3.0, 0.1]), np.array([[1.0, 2.0], [3.0, 5.0]])]),
}


def weighted(a):
    return np.sum(np.linalg.det(a) * np.arange(1.0, 3.0))


def determinant(a):
    return np.linalg.det(a)


@pytest.mark.parametrize("case", SINGULAR)
def test_second_and_third_derivatives(case):
    a = SINGULAR[case]
    det = determinant if a.ndim == 2 else weighted
    direction = np.cos(np.arange(a.size)).reshape(a.shape)

    def first(b):
        return np.sum(grad(det)(b) * direction)

    def second(b):
        return np.sum(grad(first)(b) * np.sin(direction))

    np.testing.assert_allclose(grad(first)(a), differences(first, (a,)), atol=1e-7)
    np.testing.assert_allclose(grad(second)(a), differences(second, (a,)), atol=1e-7)
    np.testing.assert_allclose(jvp(second, (a,), (direction,))[1], np.sum(differences(second, (a,)) * direction), atol=1e-7)
    columns = np.reshape(hessian(det)(a), (a.size, a.size))
    np.testing.assert_allclose(columns @ direction.ravel(), np.ravel(grad(first)(a)), atol=1e-12)
