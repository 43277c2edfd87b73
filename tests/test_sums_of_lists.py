"""Sums of lists: their cotangent is one number for each item, and no list where the items are popped one by one."""

import math

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad

X = np.array([0.7, 1.3, 0.4, -0.9, 0.2])


def appended(x):
    losses = []
    for v in x:
        losses.append(math.sin(v) * v)
    return sum(losses) / len(losses)


def made_by_a_comprehension(x):
    losses = [math.exp(v) * x[0] for v in x]
    total = sum(losses)
    return total * total


def in_two_loops_and_branches(x):
    losses = []
    for i in range(3):
        for j in range(4):
            if x[i] > x[j]:
                losses.append(x[i] * x[j])
            elif i > 1:
                losses.append(x[i] - x[j] ** 2)
    return sum(losses) * x[1]


def in_a_function(x):
    def mean(values):
        return sum(values) / len(values)

    return mean([v * v for v in x]) + mean([v * x[2] for v in x])


def with_items_that_are_read(x):
    losses = []
    for v in x:
        losses.append(v * v)
    return sum(losses) * losses[0] + max(losses) + losses[-1] ** 2


def written_afterwards(x):
    losses = [v * v for v in x]
    for k in range(1, len(losses)):
        losses[k] = losses[k] * losses[k - 1]
    return sum(losses)


def summed_twice(x):
    losses = []
    for v in x:
        losses.append(v**3)
    return sum(losses) * x[0] + sum(losses) ** 2


def popped(x):
    losses = []
    for v in x:
        losses.append(v * v)
    last = losses.pop()
    return sum(losses) * last + sum(losses, 2.0 * x[0])


def while_there_are(x):
    n, losses = 0, []
    while n < 4:
        losses.append(np.sum(x[:n] ** 2))
        n += 1
    return sum(losses) / n


def of_integers(x):
    counts = list(range(len(x)))
    return x[0] * sum(counts)


SUMS = [
    appended, made_by_a_comprehension, in_two_loops_and_branches, in_a_function, with_items_that_are_read, written_afterwards,
    summed_twice, popped, while_there_are, of_integers,
]


@pytest.mark.parametrize("f", SUMS)
def test_the_gradient_is_that_of_differences(f):
    check_grads(f, (X,))
    assert value_and_grad(f)(X)[0] == f(X)


@pytest.mark.parametrize("f", [appended, made_by_a_comprehension, in_two_loops_and_branches, while_there_are])
def test_no_list_is_made_of_one_number(f):
    text = grad(f).lower(X).text
    assert "d_losses" not in text and "np.full(" not in text, text


def test_an_empty_list_has_the_sum_zero():
    def positive(x):
        kept = []
        for v in x:
            if v > 0:
                kept.append(v * v)
        return x[0] * 3 + sum(kept)

    np.testing.assert_array_equal(grad(positive)(-np.abs(X)), [3.0, 0, 0, 0, 0])
    check_grads(positive, (X,))
