"""Find the class of a user's object, and call the special methods that it defines."""

from __future__ import annotations

import types
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, SuperVal, TupleVal, Value
from sourcead.ir.records import find


def class_of(value: Value) -> type | None:
    """Return the class of an object or named tuple, or None for any other value."""
    match value:
        case TupleVal(cls=cls):
            return cls
        case Cell() if value.kind == "object":
            return value.cls
        case SuperVal(_, inner):
            return class_of(inner)
    return None


def has_attribute(value: Value, name: str) -> bool:
    """Tell whether an object has an attribute."""
    return isinstance(value, Cell) and name in value.items or find(class_of(value), name)[0] is not None


def method(value: Value, name: str) -> Any:
    """Return the Python function that the class of an object defines under a special name, or None if there is none."""
    cls = class_of(value)
    found = find(cls, name)[1] if cls is not None else None
    return found if isinstance(found, types.FunctionType) else None


def special(lo: Lowering, value: Value, name: str, args: list[Value], node) -> Value | None:
    """Call a special method of an object and return the result, or None if the class does not define the method."""
    found = method(value, name)
    return None if found is None else core.call_object(lo, found, [value, *args], {}, node)


@core.call.register("object", TupleVal, SuperVal)
def _call(lo: Lowering, fn: Value, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    found = method(fn, "__call__")
    if found is None:
        return core.call.default(lo, fn, args, kwargs, node)
    return core.call_object(lo, found, [fn, *args], kwargs, node)
