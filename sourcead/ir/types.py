"""Gradual types: what is known about a value before the program runs.

A type is a promise, and `Unknown` promises nothing.  Types decide broadcasting, overload resolution and the length of the generated
text; where a type is unknown, the text calls a runtime helper that inspects the value.

A *dim* of an array is an int, or a `Sym` for a size known only at run time, which may be an expression over others (`sizes.py`).  A `Sym`
has a least size; if it is `many`, the size is known not to be 1, which is all that broadcasting needs.  Two dims that are the same `Sym`
are equal at run time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead.ir.frozen import frozen
from sourcead.ir.sizes import Sym

SMALL = 8  # dims below this are part of a signature; of larger ones it is known that `x[1:-1]` has more than one element


class Type:
    """Base of all types."""


def same_dtype(a: np.dtype | None, b: np.dtype | None) -> bool:
    """Return whether two dtypes are equal; NumPy compares float64 equal to None."""
    return a is b or (a is not None and b is not None and a == b)


@frozen()
class Scalar(Type):
    """A number without axes, whose `kind` is 'bool', 'int', 'float' or 'complex'.

    `dtype` is None for a Python number (weak in NumPy's promotion), a NumPy dtype, or `ANY_DTYPE` if either is possible.
    `least` is the other kind that it may be at run time: 'int' for a 'float' that may be an int.
    """

    kind: str
    dtype: np.dtype | None = None
    least: str | None = None

    def __eq__(self, other):
        return isinstance(other, Scalar) and (self.kind, self.least) == (other.kind, other.least) and same_dtype(self.dtype, other.dtype)


@frozen()
class Array(Type):
    """An ndarray; `dtype` is None if the dtype is unknown, and `dims` is None if the rank is unknown.

    `scattered` marks an argument that was not C-contiguous at compile time, so that a reshape that joins its axes copies it.
    """

    dtype: np.dtype | None
    dims: tuple[int | Sym, ...] | None
    scattered: bool = field(default=False, compare=False, repr=False)

    def __eq__(self, other):
        return isinstance(other, Array) and self.dims == other.dims and same_dtype(self.dtype, other.dtype)


@dataclass(frozen=True)
class Str(Type):
    pass


@dataclass(frozen=True)
class NoneType(Type):
    pass


@dataclass(frozen=True)
class TupleT(Type):
    items: tuple[Type, ...]


@dataclass(frozen=True)
class ListT(Type):
    """A list whose elements all have type `item`; if the length is known, `items` has the type of each element."""

    item: Type
    items: tuple[Type, ...] | None = None


@dataclass(frozen=True)
class DictT(Type):
    """A dict whose keys are known, in their order.

    `default` makes a value for a key that it lacks, if its class does that. `added` is what else the class adds, such as that items are
    attributes.
    """

    items: tuple[tuple[Any, Type], ...]
    default: Any = None
    added: Any = None


@dataclass(frozen=True)
class MapT(Type):
    """A dict whose keys are known only at run time: all of type `key`, its values of type `item`.

    `default` is the factory of a `defaultdict`.
    """

    key: Type
    item: Type
    default: Any = None


@dataclass(frozen=True)
class SetT(Type):
    """A set; `ordered` says whether it is iterated in the order of the Python set, which may not hold after an element was added."""

    item: Type
    ordered: bool = True


@dataclass(frozen=True)
class StructT(Type):
    """A named tuple, dataclass or plain object, with its class and the types of its fields."""

    cls: type
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class Known(Type):
    """A string or truth value in a field of a record; it is part of the signature and known while compiling."""

    value: Any


@dataclass(frozen=True)
class FunctionT(Type):
    """A callable, a module of functions or a member of an enumeration, known while compiling."""

    value: Any


@dataclass(frozen=True)
class Unknown(Type):
    pass


@dataclass(frozen=True)
class Member(Unknown):
    """A member of an enumeration; the run decides which."""

    cls: type


@dataclass(frozen=True, eq=True)
class NumberMember(Scalar):
    """A member of an enumeration whose members are numbers of Python, as those of an `IntEnum`."""

    cls: type = int

    def __eq__(self, other):
        return isinstance(other, NumberMember) and (self.kind, self.cls) == (other.kind, other.cls)

    def __hash__(self):
        return hash((self.kind, self.cls))


@dataclass(frozen=True)
class TextMember(Str):
    """A member of an enumeration whose members are texts, as those of a `StrEnum`."""

    cls: type


MEMBERS = Member, NumberMember, TextMember


@dataclass(frozen=True)
class AnyTuple(Unknown):
    """A tuple whose length is known only at run time; all but the functions of NumPy treat it as unknown."""

    item: Type


@dataclass(frozen=True)
class ArrayLike(Unknown):
    """What may be a list or tuple, or an array: functions of NumPy get an array of it; all others treat it as unknown."""


@dataclass(frozen=True)
class Opaque(Unknown):
    """An object from outside of the program, of a known class with rules of its own; a sparse matrix has entries of a dtype."""

    cls: type
    dtype: str = ""


@dataclass(frozen=True)
class Foreign(Type):
    """An object whose methods the text calls directly, such as a random generator."""

    cls: type


@dataclass(frozen=True)
class Undefined(Type):
    """The type of an unassigned variable and of the elements of an empty list; its join with T is T."""


UNKNOWN = Unknown()
SEQUENCES = ListT, TupleT, AnyTuple, ArrayLike
FLOAT = Scalar("float")
INT = Scalar("int")
BOOL = Scalar("bool")
COMPLEX = Scalar("complex")
ANY_DTYPE = np.dtype(object)  # a scalar that may be a Python number or a NumPy scalar
NUMBERS = {"bool": 0, "int": 1, "float": 2, "complex": 3}  # the kinds in the order of promotion
KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def many() -> Sym:
    """Return a fresh dim that is known not to be 1."""
    return Sym(2)


def anydim() -> Sym:
    """Return a fresh dim of any size."""
    return Sym()


def is_known_container(t: Type) -> bool:
    """Return whether a type is that of a tuple, list, dict or record."""
    return isinstance(t, (TupleT, ListT, DictT, MapT, StructT))


def is_array(t: Type) -> bool:
    return isinstance(t, Array)


def kind_of(t: Type) -> str | None:
    """Return 'float', 'int', 'bool' or 'complex', or None if the kind is unknown or the value is not a number."""
    if isinstance(t, Scalar):
        return t.kind
    return KINDS.get(t.dtype.kind) if isinstance(t, Array) and t.dtype is not None else None


def parts(t: Type) -> tuple[Type, ...]:
    """Return the types of the values in a container; a list gives the common element type, then the type of each element if it is another.

    What is met twice would be walked twice at each level of lists in lists.
    """
    match t:
        case TupleT(items):
            return items
        case ListT(item, items):
            return (item, *(i for i in items or () if i is not item))
        case MapT(_, item) | SetT(item) | AnyTuple(item):
            return (item,)
        case DictT(items) | StructT(_, items):
            return tuple(part for _, part in items)
    return ()


def keyed_parts(t: Type) -> tuple[tuple[Any, Type], ...] | None:
    """Return the key and type of each part of a tuple, list, dict or record, or None if the number of parts is unknown."""
    match t:
        case TupleT(items) | ListT(_, tuple(items)):
            return tuple(enumerate(items))
        case DictT(items) | StructT(_, items):
            return items
    return None


def map_type(t: Type, f: Callable[[Type], Type]) -> Type:
    """Return the type of a container with `f(part)` in place of the type of each value in it; other types are returned as they are."""
    match t:
        case TupleT(items):
            return TupleT(tuple(map(f, items)))
        case ListT(item, items):
            made = f(item)
            return ListT(made, None if items is None else tuple(made if i is item else f(i) for i in items))
        case AnyTuple(item):
            return AnyTuple(f(item))
        case MapT(_, item):
            return replace(t, item=f(item))
        case DictT(items):
            return replace(t, items=tuple((k, f(v)) for k, v in items))
        case StructT(cls, fields):
            return StructT(cls, tuple((k, f(v)) for k, v in fields))
    return t


def carries_derivative(t: Type) -> bool:
    """Return whether a value of this type may have a cotangent: it is, contains, or may be a float or complex number."""
    match t:
        case Scalar(kind):
            return kind in ("float", "complex")
        case Array():
            return kind_of(t) in ("float", "complex", None) and (t.dtype is None or t.dtype.kind in "fcO")
        case Unknown() if not isinstance(t, AnyTuple | Member):
            return True
    return any(map(carries_derivative, parts(t)))


def as_float(t: Type) -> Type:
    """Return the type with Python integers and truth values replaced by floats, as differentiation treats them."""
    return FLOAT if isinstance(t, Scalar) and t.kind in ("int", "bool") and t.dtype is None else map_type(t, as_float)


def tangent_type(t: Type) -> Type:
    """Return the type of the tangents of values of a type."""
    match t:
        case Scalar("int" | "bool"):
            return FLOAT
        case Array(dtype, dims) if dtype is not None and dtype.kind not in "fcO":
            return Array(np.dtype(float), dims)
        case Str() | Known() | FunctionT() | Member() | SetT():
            return NoneType()
    return map_type(t, tangent_type)


def dims_of(t: Type) -> tuple | None:
    """Return the dims of an array; () for a scalar, None if they are unknown."""
    match t:
        case Scalar():
            return ()
        case Array(_, dims):
            return dims
    return None


def rank(t: Type) -> int | None:
    """Return the number of axes; 0 for a scalar, None if it is unknown."""
    dims = dims_of(t)
    return None if dims is None else len(dims)


def _join_dim(a, b):
    if a is b or a == b:
        return a
    return Sym(min(d if isinstance(d, int) else d.least for d in (a, b)), varies=True)


def join(a: Type, b: Type) -> Type:
    """Return the strongest type whose promise every value of either type keeps."""
    if a is b or a == b or isinstance(b, Undefined):
        return a
    if isinstance(a, Undefined):
        return b
    match a, b:
        case (FunctionT(enum.Enum() as x) | Member(type() as x)), (FunctionT(enum.Enum() as y) | Member(type() as y)):
            x, y = (each if isinstance(each, type) else type(each) for each in (x, y))
            return Member(x) if x is y else UNKNOWN
        case Str(), Str():
            return Str()
        case Scalar(k1, d1), Scalar(k2, d2):
            kinds = sorted({k1, k2, a.least or k1, b.least or k2}, key=NUMBERS.get)
            if len(kinds) > 1 and "bool" in kinds:
                return UNKNOWN
            return Scalar(kinds[-1], ANY_DTYPE, kinds[0] if len(kinds) > 1 else None)
        case Array(d1, s1), Array(d2, s2):
            dims = None
            if s1 is not None and s2 is not None and len(s1) == len(s2):
                dims = tuple(map(_join_dim, s1, s2))
            return Array(d1 if same_dtype(d1, d2) else None, dims)
        case TupleT(x), TupleT(y) if len(x) == len(y):
            return TupleT(tuple(map(join, x, y)))
        case ListT(x, xs), ListT(y, ys):
            items = tuple(map(join, xs, ys)) if xs is not None and ys is not None and len(xs) == len(ys) else None
            return ListT(join(x, y), items)
        case AnyTuple(x), AnyTuple(y):
            return AnyTuple(join(x, y))
        case MapT(k, x, default), MapT(m, y, other) if default == other:
            return MapT(join(k, m), join(x, y), default)
        case SetT(x, p), SetT(y, q):
            return SetT(join(x, y), p and q)
        case DictT(x, default), DictT(y, other) if [k for k, _ in x] == [k for k, _ in y] and default is other:
            added = a.added if a.added == b.added else None
            return DictT(tuple((k, join(v, w)) for (k, v), (_, w) in zip(x, y)), default, added)
        case StructT(c, x), StructT(d, y) if c is d and [k for k, _ in x] == [k for k, _ in y]:
            return StructT(c, tuple((k, join(v, w)) for (k, v), (_, w) in zip(x, y)))
    alike = all(isinstance(t, (*SEQUENCES, Array, Scalar, Unknown)) and carries_derivative(t) for t in (a, b))
    return ArrayLike() if alike and (isinstance(a, SEQUENCES) or isinstance(b, SEQUENCES)) else UNKNOWN


def of_any_length(t: Type) -> Type:
    """Return a type without the length of a list, as an iteration may lengthen the list."""
    return ListT(t.item) if isinstance(t, ListT) else t
