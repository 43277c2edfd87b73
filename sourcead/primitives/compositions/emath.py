"""Compositions of `np.emath`: functions of real numbers that are complex where a real number has no real result.

    emath.arcsin(x) = arcsin(x)    for complex x, and for real x in [-1, 1]

Of real numbers elsewhere the result is complex, of which the text, whose types do not depend on the run, knows nothing: they are refused
when the text runs.
"""

import numpy as np

from sourcead.errors import UnsupportedArgumentError
from sourcead.primitives.compositions import composed, number_kind


def within(name, x, lowest, highest):
    """Return the argument of a function whose real results are those of real numbers between two bounds."""
    if number_kind(x) != "complex" and np.any((x < lowest) | (x > highest)):
        raise UnsupportedArgumentError(f"`np.emath.{name}` of a real number is complex here: give it complex numbers")
    return x


composed({
    np.emath.sqrt: lambda x: np.sqrt(within("sqrt", np.asarray(x), 0, np.inf)),
    np.emath.log: lambda x: np.log(within("log", np.asarray(x), 0, np.inf)),
    np.emath.log2: lambda x: np.log2(within("log2", np.asarray(x), 0, np.inf)),
    np.emath.log10: lambda x: np.log10(within("log10", np.asarray(x), 0, np.inf)),
    np.emath.logn: lambda n, x: np.log(within("logn", np.asarray(x), 0, np.inf)) / np.log(within("logn", np.asarray(n), 0, np.inf)),
    np.emath.power: lambda x, p: np.power(within("power", np.asarray(x), 0, np.inf), p),
    np.emath.arccos: lambda x: np.arccos(within("arccos", np.asarray(x), -1, 1)),
    np.emath.arcsin: lambda x: np.arcsin(within("arcsin", np.asarray(x), -1, 1)),
    np.emath.arctanh: lambda x: np.arctanh(within("arctanh", np.asarray(x), -1, 1)),
})
