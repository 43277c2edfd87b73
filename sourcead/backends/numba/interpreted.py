"""Calls of the interpreter from compiled code, for what Numba cannot compile.

`with objmode` takes numbers, arrays and tuples of them; lists and slices travel as tuples of what they consist of.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import objmode, types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype
from numba.typed import List

from sourcead.backends import load as loading

_IN_PARTS = types.List | types.SliceType | types.EllipsisType | types.RangeType | types.DType
_WHOLE = types.Array | types.Number | types.Boolean | types.BaseTuple | types.NoneType | types.UnicodeType | types.Optional
_counter = itertools.count(1)


def call(function: Callable, parameters: list[str], args: list[types.Type], result: types.Type | None) -> Callable | None:
    """An implementation for Numba that has a Python function called by the interpreter.

    Args:
        function: takes values as Python has them.
        parameters: the names that the implementation's parameters have.
        args: their types.
        result: the type of the result; None if there is none.

    Returns:
        The implementation; None if the interpreter cannot be given arguments of these types.
    """
    ways = list(map(_way, args))
    if None in ways:
        return None
    lines = [f"sent_{k} = {there.format(p)}" for k, (p, (there, _)) in enumerate(zip(parameters, ways))]
    back = [back for _, back in ways]

    def python(*sent):
        return function(*(f(x) for f, x in zip(back, sent)))

    sent = ", ".join(f"sent_{k}" for k in range(len(parameters)))
    if result is None:
        lines += ["with objmode():", f"    python({sent})"]
    else:
        lines += ["with objmode(result=type_):", f"    result = python({sent})", "return result"]
    name = f"interpreted_{next(_counter)}"
    text = f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)
    # The interpreter looks names up where the function was made: no module has them, so that Numba's cache does not take it back
    return loading.load(text, name, {"objmode": objmode, "python": python, "type_": result, "listed": listed, "ends": ends})


def _way(t: types.Type) -> tuple[str, Callable] | None:
    """How a value is written where it leaves compiled code, and what makes the Python value of it."""
    match t:
        case types.List():
            return "listed({0})", list
        case types.SliceType():
            return "ends({0})", lambda x: slice(*x)
        case types.RangeType():
            return "ends({0})", lambda x: range(*x)
        case types.EllipsisType():
            return "0", lambda x: ...
        case types.DType():
            return "0", lambda x: as_dtype(t.dtype)
        case types.BaseTuple() if any(isinstance(i, _IN_PARTS) for i in t):
            ways = [_way(i) for i in t]
            if None in ways:
                return None
            there = "".join(w[0].format(f"{{0}}[{k}]") + ", " for k, w in enumerate(ways))
            return f"({there})", lambda x: tuple(w[1](v) for w, v in zip(ways, x))
    return ("{0}", lambda x: x) if isinstance(t, _WHOLE) else None


@register_jitable
def listed(xs):
    made = List()
    for x in xs:
        made.append(x)
    return made


@register_jitable
def ends(s):
    return s.start, s.stop, s.step


def example(t: types.Type, n: int = 1) -> Any:
    """A small value of a type; all axes of arrays have n elements."""
    match t:
        case types.Array():
            return np.ones((n,) * t.ndim, as_dtype(t.dtype)) if t.dtype == types.boolean else np.zeros((n,) * t.ndim, as_dtype(t.dtype))
        case types.List():
            return [example(t.dtype, n)] * n
        case types.SliceType():
            return slice(None)
        case types.RangeType():
            return range(n)
        case types.EllipsisType():
            return ...
        case types.DType():
            return as_dtype(t.dtype)
        case types.NoneType():
            return None
        case types.BaseTuple():
            return tuple(example(i, n) for i in t)
        case types.Boolean():
            return True
        case types.Integer():
            return 0
        case types.Float():
            return 0.0
    raise TypeError(f"no example of {t}")
