"""Compositions of functions of `math` from operators on Python numbers."""

import math

import numpy as np

from sourcead.primitives.compositions import composed

composed({math.remainder: lambda x, y: x - y * round(x / y)})


@composed(math.dist)
def dist(p, q):
    if isinstance(p, np.ndarray) or isinstance(q, np.ndarray):
        return float(np.linalg.norm(np.asarray(p) - np.asarray(q)))
    return math.hypot(*[a - b for a, b in zip(p, q)])


@composed(math.prod)
def prod(iterable, *, start=1):
    result = start
    for x in iterable:
        result = result * x
    return result


if hasattr(math, "sumprod"):  # Python 3.12

    @composed(math.sumprod)
    def sumprod(p, q):
        result = 0
        for a, b in zip(p, q):
            result = result + a * b
        return result


if hasattr(math, "fma"):  # Python 3.13
    composed({math.fma: lambda x, y, z: x * y + z})
