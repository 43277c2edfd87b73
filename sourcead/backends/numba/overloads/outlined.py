"""Outlined functions: compiled where Numba can and finds the inferred type for the result, otherwise run by the interpreter.

A call of the interpreter costs a few microseconds: little beside an `einsum`, and no more than in NumPy mode.
"""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload
from numba.typed import List

from sourcead.backends.numba import calls_to_python as interpreted
from sourcead.backends.numba.codegen.outlining import Outlined
from sourcead.backends.numba.internals import TOOLCHAIN
from sourcead.backends.numba.public_toolchain import load
from sourcead.errors import BackendError
from sourcead.ir.records import type_of
from sourcead.ir.types import UNKNOWN, Array, ListT, NoneType, Scalar, Str, TupleT, Type

_PYTHON = {"bool": types.boolean, "int": types.int64, "float": types.float64, "complex": types.complex128}


def prepared(outlined: Outlined, options: dict[str, Any]) -> Callable:
    """Return the Python function of an outlined call, after registering an overload for it.

    Args:
        outlined: the outlined function.
        options: the options of `numba.njit`.
    """
    function = load(outlined.text, outlined.name, dict(outlined.namespace))
    parameters = ", ".join(outlined.parameters)

    def choose(*args: types.Type) -> Callable:
        return function if is_compiled(outlined, function, options, args) else interpreted_call(outlined, function, args)

    text = f"def typing({parameters}):\n    return choose({parameters})\n"
    overload(function, strict=False)(load(text, "typing", {"choose": choose}))
    return function


def is_compiled(outlined: Outlined, function: Callable, options: dict[str, Any], args: tuple[types.Type, ...]) -> bool:
    """Return whether Numba can compile an outlined function for some argument types, and finds the inferred type for its result."""
    if not outlined.compiles or outlined.reshapes and any(isinstance(a, types.Array) and a.layout == "F" for a in args):
        return False
    found = TOOLCHAIN.result_type(function, options, tuple(map(types.unliteral, args)))
    return found is not None and agrees(found, outlined.result)


def interpreted_call(outlined: Outlined, function: Callable, args: tuple[types.Type, ...]) -> Callable:
    """Return an implementation of an outlined function in which the interpreter runs the call."""
    promise = outlined.result if numba_type(outlined.result) is not None else found_by_example(function, args)
    result = numba_type(promise)
    made = result and interpreted.call(lambda *args: kept(function(*args), promise), list(outlined.parameters), list(args), result)
    if made is None:
        why = "the type of its result is not known" if result is None else f"it takes {', '.join(map(str, args))}"
        raise BackendError(
            f"Numba cannot compile `{outlined.text.partition('return ')[2].strip()}`, and {why}",
            at=outlined.origin,
            instead='leave backend="numba" away, or write what it computes as a loop',
        )
    if not is_even_list(promise, result):
        return made
    parameters, name = ", ".join(outlined.parameters), f"call_{outlined.name}"
    text = f"def {name}({parameters}):\n    return [item for item in call({parameters})]\n"
    return load(text, name, {"call": numba.njit(made)})


def found_by_example(function: Callable, args: tuple[types.Type, ...]) -> Type:
    """Return the type of a function's result for small arguments of these types; a call whose result has another type raises an error."""
    for n, integer in ((3, 0), (2, 0), (1, 0), (1, 1)):  # not every function takes every size
        with contextlib.suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return of_any_length(type_of(function(*(interpreted.example(a, n, integer) for a in args))))
    return UNKNOWN


def of_any_length(t: Type) -> Type:
    """Return the type of an example for lists of any length; the items of a list that are not of one type leave it unknown."""
    match t:
        case ListT(item):
            return ListT(of_any_length(item))
        case TupleT(items):
            return TupleT(tuple(map(of_any_length, items)))
    return t


def is_even_list(promise: Type, result: types.Type) -> bool:
    """Return whether the tuple or typed list in place of a list must become an ordinary Numba list, whose elements have one type."""
    return isinstance(promise, ListT) and isinstance(result, types.UniTuple | types.ListType)


def numba_type(t: Type) -> types.Type | None:
    """Return Numba's type for values of a type, with arrays in C order; None if the type is not known well enough."""
    match t:
        case Scalar(kind, dtype):
            if dtype is None or dtype.kind == "O":
                return _PYTHON[kind]
            return numba.from_dtype(dtype)
        case Array(dtype, dims) if dtype is not None and dims is not None and dtype.kind in "biufc":
            return types.Array(numba.from_dtype(dtype), len(dims), "C")
        case TupleT(items):
            found = [numba_type(item) for item in items]
            return None if None in found else types.BaseTuple.from_types(tuple(found))
        case ListT(_, items) if items:  # while it is passed
            return numba_type(TupleT(items))
        case ListT(item, None) if (found := numba_type(item)) is not None:
            return types.ListType(found) if has_lists(item) else types.List(found)
        case NoneType():
            return types.none
        case Str():
            return types.unicode_type
    return None


def has_lists(t: Type) -> bool:
    """Return whether values of a type hold lists; Numba accepts lists of such values only as typed lists."""
    match t:
        case TupleT(items):
            return any(map(has_lists, items))
    return isinstance(t, ListT)


def agrees(found: types.Type, promise: Type) -> bool:
    """Return whether a type that Numba found is the promised one, except for the memory layout."""
    wanted = numba_type(promise)
    if wanted is None:
        return not isinstance(found, types.PyObject)
    match found, wanted:
        case types.Array(), types.Array():
            return found.dtype == wanted.dtype and found.ndim == wanted.ndim
        case types.List(), types.ListType() | types.List():
            return agrees(found.dtype, promise.item)
        case types.List(), types.UniTuple() if isinstance(promise, ListT):
            return agrees(found.dtype, promise.items[0])
        case types.BaseTuple(), types.BaseTuple():
            items = promise.items
            return len(found) == len(items) and all(map(agrees, found, items))
        case types.NoneType(), types.UnicodeType():  # the cotangent of a string
            return True
    return types.unliteral(found) == wanted


def kept(value: Any, promise: Type) -> Any:
    """Return a result of the interpreter converted to the inferred type, or raise an error if that is impossible."""
    match promise:
        case Array(dtype, dims):
            made = np.array(value, dtype=dtype, order="C", copy=None)
            if made.ndim != len(dims):
                raise BackendError(f"an array of {made.ndim} axes was computed where {len(dims)} were expected")
            return made if made.flags.writeable else made.copy()
        case TupleT(items) | ListT(_, tuple(items)):
            if len(value) != len(items):  # Numba reads as many without a check
                raise BackendError(f"{len(value)} values were computed where {len(items)} were expected")
            return tuple(map(kept, value, items))
        case ListT(item, None) if not has_lists(item):
            return [kept(v, item) for v in value]
        case ListT(item, None):
            made = List()
            for v in value:
                made.append(kept(v, item))
            return made
        case Scalar(kind):
            number = value.item() if isinstance(value, np.ndarray) else value
            return float(number) if kind == "float" and isinstance(number, int) else number
        case Str() if not isinstance(value, str):  # Numba reads its memory without a check of its class
            raise BackendError(f"a {type(value).__name__} was computed where a text was expected")
    return value
