"""TODO"""

from __future__ import annotations

import enum
import types

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import Lowering, Value
from sourcead.ir.nodes import Const


def attribute_of_object(lo: Lowering, value: Const, name: str, node) -> Value:
    """An attribute of a module, class or other object that is part of the program."""
    obj = value.value
    try:
        found = getattr(obj, name)
    except AttributeError:
        raise UnsupportedSyntaxError(f"`{value!r}` has no attribute `{name}`", at=lo.origin(node)) from None
    text = f"{value.text}.{name}" if value.text else None
    if isinstance(obj, types.ModuleType):
        if core.is_code(found) or core.is_library_module(obj):
            if not core.is_library_module(obj) and not isinstance(found, types.ModuleType) and not lo.static_only:
                holder = obj.__dict__ if name in obj.__dict__ else obj  # some modules make their names when they are asked for
                lo.guards[(id(holder), name)] = (holder, name, found)
            return Const(found, text=text)
        return core.live_data(lo, name, found, (obj.__dict__, name))
    if core.is_code(found) or isinstance(found, enum.Enum) or isinstance(obj, enum.Enum):
        return Const(found, text=text)
    if isinstance(obj, type) and not core.is_library(obj):
        return core.live_data(lo, name, found, (obj, name))
    if isinstance(found, (int, float, bool, complex)) and isinstance(obj, type):
        return Const(found, text=text)
    raise core.unsupported(
        lo,
        node,
        f"the attribute `{name}` of an object cannot be read in a differentiated function yet",
        "pass it as an argument",
    )
