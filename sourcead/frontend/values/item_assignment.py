"""TODO"""

from __future__ import annotations

import operator

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import POISON, Cell, Lowering, SliceVal, Value, roots
from sourcead.frontend.values import known_lists, sequences, sets
from sourcead.ir.types import Array, ListT, SetT, Undefined


def assigned_slice(lo: Lowering, base: Cell, key: SliceVal, value: Value) -> list[Value] | None:
    """The items of a list after an assignment to a part of it, if all is known one by one."""
    bounds = [(True, None) if p is None else core.known(lo, p) for p in (key.lower, key.upper, key.step)]
    if base.kind != "list" or not all(k for k, _ in bounds) or base.depth < lo.depth or not core.has_known_items(value):
        return None
    items = list(base.items.values())
    items[slice(*(v for _, v in bounds))] = sequences.static_items(lo, value, None)
    return items


def augment(lo: Lowering, old: Value, fn, value: Value, node) -> Value | None:
    """`old op= value` of an object; the object to rebind the name to, or None if it changed in place."""
    if isinstance(old, Cell) and old.kind == "list" and fn is operator.add:
        known_lists.extend(lo, old, value, node)
        return None
    if isinstance(old, Cell) and old.kind == "array":
        t = atom_type(lo.read(old))
        if isinstance(t, Array) and lo.read(old) not in lo.build.maybe_number:
            mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
            if mode:
                lo.write(old, (), lo.operand(value), mode)
            else:
                lo.write(old, (), lo.read(core.operate(lo, fn, lo.read(old), value)))
            return None
        if isinstance(t, ListT):
            known_lists.extend(lo, old, value, node)
            return None
        if isinstance(t, SetT) and sets.set_type(lo, value) is not None:
            sets.replace(lo, old, fn, value, node)
            return None
        new = core.operate(lo, fn, old, value)
        if isinstance(t, Undefined):  # an item of what is empty in this round of lowering a loop
            return new
        if isinstance(t, Array) and atom_type(lo.read(new)) != t and getattr(atom_type(lo.read(new)), "dtype", None) != t.dtype:
            raise core.unsupported(lo, node, "the dtype of what is added differs from that of the array", "start from an array: `np.zeros(...)`")
        same = roots(old)
        for cell in same | {container for c in same for container in c.held_by}:
            how = f"changed by `{symbol(node.op)}=`, which changes an array in place, but a number not"
            lo.set(cell.slots, POISON, f"`{cell.name}` was {how}; its type is not known here")
        return new
    return core.operate(lo, fn, old, value)


def symbol(op) -> str:
    symbols = {
        "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "FloorDiv": "//", "Mod": "%",
        "BitOr": "|", "BitAnd": "&",
    }  # fmt: skip
    return symbols.get(type(op).__name__, "?")
