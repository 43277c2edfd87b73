"""The numbers, arrays and containers in the arguments and results of a function, each with its place as the user would write it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.ir.records import is_record, map_value, parts_of


def is_leaf(x: Any) -> bool:
    """Return whether this is a number or an array."""
    return isinstance(x, np.ndarray | np.number | float | complex) or isinstance(x, int) and not isinstance(x, bool)


def leaves(x: Any, where: str = "") -> list[tuple[str, Any]]:
    """Return the numbers and arrays in a structure, each with its place as the user would write it."""
    return [(where, x)] if is_leaf(x) else [leaf for at, part in parts_of(x) for leaf in leaves(part, where + at)]


def holders(x: Any, where: str) -> list[tuple[str, Any]]:
    """Return the lists, dicts and objects in a structure, each with its place as the user would write it."""
    own = [(where, x)] if isinstance(x, list | dict) or is_record(x) and not isinstance(x, tuple) else []
    return own + [holder for at, part in parts_of(x) for holder in holders(part, where + at)]


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the structure with each of its numbers and arrays replaced by `f` of it."""
    return f(x) if is_leaf(x) else map_value(x, functools.partial(map_leaves, f))


def conversion(x: Any, in_wrt: bool) -> Callable[[Any], Any] | None:
    """Return what an argument must pass through before the generated function takes it; None: nothing.

    Python's integers in wrt count as floats; a memory-mapped array is taken as the plain array that it is.
    """

    def convert(leaf):
        if in_wrt and isinstance(leaf, int | np.integer):
            return float(leaf)
        return np.asarray(leaf) if type(leaf) is np.memmap else leaf

    if any(convert(leaf) is not leaf for _, leaf in leaves(x)):
        return functools.partial(map_leaves, convert)
    return None
