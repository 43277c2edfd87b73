"""Types by example: NumPy is called on small values, and the dtype and rank of what it returns become those of the result type.

Where the sizes of a result follow from those of the operands (`sized`), the examples give each unknown dim a size of its own, by
which it is recognised in the result:

    np.sum on arrays of shapes (4, 5), (11, 13)         (5,), (13,)         so the dim of the result is the second of the operand
"""

import math
import warnings

import numpy as np

from sourcead.ir.records import type_of
from sourcead.ir.types import (
    SMALL, UNKNOWN, Array, DictT, FunctionT, ListT, Scalar, Sym, TupleT, Type, anydim, map_type, parts
)
from sourcead.primitives.registry import record
from sourcead.primitives.result_types.dims import product_of_dims
from sourcead.primitives.result_types.operands import VARIANTS, Arg, Impossible, array_type, example_of, size_of


def by_example(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result as calls on examples show it: its dtype and rank, never the size of an axis."""
    if not record(fn).examples:
        return UNKNOWN
    return forget_sizes(sample(fn, args, kwargs))


def sample(fn, args: list[Arg], kwargs: dict[str, Arg], rank_if_unknown: int | None = None) -> Type:
    """Return the type of the result on examples, with sizes; raise `Impossible` if it depends on what the types leave open."""
    first, *others = _results(fn, args, kwargs, rank_if_unknown).values()
    if any(forget_sizes(other, True) != forget_sizes(first, True) for other in others):
        raise Impossible
    return first


def sized(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result of a function whose sizes follow from those of the operands, whatever their values are.

    If the arrays after the first have to fit its shape, so that examples of different sizes fail, they are left out to find the dims.
    """
    if not record(fn).examples:
        return UNKNOWN
    if args and isinstance(args[0].type, (TupleT, ListT)):
        args = [Arg(array_type(args[0].type)), *args[1:]]
    try:
        return _sized(fn, args, kwargs)
    except Impossible:
        rest = [a for a in args[1:] if not isinstance(a.type, Array)]
        options = {k: a for k, a in kwargs.items() if not isinstance(a.type, Array)}
        if not args or len(rest) + 1 + len(options) == len(args) + len(kwargs):
            raise
        found, alone = sample(fn, args, kwargs), _sized(fn, [args[0], *rest], options)
        return _with_dims(found, alone)


def _with_dims(t: Type, like: Type) -> Type:
    """Return the type with the dims of another, wherever both are arrays of one rank; elsewhere without sizes."""
    match t, like:
        case Array(dtype, dims), Array(_, others) if others is not None and len(dims) == len(others):
            return Array(dtype, others)
        case TupleT(items), TupleT(others) if len(items) == len(others):
            return TupleT(tuple(map(_with_dims, items, others)))
    return forget_sizes(t)


def _sized(fn, args, kwargs) -> Type:
    every = [*args, *kwargs.values()]
    dims = [dim for a in every for dim in _dims_in(a.type)]
    apart = dict.fromkeys(dim for dim in dims if isinstance(dim, Sym) or dim >= SMALL)
    numbers = {dim: number for number, dim in enumerate(apart)}
    vague = any(map(_is_vague, every))
    found = _results(fn, list(map(_in_double, args)), {k: _in_double(a) for k, a in kwargs.items()}, None, numbers)
    known = {tuple(size_of(dim, variant, numbers) for variant in found): dim for dim in numbers}
    whole = next((a.type.dims for a in every if isinstance(a.type, Array) and a.type.dims is not None), ())
    total = tuple(math.prod(size_of(dim, variant, numbers) for dim in whole) for variant in found)
    known.setdefault(total, product_of_dims(whole))
    merged = _merged(list(found.values()), known)
    return _without_dtype(merged) if vague else merged


def _dims_in(t: Type) -> tuple:
    """Return the dims of the arrays in a type."""
    if isinstance(t, Array):
        return t.dims or ()
    return tuple(dim for part in parts(t) for dim in _dims_in(part))


def _is_vague(arg: Arg) -> bool:
    """Return whether an operand is an array of unknown dtype, or of one that has no examples."""
    return isinstance(arg.type, Array) and (arg.type.dtype is None or arg.type.dtype.kind not in "biufc")


def _in_double(arg: Arg) -> Arg:
    """Return the operand with double precision in place of a dtype without examples."""
    return Arg(Array(np.dtype(float), arg.type.dims)) if _is_vague(arg) else arg


def _without_dtype(t: Type) -> Type:
    """Return the type of a result that was found for one of several dtypes."""
    if isinstance(t, Array):
        return Array(None, t.dims)
    return UNKNOWN if isinstance(t, Scalar) and t.dtype is not None else map_type(t, _without_dtype)


def _merged(types: list[Type], known: dict) -> Type:
    """Return the type that several examples show, in which `known` gives the dim that has a row of sizes."""
    first = types[0]
    if any(type(t) is not type(first) for t in types):
        raise Impossible
    match first:
        case Array(dtype, dims):
            if any(t.dtype != dtype for t in types):
                raise Impossible
            if any(len(t.dims) != len(dims) for t in types):
                return Array(dtype, None)
            rows = zip(*(t.dims for t in types))
            return Array(dtype, tuple(sizes[0] if len(set(sizes)) == 1 else known.setdefault(sizes, anydim()) for sizes in rows))
        case TupleT(items) if all(len(t.items) == len(items) for t in types):
            return TupleT(tuple(_merged(part, known) for part in zip(*(t.items for t in types))))
    if any(t != first for t in types):
        raise Impossible
    return first


_CACHE: dict = {}


def _results(fn, args, kwargs, rank_if_unknown: int | None, numbers: dict | None = None) -> dict[int, Type]:
    """Return the types of the results of calls on examples, by the number of the example; raise `Impossible` if fewer than two work.

    Args:
        fn, args, kwargs: the call.
        rank_if_unknown: the rank of the examples of an array of unknown rank.
        numbers: the numbers of the unknown dims that are to be told apart; arrays of unknown rank then have another one in each example.
    """
    try:
        key = (fn, rank_if_unknown, *(_key(a, numbers) for a in args), *((k, _key(a, numbers)) for k, a in kwargs.items()))
        found = _CACHE.get(key)
    except TypeError:  # not hashable
        key = found = None
    if found is None:
        found = {}
        for variant in VARIANTS:
            rank = rank_if_unknown if numbers is None else variant + 1
            try:
                values = [example_of(a, variant, rank, numbers) for a in args]
                named = {k: example_of(a, variant, rank, numbers) for k, a in kwargs.items()}
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    found[variant] = _promise(fn(*values, **named))
            except Impossible:
                found.clear()
                break
            except Exception:  # NumPy may raise any error: this example tells nothing
                continue
        if key is not None:
            _CACHE[key] = found
    if len(found) < 2:
        raise Impossible
    return found


def _promise(value) -> Type:
    """Return the type of a value that a call on an example returned, with the size of each axis."""
    match value:
        case np.ndarray():
            if type(value) is not np.ndarray:
                raise Impossible
            return Array(value.dtype, value.shape)
        case tuple():  # also NumPy's results with names, which are mostly unpacked
            return TupleT(tuple(map(_promise, value)))
    t = type_of(value)
    if isinstance(t, FunctionT):
        raise Impossible
    return t


def forget_sizes(t: Type, plain: bool = False) -> Type:
    """Return the type with each dim replaced by a new one, or by 0 if `plain`, so that types can be compared without sizes."""
    if isinstance(t, Array):
        return t if t.dims is None else Array(t.dtype, tuple(0 if plain else anydim() for _ in t.dims))
    found = map_type(t, lambda part: forget_sizes(part, plain))
    return ListT(found.item) if isinstance(found, ListT) else found


def _key(arg: Arg, numbers: dict | None):
    """Return the part of an operand that an example depends on, as a hashable key."""
    if arg.known:
        hash(arg.value)
        return ("value", type(arg.value), repr(arg.value) if isinstance(arg.value, (tuple, float)) else arg.value)
    if arg.items is not None:
        return ("items", isinstance(arg.type, ListT), *(_key(item, numbers) for item in arg.items))
    return _type_key(arg.type, numbers)


def _type_key(t: Type, numbers: dict | None):
    match t:
        case Array(dtype, dims) if dims is not None:
            return ("array", None if dtype is None else dtype.str, *(_dim_key(dim, numbers) for dim in dims))
        case TupleT(items):
            return ("tuple", *(_type_key(item, numbers) for item in items))
        case ListT(item, items):
            return ("list", _type_key(item, numbers), None if items is None else tuple(_type_key(i, numbers) for i in items))
        case DictT(items):
            return ("dict", *((k, _type_key(v, numbers)) for k, v in items))
        case Scalar(kind, dtype):
            return ("scalar", kind, None if dtype is None else dtype.str)
    return t


def _dim_key(dim, numbers: dict | None):
    """Return what examples depend on in a dim: whether it is or may be 1 or, if dims are told apart, which one it is too."""
    if numbers is not None and dim in numbers:
        return numbers[dim], isinstance(dim, int) or dim.least
    if isinstance(dim, Sym):
        return "many" if dim.many else "any"
    return dim == 1 if numbers is None else str(dim)


def array_dtype(arg: Arg):
    """Return the dtype of the array that an operand is or becomes, or None if it is not known."""
    if isinstance(arg.type, Array):
        return arg.type.dtype
    return sample(np.asarray, [arg], {}).dtype
