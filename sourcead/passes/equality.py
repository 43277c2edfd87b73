"""Whether two operands are known to be the same value, two types to have the same shape and dtype, and two dims the same size.

Values are immutable, so that the same `Var` is the same value.  Constants are the same if their types and values are: `1`, `1.0` and
`True` differ, `0.0` and `-0.0` differ, nan is nan.  Other objects are the same if they are identical.

Dims may be known to be equal at run time, beyond what types say, because an operation has run (`KnownDims`).

    z = mul(x, y)        x: (m, k), y: (n, k)        m and n are equal from here on, if neither can be 1

A dim that an elementwise operation broadcasts is 1 or the size of the result.  Those that are known not to be 1 are equal after
the operation: later in the same block, and in blocks inside it.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from sourcead.ir.nodes import Call, Const, Operand, Slice, Stmt, Var
from sourcead.ir.types import ANY_DTYPE, Array, Scalar, Sym, Type, dims_of, same_dtype
from sourcead.passes.peephole import Facts
from sourcead.primitives.result_types.dims import not_one
from sourcead.primitives.table import record_of

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

Dim = int | Sym


class KnownDims:
    """The equalities learned so far: a forest of links, each valid while the block in which it was learned is open."""

    def __init__(self):
        self.links: dict[Sym, tuple[Dim, int]] = {}

    def learn(self, stmt: Stmt, facts: Facts) -> None:
        """Note the equalities of dims that hold once a statement has run."""
        match stmt.op:
            case Call(fn, args) if record_of(fn).is_elementwise(len(args)) and len(stmt.targets) == 1:
                self._broadcast((*args, stmt.targets[0]), facts)
            case Call(fn, (source, *_)) if fn is np.broadcast_to:
                self._broadcast((source, stmt.targets[0]), facts)

    def _broadcast(self, operands: Iterable[Operand], facts: Facts) -> None:
        shapes = [o.type.dims for o in operands if isinstance(o, Var) and isinstance(o.type, Array) and o.type.dims]
        if len(shapes) < 2:
            return
        for k in range(1, max(map(len, shapes), default=0) + 1):
            sizes = [s[-k] for s in shapes if len(s) >= k and not_one(s[-k])]
            for m in sizes[1:]:
                if m is not sizes[0]:
                    self._link(sizes[0], m, facts)

    def _link(self, m: Dim, n: Dim, facts: Facts) -> None:
        m, n = self.find(m, facts), self.find(n, facts)
        if isinstance(m, Sym) and m is not n:
            self.links[m] = n, facts.scope
        elif isinstance(n, Sym) and m is not n:
            self.links[n] = m, facts.scope

    def find(self, dim: Dim, facts: Facts) -> Dim:
        """Return the representative of all dims that are known here to be equal to this one."""
        while isinstance(dim, Sym):
            other, scope = self.links.get(dim, (dim, None))
            if scope not in facts.open:
                break
            dim = other
        return dim

    def same(self, m: Dim, n: Dim, facts: Facts) -> bool:
        """Return whether two dims are known here to be equal."""
        return m is n or self.find(m, facts) == self.find(n, facts)

    def shape(self, t: Type, facts: Facts) -> Hashable | None:
        """Return a key that the types of two arrays share only if their shapes are known here to be equal."""
        dims = dims_of(t) if isinstance(t, Array) else None
        return None if dims is None else tuple(self.find(d, facts) for d in dims)
