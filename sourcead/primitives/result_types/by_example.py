"""Types by example: NumPy is called on small values, and the dtype and rank of what it returns become those of the result type."""

from __future__ import annotations

import warnings

import numpy as np

from sourcead.ir.type_of import type_of
from sourcead.ir.types import UNKNOWN, Array, DictT, FunctionT, ListT, Scalar, Sym, TupleT, Type, anydim
from sourcead.primitives.registry import record
from sourcead.primitives.result_types.operands import VARIANTS, Arg, Impossible, example_of


def by_example(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result as calls on examples show it: its dtype and rank, never the size of an axis."""
    if not record(fn).examples:
        return UNKNOWN
    return forget_sizes(sample(fn, args, kwargs))


def sample(fn, args: list[Arg], kwargs: dict[str, Arg], rank_if_unknown: int | None = None) -> Type:
    """Return the type of the result on examples, with sizes; raise `Impossible` if it depends on what the types leave open."""
    key = None
    try:
        key = (fn, rank_if_unknown, *map(_key, args), *((k, _key(v)) for k, v in kwargs.items()))
        hash(key)
    except TypeError:
        key = None
    if key is None:
        return _sample(fn, args, kwargs, rank_if_unknown)
    if key not in _CACHE:
        try:
            _CACHE[key] = _sample(fn, args, kwargs, rank_if_unknown)
        except Impossible:
            _CACHE[key] = None
    result = _CACHE[key]
    if result is None:
        raise Impossible
    return result


_CACHE: dict = {}


def _sample(fn, args, kwargs, rank_if_unknown) -> Type:
    results = []
    for variant in VARIANTS:
        try:
            values = [example_of(a, variant, rank_if_unknown) for a in args]
            named = {k: example_of(a, variant, rank_if_unknown) for k, a in kwargs.items()}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results.append(_promise(fn(*values, **named)))
        except Impossible:
            raise
        except Exception:  # NumPy may raise any error: this example tells nothing
            continue
    if len(results) < 2:
        raise Impossible
    if any(forget_sizes(other, True) != forget_sizes(results[0], True) for other in results[1:]):
        raise Impossible
    return results[0]


def _promise(value) -> Type:
    """Return the type of a value that a call on an example returned."""
    match value:
        case np.ndarray() if type(value) is not np.ndarray:
            raise Impossible
        case tuple():  # also NumPy's results with names, which are mostly unpacked
            return TupleT(tuple(map(_promise, value)))
    t = type_of(value)
    if isinstance(t, FunctionT):
        raise Impossible
    return t


def forget_sizes(t: Type, plain: bool = False) -> Type:
    """Return the type with each dim replaced by a new one, or by 0 if `plain`, so that types can be compared without sizes."""
    match t:
        case Array(dtype, dims) if dims is not None:
            return Array(dtype, tuple(0 if plain else anydim() for _ in dims))
        case TupleT(items):
            return TupleT(tuple(forget_sizes(i, plain) for i in items))
        case ListT(item, items):
            return ListT(forget_sizes(item, plain), None)
        case DictT(items):
            return DictT(tuple((k, forget_sizes(i, plain)) for k, i in items))
    return t


def _key(arg: Arg):
    """Return the part of an operand that a sample depends on, as a hashable key."""
    if arg.known:
        hash(arg.value)
        return ("value", type(arg.value), repr(arg.value) if isinstance(arg.value, (tuple, float)) else arg.value)
    if arg.items is not None:
        return ("items", isinstance(arg.type, ListT), *map(_key, arg.items))
    return _type_key(arg.type)


def _type_key(t: Type):
    match t:
        case Array(dtype, dims) if dims is not None:
            return (
                "array",
                None if dtype is None else dtype.str,
                *((("many" if d.many else "any") if isinstance(d, Sym) else d == 1) for d in dims),
            )
        case TupleT(items):
            return ("tuple", *map(_type_key, items))
        case ListT(item, items):
            return ("list", _type_key(item), None if items is None else tuple(map(_type_key, items)))
        case DictT(items):
            return ("dict", *((k, _type_key(v)) for k, v in items))
        case Scalar(kind, dtype):
            return ("scalar", kind, None if dtype is None else dtype.str)
    return t


def array_dtype(arg: Arg):
    """Return the dtype of the array that an operand is or becomes, or None if it is not known."""
    if isinstance(arg.type, Array):
        return arg.type.dtype
    return sample(np.asarray, [arg], {}).dtype
