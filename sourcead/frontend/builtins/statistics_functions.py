"""Means and variances of the module `statistics`, whose source sums exact fractions: the same numbers, rounded at each step.

    mean(x) = sum(x) / n        variance(x) = sum((x - mean)**2) / (n - 1)        harmonic_mean(x) = n / sum(1 / x)
"""

import math
import statistics
from statistics import StatisticsError

from sourcead.frontend.builtins.in_python import stands_in_for


@stands_in_for(statistics.mean)
def mean(data):
    numbers = list(data)
    if len(numbers) < 1:
        raise StatisticsError("mean requires at least one data point")
    return math.fsum(numbers) / len(numbers)


@stands_in_for(statistics.geometric_mean)
def geometric_mean(data):
    numbers = [math.log(x) for x in data]
    if len(numbers) < 1:
        raise StatisticsError("must have a non-empty dataset containing positive numbers")
    return math.exp(math.fsum(numbers) / len(numbers))


@stands_in_for(statistics.harmonic_mean)
def harmonic_mean(data, weights=None):
    numbers = list(data)
    if len(numbers) < 1:
        raise StatisticsError("harmonic_mean requires at least one data point")
    if weights is None:
        return len(numbers) / math.fsum([1 / x for x in numbers])
    shares = list(weights)
    if len(shares) != len(numbers):
        raise StatisticsError("Number of weights does not match data size")
    return math.fsum(shares) / math.fsum([w / x for w, x in zip(shares, numbers)])


def differences(data, around, least, name):
    numbers = list(data)
    if len(numbers) < least:
        raise StatisticsError(f"{name} requires at least {'two data points' if least == 2 else 'one data point'}")
    middle = math.fsum(numbers) / len(numbers) if around is None else around
    return [x - middle for x in numbers]


@stands_in_for(statistics.variance)
def variance(data, xbar=None):
    found = differences(data, xbar, 2, "variance")
    return math.fsum([d**2 for d in found]) / (len(found) - 1)


@stands_in_for(statistics.pvariance)
def pvariance(data, mu=None):
    found = differences(data, mu, 1, "pvariance")
    return math.fsum([d**2 for d in found]) / len(found)


@stands_in_for(statistics.stdev)
def stdev(data, xbar=None):
    found = differences(data, xbar, 2, "stdev")
    return math.hypot(*found) / math.sqrt(len(found) - 1)


@stands_in_for(statistics.pstdev)
def pstdev(data, mu=None):
    found = differences(data, mu, 1, "pstdev")
    return math.hypot(*found) / math.sqrt(len(found))


@stands_in_for(statistics.covariance)
def covariance(x, y, /):
    if len(x) != len(y):
        raise StatisticsError("covariance requires that both inputs have same number of data points")
    if len(x) < 2:
        raise StatisticsError("covariance requires at least two data points")
    x_middle, y_middle = math.fsum(x) / len(x), math.fsum(y) / len(y)
    return math.fsum([(a - x_middle) * (b - y_middle) for a, b in zip(x, y)]) / (len(x) - 1)
