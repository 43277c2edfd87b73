"""Lower dicts, whose keys are known while compiling or only at run time: `groups[label] = ...`.

A dict made by the program is known key by key while all keys are known; the first unknown key turns it into one IR value,
a dict from keys of one type to values of one type, which is read and written like a list.

    d.get(k, v)           d[k] if k in d else v
    d.setdefault(k, v)    if k not in d: d[k] = v;  d[k]           also what `defaultdict` does when it is read
    v = d.pop(k)          v = d[k]; d = d without k
    for k in d            for k in list(d)

Keys carry no derivative, so a value that carries one cannot be a key.
"""

from __future__ import annotations

import operator

from sourcead import runtime
from sourcead.analysis.builder import atom_type, operand_type
from sourcead.frontend import core
from sourcead.frontend.control import branches, loops
from sourcead.frontend.core import MISSING, Cell, Iterable, Lowering, TupleVal, Value, roots
from sourcead.frontend.core.known_values import common_type
from sourcead.frontend.values import function_choices, iterables, sequences
from sourcead.ir.nodes import Build, Call, Const, Operand, Sub, Var
from sourcead.ir.types import BOOL, ListT, MapT, Scalar, Str, Unknown, carries_derivative


def is_map(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is a dict whose keys are known only at run time."""
    return isinstance(value, Cell) and value.kind == "array" and isinstance(atom_type(lo.read(value)), MapT)


def open_up(lo: Lowering, cell: Cell, node, key: Operand | None = None) -> None:
    """Turn a dict of known keys into one IR value."""
    if common_type(cell) is None:
        what = "a dict key that is not known before the program runs" if key is not None else "whether a key is in this dict"
        raise core.unsupported(
            lo, node, f"{what}, of a dict whose values differ in kind", "use a dict of values of one kind, or constant keys"
        )
    lo.materialise(cell)


def key_of(lo: Lowering, key: Value, node) -> Operand:
    """Return a dict key as an operand; refuse it if it may carry a derivative."""
    operand = lo.operand(key)
    t = operand_type(operand)
    if isinstance(t, Unknown) or carries_derivative(t):
        raise core.unsupported(
            lo, node, "dict keys that carry a derivative, or may", "use integers or strings: `int(key)`"
        )
    return operand


# -- reading and writing ---------------------------------------------------------------------------------------------------


@core.subscript.register(MapT)
def item(lo: Lowering, cell: Cell, key: Value, node) -> Value:
    """Lower `d[key]`."""
    operand = key_of(lo, key, node)
    default = atom_type(lo.read(cell)).default
    if default is not None:
        set_default(lo, cell, operand, lambda: core.call(lo, default, [], {}, node))
    return view(lo, cell, operand)


def view(lo: Lowering, cell: Cell, operand: Operand) -> Value:
    """Lower `d[key]` for a key that is present."""
    found = lo.view(cell, Sub(operand))
    var = lo.read(found)
    wrapped = lo.wrap(var)
    if not isinstance(wrapped, Cell) or wrapped.kind != "array":
        return wrapped if not isinstance(wrapped, (Cell, TupleVal)) else lo.wrap(var, shares=roots(cell))
    return found


def store(lo: Lowering, cell: Cell, operand: Operand, value: Value) -> None:
    """Lower `d[key] = value`."""
    if isinstance(value, Cell) and value.kind == "dict":  # from here on its keys are not known while compiling
        open_up(lo, value, None)
    lo.write(cell, (Sub(operand),), lo.read(value))
    lo.hold(cell.root(), value)


def has_key(lo: Lowering, cell: Cell, operand: Operand) -> Var:
    """Emit `key in d`."""
    return lo.build.call(operator.contains, lo.read(cell), operand, type=BOOL)


def set_default(lo: Lowering, cell: Cell, operand: Operand, make) -> None:
    """Lower `if key not in d: d[key] = make()`."""
    absent = lo.build.call(operator.not_, has_key(lo, cell, operand), type=BOOL)
    branches.branch(lo, absent, [lambda: store(lo, cell, operand, make()), lambda: None])


def remove(lo: Lowering, cell: Cell, operand: Operand) -> None:
    """Lower `del d[key]`."""
    before = lo.read(cell)
    call = Call(runtime.without, (before, operand))
    lo.replace_slot(cell, lambda: lo.build.emit(call, before.type, before.name, before.temp))


# -- methods ---------------------------------------------------------------------------------------------------------------


def keys(lo: Lowering, cell: Cell, node) -> Value:
    """Lower `list(d)`."""
    t = atom_type(lo.read(cell))
    return lo.wrap(lo.build.call(list, lo.read(cell), type=ListT(t.key), name="keys"))


@core.iterate.register(MapT)
def iterate_keys(lo: Lowering, cell: Cell, node) -> Iterable:
    """Iterate over the keys of a dict in order."""
    return iterate(lo, cell, ELEMENTS["keys"], node)


def iterate(lo: Lowering, cell: Cell, element, node) -> Iterable:
    """Iterate over `element(key, value)` for each key of a dict in order."""
    found = keys(lo, cell, node)
    inner = core.iterate(lo, found, node)

    def nth(k):
        key = inner.nth(k)
        return element(key, lambda: view(lo, cell, lo.operand(key)))

    return Iterable(domain=inner.domain, element=nth, length=inner.length, nth=nth)


ELEMENTS = {
    "items": lambda key, value: TupleVal((key, value())),
    "keys": lambda key, value: key,
    "values": lambda key, value: value(),
}


@core.method.register("dict")
def known_method(lo: Lowering, cell: Cell, name: str, args, kwargs, node) -> Value:
    """Lower a method of a dict whose keys are known."""
    lo.alive(cell)
    lo.sure(cell)
    items = cell.items
    if name == "items":
        return iterables.walk_pairs(lo, cell, iterables.listed([TupleVal((Const(k), v)) for k, v in items.items()]))
    if name == "keys":
        return iterables.listed([Const(k) for k in items])
    if name == "values":
        return iterables.walk(lo, cell, list(items.items()))
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
        open_up(lo, cell, node)
        return method(lo, cell, name, args, kwargs, node)
    raise core.unsupported(lo, node, f"the dict method `{name}` in this form")


@core.method.register(MapT)
def method(lo: Lowering, cell: Cell, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `d.name(...)`."""
    if name in ELEMENTS:
        return iterate(lo, cell, ELEMENTS[name], node)
    if name == "copy" or name == "clear":
        t = atom_type(lo.read(cell))
        if name == "copy":
            made = lo.build.call(dict.copy, lo.read(cell), type=t)
            return lo.wrap(made) if isinstance(t.item, (Scalar, Str)) else lo.wrap(made, shares=roots(cell))
        lo.replace_slot(cell, lambda: lo.build.emit(Build("dict", (), ()), t, cell.name))
        return Const(None)
    if name == "update":
        for k, value in kwargs.items():
            store(lo, cell, Const(k), value)
        for other in args:
            update(lo, cell, other, node)
        return Const(None)
    if name not in ("get", "setdefault", "pop") or not args:
        raise core.unsupported(lo, node, f"the dict method `{name}` of a dict whose keys are not known here")
    operand = key_of(lo, args[0], node)
    otherwise = args[1] if len(args) > 1 else Const(None)
    if name == "get":
        return branches.branch(lo, has_key(lo, cell, operand), [lambda: view(lo, cell, operand), lambda: otherwise], "ifexp")
    if name == "setdefault":
        set_default(lo, cell, operand, lambda: otherwise)
        return view(lo, cell, operand)

    def take():
        value = lo.wrap(lo.read(view(lo, cell, operand)), shares=roots(cell))
        remove(lo, cell, operand)
        return value

    if len(args) == 1:
        return take()
    return branches.branch(lo, has_key(lo, cell, operand), [take, lambda: otherwise])


def update(lo: Lowering, cell: Cell, other: Value, node) -> None:
    """Lower `d.update(other)`."""
    if isinstance(other, Cell) and other.kind == "dict":
        lo.alive(other)
        for key, value in other.items.items():
            store(lo, cell, Const(key), value)
    elif is_map(lo, other):
        pairs = iterate(lo, other, ELEMENTS["items"], node)
        loops.for_each(lo, pairs, lambda pair: store(lo, cell, lo.operand(pair.items[0]), pair.items[1]))
    else:
        source = core.iterate(lo, other, node)

        def put(pair):
            key, value = sequences.static_items(lo, pair, node, 2)
            store(lo, cell, key_of(lo, key, node), value)

        loops.for_each(lo, source, put)
