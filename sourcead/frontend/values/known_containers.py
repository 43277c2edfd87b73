"""Lower the methods of lists and dicts whose items are known one by one."""

from __future__ import annotations

from sourcead.frontend import core
from sourcead.frontend.control import loops
from sourcead.frontend.core import MISSING, Cell, Lowering, MustMaterialise, TupleVal, Value
from sourcead.frontend.values import (
    changing_lists, function_choices, iterables, list_items, lists, runtime_dicts, sequences
)
from sourcead.ir.nodes import Const


@core.method.register("list")
def list_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Lower a method of a list whose items are known one by one."""
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
        items = cell.contents
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
    """Lower `cell.extend(value)` and `cell += value`."""
    if cell.kind != "list":
        return lists.extend(lo, cell, value, node)
    if not core.has_known_items(value):
        source = core.iterate(lo, value, node)
        loops.for_each(lo, source, lambda item: list_items.append(lo, cell, item, node))
        return None
    for item in sequences.static_items(lo, value, node):
        list_items.append(lo, cell, item, node)
    return None


@core.method.register("dict")
def dict_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Lower a method of a dict whose keys are known."""
    lo.alive(cell)
    lo.sure(cell)
    items = cell.items
    if name == "items":
        return changing_lists.pairs(lo, cell, iterables.listed([TupleVal((Const(k), v)) for k, v in items.items()]))
    if name == "keys":
        return iterables.listed([Const(k) for k in items])
    if name == "values":
        return changing_lists.walk(lo, cell, list(items.items()))
    if name == "copy":
        made = lo.new_dict(items, cell.name)
        made.default = cell.default
        return made
    if name == "get":
        found, key = core.known(lo, args[0])
        if found and (key in items or cell.depth == lo.depth or not items):
            return items.get(key, args[1] if len(args) > 1 else Const(None))
        if items and len(args) > 1 and all(map(core.is_function, (*items.values(), args[1]))):
            return function_choices.by_key(lo, items, args[0], args[1])
    fixed = cell.depth == lo.depth  # otherwise the program decides at run time which keys there are afterwards
    if name == "update" and fixed:
        other = args[0] if args else None
        if other is None or isinstance(other, Cell) and other.kind == "dict":
            lo.changed(cell)
            for k, v in {**(other.items if other is not None else {}), **kwargs}.items():
                lo.set(cell.slots, k, v)
            return Const(None)
    found, key = core.known(lo, args[0]) if args else (False, None)
    if found and name == "setdefault" and (fixed or key in items):
        if key not in items:
            lo.changed(cell)
            lo.set(cell.slots, key, args[1] if len(args) > 1 else Const(None))
        return cell.items[key]
    if found and name == "pop" and fixed:
        if key not in items and len(args) > 1:
            return args[1]
        if key in items:
            lo.changed(cell)
            lo.set(cell.slots, key, MISSING)
            return items[key]
    if name in ("update", "setdefault", "pop", "get", "clear"):
        runtime_dicts.open_up(lo, cell, node)
        return runtime_dicts.method(lo, cell, name, args, kwargs, node)
    raise core.unsupported(lo, node, f"the dict method `{name}` in this form")
