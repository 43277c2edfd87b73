"""The type of a call's result, from the types of its operands.

    infer_call(fn, args, kwargs) -> Type        infer_index(base, key) -> Type        infer_attr(base, name) -> Type

A type is a promise: what is not certain is `UNKNOWN`, or a new dim of which nothing is known.  Shapes
follow from a table of handlers; dtypes, and all functions without a handler, from calling NumPy itself on small examples.

An elementwise function of an array of unknown rank is promised to be an array of unknown rank; for rank 0 NumPy returns
its scalar, which behaves like one.
"""

import functools
import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.ir.types import (
    UNKNOWN, Array, NumberMember, Scalar, Str, StructT, TextMember, TupleT, Type, Undefined, join, kind_of, rank
)
from sourcead.primitives.registry import enter
from sourcead.primitives.result_types.by_example import by_example, sized
from sourcead.primitives.result_types.elementwise import elementwise
from sourcead.primitives.result_types.operands import NOT_CONST, Arg, Impossible, SliceArg, choices, with_dtype
from sourcead.primitives.result_types.sparse import is_sparse, of_sparse
from sourcead.primitives.result_types.subscripts import infer_index
from sourcead.primitives.table import record_of

__all__ = ["NOT_CONST", "Arg", "SliceArg", "infer_attr", "infer_call", "infer_index", "static_value"]


def infer_call(fn, args: list[Arg], kwargs: dict[str, Arg] | None = None) -> Type:
    """Return the type of `fn(*args, **kwargs)`.

    Args:
        fn: the function that is called, a Python object.
        args, kwargs: its operands: type, and value where constant.

    Returns:
        What is certain about the result; `UNKNOWN` if nothing is.

    Example:
        >>> from sourcead.ir.records import type_of
        >>> infer_call(np.sum, [Arg(type_of(np.ones((2, 3), "f4")))], {})
        Scalar(kind='float', dtype=dtype('float32'), least=None)
    """
    key = None if kwargs or fn in POWERS else _key_of_numbers(args)  # what a power is, depends on what is known of the exponent
    if key is None or (known := record_of(fn)).result is not None or not known.is_elementwise(len(args)):
        if fn in (max, min) and len(args) > 1 and all(isinstance(getattr(a, "type", None), NumberMember) for a in args):
            return functools.reduce(join, (a.type for a in args))
        return _infer_any(fn, list(map(_plain, args)), {k: _plain(a) for k, a in (kwargs or {}).items()})
    found = _NUMBERS.get((fn, key))
    if found is None or found[0] is not known:  # a rule was entered since
        found = _NUMBERS[fn, key] = known, _infer_any(fn, list(args), {})
    return found[1]


def _plain(arg: Arg | SliceArg) -> Arg | SliceArg:
    """Return an operand that may be a member of an enumeration as the number or text that functions take it for."""
    match getattr(arg, "type", None):
        case NumberMember(kind):
            return replace(arg, type=Scalar(kind))
        case TextMember():
            return replace(arg, type=Str())
    return arg


POWERS = (operator.pow, pow, operator.ipow)
_NUMBERS: dict = {}
"""The types of the results of elementwise functions of numbers, by the function and its operands, with the record they rest on."""


def _key_of_numbers(args: list[Arg]) -> tuple | None:
    """Return a key that is the same for the same operands if all are numbers, None for others; equal numbers may differ in kind or sign."""
    key = []
    for arg in args:
        if type(arg) is not Arg or type(arg.type) is not Scalar or arg.items is not None:
            return None
        key.append((arg.type, type(arg.value), repr(arg.value)) if arg.known else arg.type)
    return tuple(key)


def _infer_any(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of a call for each choice of the kinds that numbers of any dtype may have."""
    count = choices(*(a.type for a in (*args, *kwargs.values()) if isinstance(a, Arg)))
    if count == 1:
        return _infer_call(fn, args, kwargs)
    result: Type = Undefined()
    for choice in range(count):
        chosen = [with_dtype(a, choice) for a in args], {k: with_dtype(a, choice) for k, a in kwargs.items()}
        result = join(result, _infer_call(fn, *chosen))
    return result


def _infer_call(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    known = record_of(fn)
    found = UNKNOWN
    try:
        if any(isinstance(a, Arg) and is_sparse(a.type) for a in args):
            return of_sparse(fn, args, kwargs)
        if known.result is not None:
            return known.result(fn, args, kwargs)
        if known.is_elementwise(len(args)):
            return elementwise(fn, args, kwargs)
        found = by_example(fn, args, kwargs)
    except (Impossible, TypeError, ValueError, IndexError, AttributeError, KeyError, OverflowError, SyntaxError):
        pass  # SyntaxError is NumPy's for the text of a dtype
    return TupleT((UNKNOWN,) * known.first_only) if found == UNKNOWN and known.first_only else found


def static_value(fn, args: list[Arg], kwargs: dict[str, Arg] | None = None):
    """Return the value of a call if types or constants decide it, so that a derivative rule can branch on it while compiling.

    Returns:
        The value; `NOT_CONST` if it is not decided, or if the function is not one of those that rules call to decide between cases.

    Example:
        >>> from sourcead.ir.records import type_of
        >>> static_value(np.ndim, [Arg(type_of(np.ones((2, 3))))])
        2
    """
    args = list(args)
    if kwargs or not args:
        return NOT_CONST
    if fn is np.ndim:
        found = rank(args[0].type)
        return NOT_CONST if found is None else found
    if fn in (np.iscomplexobj, np.isrealobj):
        kind = kind_of(args[0].type)
        return NOT_CONST if kind is None else (kind == "complex") == (fn is np.iscomplexobj)
    if fn is runtime.are_cuts:
        return isinstance(args[0].type, Scalar) or args[0].known and fn(args[0].value)
    if fn is runtime.lower_exponent and args[0].known and isinstance(args[0].value, (int, float)) and args[0].value != 0:
        return args[0].value - 1
    if fn in _EVALUATED and all(a.known for a in args):
        return fn(*(a.value for a in args))
    return NOT_CONST


_EVALUATED = {
    runtime.split_axes, runtime.inverse_axes, runtime.einsum_is_plain, runtime.einsum_back, runtime.reversed_shift, runtime.tensordot_back,
}  # fmt: skip


_ATTRIBUTES = {
    name: lambda x, name=name: getattr(x, name) for name in "shape ndim size itemsize nbytes T mT real imag".split()
}
enter(*_ATTRIBUTES.values(), examples=True, result=sized)


def infer_attr(base: Type, name: str) -> Type:
    """Return the type of `base.name`."""
    if isinstance(base, StructT):
        return dict(base.fields).get(name, UNKNOWN)
    known = name in _ATTRIBUTES and isinstance(base, (Array, Scalar))
    return infer_call(np.shape if name == "shape" else _ATTRIBUTES[name], [Arg(base)]) if known else UNKNOWN
