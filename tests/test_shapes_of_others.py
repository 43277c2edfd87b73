"""The shapes of values that nothing else reads are read from arrays that are there; numbers are multiplied before they are spread."""

import numpy as np
import pytest

from sourcead import grad
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.random.default_rng(0).normal(size=(12, 9))


def mean_of_sums(x):
    return np.mean(np.sum((x - 1) ** 2, axis=1))


def mean_of_sums_of_other_axis(x):
    return 0.5 * np.mean(np.sum(np.tanh(x) ** 2, axis=0))


def names_and_methods(x):
    squares = (x - 0.5) ** 2
    rows = squares.sum(1)
    return rows.mean() * 3


def of_a_part(x):
    part = x[2:-1]
    return np.mean(np.sum(part * part, axis=1))


def mean_of_kept_axes(x):
    return -np.mean(np.mean(x * x, axis=1, keepdims=True))


def products_of_axes(x):
    return 3 * np.mean(np.sum(x[:, None] * x[None], axis=(0, 2)))


def numbers_in_a_loop(x):
    total, y = 0.0, x[0]
    for k in range(3):
        r = y - x @ x[k]
        total = total - 0.5 * np.sum(r**2) * k
    return total


def shape_that_varies(x):
    total = 0.0
    for k in range(1, 5):
        total = total + np.mean(np.sum(x[:k] ** 2, axis=1))
    return total


def written_meanwhile(x):
    rows = np.sum(x * x, axis=1)
    y = x.copy()
    y[0] = rows[0]
    return np.mean(rows) + np.mean(np.sum(y, axis=0))


PROGRAMS = [
    mean_of_sums, mean_of_sums_of_other_axis, names_and_methods, of_a_part, mean_of_kept_axes, products_of_axes, shape_that_varies,
    written_meanwhile,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_all_modes_are_right(f):
    assert judged_in_all_modes(f, X) == "right"
    assert judged_in_all_modes(f, X[:6, :3]) == "right"


def test_a_loop_in_all_modes():
    def f(x):
        return numbers_in_a_loop(x[:9])

    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("f", [mean_of_sums, mean_of_sums_of_other_axis, names_and_methods])
def test_no_sum_is_computed_for_its_size(f):
    text = grad(f).lower(X).text
    assert "np.sum(" not in text
    assert "broadcast_to" not in text
    g, small = grad(f), X[:5, :4]
    g(X)
    np.testing.assert_allclose(g(small), grad(f)(small), rtol=1e-12)


def test_numbers_of_float32_are_spread_once():
    def f(y, x):
        total = np.float32(0)
        for k in range(3):
            r = y - x[k]
            total = total - 0.5 * np.sum(r**2)
        return total

    y, x = X[0].astype(np.float32), X.astype(np.float32)
    text = grad(f).lower(y, x).text
    assert "np.full" not in text
    assert grad(f)(y, x).dtype == np.float32
    np.testing.assert_allclose(grad(f)(y, x), -np.sum(y - x[:3], axis=0), rtol=1e-5)


def normalised(x):
    n = np.sqrt(np.sum(x * x, axis=1, keepdims=True))
    return np.sum((x / n) ** 3)


def of_layers(x):
    mean = x.mean(axis=-1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return np.sum(((x - mean) / np.sqrt(variance + 1e-5)) ** 3)


def scaled_by_a_number(x):
    s = np.exp(x[0, 0])
    r = (x - 1) / s
    return np.sum(r**3) * s


def divided_by_sums_of_columns(x):
    return np.sum((x / x.sum(axis=0)) ** 3) + np.sum((x / np.sum(x, axis=(0, 1), keepdims=True)) ** 2)


def divided_by_one_that_varies(x):
    return np.sum(np.sum(x / (x[:1] + 2), axis=0, keepdims=True) ** 2) + np.sum(np.sum(x * x[:, :1], axis=1, keepdims=True) ** 3)


@pytest.mark.parametrize("f", [normalised, of_layers, scaled_by_a_number, divided_by_sums_of_columns, divided_by_one_that_varies])
def test_factors_that_do_not_vary_stand_outside_of_sums(f):
    assert judged_in_all_modes(f, X) == "right"
    assert judged_in_all_modes(f, X[:3, :1]) == "right"


def test_a_row_is_divided_after_it_is_summed():
    text = grad(normalised).lower(X).text
    assert 'np.einsum("ij,ij->i", d_ratio, ratio)[:, None] / n' in text
    assert "/ s * s" not in grad(scaled_by_a_number).lower(X).text
