"""NumPy's dtypes of Numba's types of numbers."""

from __future__ import annotations

import numpy as np
from numba import types


def dtype_of(t: types.Type) -> np.dtype:
    """Return the dtype of arrays of such numbers.

    Raises:
        TypeError: the type is not that of numbers or truth values.

    >>> dtype_of(types.float32), dtype_of(types.boolean)
    (dtype('float32'), dtype('bool'))
    """
    if not isinstance(t, types.Number | types.Boolean):
        raise TypeError(f"{t} is no type of numbers")
    return np.dtype(t.name)
