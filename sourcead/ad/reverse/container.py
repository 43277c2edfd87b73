"""The reverse of building a tuple, list, dict or record, and of lists that grow and shrink.

    program             t = build (a, b)        l1 = l0 ++ [v]              l1, v = pop l0
    forward sweep       t = build (a, b)        l1 = l0 ++ [v]              l1, v = pop l0
    reverse sweep       d_a += d_t[0]           d_l0, d = pop d_l1          d_l0 = d_l1 ++ [d_v]
                        d_b += d_t[1]           d_v += d
"""

from __future__ import annotations

from sourcead.ad.cotangents.algebra import append_to, get_at, pop_from
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Append, Build, Const, Index, Pop, Stmt, Sub, Var
from sourcead.ir.types import MapT, Unknown


def reverse_build(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `t = build (a, b)`."""
    op: Build = stmt.op
    (v,) = stmt.targets
    keys = op.keys if op.keys is not None else range(len(op.items))
    parts = cots.parts.pop(v, {})
    whole = cots.take(v)
    for key, item in zip(keys, op.items):
        if item not in r.active:
            continue
        if key in parts:
            cots.add(item, parts[key])
        if whole is not None and isinstance(v.type, MapT):
            cots.add(item, get_at(v.type, r.build, whole, (Sub(Const(key)),), item))
        elif whole is not None:
            cots.add(item, r.build.emit(Index(whole, Const(key)), atom_type(item), f"d_{item.name}"))


def reverse_append(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `l1 = l0 ++ [v]`."""
    op: Append = stmt.op
    d_out = cots.take(stmt.targets[0])
    t = op.base.type if isinstance(op.base, Var) else atom_type(d_out)
    item = atom_type(op.value) if not isinstance(op.value, tuple) else Unknown()
    rest = Var(f"d_{stmt.targets[0].name}", t, True)
    d_value = Var(f"d_{op.value.name}" if isinstance(op.value, Var) else "d_item", item, True)
    pop_from(t, r.build, d_out, op, (rest, d_value))
    if isinstance(op.base, Var):
        cots.add(op.base, rest)
    if isinstance(op.value, Var):
        cots.add(op.value, d_value)


def reverse_pop(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the adjoint of `l1, v = pop l0`."""
    op: Pop = stmt.op
    rest, item = stmt.targets
    d_rest = cots.take_or_zero(rest)
    d_item = cots.take_or_zero(item)
    cots.add(op.base, append_to(rest.type, r.build, d_rest, d_item, op, rest))
