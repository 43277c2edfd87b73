"""The classes of the user's objects: special methods, and what calls and truth tests do with them."""

from __future__ import annotations

import types
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, SuperVal, TupleVal, Value
from sourcead.ir.records import find


def class_of(value: Value) -> type | None:
    """The class of an object or named tuple; None of other values."""
    match value:
        case TupleVal(cls=cls):
            return cls
        case Cell() if value.kind == "object":
            return value.cls
        case SuperVal(_, inner):
            return class_of(inner)
    return None


def has_attribute(value: Value, name: str) -> bool:
    """Whether an object has an attribute."""
    return isinstance(value, Cell) and name in value.items or find(class_of(value), name)[0] is not None


def method(value: Value, name: str) -> Any:
    """The Python function that the class of an object has under a special name; None if there is none."""
    cls = class_of(value)
    found = find(cls, name)[1] if cls is not None else None
    return found if isinstance(found, types.FunctionType) else None


def special(lo: Lowering, value: Value, name: str, args: list[Value], node) -> Value | None:
    """The result of a special method of an object; None if its class does not define it."""
    found = method(value, name)
    return None if found is None else core.call_object(lo, found, [value, *args], {}, node)


@core.call.register("object", TupleVal, SuperVal)
def _call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    found = method(fn, "__call__")
    if found is None:
        return core.call.default(lo, fn, args, kwargs, node)
    return core.call_object(lo, found, [fn, *args], kwargs, node)
