"""Derivatives that are written in closed form, in place of the derivatives of their parts one after the other."""

import warnings

import numpy as np
import pytest

from sourcead import check_grads, grad, hvp

pytestmark = pytest.mark.sampled(3)

rng = np.random.default_rng(0)

# ---- the softplus ----


def softplus(x):
    return np.sum(np.logaddexp(0, x))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slope_of_softplus_is_the_sigmoid_without_the_softplus(dtype):
    x = np.array([-800, -80, -1, 0, 1, 80, 800, np.inf, -np.inf], dtype)
    expected = 1 / (1 + np.exp(-x.astype(np.longdouble)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = grad(softplus)(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).smallest_subnormal)
    assert "logaddexp" not in grad(softplus).lower(x).text.partition("# reverse")[2]


def test_softplus_against_an_active_number_has_both_slopes():
    check_grads(lambda x, c: np.sum(np.logaddexp(c, x) ** 2), (rng.normal(size=5), 0.3), wrt=("x", "c"))


def test_softplus_has_a_second_derivative():
    x, v = rng.normal(size=(2, 5))
    s = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(hvp(softplus)(x, v), s * (1 - s) * v)


# ---- what the arms of a choice contribute ----

M = rng.normal(size=(4, 3)) * 2


def huber(x, w):
    r = x - w
    return np.sum(np.where(np.abs(r) < 1, 0.5 * r**2, np.abs(r) - 0.5))


def signed(x, w):
    return np.sum(w * np.where(x > 0, np.tanh(x * w), -np.tanh(-x)))


def of_helpers(x, w):
    def payoff(s):
        return np.sin(s) * w, np.sin(s * s) * w

    up, down = payoff(x)
    return np.sum(np.where(w > x, up, down) * x)


def of_quotients(x, w):
    return np.sum(np.where(x > w, np.exp(x) / w, x / np.cosh(w)))


def of_wider_condition(x, w):
    return np.sum(np.where(x > 0, w * 2, w**2)) + np.sum(np.where(x > 1, np.exp(w), np.exp(-w)))


def of_numbers(x, w):
    return np.sum(np.where(x > 0, 3 * x, -2 * x)) * w[0]


def in_loop(x, w):
    total = 0.0
    for row in x:
        total = total + np.sum(np.where(row > w, row * np.sin(w), row * np.cos(w)) * row)
    return total


CHOICES = [huber, signed, of_helpers, of_quotients, of_wider_condition, of_numbers, in_loop]


@pytest.mark.parametrize("f", CHOICES, ids=lambda f: f.__name__)
def test_choices_against_differences(f):
    w = np.array([0.4, -0.7, 1.1])
    check_grads(f, (M, w), wrt=("x", "w"))
    single = grad(f, wrt=("x", "w"))(M.astype(np.float32), w.astype(np.float32))
    for d, expected in zip(single, grad(f, wrt=("x", "w"))(M, w)):
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (4, 1), (1, 1)])
@pytest.mark.parametrize("f", CHOICES, ids=lambda f: f.__name__)
def test_choices_of_small_arrays(f, shape):
    x, w = M[:1, :1] * np.ones(shape), np.array([0.4, -0.7, 1.1])
    for d, given in zip(grad(f, wrt=("x", "w"))(x, w), (x, w)):
        assert d.shape == given.shape
    check_grads(f, (x, w), wrt=("x", "w"))


def test_factor_of_the_arm_that_is_not_chosen_may_be_infinite():
    def f(x):
        return np.sum(np.where(x > 0, np.log(x), np.exp(x)))

    with np.errstate(all="ignore"):
        found = grad(f)(np.array([-1.0, 0.0, 2.0, 1000.0]))
    np.testing.assert_allclose(found, [1 / np.e, 1, 0.5, 0.001])


def test_function_of_both_arms_is_called_once_in_the_reverse_sweep():
    def f(x, w):
        return np.sum(np.where(x > w, x * np.tanh(w), x * np.tanh(-2 * w)))

    text = grad(f).lower(M, M[::-1].copy()).text
    assert text.count("np.tanh") == 1
    check_grads(f, (M, M[::-1].copy()))


def test_products_that_are_read_elsewhere_stay():
    def f(x, w):
        a, b = np.sin(x), np.cos(x)
        y = np.where(x > 0, a, b)
        return np.sum(y * w) + np.sum(a * b)

    check_grads(f, (M, np.array([0.4, -0.7, 1.1])), wrt=("x", "w"))
    v = rng.normal(size=M.shape)
    w = np.array([0.4, -0.7, 1.1])
    slope = (grad(f)(M + 1e-6 * v, w) - grad(f)(M - 1e-6 * v, w)) / 2e-6
    np.testing.assert_allclose(hvp(f)(M, w, v), slope, rtol=1e-5, atol=1e-6)


# ---- literal factors, and contributions that are equal ----


def unit(x):
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True) + 0.01)


def of_units(x, w):
    return np.sum(unit(x) * w) + np.sum(np.linalg.norm(x, axis=1))


def of_roots(x, w):
    return np.sum(np.sqrt(0.5 * np.sum((x - w) ** 2, axis=1) + 1) * 3)


def of_quarters(x, w):
    d = 0.25 * x
    return np.sum(4 * d / (2 * np.cosh(w)) - (-2 * d) * (0.5 * w)) + np.sum((2 * x) ** 2, axis=0) @ w / 8


def of_a_loop(x, w):
    total = 0.0
    for row in x:
        total = total + row @ row / (2 * np.sqrt(np.sum(w * w) + 1))
    return total


def of_shared_products(x, w):
    p = x * w
    return np.sum(p * p * p) + np.sum((p + p) / (2 * np.exp(w))) + np.sum(np.sin(p)) ** 2


@pytest.mark.parametrize("f", [of_units, of_roots, of_quarters, of_a_loop, of_shared_products], ids=lambda f: f.__name__)
@pytest.mark.parametrize("rows", [0, 1, 4, 9])
def test_literals_that_meet_against_differences(f, rows):
    x, w = rng.normal(size=(rows, 3)), np.array([0.4, -0.7, 1.1])
    check_grads(f, (x, w), wrt=("x", "w"))
    for d, expected in zip(grad(f, wrt=("x", "w"))(x.astype(np.float32), w.astype(np.float32)), grad(f, wrt=("x", "w"))(x, w)):
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, expected, rtol=1e-4, atol=1e-4)


def test_slope_of_a_root_has_no_two():
    def f(x):
        return np.sum(np.sqrt(np.sum(x**2, axis=1) + 1))

    reverse = grad(f).lower(M).text.partition("# reverse")[2]
    assert "2 *" not in reverse
    np.testing.assert_allclose(grad(f)(M), M / np.sqrt(np.sum(M**2, axis=1, keepdims=True) + 1))


def test_square_as_a_product_adds_its_contribution_once():
    reverse = grad(of_units).lower(M, np.array([0.4, -0.7, 1.1])).text.partition("# reverse")[2]
    assert "2 *" not in reverse
    assert reverse.count("-=") + reverse.count(" + ") == 2


# ---- quotients ----


def of_ratios(x, w):
    y = np.sin(x) / (2 + np.cos(w))
    return np.sum(y**3)


def of_ratios_in_a_loop(x, w):
    s = np.ones(3)
    for row in x:
        s = (s * row + 1) / (3 + s * s)
        s = s / w
    return np.sum(s)


@pytest.mark.parametrize("f", [of_ratios, of_ratios_in_a_loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_quotients_against_differences(f, rows):
    check_grads(f, (rng.normal(size=(rows, 3)), np.array([0.4, -0.7, 1.1])), wrt=("x", "w"))


def test_adjoint_of_a_quotient_divides_once():
    def f(x, w):
        return np.sum(np.exp(x / w))

    text = grad(f, wrt=("x", "w")).lower(M, M[::-1] ** 2 + 1).text
    assert text.count(" / ") == 2  # with the quotient itself
    check_grads(f, (M, M[::-1] ** 2 + 1), wrt=("x", "w"))


def same_in_both_arms(x, y):
    return np.sum(np.where(y > 0, x, x) ** 2)


def same_in_both_arms_twice(x, y):
    a = np.where(y > 0, x, x)
    return np.sum(a * y) + np.sum(np.sin(x) * np.where(y > 0.3, x, x))


@pytest.mark.parametrize("f", [same_in_both_arms, same_in_both_arms_twice])
@pytest.mark.parametrize("size", [2, 12])
def test_both_arms_of_a_choice_are_one_array(f, size):
    x, y = np.random.default_rng(3).normal(size=(2, size))
    check_grads(f, (x, y))
    assert grad(f).lower(x, y).text.count("np.where") == 1
