"""Reads global data as a call finds it: globals, closure variables and attributes."""

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from sourcead.frontend.core import MISSING


def reader(holder: Any) -> Callable[[str, Any], Any]:
    """Return what gives the current value of a global, a closure variable or an attribute, by its name; or a default, if there is none."""
    if isinstance(holder, dict):
        return holder.get
    return functools.partial(in_cell if isinstance(holder, types.CellType) else getattr, holder)


def in_cell(cell: types.CellType, name: str, default: Any) -> Any:
    """Return the value of a closure variable."""
    try:
        return cell.cell_contents
    except ValueError:
        return default


def read(holder: Any, name: str) -> Any:
    """Return the current value of a global, a closure variable or an attribute, `MISSING` if there is none."""
    return reader(holder)(name, MISSING)


def same_items(a: dict | None, b: dict | None) -> bool:
    """Return whether two dicts have the same objects under the same keys."""
    return a is not None and b is not None and a.keys() == b.keys() and all(map(operator.is_, map(a.get, b), b.values()))


def is_read(namespace: dict[str, Any], name: str, lowered: Any) -> bool:
    """Return whether a name of a text means the global data that a function read when it was lowered, not what a library calls so."""
    return name in namespace and name in lowered.data and namespace[name] is lowered.data[name]
