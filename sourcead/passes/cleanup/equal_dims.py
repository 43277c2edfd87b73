"""Dims that are known to be equal at run time, beyond what types say, because an operation has run.

    z = mul(x, y)        x: (m, k), y: (n, k)        m and n are equal from here on, if neither can be 1

A dim that an elementwise operation broadcasts is 1 or the size of the result.  Those that are known not to be 1 are equal after
the operation: later in the same block, and in blocks inside it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from sourcead.ir.nodes import Call, Operand, Stmt, Var
from sourcead.ir.types import Array, Sym, Type, dims_of
from sourcead.passes.peephole import Facts
from sourcead.primitives.table import record_of

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
        for k in range(1, max(map(len, shapes), default=0) + 1):
            sizes = [s[-k] for s in shapes if len(s) >= k and not_one(s[-k])]
            for m in sizes[1:]:
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


def not_one(dim: Dim) -> bool:
    """Return whether a dim is known not to be 1."""
    return dim != 1 if isinstance(dim, int) else dim.many
