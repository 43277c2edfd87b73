"""Lower the functions of the module `statistics` of floats like Python functions without its exact arithmetic of fractions.

    statistics.mean(data)          math.fsum(data) / len(data)
    statistics.variance(data)      math.fsum((x - m) ** 2 for x in data) / (n - 1), where m is the mean
    statistics.stdev(data)         np.linalg.norm([x - m for x in data]) / math.sqrt(n - 1), which has a subgradient at 0

Sums are rounded once, as those of the module are. Other numbers than floats of 64 bits are left to the module's own source.
"""

import math
import statistics
from collections.abc import Callable

import numpy as np

from sourcead.frontend import core
from sourcead.frontend.builtins.in_python import lower_in_place
from sourcead.frontend.core import Lowering, Value
from sourcead.frontend.core.operations import KINDS
from sourcead.ir.types import Array, ListT, Scalar, Type


def of_floats(original: Callable) -> Callable:
    """Let the body of a function stand for a function of `statistics` whose first argument is an array or list of floats."""

    def add(function: Callable) -> Callable:
        def lower(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
            if args and is_of_floats(core.type_of_value(args[0])):
                return lower_in_place(function, lo, args, kwargs, node)
            return KINDS["function"][1](lo, original, args, kwargs, node)

        core.builtin(original)(lower)
        return function

    return add


def is_of_floats(t: Type | None) -> bool:
    """Return whether a value of this type is an array of one axis, or a list, whose numbers have 64 bits."""
    match t:
        case Array(dtype, dims):
            return dtype == np.float64 and dims is not None and len(dims) == 1
        case ListT(item):
            return isinstance(item, Scalar) and item.kind == "float" and item.dtype in (None, np.float64)
    return False


@of_floats(statistics.mean)
def mean(data):
    if len(data) < 1:
        raise statistics.StatisticsError("mean requires at least one data point")
    return math.fsum(data) / len(data)


@of_floats(statistics.pvariance)
def pvariance(data, mu=None):
    if len(data) < 1:
        raise statistics.StatisticsError("pvariance requires at least one data point")
    m = math.fsum(data) / len(data) if mu is None else mu
    return math.fsum([(x - m) ** 2 for x in data]) / len(data)


@of_floats(statistics.variance)
def variance(data, xbar=None):
    if len(data) < 2:
        raise statistics.StatisticsError("variance requires at least two data points")
    m = math.fsum(data) / len(data) if xbar is None else xbar
    return math.fsum([(x - m) ** 2 for x in data]) / (len(data) - 1)


@of_floats(statistics.pstdev)
def pstdev(data, mu=None):
    if len(data) < 1:
        raise statistics.StatisticsError("pstdev requires at least one data point")
    m = math.fsum(data) / len(data) if mu is None else mu
    return np.linalg.norm(np.array([x - m for x in data])) / math.sqrt(len(data))


@of_floats(statistics.stdev)
def stdev(data, xbar=None):
    if len(data) < 2:
        raise statistics.StatisticsError("stdev requires at least two data points")
    m = math.fsum(data) / len(data) if xbar is None else xbar
    return np.linalg.norm(np.array([x - m for x in data])) / math.sqrt(len(data) - 1)
