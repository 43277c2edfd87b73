"""Unusual ways to call NumPy's ufuncs: several results in `out`, and methods by way of their class."""

import numpy as np
import pytest

from sourcead import SourceADError, grad
from tests.semantics import judged_in_all_modes

X = np.array([1.3, 2.1, -0.7])


def one_of_two_results_written(x):
    t = np.zeros(3)
    f = np.modf(x, out=(t, None))
    t[0] = 3.0 * x[1]
    return np.sum(t**2) + f[1] @ x + np.sum(f[0])


def other_of_two_results_written(x):
    t = np.zeros(3)
    q, r = np.divmod(x, 0.4, out=(None, t))
    r[0] *= x[2]
    return np.sum(t**2) + q @ x


def both_results_written(x):
    q, r = np.ones((2, 3))
    np.divmod(x * x, 0.4, q, r)
    return np.sum(r**2) * q[0]


def first_result_written_by_position(x):
    t = np.ones(3)
    whole = np.modf(x, t)[1]
    return np.sum(t**2) + whole @ x


def results_in_rows(x):
    t = np.zeros((2, 3))
    np.modf(x, out=(t[0], t[1]))
    return np.sum(t[0] ** 2) + t[1] @ x


def results_written_over_the_arguments(x):
    y = np.stack([x, x * x])
    np.divmod(y[0], y[1] * 0.3, out=(y[1], y[0]))
    return np.sum(y * np.arange(6.0).reshape(2, 3))


def method_of_the_class(x):
    t = np.zeros(3)
    np.ufunc.at(np.add, t, [0, 0, 1], x * x)
    return np.sum(t**2) + np.ufunc.reduce(np.multiply, x) + np.ufunc.accumulate(np.add, x)[1] * np.ufunc.outer(np.multiply, x, x)[0, 1]


@pytest.mark.parametrize("f", [
    one_of_two_results_written, other_of_two_results_written, both_results_written, first_result_written_by_position, results_in_rows,
    results_written_over_the_arguments, method_of_the_class,
])
def test_calls_of_ufuncs(f):
    assert judged_in_all_modes(f, X) == "right"


def test_results_that_may_be_written_into_the_same_elements_are_refused():
    def f(x):
        t = np.zeros(4)
        np.modf(x, t[:3], t[1:])
        return np.sum(t)

    with pytest.raises(SourceADError, match="the same elements"):
        grad(f)(X)
