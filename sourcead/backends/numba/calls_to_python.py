"""Calls of the interpreter from compiled code, for what Numba cannot compile.

Numbers, arrays, and tuples and lists of them are converted to Python objects and back; a slice is passed as the tuple of its bounds.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numba.extending import register_jitable

from sourcead.backends.numba.internals import TOOLCHAIN
from sourcead.backends.numba.public_toolchain import load

_IN_PARTS = types.SliceType | types.EllipsisType | types.RangeType | types.DType
_WHOLE = types.Array | types.Number | types.Boolean | types.BaseTuple | types.NoneType | types.UnicodeType | types.Optional | types.List
_counter = itertools.count(1)


def call(function: Callable, parameters: list[str], args: list[types.Type], result: types.Type | None) -> Callable | None:
    """Return an implementation for Numba in which the interpreter calls a Python function.

    Args:
        function: takes Python values.
        parameters: the names of the implementation's parameters.
        args: their types.
        result: the type of the result; None if there is none.

    Returns:
        The implementation; None if the interpreter cannot be given arguments of these types.
    """
    ways = list(map(_way, args))
    if None in ways:
        return None
    sent = "".join(f"{there.format(p)}, " for p, (there, _) in zip(parameters, ways))
    name = f"interpreted_{next(_counter)}"
    text = f"def {name}({', '.join(parameters)}):\n    return run(({sent}))\n"
    promise = (result.ndim, dtype_of(result.dtype)) if isinstance(result, types.Array) else None
    run = TOOLCHAIN.interpreted(Receiver(function, tuple(back for _, back in ways), promise), types.none if result is None else result)
    return load(text, name, {"run": run, "ends": ends})


@dataclass(frozen=True)
class Receiver:
    """Calls a function with the values that compiled code sends.

    `promise`: the rank and dtype of the C-ordered array that compiled code assumes the result to be, without a check.
    """

    function: Callable
    ways: tuple[Callable, ...]
    promise: tuple[int, np.dtype] | None = None

    def __call__(self, *sent):
        value = self.function(*(back(x) for back, x in zip(self.ways, sent)))
        if self.promise is not None and ((value.ndim, value.dtype) != self.promise or not value.flags.c_contiguous):
            raise TypeError(f"an array of {value.dtype} with {value.ndim} axes was computed where {self.promise} was expected")
        return value


def _way(t: types.Type) -> tuple[str, Callable] | None:
    """Return the expression that sends a value from compiled code, and the function that restores the Python value from it."""
    match t:
        case types.SliceType():
            return "ends({0})", lambda x: slice(*x)
        case types.RangeType():
            return "ends({0})", lambda x: range(*x)
        case types.EllipsisType():
            return "0", lambda x: ...
        case types.DType():
            return "0", lambda x: dtype_of(t.dtype)
        case types.BaseTuple() if any(isinstance(i, _IN_PARTS) for i in t):
            ways = [_way(i) for i in t]
            if None in ways:
                return None
            there = "".join(w[0].format(f"{{0}}[{k}]") + ", " for k, w in enumerate(ways))
            return f"({there})", lambda x: tuple(w[1](v) for w, v in zip(ways, x))
    return ("{0}", lambda x: x) if isinstance(t, _WHOLE) else None


@register_jitable
def ends(s):
    return s.start, s.stop, s.step


def example(t: types.Type, n: int = 1, integer: int = 0) -> Any:
    """Return a small value of a type, in which axes of arrays have `n` elements and integers equal `integer`."""
    match t:
        case types.Array():
            return np.ones((n,) * t.ndim, dtype_of(t.dtype)) if t.dtype == types.boolean else np.zeros((n,) * t.ndim, dtype_of(t.dtype))
        case types.List():
            return [example(t.dtype, n, integer)] * n
        case types.SliceType():
            return slice(None)
        case types.RangeType():
            return range(n)
        case types.EllipsisType():
            return ...
        case types.DType():
            return dtype_of(t.dtype)
        case types.NoneType():
            return None
        case types.BaseTuple():
            return tuple(example(i, n, integer) for i in t)
        case types.Boolean():
            return True
        case types.Integer():
            return integer
        case types.Float():
            return 0.0
    raise TypeError(f"no example of {t}")


def dtype_of(t: types.Type) -> np.dtype:
    """Return the NumPy dtype of a Numba type of numbers.

    Raises:
        TypeError: the type is not that of numbers or truth values.

    >>> dtype_of(types.float32), dtype_of(types.boolean)
    (dtype('float32'), dtype('bool'))
    """
    if not isinstance(t, types.Number | types.Boolean):
        raise TypeError(f"{t} is no type of numbers")
    return np.dtype(t.name)
