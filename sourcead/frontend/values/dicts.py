"""Lower dicts, whose keys are known while compiling or only at run time: `groups[label] = ...`.

A dict made by the program is known key by key while all keys are known; the first unknown key turns it into one IR value,
a dict from keys of one type to values of one type, which is read and written like a list.

    d.get(k, v)           d[k] if k in d else v
    d.setdefault(k, v)    if k not in d: d[k] = v;  d[k]           also what `defaultdict` does when it is read
    v = d.pop(k)          v = d[k]; d = d without k
    for k in d            for k in list(d)

Keys carry no derivative, so a value that carries one cannot be a key.
"""

import operator
from typing import Any

from sourcead import runtime
from sourcead.analysis.builder import atom_type, operand_type
from sourcead.frontend import core
from sourcead.frontend.control import branches, loops
from sourcead.frontend.core import MISSING, TRUE, Cell, ChoiceVal, Iterable, Lowering, TupleVal, Value, roots
from sourcead.frontend.core.known_values import common_type
from sourcead.frontend.values import iterables, objects_by_place, sequences, walks
from sourcead.frontend.values.dict_keys import constant_key, known_key, value_of
from sourcead.ir.names import shown
from sourcead.ir.nodes import Atom, Build, Call, Const, Operand, Slice, Sub
from sourcead.ir.records import find, made_by_its_class
from sourcead.ir.types import BOOL, Array, ListT, MapT, Member, Scalar, SetT, Str, Unknown, carries_derivative


def open_up(lo: Lowering, cell: Cell, node, key: Operand | None = None) -> None:
    """Turn a dict of known keys into one IR value."""
    if common_type(cell) is None:
        what = "a dict key that is not known before the program runs" if key is not None else "whether a key is in this dict"
        instead = "use a dict of values of one kind, or constant keys"
        core.choice_differs(lo)
        error = core.unsupported(lo, node, f"{what}, of a dict whose values differ in kind", instead)
        raise core.marked(error, objects_apart=all(isinstance(value, Cell) for value in cell.contents))
    lo.materialise(cell)


def key_of(lo: Lowering, cell: Cell, key: Value, node) -> Operand:
    """Return a key as an operand: a constant for a dict of known keys; otherwise refuse a key that may carry a derivative."""
    if cell.kind == "dict":
        return Const(key_in(lo, cell, key)[1])
    operand = lo.operand(key)
    t = operand_type(operand)
    if isinstance(t, Unknown) and not isinstance(t, Member) or carries_derivative(t):
        raise core.unsupported(lo, node, "dict keys that carry a derivative, or may", "use integers or strings: `int(key)`")
    return operand


def key_in(lo: Lowering, cell: Cell, key: Value) -> tuple[bool, Any]:
    """Tell whether it is known which key a value is; a constant of a global is, if the dict cannot be one value, or has other keys."""
    found, k = known_key(lo, key, cell.items)
    one_kind = found or common_type(cell) is not None and len({*map(type, cell.items)}) < 2
    return (found, k) if one_kind else constant_key(lo, key)


def refuse_unhashable(lo: Lowering, key: Value, node) -> None:
    """Refuse a key that Python cannot look up, as it is a list, a dict, an array or a slice, or has one inside."""
    for leaf in key.items if isinstance(key, TupleVal) else [key]:
        if isinstance(leaf, TupleVal):
            refuse_unhashable(lo, leaf, node)
        if not isinstance(leaf, Slice) and known_key(lo, leaf, ())[0]:
            continue
        kind = leaf.kind if isinstance(leaf, Cell) else "slice" if isinstance(leaf, Slice) else None
        if kind in ("slice", "list", "dict") or kind == "array" and isinstance(core.data_type(lo, leaf), (Array, ListT, MapT, SetT)):
            raise core.unsupported(lo, node, "a dict key that cannot be hashed", "use a number, a string or a tuple of these")


# -- reading and writing ---------------------------------------------------------------------------------------------------


@core.subscript.register("dict", MapT)
def item(lo: Lowering, cell: Cell, key: Value, node) -> Value:
    """Lower `d[key]`; a key that is not known makes the dict one IR value, unless its values are functions."""
    refuse_unhashable(lo, key, node)
    if cell.kind == "dict":
        lo.alive(cell)
        found, k = key_in(lo, cell, key)
        if found and k not in cell.items and cell.default is None:
            keys = ", ".join(shown(have) for have in [*cell.items][:8])
            wrong = core.unsupported(lo, node, f"the dict has no key {shown(k)} here", f"one of its keys: {keys}" if keys else None)
            raise core.surely(lo, wrong, KeyError)
        if not found and cell.items and all(map(core.is_function, cell.items.values())):
            return ChoiceVal(lo.read(key), cell.items)
        if not found and cell.default is None and (taken := objects_by_place.item_of(lo, cell.items, key, node)) is not None:
            lo.sure(cell)
            return taken
        if not (found and (k in cell.items or cell.depth == lo.depth)):
            open_up(lo, cell, node, None if found else key)
    operand = key_of(lo, cell, key, node)
    if (factory := core.factory_of(lo, cell)) is not None and (cell.kind == "dict" or may_make_values(cell, factory)):
        set_default(lo, cell, operand, lambda: core.call(lo, factory, [], {}, node))
    return view(lo, cell, operand)


def may_make_values(cell: Cell, factory: Value) -> bool:
    """Tell whether the text can make the value of a key that a dict lacks; where it cannot, it raises KeyError."""
    return not cell.frozen and getattr(factory, "value", None) is not made_by_its_class


def view(lo: Lowering, cell: Cell, operand: Operand) -> Value:
    """Lower `d[key]` for a key that is present."""
    if cell.kind == "dict":
        return cell.items[operand.value]
    found = lo.view(cell, Sub(operand))
    var = lo.read(found)
    wrapped = lo.wrap(var)
    if not isinstance(wrapped, Cell) or wrapped.kind != "array":
        return wrapped if not isinstance(wrapped, (Cell, TupleVal)) else lo.wrap(var, shares=roots(cell))
    return found


@core.store.register("dict", MapT)
def store_item(lo: Lowering, cell: Cell, key: Value, value: Value, node, mode: str = "set") -> None:
    """Lower `d[key] = value`; the dict becomes one IR value if its keys depend on the run from here on."""
    refuse_unhashable(lo, key, node)
    if cell.kind == "dict":
        found, k = key_in(lo, cell, key)
        if not found or k not in cell.items and cell.depth < lo.depth and not core.objects_in(k) and core.can_be_map(cell, value):
            open_up(lo, cell, node, None if found else key)
    store(lo, cell, key_of(lo, cell, key, node), value)


def store(lo: Lowering, cell: Cell, operand: Operand, value: Value) -> None:
    """Lower `d[key] = value` in the representation that the dict has."""
    if cell.kind == "dict":
        sequences.replace_item(lo, cell, operand.value, value)
        return
    if isinstance(value, Cell) and value.kind == "dict":  # from here on its keys are not known while compiling
        open_up(lo, value, None)
    lo.write(cell, (Sub(operand),), lo.read(value))
    lo.put(cell, value)


def has_key(lo: Lowering, cell: Cell, operand: Operand) -> Atom:
    """Lower `key in d`."""
    if cell.kind == "dict":
        return Const(operand.value in cell.items)
    return lo.build.call(operator.contains, lo.read(cell), operand, type=BOOL)


def set_default(lo: Lowering, cell: Cell, operand: Operand, make) -> None:
    """Lower `if key not in d: d[key] = make()`."""
    if cell.kind == "dict" and operand.value not in cell.items:
        lo.may_change(cell)
    absent = core.operate(lo, operator.not_, has_key(lo, cell, operand))
    branches.choose(lo, absent, lambda: store(lo, cell, operand, make()), lambda: None)


def remove(lo: Lowering, cell: Cell, operand: Operand) -> None:
    """Lower `del d[key]`."""
    if cell.kind == "dict":
        sequences.replace_item(lo, cell, operand.value, MISSING)
        return
    before = lo.read(cell)
    call = Call(runtime.without, (before, operand))
    lo.replace_slot(cell, lambda: lo.build.emit(call, before.type, before.name, before.temp))


# -- methods ---------------------------------------------------------------------------------------------------------------


@core.iterate.register("dict", MapT)
def iterate(lo: Lowering, cell: Cell, node, what: str = "keys") -> Iterable:
    """Iterate over the keys, values or items of a dict in order."""
    if cell.kind == "dict":
        lo.sure(cell)
        if what == "keys":
            return iterables.listed([value_of(k) for k in cell.items])
        taken = {"values": lambda k, value: value, "items": lambda k, value: TupleVal((value_of(k), value))}[what]
        return walks.walk(lo, cell, list(cell.items.items()), taken)
    key_type = atom_type(lo.read(cell)).key
    keys = lo.build.call(list, lo.read(cell), type=ListT(key_type), name="keys")
    if carries_derivative(key_type):  # of unknown kind, such as numbers and strings; the keys of a dict carry none
        keys = lo.build.call(runtime.stop_gradient, keys, type=keys.type, name="keys")
    inner = core.iterate(lo, lo.wrap(keys), node)

    def nth(k):
        key = inner.nth(k)
        if what == "keys":
            return key
        value = view(lo, cell, lo.operand(key))
        return value if what == "values" else TupleVal((key, value))

    return Iterable(domain=inner.domain, element=nth, length=inner.length, nth=nth)


@core.method.register("dict", MapT)
def method(lo: Lowering, cell: Cell, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `d.name(...)`."""
    if name in ("keys", "values", "items"):
        of_plain_dict = core.classes_of(lo, cell) == [dict] and core.has_exact_class(lo, cell)
        view_class = type(getattr({}, name)()) if of_plain_dict else None
        return Iterable(begin=lambda: iterate(lo, cell, node, name), like_set=name != "values", cls=view_class)
    known = cell.kind == "dict"
    fixed = cell.depth == lo.depth or cell.frozen is not None  # otherwise the run decides which keys there are afterwards
    if known:
        lo.sure(cell)
    if name == "copy":
        if known:
            return lo.like(cell, cell.items)
        t = atom_type(lo.read(cell))
        made = lo.build.call(dict.copy, lo.read(cell), type=t)
        return lo.wrap(made) if isinstance(t.item, (Scalar, Str)) else lo.wrap(made, shares=roots(cell))
    if name == "clear":
        if known:
            open_up(lo, cell, node)
        t = atom_type(lo.read(cell))
        lo.replace_slot(cell, lambda: lo.build.emit(Build("dict", (), ()), t, cell.name))
        return Const(None)
    if name == "update":
        if getattr(core.factory_of(lo, cell), "value", None) is made_by_its_class:  # that of a Counter adds
            what = "`update` of a dict from outside of the function whose class makes missing values"
            raise core.unsupported(lo, node, what, "`counts[key] += 1`, or assign the items")
        if known and not (fixed and all(isinstance(other, Cell) and other.kind == "dict" for other in args)):
            open_up(lo, cell, node)
        for other in args:
            update(lo, cell, other, node)
        for k, value in kwargs.items():
            store(lo, cell, Const(k), value)
        return Const(None)
    if name == "popitem" and known and fixed and cell.items and not args:
        order = reversed(cell.items) if core.truth(lo, kwargs.get("last", Const(True))) else iter(cell.items)
        args = [value_of(next(order))]
        return TupleVal((args[0], method(lo, cell, "pop", args, {}, node)))
    if name == "popitem" and not args and (last := core.truth(lo, kwargs.get("last", Const(True)))) is not None:
        return pop_item(lo, cell, last, node)
    if name == "move_to_end" and known and fixed and args:
        return move_to_end(lo, cell, node, *args, **kwargs)
    if name not in ("get", "setdefault", "pop") or not args:
        form = "in this form" if known else "of a dict whose keys are not known here"
        raise core.unsupported(lo, node, f"the dict method `{name}` {form}")
    refuse_unhashable(lo, args[0], node)
    otherwise = args[1] if len(args) > 1 else Const(None)
    if known:
        found, k = key_in(lo, cell, args[0])
        present = found and k in cell.items
        stays = {"get": present or fixed or not cell.items, "setdefault": present or fixed, "pop": fixed and (present or len(args) > 1)}
        if not (found and stays[name]):
            if name == "get" and cell.items and len(args) > 1 and all(map(core.is_function, (*cell.items.values(), otherwise))):
                return ChoiceVal(lo.read(args[0]), cell.items, otherwise)
            open_up(lo, cell, node)
    operand = key_of(lo, cell, args[0], node)
    if name == "get":
        return branches.choose(lo, has_key(lo, cell, operand), lambda: view(lo, cell, operand), lambda: otherwise, "ifexp")
    if name == "setdefault":
        held = getattr(core.data_type(lo, cell), "item", None)
        if isinstance(held, (Scalar, Array)) and isinstance(otherwise, Cell) and otherwise.kind in ("list", "dict"):
            what = "`setdefault` of a list or dict in a dict of numbers or arrays whose keys depend on the run"
            raise core.unsupported(lo, node, what, "two dicts")
        set_default(lo, cell, operand, lambda: otherwise)
        return view(lo, cell, operand)

    def take():
        value = view(lo, cell, operand)
        value = value if cell.kind == "dict" else lo.wrap(lo.read(value), shares=roots(cell))
        remove(lo, cell, operand)
        return value

    if len(args) == 1:
        return take()
    return branches.choose(lo, has_key(lo, cell, operand), take, lambda: otherwise)


def pop_item(lo: Lowering, cell: Cell, last: bool, node) -> Value:
    """Lower `d.popitem(last)` of a dict whose keys depend on the run: the key that stands last or first in it, and `d.pop(key)`."""
    if cell.kind == "dict":
        open_up(lo, cell, node)
    keys = iterate(lo, cell, node)
    at = lo.build.call(operator.sub, keys.length(), Const(1)) if last else Const(0)
    key = keys.nth(at)
    return TupleVal((key, method(lo, cell, "pop", [key], {}, node)))


def move_to_end(lo: Lowering, cell: Cell, node, key: Value, last: Value = TRUE) -> Value:
    """Lower `d.move_to_end(key, last)` of an ordered dict of known keys: what comes behind is taken out, and put in again."""
    found, k = key_in(lo, cell, key)
    at_end = core.truth(lo, last)
    if not found or k not in cell.items or at_end is None:
        raise core.unsupported(lo, node, "`move_to_end` of a key that is not known here")
    for other in [k] if at_end else [other for other in cell.items if other != k]:
        key = value_of(other)
        store(lo, cell, key, method(lo, cell, "pop", [key], {}, node))
    return Const(None)


def without_class(lo: Lowering, value: Value, node) -> Value:
    """Return the dict that an object of a class derived from `dict` holds, and any other value that is no mapping itself."""
    cls = core.class_of(value)
    if not isinstance(value, Cell) or cls is None or not core.has_attribute(lo, value, "keys"):
        return value
    if core.ITEMS not in value.items or find(cls, "__iter__")[0] is not dict:
        raise core.unsupported(lo, node, f"a dict of what an object of class {cls.__name__} says of its keys", "write out the loop")
    return value.items[core.ITEMS]


def update(lo: Lowering, cell: Cell, other: Value, node) -> None:
    """Lower `d.update(other)` for another dict or an iterable of pairs."""
    other = without_class(lo, other, node)
    is_dict = isinstance(other, Cell) and other.kind == "dict" or isinstance(core.data_type(lo, other), MapT)

    def put(pair):
        items = sequences.static_items(lo, pair, node, 2)
        if len(items) != 2:
            raise core.surely(lo, core.unsupported(lo, node, f"a dict is made of pairs, and an item has {len(items)} parts"), ValueError)
        key, value = items
        store(lo, cell, key_of(lo, cell, key, node), value)

    loops.for_each(lo, iterate(lo, other, node, "items") if is_dict else core.iterate(lo, other, node), put)
