"""Whether two operands are known to be the same value, two types to have the same shape and dtype, and two dims the same size.

Values are immutable, so that the same `Var` is the same value.  Constants are the same if their types and values are: `1`, `1.0` and
`True` differ, `0.0` and `-0.0` differ, nan is nan.  Other objects are the same if they are identical.

Dims may be known to be equal at run time, beyond what types say, because an operation has run (`result_types/asserted.py`): they are
equal later in the same block, and in blocks inside it.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from sourcead.analysis.sizes import equal_after
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import Const, Operand, Slice, Stmt, Var
from sourcead.ir.sizes import Dim
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Type, dims_of, same_dtype
from sourcead.passes.peephole import Facts

EXACT = (int, bool, str, bytes, type(None), type(...))


def value_key(value: Any) -> Hashable:
    """Return a key that two Python objects share only if each may replace the other."""
    kind = type(value)
    if kind in EXACT:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if kind is tuple:
        return kind, *map(value_key, value)
    if kind is slice:
        return kind, *map(value_key, (value.start, value.stop, value.step))
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return kind, value.dtype.str, value.tobytes()
    if isinstance(value, np.dtype):
        return np.dtype, value.str, value.descr if value.names else None, id(value) if value.hasobject else None
    return "object", id(value)


def operand_key(operand: Operand | None, canonical=lambda var: var) -> Hashable:
    """Return a key that two operands share only if they are the same value, with `canonical(var)` in place of each variable."""
    match operand:
        case Var():
            return canonical(operand)
        case Const(value, text, live):
            # a live constant is read again at each call: its name counts, not the value that it has while compiling
            return ("live", text, id(value)) if live else value_key(value)
        case tuple():
            return "display", *(operand_key(item, canonical) for item in operand)
        case Slice(lower, upper, step):
            return "slice", *(operand_key(part, canonical) for part in (lower, upper, step))
        case None:
            return "nothing"
    return "object", id(operand)


def same(a: Operand, b: Operand) -> bool:
    """Return whether two operands are known to be the same value."""
    return a is b or operand_key(a) == operand_key(b)


def equal_types(a: Type, b: Type) -> bool:
    """Return whether two types are fully known and describe numbers of one dtype, or arrays of one shape and dtype."""
    match a, b:
        case Scalar(k1, d1), Scalar(k2, d2):
            return k1 == k2 and same_dtype(d1, d2) and d1 != ANY_DTYPE
        case Array(d1, s1), Array(d2, s2):
            known = d1 is not None and d1 != ANY_DTYPE and s1 is not None and s2 is not None
            return known and d1 == d2 and s1 == s2
    return False


# ---- dims ----

class KnownDims:
    """The equalities learned so far, by the block in which they were learned, while that is open."""

    def __init__(self):
        self.scopes: list[tuple[int | None, EqualSizes]] = [(None, EqualSizes())]

    def here(self, facts: Facts) -> EqualSizes:
        """Return the equalities that hold at a place."""
        while self.scopes[-1][0] not in facts.open and len(self.scopes) > 1:
            self.scopes.pop()
        return self.scopes[-1][1]

    def learn(self, stmt: Stmt, facts: Facts) -> None:
        """Note the equalities of dims that hold once a statement has run."""
        equal = self.here(facts)
        for a, b in equal_after(stmt):
            if not equal.same(a, b):
                if self.scopes[-1][0] != facts.scope:
                    equal = EqualSizes(equal.names)
                    self.scopes.append((facts.scope, equal))
                equal.learn(a, b)

    def find(self, dim: Dim, facts: Facts) -> Dim:
        """Return the representative of all dims that are known here to be equal to this one."""
        return self.here(facts).normal(dim)

    def same(self, m: Dim, n: Dim, facts: Facts) -> bool:
        """Return whether two dims are known here to be equal."""
        return m is n or self.find(m, facts) == self.find(n, facts)

    def shape(self, t: Type, facts: Facts) -> Hashable | None:
        """Return a key that the types of two arrays share only if their shapes are known here to be equal."""
        dims = dims_of(t) if isinstance(t, Array) else None
        return None if dims is None else tuple(self.find(d, facts) for d in dims)
