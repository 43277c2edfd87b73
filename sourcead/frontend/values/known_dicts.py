"""Methods of dicts whose keys are known."""

from __future__ import annotations

from sourcead.frontend import core
from sourcead.frontend.core import MISSING, Cell, Lowering, TupleVal, Value
from sourcead.frontend.values import changing_lists, function_choices, iterables, runtime_dicts
from sourcead.ir.nodes import Const


@core.method.register("dict")
def dict_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Methods of a dict of known keys."""
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
    fixed = cell.depth == lo.depth  # else what is a key afterwards depends on what the program does
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
