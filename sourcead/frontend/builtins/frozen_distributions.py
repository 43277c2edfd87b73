"""Lower `norm(loc, scale)`, a distribution of `scipy.stats` with its parameters: its methods are those of `norm` with them."""

import sys

from sourcead.frontend import core
from sourcead.frontend.builtins.stdlib_classes import class_in_python
from sourcead.frontend.core import Lowering, TupleVal, Value
from sourcead.frontend.values import objects
from sourcead.ir.nodes import Const

METHODS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "pmf", "logpmf")


def of_distribution(name):
    """Return a method that calls the method of the same name of a distribution."""

    def method(self, x):
        return getattr(self.distribution, name)(x, *self.args, **self.kwargs)

    return method


@class_in_python
class FrozenDistribution:
    """What a call of a distribution, or of its method `freeze`, returns."""

    pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf, pmf, logpmf = map(of_distribution, METHODS)

    def __init__(self, distribution, args, kwargs):
        self.distribution, self.args, self.kwargs = distribution, args, kwargs


def is_distribution(fn) -> bool:
    """Return whether an object is a distribution that has a density or probabilities; SciPy is not imported for it."""
    stats = sys.modules.get("scipy.stats")
    return stats is not None and isinstance(fn, (stats.rv_continuous, stats.rv_discrete, type(stats.multivariate_normal)))


@core.kind_of_callable("distribution", is_distribution)
def frozen(lo: Lowering, fn, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a distribution."""
    return objects.make(lo, FrozenDistribution, [Const(fn), TupleVal(tuple(args)), lo.new_dict(kwargs)], {}, node)
