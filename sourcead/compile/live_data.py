"""Reads global data as a call finds it: globals, closure variables and attributes."""

import types
from typing import Any

MISSING = object()  # stands for a global or closure variable that does not exist


def read(holder: Any, name: str) -> Any:
    """Return the current value of a global, a closure variable or an attribute, `MISSING` if there is none."""
    if isinstance(holder, dict):
        return holder.get(name, MISSING)
    if not isinstance(holder, types.CellType):
        return getattr(holder, name, MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return MISSING


def is_read(namespace: dict[str, Any], name: str, at: tuple[Any, str]) -> bool:
    """Return whether a name of a text means the global data at a place, and not what NumPy or sourcead calls so."""
    return name in namespace and namespace[name] is read(*at)
