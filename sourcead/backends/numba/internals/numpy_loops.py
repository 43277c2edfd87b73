"""Functions and reductions of whole arrays by NumPy's loops.

    y = np.tanh(x)                  y = tanh_of(x)
    total = np.sum(x)               total = sum_of(x)

NumPy's loops for `exp`, `tanh` and others use vector instructions; Numba's call libm for each element. A ufunc of NumPy holds the addresses
of its loops, one for each dtype (`PyUFuncObject` in numpy/ufuncobject.h):

    void loop(char **args, npy_intp *n, npy_intp *steps, void *data)

Compiled code refers to them by symbols, which get their addresses when this module is imported, so the code can be kept on disk. A ufunc
whose memory does not match the header is not replaced.

The loop of a binary ufunc reduces if its first operand is also its result, with steps of zero (`IS_BINARY_REDUCE` in
numpy/_core/src/umath/fast_loop_macros.h).  `np.add` then sums in pairs: a third of the time of Numba's sum of one element after the other
for a million numbers, and more exact.
"""

import ctypes
import math
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.extending import register_jitable

from sourcead.backends.numba.public_toolchain import load

DTYPES = {types.float32: np.dtype(np.float32), types.float64: np.dtype(np.float64)}
REDUCED_BY = {np.sum: np.add, np.mean: np.add, np.max: np.maximum, np.min: np.minimum}
_SIGNATURE = types.void(types.voidptr, types.voidptr, types.voidptr, types.intp)


class _UFunc(ctypes.Structure):
    _fields_ = (
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int), ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p), ("types", ctypes.POINTER(ctypes.c_ubyte)),
    )  # fmt: skip


def loop_address(ufunc: np.ufunc, dtype: np.dtype) -> int | None:
    """Return the address of a ufunc's loop for operands and a result of one dtype; None if it is not found."""
    found, operands = _UFunc.from_address(id(ufunc)), ufunc.nargs
    if (found.nin, found.nout, found.nargs, found.ntypes) != (operands - 1, 1, operands, ufunc.ntypes):
        return None
    numbers = [np.dtype(t).num for kinds in ufunc.types for t in kinds.replace("->", "")]
    if found.name != ufunc.__name__.encode() or [found.types[k] for k in range(operands * found.ntypes)] != numbers:
        return None
    k = ufunc.types.index(f"{dtype.char * ufunc.nin}->{dtype.char}")
    return None if found.data and found.data[k] else found.functions[k]


def symbols_of(ufunc: np.ufunc) -> dict[types.Type, types.ExternalFunction]:
    """Return the external functions by which compiled code calls the loops of a ufunc, by dtype."""
    symbols = {}
    for numba_type, dtype in DTYPES.items():
        address = loop_address(ufunc, dtype)
        if address:
            name = f"sourcead_numpy_{ufunc.__name__}_{dtype.name}"
            llvm.add_symbol(name, address)
            symbols[numba_type] = types.ExternalFunction(name, _SIGNATURE)
    return symbols


def choice(function: Callable) -> Callable:
    """Return the overload of a ufunc or reduction, which calls loops of NumPy where there is one for the type of the argument."""
    name, ufunc = function.__name__, REDUCED_BY.get(function, function)
    symbols = symbols_of(ufunc)
    plain = load(f"def {name}_of(x):\n    return np.{name}(x)\n", f"{name}_of", {"np": np})

    def choose(x):
        if (function, x) in _OF_NUMBERS:
            return _OF_NUMBERS[function, x]
        loop = symbols.get(x.dtype) if isinstance(x, types.Array) else None
        if loop is None or ufunc is not function and (x.ndim == 0 or x.layout == "A" and x.ndim > 1):
            return plain
        text = (_CONTIGUOUS if x.layout == "C" else _ANY) if ufunc is function else reducing(function, x)
        return load(text, "by_loop", {"np": np, "loop": loop})

    return choose


def reducing(reduction: Callable, x: types.Array) -> str:
    """Return the text of a reduction of an array by the loop of a ufunc."""
    dtype = DTYPES[x.dtype].name
    return _REDUCING.format(
        dtype=dtype,
        name=reduction.__name__,
        first="0" if REDUCED_BY[reduction] is np.add else f"x[{', '.join('0' * x.ndim)}]",
        step="x.strides[0]" if x.layout == "A" else "x.itemsize",
        result=f"np.{dtype}(y[0] / x.size)" if reduction is np.mean else "y[0]",
    )


_CONTIGUOUS = """def by_loop(x):
    y = np.empty(x.shape, x.dtype)
    told = np.empty(5, np.intp)
    told[0] = x.ctypes.data
    told[1] = y.ctypes.data
    told[2] = x.size
    told[3] = x.itemsize
    told[4] = x.itemsize
    loop(told.ctypes, told[2:].ctypes, told[3:].ctypes, 0)
    if x.size != y.size:  # and x lives up to here
        raise ValueError("an array changed its size")
    return y
"""
_ANY = _CONTIGUOUS.replace("def by_loop(x):\n", "def by_loop(a):\n    x = np.ascontiguousarray(a)\n")
_REDUCING = """def by_loop(x):
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


# ---- functions of one number for which libm takes long ----


@register_jitable
def tanh(x):
    """Return the hyperbolic tangent of a float64, in half of libm's time; within 2 units in the last place.

    Near zero it is the continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))) (J. H. Lambert, 1768), cut off after 15, with a relative
    error below 1e-17.  Elsewhere it is computed as 1 - 2 / (e^2x + 1), where little cancels.

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
    """Return the hyperbolic tangent of a float32."""
    return np.float32(tanh(np.float64(x)))


_OF_NUMBERS = {(np.tanh, types.float64): tanh, (np.tanh, types.float32): tanh_of_float32}
