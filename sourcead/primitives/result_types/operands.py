"""Operands of calls as they are known while compiling, and example values for them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sourcead.ir.frozen import frozen
from sourcead.ir.types import (
    ANY_DTYPE, KINDS, Array, DictT, FunctionT, ListT, NoneType, Scalar, Str, Sym, TupleT, Type, anydim, map_type, parts,
    rank
)


class _NotConst:
    def __repr__(self):
        return "NOT_CONST"


NOT_CONST = _NotConst()


@frozen(eq=False)
class Arg:
    """An operand: its type, and further facts that are known while compiling.

    value: the Python object, where it is a constant.
    dims: where it is the shape of an array, that array's dims (`np.zeros(b.shape)`).
    dim: where it is the size of an axis, that axis's dim (`np.zeros((x.shape[0], 3))`).
    number: where it is an integer or a list, that or its length as an expression over sizes and integers; an integer may be negative.
    items: the operands of a tuple or list display.
    """

    type: Type
    value: Any = NOT_CONST
    dims: tuple | None = None
    dim: int | Sym | None = None
    items: tuple[Arg, ...] | None = None
    number: int | Sym | None = None

    @property
    def known(self) -> bool:
        return self.value is not NOT_CONST

    @property
    def integer(self) -> Any:
        """Return the value if it is known, else the expression that the integer is, or `NOT_CONST`."""
        if self.known:
            return int(self.value) if isinstance(self.value, (int, np.integer)) else self.value
        return NOT_CONST if self.number is None else self.number


@dataclass(frozen=True, eq=False)
class SliceArg:
    """`lower:upper:step` inside a subscript."""

    lower: Arg | None = None
    upper: Arg | None = None
    step: Arg | None = None

    @property
    def full(self) -> bool:
        """Return whether the slice takes the whole axis, in either direction."""
        ends = [p for p in (self.lower, self.upper) if p is not None and p.value is not None]
        step = 1 if self.step is None else self.step.value
        return not ends and (step is None or (isinstance(step, int) and step in (1, -1)))


class Impossible(Exception):
    """Raised inside inference where nothing can be promised."""


def const(arg: Arg | None, default=None):
    """Return the operand's value, or `default` if there is no operand; raise `Impossible` if the value is not known."""
    if arg is None:
        return default
    if arg.known:
        return arg.value
    if arg.items is not None:
        return tuple(const(item) for item in arg.items)
    if isinstance(arg.type, NoneType):
        return None
    raise Impossible


def shape_dims(arg: Arg) -> tuple:
    """Return the dims of a shape argument, in which -1 stays -1."""
    if arg.dims is not None:
        return tuple(arg.dims)
    if arg.known:
        value = arg.value
        if isinstance(value, (int, np.integer)):
            return (int(value),)
        if isinstance(value, (tuple, list, np.ndarray)) and all(isinstance(n, (int, np.integer)) for n in value):
            return tuple(int(n) for n in value)
        raise Impossible
    if arg.items is not None:
        return tuple(_size(item) for item in arg.items)
    match arg.type:
        case Scalar("int"):
            return (_size(arg),)
        case TupleT(items) if all(isinstance(t, Scalar) and t.kind == "int" for t in items):
            return tuple(anydim() for _ in items)
        case ListT(_, items) if items is not None and all(isinstance(t, Scalar) and t.kind == "int" for t in items):
            return tuple(anydim() for _ in items)
    raise Impossible


def _size(arg: Arg):
    if arg.known and isinstance(arg.value, (int, np.integer)):
        return int(arg.value)
    if arg.dim is not None:
        return arg.dim
    if isinstance(arg.type, Scalar) and arg.type.kind == "int":
        return anydim() if arg.number is None else arg.number
    raise Impossible


def axes_of(arg: Arg | None, count: int, default=None) -> tuple[int, ...] | None:
    """Return the axes that an axis argument names, counted from 0, or None if it names all of them (axis None)."""
    axis = const(arg, default)
    if axis is None:
        return None
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(a, (int, np.integer)) and -count <= a < count for a in axes):
        raise Impossible
    axes = tuple(int(a) % count for a in axes)
    if len(set(axes)) != len(axes):
        raise Impossible
    return axes


def need_dims(arg: Arg) -> tuple:
    """Return the dims of an operand as an array: () for a scalar, those of the stacked array for a list or tuple of equal items."""
    return array_type(arg.type).dims


def array_type(t: Type) -> Array:
    """Return the type as that of an array of known rank; raise `Impossible` if the rank is not known."""
    match t:
        case Array(_, dims) if dims is not None:
            return t
        case Scalar(_, dtype):
            return Array(None if dtype == ANY_DTYPE else dtype, ())
        case TupleT(items) | ListT(_, items) if items:
            inner = [array_type(item) for item in items]
            if any(len(i.dims) != len(inner[0].dims) for i in inner):
                raise Impossible
            return Array(np.asarray(example(t, 0)).dtype, (len(items), *inner[0].dims))
        case ListT(item, None) if rank(item) is not None and not isinstance(item, TupleT):
            inner = array_type(item)
            return Array(np.asarray(example(item, 0)).dtype, (anydim(), *inner.dims))
    raise Impossible


_CHOICES = {
    "bool": (None, np.dtype(bool), None),
    "int": (None, np.dtype("i8"), np.dtype("i4")),
    "float": (None, np.dtype("f8"), np.dtype("f4")),
    "complex": (None, np.dtype("c16"), np.dtype("c8")),
}
_DTYPES = 3


def choices(*types: Type) -> int:
    """Return how many choices `with_dtype` has for operands of these types: 1 if they are certain, twice as many if one may be an int."""
    if not any(map(has_any_dtype, types)):
        return 1
    return _DTYPES * 2 if any(map(_may_be_less, types)) else _DTYPES


def _may_be_less(t: Type) -> bool:
    return t.least is not None if isinstance(t, Scalar) else any(map(_may_be_less, parts(t)))


def has_any_dtype(t: Type) -> bool:
    """Return whether a type contains a number that may be either Python's or NumPy's."""
    if isinstance(t, Scalar):
        return t.dtype is not None and t.dtype == ANY_DTYPE
    return any(map(has_any_dtype, parts(t)))


def with_dtype(arg: Arg | SliceArg, choice: int) -> Arg | SliceArg:
    """Return the operand with one choice made for numbers that may be Python's or one of NumPy's."""
    if isinstance(arg, SliceArg):
        ends = (arg.lower, arg.upper, arg.step)
        return SliceArg(*(None if end is None else with_dtype(end, choice) for end in ends))
    items = None if arg.items is None else tuple(with_dtype(item, choice) for item in arg.items)
    return replace(arg, type=_with_dtype(arg.type, choice), items=items)


def _with_dtype(t: Type, choice: int) -> Type:
    if isinstance(t, Scalar):
        kind = t.kind if choice < _DTYPES else t.least or t.kind
        return Scalar(kind, _CHOICES[kind][choice % _DTYPES]) if has_any_dtype(t) else t
    return map_type(t, lambda part: _with_dtype(part, choice))


_NUMBERS = (
    {"bool": True, "int": 2, "float": 0.3, "complex": 0.5 + 0.5j},
    {"bool": False, "int": 1, "float": 2.0, "complex": 1.5 - 0.5j},
    {"bool": False, "int": 0, "float": 0.4, "complex": 0.5 + 0.5j},  # an int may be a flag
    {"bool": True, "int": 3, "float": 3.0, "complex": 0.5j},
)
VARIANTS = range(len(_NUMBERS))
_SIZE = 4
_MOST_ELEMENTS = 3_000_000


def example(t: Type, variant: int = 0, rank_if_unknown: int | None = None, sizes: dict | None = None):
    """Return a small value of this type; the variants differ in what the type leaves open.

    Args:
        t: the type.
        variant: the number of the variant.
        rank_if_unknown: the rank of an array of unknown rank.
        sizes: the sizes of some dims, as in `size_of`.
    """
    match t:
        case Scalar(kind, None):
            return _NUMBERS[variant][kind]
        case Scalar(kind, dtype):
            return dtype.type(_NUMBERS[variant][kind])
        case Array(dtype, dims):
            if dims is None and rank_if_unknown is None or dtype is None or dtype.kind not in "biufcm":
                raise Impossible
            shape = [2 + variant] * rank_if_unknown if dims is None else [size_of(d, variant, sizes) for d in dims]
            if len(shape) > 8 or math.prod(shape) > _MOST_ELEMENTS:
                raise Impossible
            ones = np.ones(shape, dtype)
            if len(shape) >= 2 and shape[-1] == shape[-2] and dtype.kind in "iufc":
                ones = ones + _SIZE * np.eye(shape[-1], dtype=dtype)  # definite, so that solvers work
            return ones.astype(dtype) if shape else np.array(_NUMBERS[variant][KINDS.get(dtype.kind, "int")], dtype)
        case NoneType():
            return None
        case TupleT(items):
            return tuple(example(i, variant, rank_if_unknown, sizes) for i in items)
        case ListT(_, items) if items is not None:
            return [example(i, variant, rank_if_unknown, sizes) for i in items]
        case DictT(items):
            return {k: example(i, variant, rank_if_unknown, sizes) for k, i in items}
        case FunctionT(value) if isinstance(value, type):
            return value
    raise Impossible


def size_of(dim, variant: int, sizes: dict | None = None) -> int:
    """Return the size of a dim in an example.

    All sizes but 1 are equal, so that arrays broadcast; or `sizes` has those of some dims in each variant, and all other dims keep theirs.
    """
    if sizes is None:
        return 1 if dim == 1 or isinstance(dim, Sym) and not dim.many and variant > 0 else _SIZE + variant
    return sizes[dim][variant] if dim in sizes else dim


def example_of(arg: Arg, variant: int = 0, rank_if_unknown: int | None = None, sizes: dict | None = None):
    """Return a small value for an operand, or the constant itself if it is one; the other arguments are those of `example`."""
    if arg.known:
        return arg.value
    if arg.items is not None:
        items = [example_of(item, variant, rank_if_unknown, sizes) for item in arg.items]
        return items if isinstance(arg.type, ListT) else tuple(items)
    if sizes is not None and arg.dim in sizes:
        size = sizes[arg.dim][variant]
        return size if arg.type.dtype is None else arg.type.dtype.type(size)
    if isinstance(arg.type, Str):
        raise Impossible
    return example(arg.type, variant, rank_if_unknown, sizes)


def arrange(names: str, args: list, kwargs: dict) -> dict:
    """Return the operands by parameter name, given the positional parameters in order; raise TypeError if a name is unknown."""
    order = names.split()
    if len(args) > len(order):
        raise TypeError("too many arguments")
    given = dict(zip(order, args))
    for name, arg in kwargs.items():
        if name in given:
            raise TypeError(f"{name} given twice")
        given[name] = arg
    return given


def only(given: dict, allowed: str) -> None:
    """Raise TypeError if an operand is given that is not among the allowed ones."""
    extra = set(given) - set(allowed.split())
    if extra:
        raise TypeError(f"nothing is known of the result with {', '.join(extra)}")


def is_none(arg: Arg) -> bool:
    """Return whether an operand is the constant None."""
    return arg.known and arg.value is None
