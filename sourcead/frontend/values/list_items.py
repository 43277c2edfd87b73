"""Change the items of a list: append to it, insert into a list inside another container, or replace all items."""

from __future__ import annotations

from sourcead.analysis.builder import atom_type, grown_type
from sourcead.frontend.core import MISSING, Cell, Lowering, MustMaterialise, Value, roots
from sourcead.ir.nodes import Append, Atom, Sub, Var
from sourcead.ir.types import ListT, join


def note_row(lo: Lowering, items: Cell, value: Value) -> None:
    """Record whether an appended item is a part of an array that may be written elsewhere."""
    for root in roots(value):
        plain = isinstance(value, Cell) and value.base is root and isinstance(value.step, Sub) and root.kind == "array"
        if lo.rows_stay and plain and roots(value) == {root} and (root in items.rows_of or root not in items.holds):
            lo.journal.add(items, "rows_of", root)
        else:
            lo.journal.discard(items, "rows_of", root)


def replace_items(lo: Lowering, cell: Cell, items: list[Value]) -> None:
    """Replace all items of a list whose items are known one by one."""
    lo.changed(cell)
    for key in list(cell.items):
        lo.set(cell.slots, key, MISSING)
    for key, item in enumerate(items):
        lo.set(cell.slots, key, item)


def append(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """Lower `cell.append(value)`."""
    if cell.kind == "list":
        if cell.depth < lo.depth:
            lo.keep_apart(value)
            raise MustMaterialise(cell, lo.here)
        lo.alive(cell)
        lo.changed(cell)
        lo.set(cell.slots, len(cell.items), value)
        return
    before = lo.read(cell)
    item = lo.read(value)
    t = atom_type(before)
    item_type = atom_type(item)
    if isinstance(t, ListT):
        t = ListT(join(t.item, item_type))
    root = cell.root()
    if cell.base is not None:
        grow_inner(lo, cell, item)
        lo.hold(root, value)
        return
    lo.replace_slot(root, lambda: lo.build.emit(Append(before, item), t, before.name, before.temp), grows=True)
    note_row(lo, root, value)
    lo.hold(root, value)
    if any(cell.depth < lo.depth for cell in roots(value)):  # made outside the loop that appends it
        lo.journal.assign(root, "doubled", True)


def replace_inner(lo: Lowering, cell: Cell, new: Var) -> None:
    """Replace all items of a list that is itself an item of a list or dict."""
    lo.write(cell.base, (cell.step,), new, through=True)


def grow_inner(lo: Lowering, cell: Cell, item: Atom, at: Atom | None = None) -> None:
    """Append to a list that is itself an item of a list or dict; insert at place `at` if it is given."""

    def grown(base, path):
        return lo.build.emit(Append(base, item, path, at), grown_type(atom_type(base), path, atom_type(item)), base.name, base.temp)

    lo.write(cell.base, (cell.step,), grown, through=True)
