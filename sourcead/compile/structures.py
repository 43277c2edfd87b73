"""The numbers, arrays and containers in the arguments and results of a function, each with its place as the user would write it."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sourcead.ir.records import fields_of, is_record
from sourcead.runtime import make_record


class _Around(threading.local):
    """The records around the one that is looked at, to stop at circles."""

    def __init__(self):
        self.ids: set[int] = set()


_around = _Around()


def is_inside(x: Any) -> bool:
    """Return whether a record lies inside itself, at the place that is looked at."""
    return id(x) in _around.ids


@contextlib.contextmanager
def fields_inside(x: Any):
    """The fields of a record; none where it refers back to a record around it."""
    if is_inside(x):
        yield {}
        return
    _around.ids.add(id(x))
    try:
        yield fields_of(x)
    finally:
        _around.ids.discard(id(x))


def leaves(x: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and arrays in a structure, each with its place as the user would write it."""
    if isinstance(x, np.ndarray | np.number | float | complex) or (isinstance(x, int) and not isinstance(x, bool)):
        yield where, x
    elif is_record(x):
        with fields_inside(x) as fields:
            found = [leaf for n, v in fields.items() for leaf in leaves(v, f"{where}.{n}")]
        yield from found
    elif isinstance(x, tuple | list):
        for i, v in enumerate(x):
            yield from leaves(v, f"{where}[{i}]")
    elif isinstance(x, dict):
        for k, v in x.items():
            yield from leaves(v, f"{where}[{k!r}]")


def holders(x: Any, where: str) -> Iterator[tuple[str, Any]]:
    """The lists, dicts and objects in a structure, each with its place as the user would write it."""
    if isinstance(x, list | dict) or is_record(x) and not isinstance(x, tuple):
        yield where, x
    if is_record(x):
        with fields_inside(x) as fields:
            found = [holder for n, v in fields.items() for holder in holders(v, f"{where}.{n}")]
        yield from found
    elif isinstance(x, tuple | list):
        for i, v in enumerate(x):
            yield from holders(v, f"{where}[{i}]")
    elif isinstance(x, dict):
        for k, v in x.items():
            yield from holders(v, f"{where}[{k!r}]")


def map_leaves(f: Callable[[Any], Any], x: Any) -> Any:
    """The structure with each of its numbers and arrays replaced by `f` of it."""
    if isinstance(x, np.ndarray | np.number | float | complex) or (isinstance(x, int) and not isinstance(x, bool)):
        return f(x)
    again = functools.partial(map_leaves, f)
    if isinstance(x, tuple) and not is_record(x):
        return tuple(map(again, x))
    if isinstance(x, list):
        return list(map(again, x))
    if isinstance(x, dict):
        return {k: again(v) for k, v in x.items()}
    if is_record(x):
        if is_inside(x):
            return x
        with fields_inside(x) as fields:
            return make_record(type(x), **{name: again(value) for name, value in fields.items()})
    return x


def conversion(x: Any, in_wrt: bool) -> Callable[[Any], Any] | None:
    """What an argument must pass through before the generated function takes it; None: nothing.

    Python's integers in wrt count as floats; a memory-mapped array is taken as the plain array that it is.
    """

    def convert(leaf):
        if in_wrt and isinstance(leaf, int | np.integer):
            return float(leaf)
        return np.asarray(leaf) if type(leaf) is np.memmap else leaf

    if any(convert(leaf) is not leaf for _, leaf in leaves(x)):
        return functools.partial(map_leaves, convert)
    return None
