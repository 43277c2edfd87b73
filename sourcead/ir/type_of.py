"""The types of Python objects: of arguments in a call and of constants met while compiling."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from sourcead.ir.records import fields_inside, is_namedtuple, is_record
from sourcead.ir.types import (
    BOOL, COMPLEX, FLOAT, INT, KINDS, SMALL, UNKNOWN, Array, DictT, Foreign, FunctionT, Known, ListT, NoneType, Scalar,
    SetT, Str, StructT, Sym, TupleT, Type, Undefined, Unknown, join
)

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def type_of(value: Any) -> Type:
    """Return the type of a Python object.

    A dim below `SMALL` is known; a larger one becomes a fresh `Sym`, because code is specialised on small sizes only.
    """
    match value:
        case bool():
            return BOOL
        case int():
            return INT
        case np.ndarray():
            dims = tuple(n if n < SMALL else Sym(SMALL) for n in value.shape)
            return Array(value.dtype, dims, not value.flags.c_contiguous)
        case np.generic() if value.dtype.kind in KINDS:
            return Scalar(KINDS[value.dtype.kind], value.dtype)
        case float():
            return FLOAT
        case complex():
            return COMPLEX
        case str():
            return Str()
        case None:
            return NoneType()
        case tuple() if not is_namedtuple(type(value)):
            return TupleT(tuple(map(type_of, value)))
        case list():
            return list_type(tuple(map(type_of, value)))
        case set() | frozenset():
            return SetT(list_type(tuple(map(type_of, value))).item)
        case dict():
            return DictT(tuple((k, type_of(v)) for k, v in value.items()))
    if isinstance(value, GENERATORS):
        return Foreign(type(value))
    if is_record(value):
        return record_type(value)
    if callable(value):
        return FunctionT(value)
    return UNKNOWN


def record_type(value: Any) -> StructT | Unknown:
    """Return the type of a named tuple, dataclass or plain object; `Unknown` for a record inside itself.

    A string or truth value in a field is known.
    """
    with fields_inside(value) as fields:
        if fields is None:
            return UNKNOWN
        return StructT(type(value), tuple((k, Known(v) if isinstance(v, (str, bool)) else type_of(v)) for k, v in fields.items()))


def list_type(items: tuple[Type, ...]) -> ListT:
    """Return the type of a list with these element types."""
    item: Type = Undefined()
    for t in items:
        item = join(item, t)
    return ListT(item, items)
