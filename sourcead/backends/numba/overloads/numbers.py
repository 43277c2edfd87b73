"""Functions of one number for which libm takes long.

    h = math.tanh(x)                h = tanh_of(x)
"""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.extending.register_jitable
def tanh(x):
    """The hyperbolic tangent of a float64, in half of libm's time; within 2 units in the last place.

    Near zero by the continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))) (J. H. Lambert, 1768), cut off after 15: what is left
    out is below 1e-17 of the result.  Beyond, by the exponential function, as 1 - 2 / (e^2x + 1), where little cancels.

    >>> tanh(0.5) - math.tanh(0.5), tanh(2.0) - math.tanh(2.0), tanh(-1000.0)
    (0.0, 0.0, -1.0)
    """
    if abs(x) < 0.625:
        z = x * x
        less = (((z + 594) * z + 45045) * z + 675675) * z
        return x * (1 - less / ((((z + 630) * z + 51975) * z + 945945) * z + 2027025))
    if abs(x) > 20:
        return math.copysign(1.0, x)
    return math.copysign(1 - 2 / (math.exp(2 * abs(x)) + 1), x)


def tanh_of_float32(x):
    """The hyperbolic tangent of a float32."""
    return np.float32(tanh(np.float64(x)))
