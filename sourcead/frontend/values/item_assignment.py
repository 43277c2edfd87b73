"""Lower assignments that change an object: `base[key] = value` and `x += y`."""

from __future__ import annotations

import operator

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.core import POISON, Cell, Lowering, TupleVal, Value, roots
from sourcead.frontend.values import lists, sequences, sets
from sourcead.ir.nodes import Const, Slice, Sub
from sourcead.ir.types import Array, ListT, SetT, Undefined, Unknown


@core.store.register("list")
def _store_in_list(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    if isinstance(key, Slice):
        if (new := assigned_slice(lo, base, key, value)) is not None:
            lo.alive(base)
            sequences.replace_items(lo, base, new)
            return
    else:
        found, k = core.known(lo, key)
        if found:
            n = len(base.items)
            if not -n <= k < n:
                raise core.unsupported(lo, node, f"index {k} is out of range: there are {n} items")
            sequences.replace_item(lo, base, k % n, value)
            return
    lo.materialise(base)
    core.store(lo, base, key, value, node, mode)


def assigned_slice(lo: Lowering, base: Cell, key: Slice, value: Value) -> list[Value] | None:
    """Return the items of a list after an assignment to a slice of it, or None if they are not all known one by one."""
    found, part = core.known(lo, key)
    if not found or base.depth < lo.depth or not core.has_known_items(value):
        return None
    items = base.contents
    items[part] = sequences.static_items(lo, value, None)
    return items


@core.store.register(Const)
def _store_in_constant(lo: Lowering, base: Const, key: Value, value: Value, node, mode: str = "set") -> None:
    core.store.default(lo, base, key, value, node, mode)


@core.store.register(ListT, Unknown)
def _store_in_runtime_list(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    if isinstance(key, Slice) and isinstance(core.data_type(lo, base), ListT):
        lists.assign_slice(lo, base, key, value, node)
        return
    if not isinstance(value, (Cell, TupleVal)):
        store_in_array(lo, base, key, value, node, mode)
        return
    operand = lo.operand(value) if not isinstance(value, Cell) else lo.read(value)
    lo.write(base, (Sub(lo.operand(key)),), operand, mode)
    if isinstance(atom_type(lo.read(base)), ListT):
        lo.hold(base.root(), value)


@core.store.register(Cell)
def store_in_array(lo: Lowering, base: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    """Lower `a[key] = value` for an array."""
    lo.write(base, (Sub(lo.operand(key)),), lo.operand(sequences.as_array(lo, value)), mode)


def augment(lo: Lowering, old: Value, fn, value: Value, node) -> Value | None:
    """Lower `old op= value`; return the value to bind the name to, or None if the object changed in place."""
    if isinstance(old, Cell) and old.kind == "list" and fn is operator.add:
        lists.extend(lo, old, value, node)
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
            lists.extend(lo, old, value, node)
            return None
        if isinstance(t, SetT) and sets.set_type(lo, value) is not None:
            sets.replace(lo, old, fn, value, node)
            return None
        new = core.operate(lo, fn, old, value)
        if isinstance(t, Undefined):  # an item of a container that is still empty in this round of lowering a loop
            return new
        if isinstance(t, Array) and atom_type(lo.read(new)) != t and getattr(atom_type(lo.read(new)), "dtype", None) != t.dtype:
            raise core.unsupported(
                lo, node, "the dtype of what is added differs from that of the array", "start from an array: `np.zeros(...)`"
            )
        same = roots(old)
        for cell in same | {container for c in same for container in c.held_by}:
            how = f"changed by `{symbol(node.op)}=`, which changes an array in place, but a number not"
            lo.set(cell.slots, POISON, f"`{cell.name}` was {how}; its type is not known here")
        return new
    return core.operate(lo, fn, old, value)


def symbol(op) -> str:
    """Return the symbol of a Python operator for use in messages."""
    symbols = {
        "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "FloorDiv": "//", "Mod": "%",
        "BitOr": "|", "BitAnd": "&",
    }  # fmt: skip
    return symbols.get(type(op).__name__, "?")
