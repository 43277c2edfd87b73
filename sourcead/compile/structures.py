"""Find and map the numbers, arrays and containers in the arguments and results of a function."""

import functools
from collections import ChainMap, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.ir.records import is_record, map_value, parts_of


def is_leaf(x: Any) -> bool:
    """Return whether `x` is a number or an array; a boolean is neither."""
    return isinstance(x, np.ndarray | np.number | float | complex) or isinstance(x, int) and not isinstance(x, bool)


def as_plain(x: Any) -> Any:
    """Return a deque of any length as a list and a `ChainMap` as a dict, as functions take them as arguments; anything else as it is."""
    if type(x) is deque:
        return list(x) if x.maxlen is None else x
    return dict(x) if type(x) is ChainMap else x


def leaves(x: Any, where: str = "") -> list[tuple[str, Any]]:
    """Return the numbers and arrays in a structure, each with the expression for it, such as `params['w'][0]`."""
    return [(where, x)] if is_leaf(x) else [leaf for at, part in parts_of(x) for leaf in leaves(part, where + at)]


def holders(x: Any, where: str) -> list[tuple[str, Any]]:
    """Return the lists, dicts and objects in a structure, each with the expression for it, such as `params['layers']`."""
    own = [(where, x)] if isinstance(x, list | dict) or is_record(x) and not isinstance(x, tuple) else []
    return own + [holder for at, part in parts_of(x) for holder in holders(part, where + at)]


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the structure with each number and array `leaf` in it replaced by `f(leaf)`."""
    return f(x) if is_leaf(x) else map_value(x, functools.partial(map_leaves, f))


def conversion(x: Any, in_wrt: bool) -> Callable[[Any], Any] | None:
    """Return the function that converts an argument to what the generated function takes, None if no conversion is needed.

    Integers in wrt become floats, memory-mapped arrays plain arrays on the same memory, deques lists and `ChainMap`s dicts.
    """

    def convert(leaf):
        if in_wrt and isinstance(leaf, int | np.integer):
            return float(leaf)
        return np.asarray(leaf) if type(leaf) is np.memmap else leaf

    plain = as_plain(x)
    if any(convert(leaf) is not leaf for _, leaf in leaves(plain)):
        return lambda x: map_leaves(convert, as_plain(x))
    return None if plain is x else as_plain
