"""Lower functions of the standard library and of NumPy like the Python functions that they are equivalent to.

The body of such a function is lowered in place of the call. Its statements belong to the line of the call, and its names, which begin
with `$`, do not appear in the generated code.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.control import inlining
from sourcead.frontend.core import FunctionVal, Lowering, Value
from sourcead.frontend.find_source import find_source
from sourcead.ir.nodes import Origin


def stands_in_for(*objects: Any) -> Callable:
    """Register a Python function whose body replaces calls of some objects."""

    def add(function: Callable) -> Callable:
        for obj in objects:
            core.builtin(obj)(functools.partial(lower_in_place, function))
        return function

    return add


def lower_in_place(function: Callable, lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function of this file, whose statements belong to the current line."""
    defaults = {k: core.as_value(lo, v) for k, v in find_source(function).defaults.items()}
    return inlining.inline(lo, FunctionVal(InPlace(function, lo.here), None, defaults), args, kwargs, node)


class InPlace:
    """The source of a function whose statements belong to the place of a call."""

    def __init__(self, function: Callable, place: Origin | None):
        source = find_source(function)
        self.node, self.name, self.place = hidden_names(source.node), source.name.rstrip("_"), place
        self.globals, self.closure, self.file = source.globals, source.closure, source.file

    def origin(self, node: gast.AST) -> Origin | None:
        """Return the place of the call for every syntax node."""
        return self.place


@functools.cache
def hidden_names(node: gast.FunctionDef) -> gast.FunctionDef:
    """Mark the local names of a function, except for its parameters, as names that the user did not give."""
    node = copy.deepcopy(node)
    names = {n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
    for n in gast.walk(node):
        if isinstance(n, gast.Name) and n.id in names:
            n.id = f"${n.id}"
    return node


@stands_in_for(map)
def map_(function, items, *others):
    if others:
        return [function(*each) for each in zip(items, *others)]
    return [function(item) for item in items]


@stands_in_for(filter)
def filter_(test, items):
    if test is None:
        return [item for item in items if item]
    return [item for item in items if test(item)]


@stands_in_for(itertools.starmap)
def starmap(function, rows):
    return [function(*row) for row in rows]


@stands_in_for(dict.fromkeys)
def fromkeys(keys, value=None):
    made = {}
    for key in keys:
        made[key] = value
    return made
