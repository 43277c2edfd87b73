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
from sourcead.ad.cotangents.shapes import is_one, unbroadcast
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Const, Index, Operand, Slice, Stmt
from sourcead.ir.types import Array, ListT, Scalar, Sym, TupleT, Unknown, dims_of, keyed_parts


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
    """Return whether a subscript with integer arrays surely names no element twice, because one of them is an `arange(n)`.

    The arrays have one axis, and none is longer than the `arange`, which would repeat its only number.
    """
    arrays, lengths = [], []
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Slice) or isinstance(part, Const) and (part.value is None or part.value is ...):
            continue
        t = Unknown() if isinstance(part, tuple) else atom_type(part)
        if isinstance(t, Array) and len(dims_of(t) or ()) == 1:
            arrays.append(part)
            lengths.append(t.dims[0])
        elif not isinstance(t, Scalar) or t.kind != "int":
            return False

    def longest(n) -> bool:
        return (n.many if isinstance(n, Sym) else n > 1) or all(is_one(m) or m is n for m in lengths)

    return any(part in r.counting and longest(n) for part, n in zip(arrays, lengths))
