"""Iterations that depend on each other by sums alone are computed at once, and only these."""

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp, value_and_grad

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)
W, B, V = rng.standard_normal((9, 10)), rng.standard_normal(9), rng.standard_normal(9)
X, Y = rng.standard_normal((12, 10)), rng.standard_normal(12)


def by_index(w, b, v, x, y):
    loss = 0.0
    for i in range(len(x)):
        loss += (v @ np.tanh(w @ x[i] + b) - y[i]) ** 2
    return loss / len(x)


def by_rows(w, b, v, x, y):
    total = 0
    for row, target in zip(x, y):
        error = np.dot(np.tanh(np.dot(w, row) + b), v) - target
        total = error**2 + total
    return total / len(x)


def by_builtin_sum(w, b, v, x, y):
    return sum((v @ np.tanh(row @ w.T + b) - target) ** 2 for row, target in zip(x, y)) / len(x)


def with_helper(w, b, v, x, y):
    def unit(z):
        return np.tanh(z)

    loss = 0.0
    for k, row in enumerate(x):
        h = unit(w @ row + b)
        difference = h @ v - y[k]
        loss = loss - difference * -difference
    return loss / len(x)


def several_sums(w, b, v, x, y):
    likelihood, penalty = 0.0, np.zeros(9)
    for row in x:
        z = w @ row + b
        top = z.max()
        likelihood += np.log(np.sum(np.exp(z - top))) + top - z[2]
        penalty -= z**2
    return likelihood - v @ penalty


def loop_inside(w, b, v, x, y):
    total = 0.0
    for i in range(len(x)):
        h = np.zeros(9)
        for _ in range(3):
            h = np.tanh(w @ x[i] + b * h)
        total += v @ h
    return total


def writes_inside(w, b, v, x, y):
    total = 0.0
    for row in x:
        z = w @ row
        z[0] = 0.0
        z[1:3] *= b[1:3]
        total += np.sum(z * v)
    return total


AT_ONCE = [by_index, by_rows, by_builtin_sum, with_helper, several_sums, loop_inside, writes_inside]


def reads_its_number(w, b, v, x, y):
    total = 0.0
    for i in range(len(x)):
        total += i * np.sum(w @ x[i])
    return total


def depends_on_the_sum(w, b, v, x, y):
    total = 0.0
    for row in x:
        total += np.tanh(total) + v @ (w @ row)
    return total


def depends_on_the_last(w, b, v, x, y):
    total, h = 0.0, b
    for row in x:
        h = np.tanh(w @ row + h)
        total += v @ h
    return total


def leaves_early(w, b, v, x, y):
    total = 0.0
    for row in x:
        total += v @ (w @ row)
        if total > 5.0:
            break
    return total


def decides(w, b, v, x, y):
    total = 0.0
    for row, target in zip(x, y):
        total += v @ (w @ row) if target > 0 else b @ (w @ row) ** 2
    return total


def raises(w, b, v, x, y):
    total = 0.0
    for row in x:
        z = w @ row
        if np.max(np.abs(z)) > 1e9:
            raise ValueError("too large")
        total += np.sum(z)
    return total


def neighbours(w, b, v, x, y):
    total = 0.0
    for i in range(1, len(x)):
        total += v @ (w @ (x[i] - x[i - 1]))
    return total


def changes_its_rows(w, b, v, x, y):
    x, total = x.copy(), 0.0
    for row in x:
        total += v @ (w @ row)
        row *= 0.5
    return total + np.sum(x) * v[0]


ONE_BY_ONE = [
    reads_its_number, depends_on_the_sum, depends_on_the_last, leaves_early, decides, raises, neighbours, changes_its_rows
]  # fmt: skip


@pytest.mark.parametrize("f", AT_ONCE)
def test_one_product_for_all_iterations(f):
    args = W, B, V, X, Y
    text = grad(f, wrt=(0, 1, 2)).lower(*args).text
    assert not any(line.strip().startswith("for ") and "range(3)" not in line for line in text.splitlines())
    check_grads(f, args, wrt=(0, 1, 2))
    np.testing.assert_allclose(value_and_grad(f)(*args)[0], f(*args))


@pytest.mark.parametrize("f", [*AT_ONCE, *ONE_BY_ONE])
@pytest.mark.parametrize("rows", [0, 1, 2, 12])
def test_gradients_of_any_number_of_iterations(f, rows):
    args = W, B, V, X[:rows], Y[:rows]
    if rows:
        check_grads(f, args, wrt=(0, 1, 2))
    elif f not in (by_index, by_rows, by_builtin_sum, with_helper, neighbours, reads_its_number):
        assert not any(d.any() for d in grad(f, wrt=(0, 1))(*args))


@pytest.mark.parametrize("f", ONE_BY_ONE)
def test_iterations_that_depend_on_each_other_stay(f):
    text = grad(f, wrt=(0, 1, 2)).lower(W, B, V, X, Y).text
    assert " for " in text


@pytest.mark.parametrize("f", [by_index, several_sums])
def test_other_modes_and_policies(f):
    step = rng.standard_normal(W.shape)
    slope = (grad(f)(W + 1e-6 * step, B, V, X, Y) - grad(f)(W - 1e-6 * step, B, V, X, Y)) / 2e-6
    np.testing.assert_allclose(hvp(f)(W, B, V, X, Y, step), slope, rtol=1e-4, atol=1e-5)
    text = grad(f, checkpoint="store").lower(W, B, V, X, Y).text
    assert " for " in text
    np.testing.assert_allclose(grad(f, checkpoint="store")(W, B, V, X, Y), grad(f)(W, B, V, X, Y))


def test_arrays_of_other_lengths():
    with pytest.raises(Exception, match="index|broadcast|shapes"):
        grad(by_index)(W, B, V, X, Y[:9])
    with pytest.raises(IndexError):
        grad(by_index)(W, B, V, X, Y[:1])
    np.testing.assert_allclose(grad(by_index)(W, B, V, X[:9], Y), grad(by_index)(W, B, V, X[:9], Y[:9]))
    np.testing.assert_allclose(grad(by_rows)(W, B, V, X, Y[:9]), grad(by_rows)(W, B, V, X[:9], Y[:9]) * 9 / 12)


def test_effects_are_repeated_in_each_iteration(capsys):
    def prints(w, x):
        total = 0.0
        for row in x:
            print("row")
            total += np.sum(w @ row)
        return total

    grad(prints, verify=False)(W, X)
    assert capsys.readouterr().out.count("row") == len(X)


def test_draws_are_those_of_each_iteration():
    def draws(w, x, seed):
        random, total = np.random.default_rng(seed), 0.0
        for row in x:
            total += np.sum(w @ (row * random.standard_normal()))
        return total

    random = np.random.default_rng(3)
    expected = np.broadcast_to(sum(row * random.standard_normal() for row in X), W.shape)
    np.testing.assert_allclose(grad(draws)(W, X, 3), expected)


def test_single_precision_stays():
    args = [a.astype(np.float32) for a in (W, B, V, X, Y)]
    found = grad(by_index, wrt=(0, 1, 2))(*args)
    assert all(d.dtype == np.float32 for d in found)
    for d, expected in zip(found, grad(by_index, wrt=(0, 1, 2))(W, B, V, X, Y)):
        np.testing.assert_allclose(d, expected, rtol=1e-3, atol=1e-4)


def test_what_no_iteration_computes_raises_nothing():
    def mean_error(w, x, chosen):
        rows, total = x[chosen], 0.0
        for row in rows:
            total += np.sum(w @ row) * (1.0 / len(rows))
        return total

    assert not grad(mean_error)(W, X, np.zeros(12, dtype=bool)).any()
    check_grads(mean_error, (W, X, Y > 0), wrt=0)
