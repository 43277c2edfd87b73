"""Methods of lists whose items are known one by one."""

from __future__ import annotations

from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.core import Cell, Lowering, MustMaterialise, Value
from sourcead.frontend.values import list_items, lists, sequences
from sourcead.ir.nodes import Const


@core.method.register("list")
def list_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a list whose items are known one by one."""
    lo.alive(cell)
    if name == "append":
        list_items.append(lo, cell, args[0], node)
        return Const(None)
    if name == "extend":
        extend(lo, cell, args[0], node)
        return Const(None)
    if name == "copy":
        return lo.new_list(cell.items.values(), cell.name)
    if name in ("index", "count") and len(args) == 1:
        parts = [core.known(lo, v) for v in (*cell.items.values(), *args)]
        if all(k for k, _ in parts):
            *values, wanted = (v for _, v in parts)
            if name == "count" or wanted in values:
                return Const(getattr(values, name)(wanted))
    if name == "remove":
        place = list_method(lo, cell, "index", args, kwargs, node)
        name, args = "pop", [place]
    if name in ("sort", "index", "count", "pop") and (name != "pop" or args and not core.known(lo, args[0])[0]):
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        lo.materialise(cell)
        return lists.method(lo, cell, name, args, kwargs, node)
    if name in ("pop", "insert", "reverse", "clear"):
        if cell.depth < lo.depth:
            raise MustMaterialise(cell, lo.here)
        items = list(cell.items.values())
        indices = [core.known(lo, a) for a in args]
        found = None
        if name == "pop" and items and all(k for k, _ in indices):
            found = items.pop(*(v for _, v in indices))
        elif name == "insert" and indices[0][0]:
            items.insert(indices[0][1], args[1])
        elif name == "insert":
            lo.materialise(cell)
            return lists.method(lo, cell, name, args, kwargs, node)
        elif name == "reverse":
            items.reverse()
        elif name == "clear":
            items.clear()
        else:
            raise core.unsupported(lo, node, f"`{name}` at a position that is not known here")
        list_items.replace_items(lo, cell, items)
        return Const(None) if found is None else found
    raise core.unsupported(lo, node, f"the list method `{name}`")


def extend(lo: Lowering, cell: Cell, value: Value, node) -> None:
    """`cell.extend(value)`, `cell += value`."""
    if cell.kind != "list":
        return lists.extend(lo, cell, value, node)
    if not core.has_known_items(value):
        source = core.iterate(lo, value, node)
        loops.for_each(lo, source, lambda item: list_items.append(lo, cell, item, node))
        return None
    for item in sequences.static_items(lo, value, node):
        list_items.append(lo, cell, item, node)
    return None
