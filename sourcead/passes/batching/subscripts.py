"""Subscripts behind a new first axis: `x[i, 1:]` becomes `x[:, i, 1:]`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Const, Operand, Slice
from sourcead.ir.types import Array, ListT, Scalar, Type

ALL = Slice(None, None, None)


class Unbatchable(Exception):
    """An op of the block has no form over several values at once."""


def behind(key: Operand, renamed: Callable[[Atom], Atom]) -> tuple:
    """Return the subscript of a batched array that takes the same part of each value.

    NumPy puts the axes of the arrays in a subscript in their place if the arrays, and numbers among them, stand side by side, and else
    first, which would be before the new axis.
    """
    parts = key if isinstance(key, tuple) else (key,)
    kinds = ["slice" if isinstance(part, Slice) else kind_of(part) for part in parts]
    if "array" in kinds:
        picks = [k for k, kind in enumerate(kinds) if kind in ("array", "number")]
        if picks[-1] - picks[0] + 1 > len(picks):
            raise Unbatchable
    return (ALL, *(map_part(part, renamed) for part in parts))


def kind_of(part: Operand) -> str:
    """Return how NumPy treats a part of a subscript that is not a slice: 'number', 'array' or 'axes'; raise `Unbatchable` if unknown."""
    if isinstance(part, tuple):
        raise Unbatchable
    if isinstance(part, Const) and (part.value is None or part.value is ...):
        return "axes"
    match atom_type(part):
        case Scalar("int"):
            return "number"
        case Scalar("bool") | ListT(Scalar("int" | "bool")):
            return "array"
        case Array(dtype) if dtype is not None and np.dtype(dtype).kind in "iub":
            return "array"
    raise Unbatchable


def map_part(part: Operand, f: Callable[[Atom], Atom]) -> Operand:
    if isinstance(part, Slice):
        return Slice(*(None if p is None else f(p) for p in (part.lower, part.upper, part.step)))
    return f(part)


def rank_of(operand: Operand) -> int:
    """Return the number of axes of an operand; raise `Unbatchable` if it is unknown."""
    if isinstance(operand, (tuple, Slice)) or operand is None:
        raise Unbatchable
    return rank_of_type(atom_type(operand))


def rank_of_type(t: Type) -> int:
    match t:
        case Array(_, dims) if dims is not None:
            return len(dims)
        case Scalar():
            return 0
    raise Unbatchable
