"""Sigmoids and softmaxes in every way of writing them (`ad/closed_forms.py`), against differences, and where exp overflows."""

import math
import warnings

import numpy as np
import pytest
from scipy.special import expit

from sourcead import grad, jvp, runtime
from tests.semantics import judged_in_all_modes

pytestmark = pytest.mark.sampled(3)

X = np.array([0.5, -0.75, 0.25, 1.25])
FAR = np.array([-800.0, 800.0, 2.0, -40.0])


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def of_function(x):
    return np.sum(sigmoid(x) * x)


def of_names(x):
    e = np.exp(-x)
    below = e + 1.0
    again = below
    s = 1.0 / again
    return np.sum(s * x)


def of_reciprocal(x):
    return np.sum(np.reciprocal(np.add(1, np.exp(-x))) * x)


def of_power(x):
    return np.sum((1 + np.exp(-x)) ** -1 * x)


def of_other_constants(x):
    return np.sum(3 / (2 + np.exp(-x)) * x) + np.sum(2.5 / (np.exp(-2 * x) + 2.5))


def of_numerator(x):
    return np.sum(x / (1 + np.exp(-x)))  # SiLU


def of_numerator_and_exponent(x):
    u = -x
    return np.sum(u / (1 + np.exp(u)))


def of_numbers(x):
    s = 0.0
    for v in x:
        s += v / (1 + np.exp(-v)) + 1.0 / (np.exp(-v * v) + 1)
    return s


def of_broadcasting(x):
    return np.sum(x[:, None] / (1 + np.exp(-x)))


SIGMOIDS = [
    of_function, of_names, of_reciprocal, of_power, of_other_constants, of_numerator, of_numerator_and_exponent, of_numbers,
    of_broadcasting,
]  # fmt: skip


def of_exponentials(x):
    e = np.exp(x)
    return np.sum(e / (1 + e) * x)


def of_math(x):
    return 1 / (1 + math.exp(-x[0])) * math.exp(x[1]) / (math.exp(x[1]) + 1)


def e_and_sum_read_elsewhere(x):
    e = np.exp(-x)
    below = 1 + e
    return np.sum(x / below + e * np.log(below) + 1 / below)


def made_in_a_branch(x):
    if x[0] > 0:
        e = np.exp(-x)
    else:
        e = x * x
    return np.sum(x / (1 + e))


def made_before_a_loop(x):
    below, s = 1 + np.exp(-x), 0.0
    for k in range(3):
        s = s + np.sum(x * k / below)
    return s


def changed_between(x):
    e = np.exp(-x)
    below = 1 + e
    below[1] = x[1] * 5 + 6
    e[0] = 3.0
    return np.sum(e / below) + np.sum(1 / below)


OTHERS = [of_exponentials, of_math, e_and_sum_read_elsewhere, made_in_a_branch, made_before_a_loop, changed_between]


@pytest.mark.parametrize("f", [*SIGMOIDS, *OTHERS])
def test_sigmoids_are_right_in_all_modes(f):
    assert judged_in_all_modes(f, X) == "right"


@pytest.mark.parametrize("f", SIGMOIDS)
def test_derivatives_of_sigmoids_are_numbers_where_exp_overflows(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        g, t = grad(f)(FAR), jvp(f, (FAR,), (np.ones(4),))[1]
    assert np.all(np.isfinite(g)) and np.isfinite(t)
    np.testing.assert_allclose(t, np.sum(g), rtol=1e-9)


def test_a_loop_saves_the_sigmoid_alone():
    def chained(x):
        for _ in range(3):
            x = 1 / (1 + np.exp(-x))
        return np.sum(x)

    text = grad(chained).lower(X).text
    assert text.count(".append(") == 1
    assert not any("np.exp" in line for line in text.partition("# reverse")[2].splitlines() if "#" not in line)


Y = np.array([[0.5, -0.75, 0.25], [1.25, 0.1, -0.3], [0.7, 0.2, 0.9]])


def softmax_keepdims(y):
    e = np.exp(y - np.max(y, axis=-1, keepdims=True))
    return np.sum(e / np.sum(e, axis=-1, keepdims=True) * Y)


def softmax_with_new_axis(y):
    e = np.exp(y)
    return np.sum(e / e.sum(axis=1)[:, None] * Y) + np.sum(e / e.sum(0)[None] * Y) + np.sum(e / e.sum(-1)[..., None] * Y)


def softmax_of_all(y):
    e = np.exp(y)
    p = e / e.sum()
    return np.sum(p * Y)


def softmax_of_rows(y):
    s = 0.0
    for row in y:
        e = np.exp(row)
        p = e / np.sum(e, axis=0)
        s = s + np.sum(p * p * row)
    return s


def of_the_other_axis(y):  # no softmax: each element is divided by the sum of another row
    e = np.exp(y)
    return np.sum(e / e.sum(axis=1) * Y) + np.sum(e / np.sum(e, axis=0)[:, None] * Y) + np.sum(e / e.sum(1)[None] * Y)


def of_another_array(y):
    e, other = np.exp(y), np.exp(2 * y)
    return np.sum(e / np.sum(other, axis=1, keepdims=True) * Y)


def of_one_that_was_changed(y):
    e = np.exp(y)
    total = np.sum(e, axis=1, keepdims=True)
    e[0, 1] = y[1, 1]
    return np.sum(e / total * Y)


def of_a_part(y):
    e = np.exp(y)
    return np.sum(e / np.sum(e[:2], axis=0, keepdims=True) * Y) + np.sum(e / np.sum(e, axis=1, keepdims=True, where=Y > 0) * Y)


@pytest.mark.parametrize(
    "f",
    [
        softmax_keepdims, softmax_with_new_axis, softmax_of_all, softmax_of_rows, of_the_other_axis, of_another_array,
        of_one_that_was_changed, of_a_part,
    ],
)  # fmt: skip
def test_softmaxes_and_quotients_like_them_are_right_in_all_modes(f):
    assert judged_in_all_modes(f, Y) in (("right", "refused") if f is of_a_part else ("right",))


@pytest.mark.parametrize("f", [softmax_keepdims, softmax_with_new_axis, softmax_of_all])
def test_softmaxes_do_not_read_exponentials_in_the_reverse_sweep(f):
    reverse = grad(f).lower(Y).text.partition("# reverse")[2]
    assert " e " not in reverse and "total" not in reverse


def test_complex_numbers_are_left_alone():
    def f(x):
        z = x + 0.5j * x * x
        return np.sum(np.abs(1 / (1 + np.exp(-z))) ** 2)

    assert judged_in_all_modes(f, X) == "right"


ONE = 1.0


def of_a_global(x):
    return np.sum(ONE / (1 + np.exp(-x)) * x)


def test_a_global_number(monkeypatch):
    g = grad(of_a_global)
    s = 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(g(X), s + X * s * (1 - s), rtol=1e-12)
    monkeypatch.setitem(globals(), "ONE", 2.0)
    np.testing.assert_allclose(g(X), 2 * (s + X * s * (1 - s)), rtol=1e-12)


def test_the_sigmoid_of_adjoints_is_precise_in_both_tails_and_warns_of_nothing():
    x = np.array([-1000.0, -700.0, -40.0, -1.0, 0.0, 1.0, 40.0, 1000.0, np.nan])
    with np.errstate(all="raise", under="ignore"):
        found = runtime.sigmoid(x)
        assert runtime.sigmoid(np.float32(-200)) == 0 and runtime.sigmoid(0) == 0.5
    np.testing.assert_allclose(found[:8], expit(x[:8]), rtol=1e-15)
    assert np.isnan(found[8]) and runtime.sigmoid(x.astype(np.float32)).dtype == np.float32
