"""A maximum that is subtracted so that nothing overflows gets no derivative where all that depends on it cancels, and only there."""

import math

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, jvp

X = np.random.default_rng(3).normal(size=(4, 4))
LABELS = np.array([1, 0, 3, 3])
ROWS = np.array([2, 0, 1, 0])


def logsumexp(a, axis):
    top = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.sum(np.exp(a - top), axis=axis))


def softmax(x):
    e = np.exp(x - x.max(axis=-1)[..., None])
    return e / e.sum(axis=-1, keepdims=True)


def of_logarithms(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return -np.mean((z - np.log(np.sum(np.exp(z), axis=1, keepdims=True)))[np.arange(len(x)), LABELS])


def of_picked_elements(x):
    z = x - np.max(x, axis=1).reshape(-1, 1)
    return np.sum(np.log(np.sum(np.exp(z), 1)) - z[np.arange(4), LABELS])


def in_place(x):
    z = x.copy()
    z -= np.expand_dims(np.max(z, axis=0), 0)
    p = np.exp(z)
    p /= np.sum(p, axis=0)
    return np.sum(p * x)


def of_all_elements(x):
    m = np.min(-x)
    return m - np.log(np.mean(np.exp(x + m)))


def of_weights(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return np.sum((e @ x / np.sum(e, 1, keepdims=True)) ** 2) + np.sum(e[:, 0] / np.sum(e * LABELS, axis=1))


def of_numbers(x):
    total = 0.0
    for i in range(3):
        a, b = x[i, 0], x[i, 1]
        m = max(a, b)
        total = m + math.log(math.exp(a - m) + math.exp(b - m)) + total * x[i, 2]
    return total


def in_a_recurrence(x):
    alpha = x[0]
    for row in x[1:]:
        alpha = logsumexp(alpha[:, None] + x, 0) + row
    return logsumexp(alpha, 0)


def of_softmax(x):
    return np.sum(softmax(x) * x)


def added_up(values):
    top, total = max(values), 0.0
    for value in values:
        total += math.exp(value - top)
    return top + math.log(total)


def of_numbers_added_up(x):
    return added_up([x[0, 0], x[1, 1], x[0, 2]]) * x[2, 2]


def of_rows_added_up(x):
    top, total = np.max(x, axis=0), np.zeros(4)
    for row in x:
        total = np.exp(row - top) + total
    return np.sum((np.log(total) + top) ** 2)


CANCEL = [
    of_logarithms, of_picked_elements, in_place, of_all_elements, of_weights, of_numbers, in_a_recurrence,
    of_softmax, of_numbers_added_up, of_rows_added_up,
]  # fmt: skip


@pytest.mark.parametrize("f", CANCEL)
def test_no_derivative_of_a_shift_that_cancels(f):
    check_grads(f, (X,))
    assert " == " not in grad(f).lower(X).text


def with_a_number_beside(x):
    return np.sum(np.log(1e-1 + np.sum(np.exp(x - np.max(x, axis=1, keepdims=True)), axis=1)))


def also_returned(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - m), axis=1)) + m[:, 0]) + np.sum(m**2)


def of_the_axis_that_fits_by_chance(x):
    m = np.max(x, axis=1)
    return np.sum((np.log(np.sum(np.exp(x - m[:, None]), axis=0)) + m) ** 2)


def added_along_the_other_axis(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.exp(x - m)) + m.reshape(1, 4)) ** 2)


def of_other_rows(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.sum(np.exp(z), axis=1)) - z[ROWS, LABELS]) ** 2)


def of_some_rows(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(1), LABELS]) ** 2)


def of_sorted_rows(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.sum(np.exp(z), axis=1)) - z[::-1][:, 0]) ** 2)


def twice(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(x - m), axis=1)) + 2 * m[:, 0])


def of_squares(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e / np.sum(e**2, axis=1, keepdims=True))


def summed(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.sum(np.sum(x - m, axis=1) + m[:, 0])


def carried(x):
    m, total = np.max(x, axis=1), 0.0
    for k in range(4):
        total = total + np.sum(np.exp(x[:, k] - m) ** (k + 1))
        m = m + x[:, k]
    return total


def of_a_branch(x):
    m = np.max(x)
    return np.sum(np.exp(x - m)) if x[0, 0] > 9 else m + np.sum(np.exp(x))


def of_each_row_added_up(x):
    total = np.zeros(4)
    for row in x:
        top = np.max(row)
        total = total + np.exp(row - top)
    return np.sum(np.log(total) + top)


def added_up_from_one(x):
    top, total = np.max(x, axis=0), np.ones(4)
    for row in x:
        total = total + np.exp(row - top)
    return np.sum(np.log(total) + top)


def read_while_it_is_added_up(x):
    top, total, seen = np.max(x, axis=0), np.zeros(4), 0.0
    for row in x:
        seen = seen + total[0] * row[0]
        total = total + np.exp(row - top)
    return np.sum(np.log(total) + top) + seen


def read_after_each_addition(x):
    top, total, seen = np.max(x, axis=0), np.zeros(4), 0.0
    for row in x:
        total = total + np.exp(row - top)
        seen = seen + total[0] * row[0]
    return np.sum(np.log(total) + top) + seen


STAY = [
    of_each_row_added_up, added_up_from_one, read_while_it_is_added_up, read_after_each_addition,
    with_a_number_beside, also_returned, of_the_axis_that_fits_by_chance, added_along_the_other_axis, of_other_rows, of_some_rows,
    of_sorted_rows, twice, of_squares, summed, carried, of_a_branch,
]  # fmt: skip


@pytest.mark.parametrize("f", STAY)
def test_a_shift_that_does_not_cancel_keeps_its_derivative(f):
    check_grads(f, (X,))
    assert " == " in grad(f).lower(X).text


def test_the_derivative_at_ties_and_beside_infinities_is_the_softmax():
    def f(x):
        return np.sum(logsumexp(x, 1))

    x = np.array([[2.0, 2.0, -np.inf], [0.0, 800.0, 800.0]])
    np.testing.assert_allclose(grad(f)(x), [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    _, tangent = jvp(f, (x,), (np.array([[1.0, 3.0, 0.0], [5.0, 1.0, 0.0]]),))
    np.testing.assert_allclose(tangent, 2.5)


@pytest.mark.parametrize("f", [of_logarithms, in_place, in_a_recurrence])
def test_second_derivatives_of_what_cancels(f):
    v = np.random.default_rng(4).normal(size=X.shape)
    gradient = grad(f)
    expected = (gradient(X + 1e-5 * v) - gradient(X - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(hvp(f)(X, v), expected, rtol=1e-5, atol=1e-8)
