"""Sums, means and extrema of whole arrays by NumPy's loops: Numba's add up one element after the other.

    total = np.sum(x)               total = sum_of(x)

The loop of a binary ufunc reduces if its first operand is also its result, with steps of zero (`IS_BINARY_REDUCE` in
numpy/_core/src/umath/fast_loop_macros.h).  `np.add` then sums in pairs: a third of the time for a million numbers, and more exact.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from sourcead.backends.numba.functions import ARRAY_REDUCTIONS
from sourcead.backends.numba.internals.ufunc_loops import DTYPES, symbols_of
from sourcead.backends.numba.load import load

LOOPS = {np.sum: np.add, np.mean: np.add, np.max: np.maximum, np.min: np.minimum}
_BY_LOOP = """def by_loop(x):
    if x.size < 64:
        return np.{dtype}(np.{name}(x))
    y = np.empty(1, x.dtype)
    y[0] = {first}
    told = np.empty(7, np.intp)
    told[0] = y.ctypes.data
    told[1] = x.ctypes.data
    told[2] = y.ctypes.data
    told[3] = x.size
    told[4] = 0
    told[5] = {step}
    told[6] = 0
    loop(told.ctypes, told[3:].ctypes, told[4:].ctypes, 0)
    if x.size != told[3]:  # and x lives up to here
        raise ValueError("an array changed its size")
    return {result}
"""


def register() -> None:
    """Let compiled code reduce arrays with the loops of ufuncs."""
    for reduction, stand_in in ARRAY_REDUCTIONS.items():
        _register(reduction, stand_in)


def _register(reduction, stand_in) -> None:
    name, symbols = reduction.__name__, symbols_of(LOOPS[reduction])
    plain = load(f"def {name}_of(x):\n    return np.{name}(x)\n", f"{name}_of", {"np": np})

    def choose(x):
        loop = symbols.get(x.dtype) if isinstance(x, types.Array) else None
        if loop is None or x.ndim == 0 or x.layout == "A" and x.ndim > 1:
            return plain
        text = _BY_LOOP.format(
            dtype=DTYPES[x.dtype].name,
            name=name,
            first="0" if LOOPS[reduction] is np.add else f"x[{', '.join('0' * x.ndim)}]",
            step="x.strides[0]" if x.layout == "A" else "x.itemsize",
            result=f"np.{DTYPES[x.dtype].name}(y[0] / x.size)" if reduction is np.mean else "y[0]",
        )
        return load(text, "by_loop", {"np": np, "loop": loop})

    overload(stand_in, strict=False)(choose)
