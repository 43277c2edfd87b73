"""The module `statistics`: means, variances and medians of lists and arrays."""

import statistics

import numpy as np
import pytest

from sourcead import grad, jvp

X = np.array([1.0, 2.5, 4.0, 3.2])
WEIGHTS = [1.0, 2.0, 0.5, 1.5]
FUNCTIONS = {
    "mean": lambda x: statistics.mean(x),
    "mean of an iterator": lambda x: statistics.mean(v * v for v in x),
    "fmean": lambda x: statistics.fmean(x),
    "geometric_mean": lambda x: statistics.geometric_mean(x),
    "harmonic_mean": lambda x: statistics.harmonic_mean(x),
    "harmonic_mean with weights": lambda x: statistics.harmonic_mean(x, weights=WEIGHTS),
    "median": lambda x: statistics.median(x),
    "variance": lambda x: statistics.variance(x),
    "variance around a number": lambda x: statistics.variance(x, 2.0),
    "stdev": lambda x: statistics.stdev(x),
    "pvariance": lambda x: statistics.pvariance(x),
    "pstdev": lambda x: statistics.pstdev(x, mu=2.0),
    "covariance": lambda x: statistics.covariance(x, WEIGHTS),
    "correlation": lambda x: statistics.correlation(x, WEIGHTS),
}


def slopes(f, x):
    return [(f(list(x + 1e-6 * e)) - f(list(x - 1e-6 * e))) / 2e-6 for e in np.eye(len(x))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_lists_and_arrays(name):
    f = FUNCTIONS[name]
    of_list = lambda x: f([x[0], x[1], x[2], x[3]])  # noqa: E731
    assert grad(of_list)(X) == pytest.approx(slopes(f, X), rel=1e-6, abs=1e-8)
    assert jvp(of_list, (X,), (X,))[1] == pytest.approx(np.dot(slopes(f, X), X), rel=1e-6, abs=1e-8)
    if "covariance" not in name and "correlation" not in name:
        assert grad(f)(X) == pytest.approx(slopes(f, X), rel=1e-6, abs=1e-8)


def test_too_few_numbers():
    with pytest.raises(statistics.StatisticsError, match="at least two"):
        grad(lambda x: statistics.stdev([x]))(1.0)

    def handled(x):
        try:
            return statistics.mean([]) * x
        except statistics.StatisticsError:
            return x * x

    assert grad(handled)(3.0) == 6.0
