"""Masked arrays that `np.ma` makes of plain ones, of which nothing is masked."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, vjp
from sourcead.errors import SourceADError

X = np.array([[0.4, 1.1], [0.7, -0.3], [1.2, 0.9]])
MATRIX = np.array([[2.0, 0.3], [0.1, 1.5]])


def corrected(state, gain, observation):
    """A step of a filter, which leaves out what was not observed."""
    if not np.any(np.ma.getmask(observation)):
        return state + np.dot(gain, observation - state)
    return state


def filtered(x):
    observations = np.ma.atleast_2d(x)
    states = np.zeros((4, 2))
    for t in range(3):
        states[t + 1] = corrected(states[t], MATRIX, observations[t])
    return np.sum(states**2)


def likelihood(x):
    rows = np.ma.asarray(x)
    sol = np.linalg.solve(MATRIX, (rows - 0.5).T).T
    totals = np.zeros(3)
    totals[:] = -0.5 * (np.sum(sol**2, axis=1) + 0.3)
    return np.sum(totals)


def through_a_view(x):
    y = x * 2.0
    seen = np.ma.asarray(y)[1:]
    seen += x[0]
    seen[0, 1] = x[2, 1] ** 2
    return np.sum(y * x) + np.size(seen)


def asked_for_the_mask(x):
    made = np.ma.asarray(x)
    kept = x * 2.0 if np.any(np.ma.getmask(made)) else x
    whole = np.ma.getmask(np.ma.atleast_2d(x)[0])
    return np.sum(kept) * whole.size + isinstance(made, np.ma.MaskedArray) * np.sum(np.ma.getdata(made) ** 2) + np.sum(x[0][~whole])


def one_dimension(x):
    column = np.ma.atleast_2d(x[:, 0])
    if column.shape[0] == 1 and column.shape[1] > 1:
        column = column.T
    total = 0.0
    for t in range(len(x)):
        if not np.any(np.ma.getmask(column[t])):
            total += np.ravel(column[t] * x[t, 1])[0]
    return total


@pytest.mark.parametrize("function", [filtered, likelihood, through_a_view, asked_for_the_mask, one_dimension])
def test_gradient_is_that_of_differences(function):
    check_grads(function, (X,))


def test_vector_products_and_gradients_agree():
    _, pull = vjp(lambda x: np.asarray(np.ma.asarray(x) * x), X)
    np.testing.assert_allclose(pull(np.ones((3, 2))), 2 * X)


def test_second_derivatives():
    def plain(x):
        return np.sum(np.linalg.solve(MATRIX, (x - 0.5).T) ** 2)

    np.testing.assert_allclose(hvp(likelihood)(X, np.ones_like(X)), -0.5 * hvp(plain)(X, np.ones_like(X)))


REFUSED = {
    "a quotient, which is masked where it divides by 0": lambda x: np.sum(np.ma.asarray(x) / x[0]),
    "a logarithm of what may be 0": lambda x: np.sum(np.log(np.ma.asarray(x))),
    "a quotient in place": lambda x: divided_in_place(x),
    "a power in place": lambda x: power_in_place(x),
    "a method": lambda x: np.ma.asarray(x).mean(),
    "a reflected power": lambda x: np.sum(np.asarray(np.ma.asarray(x) // 0.3)),
    "the mask of a result": lambda x: np.sum(x) * np.any(np.ma.getmask(np.ma.asarray(x) + 1.0)),
    "made with a mask": lambda x: np.sum(np.ma.array(x, mask=x > 0)),
}


def divided_in_place(x):
    made = np.ma.asarray(x * 1.0)
    made /= x[0]
    return np.sum(made)


def power_in_place(x):
    made = np.ma.asarray(x * 1.0)
    made **= x[0]
    return np.sum(made)


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mask_something_is_refused(name):
    with pytest.raises(SourceADError):
        grad(REFUSED[name])(X)


def test_power_that_masks_something_is_refused_in_the_run():
    with pytest.raises(SourceADError, match="masks elements here"), np.errstate(invalid="ignore"):
        grad(lambda x: np.sum(np.ma.asarray(x) ** 0.5), verify=False)(X)


def test_masked_array_is_not_returned():
    with pytest.raises(SourceADError):
        vjp(lambda x: np.ma.asarray(x) * 2.0, X)


@pytest.mark.compiled
@pytest.mark.parametrize("function", [filtered, likelihood])
def test_compiled_gradient_is_that_of_numpy(function):
    np.testing.assert_allclose(grad(function, backend="numba")(X), grad(function)(X))
