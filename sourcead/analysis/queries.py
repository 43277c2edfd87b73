"""Ops that read no more than the shape or dtype of an array, which no write changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import Attr, Call, Op, Var
from sourcead.ir.types import Array

ATTRIBUTES = ("shape", "size", "ndim", "dtype")
FUNCTIONS = (len, np.shape, np.size, np.ndim, np.zeros_like, np.ones_like, np.empty_like)


def queried(op: Op) -> Var | None:
    """The array that an op queries; None for other ops."""
    match op:
        case Attr(Var(type=Array()) as array, name) if name in ATTRIBUTES:
            return array
        case Call(fn, (Var(type=Array()) as array,), ()) if fn in FUNCTIONS:
            return array
    return None


def query_of(op: Attr | Call, array: Var) -> Op:
    """The same query of another array."""
    return replace(op, base=array) if isinstance(op, Attr) else replace(op, args=(array,))
