"""The reverse of a subscript.

    program             v = a[i]
    forward sweep       v = a[i]
    reverse sweep       d_a[i] += d_v

Where `i` is a constant key of a tuple, list, dict or record, the contribution is kept beside those of the other items, and the
cotangent is assembled only where it is needed as a whole.
"""

from __future__ import annotations

from sourcead.ad.cotangents.algebra import Place, add_at, changeable
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Const, Index, Operand, Slice, Stmt
from sourcead.ir.types import Array, ListT, Scalar, TupleT, dims_of, keyed_parts


def reverse_index(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `v = a[i]`."""
    op: Index = stmt.op
    (v,) = stmt.targets
    base, t = op.base, atom_type(op.base)
    d_v = cots.take(v)
    if base not in r.active:
        return
    items = keyed_parts(t)
    if items is not None and isinstance(op.key, Const):
        key = op.key.value
        if isinstance(key, int) and isinstance(t, (TupleT, ListT)):
            key %= len(items)
        cots.add_part(base, key, d_v, dict(items)[key])
    elif isinstance(t, Scalar) or isinstance(t, Array) and t.dims == ():  # the cotangent may be a number
        cots.add(base, unbroadcast(r.build, d_v, base))
    else:
        d_base = changeable(r.build, cots.get_or_zero(base))
        cots.put(base, add_at(t, r.build, d_base, Place(base, op.key, v, distinct(r, op.key)), d_v))


def distinct(r: Reverse, key: Operand) -> bool:
    """Return whether a subscript with integer arrays surely names no element twice, because one of them is an `arange(n)`."""
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [p for p in parts if not isinstance(p, (Slice, tuple)) and isinstance(atom_type(p), Array)]
    return any(p in r.counting for p in arrays) and all(len(dims_of(atom_type(p)) or (0, 0)) == 1 for p in arrays)
