"""The functions of the module `statistics`, of arrays and lists of floats."""

import statistics

import numpy as np
import pytest

from sourcead import grad, hvp, jvp, value_and_grad

X = np.array([0.3, -1.2, 2.0, 0.7])
FUNCTIONS = [statistics.mean, statistics.pvariance, statistics.variance, statistics.pstdev, statistics.stdev]
DATA = [lambda x: x, list, lambda x: [a * a for a in x], lambda x: [x[0], x[1] * x[2]]]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("data", DATA, ids=["array", "list", "squares", "pair"])
def test_of_floats(function, data):
    def f(x):
        return function(data(x))

    value, d_x = value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    steps = 1e-6 * np.eye(4)
    np.testing.assert_allclose(d_x, [(f(X + h) - f(X - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)
    assert jvp(f, (X,), (np.arange(4.0),))[1] == pytest.approx(d_x @ np.arange(4.0))
    second = [(grad(f)(X + h) - grad(f)(X - h)) @ np.ones(4) / 2e-6 for h in steps]
    np.testing.assert_allclose(hvp(f)(X, np.ones(4)), second, rtol=1e-5, atol=1e-7)


def test_about_a_given_mean_and_of_equal_numbers():
    assert grad(lambda x, m: statistics.variance(x, m), wrt=1)(X, 0.5) == pytest.approx(-2 * np.sum(X - 0.5) / 3)
    assert np.array_equal(grad(lambda x: statistics.stdev(x))(np.full(3, 2.0)), np.zeros(3))
    with pytest.raises(statistics.StatisticsError, match="at least two data points"):
        grad(lambda x: statistics.stdev(x))(np.ones(1))
