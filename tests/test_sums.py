"""The cotangent of what was broadcast is added up before it is multiplied."""

import numpy as np
import pytest

from sourcead import check_grads, grad

pytestmark = pytest.mark.sampled(3)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def shifted_products(m, x, w):
    return np.sum(np.tanh((x - m) @ w) ** 2)


def shifted_columns(m, x, w):
    return np.sum(np.tanh(w @ (x - m)))


def scaled_shift(m, x, w):
    return np.sum(np.tanh((x - m) * w[0]))


def scaled_by_a_number(m, x, w):
    return np.sum(np.tanh(0.5 * (x - m)))


def both(m, x, w):
    centred = x - m
    return np.sum(np.tanh(w[0] * centred + centred @ w))


def difference(m, x, w):
    centred = x - m
    return np.sum(np.sin(w[0] * centred - centred @ w))


def batched(m, x, w):
    centred = x[:, np.newaxis, :] - m
    lower = np.stack([w, w @ w, 2 * w])
    return np.sum(np.cos(np.einsum("kij,nkj->nki", lower, centred) + centred * w[:3]))


def read_twice(m, x, w):
    centred = x - m
    return np.sum(np.tanh(centred @ w)) + np.sum(centred[0] ** 2)


def column_of_a_square(m, x, w):
    return np.sum(np.tanh(w @ (x - m[:, np.newaxis]).T))


def in_a_loop(m, x, w):
    total = 0.0
    for k in range(3):
        total = total + np.sum(np.tanh((x - m) @ (w * k)))
    return total


def powers(m, x, w):
    return np.sum((x - m) ** 2 @ w)


PROGRAMS = (
    shifted_products, shifted_columns, scaled_shift, scaled_by_a_number, both, difference, batched, read_twice, column_of_a_square,
    in_a_loop, powers,
)  # fmt: skip


def arguments(program, n=6, dtype=float):
    x, w = normal(n, 4, seed=1), normal(4, 4, seed=2)
    if program is column_of_a_square:
        x = normal(4, 4, seed=1)
    if program is shifted_columns:
        w = normal(4, n, seed=2)
    m = normal(3, 4, seed=3) if program is batched else normal(4, seed=3)
    return tuple(a.astype(dtype) for a in (m, x, w))


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(program, n):
    check_grads(program, arguments(program, n), wrt=(0, 1, 2))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_other_dtypes_and_no_rows(program):
    for n in (0, 6):
        if n == 0 and program in (read_twice, column_of_a_square):
            continue
        expected = grad(program, wrt=(0, 1, 2))(*arguments(program, n))
        gradients = grad(program, wrt=(0, 1, 2))(*arguments(program, n, np.float32))
        for got, wanted in zip(gradients, expected):
            assert (got.dtype, got.shape) == (np.float32, wanted.shape)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max(initial=1))


def test_a_wider_factor_does_not_narrow_the_sum():
    def f(m, x, w):
        return np.sum(np.sin((x - m) * w[0]))

    m, x, w = arguments(f)
    got = grad(f)(m.astype(np.float32), x.astype(np.float32), w)
    expected = grad(f)(m.astype(np.float32).astype(float), x.astype(np.float32).astype(float), w)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_rows_of_length_one_are_broadcast():
    def f(m, x, w):
        return np.sum(np.tanh((x - m) * w))

    m, x = normal(4, seed=3), normal(1, 4, seed=1)
    check_grads(f, (m, x, normal(5, 4)))
    check_grads(f, (m, normal(5, 4), normal(1, 4)))
    check_grads(f, (normal(1), normal(5, 4), normal(5, 1)))


RESULTS = {
    shifted_products: "-(np.sum((1 - tanh * tanh) * (2.0 * tanh), axis=0) @ w.T)",
    shifted_columns: "-(np.sum(w.T, axis=0) @ (1 - tanh * tanh))",
    scaled_by_a_number: "-(np.sum(1 - tanh * tanh, axis=0) * 0.5)",
    both: "-(total @ w.T + total * w_item)",
    batched: 'total * w_item - np.einsum("ki,kij->kj", -total, lower)',
}


@pytest.mark.parametrize("program", RESULTS, ids=lambda f: f.__name__)
def test_the_sum_comes_first(program):
    assert f"return {RESULTS[program]}\n" in grad(program).lower(*arguments(program)).text


def test_what_is_read_twice_is_made_once():
    text = grad(read_twice, wrt=(0, 1)).lower(*arguments(read_twice)).text
    assert text.count("@ w.T") == 1
