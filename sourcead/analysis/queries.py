"""Ops that read no more than the shape or dtype of an array, which no write changes."""

from __future__ import annotations

from dataclasses import replace

from sourcead.ir.nodes import Attr, Call, Op, Var
from sourcead.ir.types import Array
from sourcead.primitives.table import record_of

ATTRIBUTES = ("shape", "size", "ndim", "dtype")


def queried(op: Op) -> Var | None:
    """Return the array whose shape or dtype an op queries, or None for other ops."""
    match op:
        case Attr(Var(type=Array()) as array, name) if name in ATTRIBUTES:
            return array
        case Call(fn, (Var(type=Array()) as array,), ()) if record_of(fn).metadata:
            return array
    return None


def query_of(op: Attr | Call, array: Var) -> Op:
    """Return the op that makes the same query of another array."""
    return replace(op, base=array) if isinstance(op, Attr) else replace(op, args=(array,))
