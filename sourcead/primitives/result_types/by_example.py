"""Types by example: NumPy is called on small values, and the dtype and rank of what it returns become those of the result type.

Where the sizes of a result follow from those of the operands (`sized`), the examples give each unknown dim a size of its own, by
which it is recognised in the result; where this makes the call fail, they show which dims must be equal (`_tied`):

    np.sum on arrays of shapes (4, 5), (11, 13)         (5,), (13,)         so the dim of the result is the second of the operand
"""

import functools
import itertools
import math
import warnings

import numpy as np

from sourcead.ir.dims import with_dims
from sourcead.ir.records import type_of
from sourcead.ir.sizes_of_call import not_one
from sourcead.ir.types import (
    INT, SMALL, UNKNOWN, AnyTuple, Array, FunctionT, ListT, Scalar, Sym, TupleT, Type, anydim, kind_of, map_type, parts,
    same_dtype
)
from sourcead.primitives.registry import record
from sourcead.primitives.result_types.dims import broadcast_dim, equal_dim, product_of_dims
from sourcead.primitives.result_types.operands import (
    VARIANTS, Arg, Impossible, array_type, example_of, is_none, size_of
)


def by_example(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result as calls on examples show it: its dtype and rank, never the size of an axis."""
    if not record(fn).examples:
        return UNKNOWN
    return forget_sizes(sample(fn, args, kwargs))


def sample(fn, args: list[Arg], kwargs: dict[str, Arg], rank_if_unknown: int | None = None) -> Type:
    """Return the type of the result on examples, with sizes; raise `Impossible` if it depends on what the types leave open."""
    found = _results(fn, args, kwargs, rank_if_unknown)
    if not found.agree:
        raise Impossible
    return next(iter(found.values()))


def sized(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of the result of a function whose sizes follow from those of the operands, whatever their values are.

    Where examples of different sizes fail, it is found which dims have to be equal.
    """
    if not record(fn).examples:
        return UNKNOWN
    first = args[0].type if args else UNKNOWN
    of_number = isinstance(first, Scalar) and getattr(fn, "__objclass__", None) is np.ndarray
    if isinstance(first, (TupleT, ListT)) or of_number:
        args = [_sequence(args[0], record(fn).sequences == "kept"), *args[1:]]
    found = _of_any_dtype(_sized_or_tied, fn, args, kwargs)
    if of_number and isinstance(found, Array) and found.dims == ():  # the methods of NumPy's numbers return numbers
        return Scalar(kind_of(found), found.dtype) if kind_of(found) is not None else UNKNOWN
    return found


def created(fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type of a new array whose sizes are integers among the operands."""
    return _of_any_dtype(_sized, fn, list(map(_in_sizes, args)), {k: _in_sizes(a) for k, a in kwargs.items()})


SHAPE, SOME_ARRAY = AnyTuple(INT), Array(None, None)
ALWAYS = {np.array: SOME_ARRAY, np.asarray: SOME_ARRAY, np.shape: SHAPE}
"""The type of the result of a function, whatever it is given."""


def _of_any_dtype(find, fn, args: list[Arg], kwargs: dict[str, Arg]) -> Type:
    """Return the type that `find` finds; its dtype is unknown where that of an operand or that of the result, if given, is.

    Where it finds none, the result is an array of the given dtype.
    """
    place = record(fn).dtype_at
    dtype = kwargs.get("dtype") or (args[place] if place is not None and len(args) > place else None)
    dtype = None if dtype is not None and is_none(dtype) else dtype

    def operand(arg: Arg) -> Arg:
        return Arg(FunctionT(float), float) if arg is dtype and arg.type == UNKNOWN and not arg.known else _in_double(arg)

    known = list(map(operand, args)), {k: operand(a) for k, a in kwargs.items()}
    try:
        found = find(fn, *known)
    except Impossible:
        if dtype is None and fn in ALWAYS:
            return ALWAYS[fn]
        if dtype is None or not dtype.known:
            raise
        return Array(np.dtype(dtype.value), None)
    is_exact = known == (args, kwargs) if dtype is None else operand(dtype) is dtype
    return found if is_exact else _without_dtype(found)


def _in_sizes(arg: Arg) -> Arg:
    """Return an operand in which each integer that is not a known small one is the size of a dim, of a new one if it is unknown."""
    items = arg.items
    if arg.dims is not None:
        items = tuple(Arg(INT, n) if isinstance(n, int) else Arg(INT, dim=n) for n in arg.dims)
    elif isinstance(arg.value, (tuple, list)):
        items = tuple(Arg(type_of(v), v) for v in arg.value)
    elif not arg.known and items is None and getattr(arg.type, "items", None):
        items = tuple(map(Arg, arg.type.items))
    elif isinstance(arg.type, Array) and kind_of(arg.type) == "int" and len(arg.type.dims or ()) == 1 and isinstance(arg.type.dims[0], int):
        items = (Arg(Scalar("int", arg.type.dtype)),) * arg.type.dims[0]
    if items is not None:
        return Arg(arg.type, items=tuple(map(_in_sizes, items)))
    if not isinstance(arg.type, Scalar) or arg.type.kind != "int":
        return arg
    size = arg.value if arg.known else arg.number if arg.dim is None else arg.dim
    size = anydim() if size is None else size
    return Arg(arg.type, dim=size) if isinstance(size, Sym) or size >= SMALL else Arg(arg.type, size)


def _sequence(arg: Arg, kept: bool) -> Arg:
    """Return a sequence of arrays as a tuple of arrays if it is `kept` and its length is known, else it or a number as one array."""
    items = getattr(arg.type, "items", None)
    if kept and items is not None:
        return Arg(TupleT(items))
    t = array_type(arg.type)
    known = isinstance(arg.type, ListT) and items is None and arg.number is not None
    return Arg(Array(t.dtype, (arg.number, *t.dims[1:])) if known else t)


def _by_type(arg: Arg, names: dict | None = None) -> Arg:
    """Return an operand that has arrays without its value, with the dims in `names` replaced; return another operand as it is."""
    return Arg(with_dims(arg.type, names or {})) if _dims_in(arg.type) else arg


def _sized_or_tied(fn, args, kwargs) -> Type:
    try:
        return _sized(fn, args, kwargs)
    except Impossible:
        names = _tied(fn, list(map(_by_type, args)), {k: _by_type(a) for k, a in kwargs.items()})
        return _sized(fn, [_by_type(a, names) for a in args], {k: _by_type(a, names) for k, a in kwargs.items()})


def _sized(fn, args, kwargs) -> Type:
    every = [*args, *kwargs.values()]
    sizes = {dim: _own_sizes(dim, number) for number, dim in enumerate(_open_dims(every))}
    found = _results(fn, args, kwargs, None, sizes)
    known = {tuple(row[variant] for variant in found): dim for dim, row in sizes.items()}
    whole = next((a.type.dims for a in every if isinstance(a.type, Array) and a.type.dims is not None), ())
    total = tuple(math.prod(size_of(dim, variant, sizes) for dim in whole) for variant in found)
    known.setdefault(total, product_of_dims(whole))
    return _merged(list(found.values()), known)


_FIRST, _STEP = (4, 21, 10, 13), (1, -2, 4, 6)


def _own_sizes(dim, number: int) -> tuple[int, ...]:
    """Return the sizes of a dim in the examples, which are in no simple relation to those of other dims and to constants.

    The last is the least that is possible.
    """
    sizes = [first + step * number for first, step in zip(_FIRST, _STEP)]
    if isinstance(dim, Sym) and dim.least < SMALL:
        sizes[-1] = max(dim.least, 1)
    return tuple(sizes)


def _open_dims(every: list[Arg]) -> list:
    """Return the dims whose sizes examples may choose: unknown ones, and those that are not part of a signature."""
    dims = (d for a in every for d in (*_dims_in(a.type), *_sizes_in(a)))
    return list(dict.fromkeys(d for d in dims if isinstance(d, Sym) or d >= SMALL))


def _sizes_in(arg: Arg) -> tuple:
    """Return the dims whose sizes are integers in an operand."""
    return tuple(d for item in arg.items for d in _sizes_in(item)) if arg.items is not None else () if arg.dim is None else (arg.dim,)


_MOST_TIED = 8


def _tied(fn, args, kwargs) -> dict:
    """Return which dim stands for each of those that must be equal for the call to work; raise `Impossible` if there are none.

    A dim is tied if the call works where all dims are equal, and not where it alone differs; it is tied to those dims with which it
    may differ.  Dims that may also be 1 broadcast.
    """
    every = [*args, *kwargs.values()]
    sizes = list(dict.fromkeys(d for a in every for d in _dims_in(a.type) if isinstance(d, Sym) or d > 1))
    for dims in (sizes, _open_dims(every)):  # some functions take axes of one small size only
        if _works(fn, args, kwargs, dict.fromkeys(dims, SMALL)):
            break
    else:
        raise Impossible

    def works(others, size: int = 2 * SMALL + 1) -> bool:
        return _works(fn, args, kwargs, {d: size if d in others else SMALL for d in dims})

    names: dict = {}
    left = [d for d in dims if not works([d])]
    if not 1 < len(left) <= _MOST_TIED:
        raise Impossible
    while left:
        first, *rest = left
        groups = ((first, *more) for n in range(1, len(left)) for more in itertools.combinations(rest, n))
        group = next(filter(works, groups), None)  # the least one
        if group is None:
            raise Impossible
        best = equal_dim(group)
        if any(not not_one(d) and works([d], 1) for d in group):
            best = functools.reduce(broadcast_dim, group)
        names |= dict.fromkeys(group, best)
        left = [d for d in rest if d not in group]
    return names


def _works(fn, args, kwargs, sizes: dict) -> bool:
    """Return whether a call works where dims have these sizes."""
    try:
        return bool(_results(fn, args, kwargs, None, {d: (size,) * len(VARIANTS) for d, size in sizes.items()}))
    except Impossible:
        return False


def _dims_in(t: Type) -> tuple:
    """Return the dims of the arrays in a type."""
    if isinstance(t, Array):
        return t.dims or ()
    return tuple(dim for part in parts(t) for dim in _dims_in(part))


def _is_vague(t: Type) -> bool:
    """Return whether a type has an array of unknown dtype, or of one that has no examples."""
    if isinstance(t, Array):
        return t.dtype is None or t.dtype.kind not in "biufcm"
    return any(map(_is_vague, parts(t)))


def _in_double(arg: Arg) -> Arg:
    """Return the operand with double precision in place of dtypes without examples."""

    def double(t: Type) -> Type:
        return Array(np.dtype(float), t.dims) if isinstance(t, Array) and _is_vague(t) else map_type(t, double)

    return Arg(double(arg.type)) if _is_vague(arg.type) else arg


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
            if not all(same_dtype(t.dtype, dtype) for t in types):
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


class _Examples(dict):
    """The types of the results of calls on examples, by the number of the example."""

    @functools.cached_property
    def agree(self) -> bool:
        """Return whether all are the same but for sizes."""
        first, *others = (forget_sizes(t, True) for t in self.values())
        return all(other == first for other in others)


_CACHE: dict = {}


def _results(fn, args, kwargs, rank_if_unknown: int | None, sizes: dict | None = None) -> _Examples:
    """Return the types of the results of calls on examples, by the number of the example; raise `Impossible` if fewer than two work.

    Args:
        fn, args, kwargs: the call.
        rank_if_unknown: the rank of the examples of an array of unknown rank.
        sizes: the sizes of some dims in each example; arrays of unknown rank then have another one in each example.
    """
    try:
        key = (fn, rank_if_unknown, *(_key(a, sizes) for a in args), *((k, _key(a, sizes)) for k, a in kwargs.items()))
        found = _CACHE.get(key)
    except TypeError:  # not hashable
        key = found = None
    if found is None:
        found = _Examples()
        for variant in VARIANTS:
            rank = rank_if_unknown if sizes is None else variant + 1
            try:
                values = [example_of(a, variant, rank, sizes) for a in args]
                named = {k: example_of(a, variant, rank, sizes) for k, a in kwargs.items()}
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


def _key(arg: Arg, sizes: dict | None):
    """Return the part of an operand that an example depends on, as a hashable key."""
    if arg.known:
        hash(arg.value)
        return ("value", type(arg.value), repr(arg.value) if isinstance(arg.value, (tuple, float)) else arg.value)
    if arg.items is not None:
        return ("items", isinstance(arg.type, ListT), *(_key(item, sizes) for item in arg.items))
    if sizes is not None and arg.dim in sizes:
        return ("size", arg.type, sizes[arg.dim])
    return _type_key(arg.type, sizes)


def _type_key(t: Type, sizes: dict | None) -> Type:
    """Return the type with what examples depend on in place of each dim."""
    if isinstance(t, Scalar):
        return t
    if isinstance(t, Array) and t.dims is not None:
        return Array(t.dtype, tuple([_dim_key(dim, sizes) for dim in t.dims]))
    return map_type(t, lambda part: _type_key(part, sizes))


def _dim_key(dim, sizes: dict | None):
    """Return what examples depend on in a dim: whether it is or may be 1, or its sizes."""
    if sizes is not None and dim in sizes:
        return sizes[dim]
    if isinstance(dim, Sym):
        return "many" if dim.many else "any"
    return dim == 1 if sizes is None else str(dim)


def array_dtype(arg: Arg):
    """Return the dtype of the array that an operand is or becomes, or None if it is not known."""
    if isinstance(arg.type, Array):
        return arg.type.dtype
    return sample(np.asarray, [arg], {}).dtype
