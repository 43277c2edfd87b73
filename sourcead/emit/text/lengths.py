"""Estimates of how many characters operations print."""

import sys

import numpy as np

from sourcead.ir.nodes import Attr, Build, Call, Effect, Index, Op, Operand, Slice, Var


def own_length_of(op: Op) -> int:
    """Return about how many characters an op prints besides its operands."""
    match op:
        case Call(np.transpose, (_,), ()):
            return 2
        case Call(fn, args, kwargs):
            if getattr(fn, "__module__", "") in ("_operator", "operator"):
                return 3 if len(args) > 1 else 1
            name = getattr(fn, "__name__", "") if not isinstance(fn, Var) else fn.name
            module = 0 if getattr(fn, "__module__", None) == "builtins" else 3
            return module + len(name) + _punctuation((*args, *(v for _, v in kwargs))) + sum(len(k) + 1 for k, _ in kwargs)
        case Effect("raise"):
            return -sys.maxsize  # Numba compiles `raise ValueError(...)`, however long, and not `raise error`
        case Attr(_, name):
            return len(name) + 1
        case Index(_, key):
            return _punctuation(key) + (0 if isinstance(key, tuple) else 2)
        case Build(_, items):
            return _punctuation(items)
    return 4


def _punctuation(operand: Operand) -> int:
    """Return how many characters an operand prints besides its atoms: parentheses, commas and colons."""
    match operand:
        case tuple():
            return max(2 * len(operand), 2) + sum(map(_punctuation, operand))
        case Slice(_, _, step):
            return 1 if step is None else 2
    return 0
