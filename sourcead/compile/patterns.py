"""The pattern of a Jacobian: which of its elements are not always zero, found by evaluating the function on sets of variables."""

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from sourcead.backends.numpy import NUMPY
from sourcead.compile import pipeline
from sourcead.compile.gradient import Gradient
from sourcead.compile.internal_errors import InternalErrors
from sourcead.compile.structures import conversion, is_leaf, leaves
from sourcead.ir.records import parts_of
from sourcead.runtime import fields_of
from sourcead.sparsity.containers import filled
from sourcead.sparsity.dependences import dependences
from sourcead.sparsity.sets import VariableSet, variables


@dataclass(frozen=True, eq=False)
class Rows:
    """The pattern of a Jacobian by rows: row k has the columns `columns[starts[k]:starts[k + 1]]`, in order; `value` is the result."""

    value: Any
    starts: np.ndarray
    columns: np.ndarray


def rows_of(inner: Gradient, arguments: dict[str, Any]) -> Rows:
    """Return the pattern of the Jacobian of a function, all elements of its result by all elements of the arguments in wrt, in their order.

    Args:
        inner: a derivative of the function in reverse mode.
        arguments: {parameter: argument}.
    """
    described = inner._described(arguments)
    with InternalErrors(inner._place):
        function = pipeline.lower(inner.request(described, NUMPY))
        values, sets = [], {}
        first = 0
        for name in inner.wrt:
            sets[name], first = numbered(arguments[name], first)
        for p in function.params:
            convert = conversion(arguments[p.name], p.name in inner.wrt)
            value = arguments[p.name] if convert is None else convert(arguments[p.name])
            values.append(value)
            sets[p.name] = filled(value, sets[p.name]) if p.name in sets else 0
        results, found = dependences(function, values, [sets[p.name] for p in function.params])
    value, of_value = results[0], found[0]
    members = [sorted(s) if isinstance(s, VariableSet) else () for s in elements(value, of_value)]
    starts = np.concatenate(([0], np.cumsum([len(m) for m in members], dtype=np.int64)))
    return Rows(value, starts, np.fromiter(chain.from_iterable(members), np.int64, starts[-1]))


def numbered(x: Any, first: int) -> tuple[Any, int]:
    """Return the sets of a structure in which each element is a variable, numbered from `first` on, and the next number."""
    if is_leaf(x):
        return variables(np.shape(x), first), first + np.size(x)
    found = []
    for _, part in (parts := parts_of(x)):
        sets, first = numbered(part, first)
        found.append(sets)
    if isinstance(x, list | tuple):
        return (found if isinstance(x, list) else tuple(found)), first
    return dict(zip(names_of(x), found, strict=True)) if parts else 0, first


def elements(value: Any, found: Any) -> list:
    """Return the sets of all elements of the numbers and arrays in a value."""
    found = filled(value, found)
    if isinstance(found, np.ndarray):
        return found.reshape(-1).tolist()
    if isinstance(found, dict | list | tuple):
        parts = zip(parts_in_order(value), found.values() if isinstance(found, dict) else found, strict=True)
        return [s for part, sets in parts for s in elements(part, sets)]
    return [found] if leaves(value) else []


def parts_in_order(value: Any) -> list:
    """Return the parts of a dict, list, tuple or record."""
    return [part for _, part in parts_of(value)]


def names_of(value: Any) -> list:
    """Return the keys of a dict, or the names of the fields of a record, in the order of their parts."""
    return list(value if isinstance(value, dict) else fields_of(value))
