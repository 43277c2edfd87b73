"""Lower what `dataclass` generated: calls of its `__init__` that a derived class makes, and the fields with their metadata.

    super().__init__(x=x)    Base.__init__(self, x)    for f in fields(self): f.metadata.get("unit")
"""

import dataclasses
import types
from typing import Any

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import Cell, Lowering, TupleVal, Value
from sourcead.frontend.values import objects
from sourcead.ir.nodes import Const
from sourcead.ir.records import generated_init


def is_generated_init(fn: Any) -> bool:
    """Tell whether a function may be an `__init__` that `dataclass` generated, whose text is in no file."""
    return isinstance(fn, types.FunctionType) and fn.__name__ == "__init__" and fn.__code__.co_filename == "<string>"


@core.kind_of_callable("generated init", is_generated_init)
def call_generated_init(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the call: it assigns the fields of the object that is its first argument."""
    cell = args[0] if args and isinstance(args[0], Cell) and args[0].kind == "object" else None
    base = next((base for base in getattr(cell and cell.cls, "__mro__", ()) if vars(base).get("__init__") is fn), None)
    if base is None or not generated_init(base):
        raise UnsupportedSyntaxError("an `__init__` whose text was made by `exec`, of which the object is not known here", at=lo.here)
    objects.fill_dataclass(lo, cell, base, args[1:], kwargs, node)
    return Const(None)


@core.builtin(dataclasses.fields)
def builtin_fields(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `dataclasses.fields(obj)`."""
    cls = args[0].value if isinstance(args[0], Const) else core.class_of(args[0])
    return Const(objects.fields_of(lo, cls, node, "`dataclasses.fields` of something that is no dataclass here"))


def metadata(lo: Lowering, of: dataclasses.Field) -> Cell:
    """Return the metadata of a field as a dict that nobody writes."""
    made = lo.new_dict({key: known_data(lo, value) for key, value in of.metadata.items()})
    made.frozen = f"it is the metadata of the field `{of.name}`"
    return made


def known_data(lo: Lowering, obj: Any) -> Value:
    """Return a value for data that is part of the program, whose tuples and lists may hold classes."""
    if isinstance(obj, (tuple, list)) and type(obj) in (tuple, list):
        items = [known_data(lo, part) for part in obj]
        return TupleVal(tuple(items)) if isinstance(obj, tuple) else lo.new_list(items)
    return core.as_value(lo, obj)
