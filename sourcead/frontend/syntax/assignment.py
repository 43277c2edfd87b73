"""Assignments: to names, tuples, attributes and items; `x += y`, which changes an object in place under all its names."""

from __future__ import annotations

import contextlib
import operator

import gast

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import branches as control, expressions
from sourcead.frontend.syntax.expressions import BINARY, lower, unsupported
from sourcead.frontend.values import lists, methods, objects, runtime_dicts as maps, sequences, sets
from sourcead.frontend.values.cells import POISON, VALUE, Cell, SliceVal, TupleVal, Value, hold, roots
from sourcead.ir.nodes import Const, Let, Sub, Var
from sourcead.ir.types import Array, ListT, SetT, Undefined, Unknown


def lower_assign(lo: Lowering, node) -> None:
    value = lower(lo, node.value)
    with exchanged(lo, node):
        for target in node.targets:
            assign(lo, target, value)


@contextlib.contextmanager
def exchanged(lo: Lowering, node):
    """`xs[i], xs[k] = xs[k], xs[i]`: what the list holds is what it held, each thing once if it was so before."""
    xs = lo.scope.names.get(name_of_exchanged(node))
    if not isinstance(xs, Cell) or xs.base is not None:
        yield
        return
    before = xs.doubled, set(xs.holds)
    yield
    xs.doubled, xs.holds = before


def name_of_exchanged(node) -> str | None:
    """The list in which an assignment exchanges two items."""
    match node:
        case gast.Assign(targets=[gast.Tuple(elts=[gast.Subscript() as a, gast.Subscript() as b])], value=gast.Tuple(elts=values)):
            names = {getattr(t.value, "id", None) for t in (a, b)}
            if len(names) == 1 and [expression_text(v) for v in values] == [expression_text(b), expression_text(a)]:
                return names.pop()
    return None


def expression_text(node: gast.AST) -> str:
    """An expression, whether it is read or assigned to."""
    return gast.dump(node).replace("Store()", "Load()")


def lower_annassign(lo: Lowering, node) -> None:
    if node.value is not None:
        assign(lo, node.target, lower(lo, node.value))



def assign(lo: Lowering, target: gast.AST, value: Value) -> None:
    """`target = value`."""
    match target:
        case gast.Name(id=name):
            lo.set(home(lo, name), name, named(lo, value, name))
        case gast.Tuple(elts=targets) | gast.List(elts=targets):
            unpack(lo, targets, value, target)
        case gast.Subscript():
            base = lower(lo, target.value)
            key = expressions.lower_key(lo, target.slice)
            store(lo, base, key, value, target)
        case gast.Attribute(value=owner, attr=name):
            objects.set_attribute(lo, lower(lo, owner), name, named(lo, value, name), target)
        case gast.Starred():
            raise unsupported(lo, target)
        case _:
            raise unsupported(lo, target)


def named(lo: Lowering, value: Value, name: str) -> Value:
    """The value under the name that the user gives it."""
    if lo.static_only or name.startswith("$"):
        return value
    match value:
        case Var() if value.temp:
            return lo.rename(value, name)
        case Cell() if value.kind == "array" and value.base is None:
            version = value.slots[VALUE]
            if isinstance(version, Var) and version.temp:
                lo.rename(version, name)
                value.name = name
            elif value.name.startswith("$"):
                value.name = name
        case Cell() if value.kind != "array" and value.name == "items":
            value.name = name
        case Cell() if value.base is not None and isinstance(value.slots.get(VALUE), Var) and value.slots[VALUE].temp:
            lo.rename(value.slots[VALUE], name)
        case Const(number, None, False) if isinstance(number, (int, float, complex)):
            var = lo.build.emit(Let(value), atom_type(value), name, temp=False)
            lo.build.known[var] = number
            return var
    return value


def unpack(lo: Lowering, targets: list, value: Value, node) -> None:
    """`a, (b, *c) = value`."""
    stars = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
    if stars and not sequences.has_countable_items(lo, value):
        found = lists.starred_items(lo, value, stars[0], len(targets) - stars[0] - 1, node)
        for t, item in zip([*targets[: stars[0]], targets[stars[0]].value, *targets[stars[0] + 1 :]], found):
            assign(lo, t, item)
        return
    items = sequences.static_items(lo, value, node, None if stars else len(targets))
    if stars:
        i = stars[0]
        after = len(targets) - i - 1
        if len(items) < len(targets) - 1:
            raise unsupported(lo, node, f"{len(items)} values cannot be unpacked into {len(targets)} names")
        middle = lo.new_list(items[i : len(items) - after])
        items = [*items[:i], middle, *items[len(items) - after :]]
        targets = [*targets[:i], targets[i].value, *targets[i + 1 :]]
    if len(items) != len(targets):
        raise unsupported(lo, node, f"{len(items)} values cannot be unpacked into {len(targets)} names")
    for t, item in zip(targets, items):
        assign(lo, t, item)


def store(lo: Lowering, base: Value, key: Value, value: Value, node, mode: str = "set") -> None:
    """`base[key] = value`."""
    if isinstance(base, Cell) and base.kind in ("list", "dict"):
        is_known, k = expressions.known(lo, key)
        if is_known and not isinstance(key, SliceVal):
            if base.kind == "list":
                n = len(base.items)
                if not -n <= k < n:
                    raise unsupported(lo, node, f"index {k} is out of range: there are {n} items")
                k %= n
            elif k not in base.items and base.depth < lo.depth and maps.may_be(base, value):
                maps.open_up(lo, base, node)  # whether the key is there afterwards depends on what the program does
                return store(lo, base, key, value, node, mode)
            lo.alive(base)
            lo.changed(base)
            lo.set(base.slots, k, value)
            return
        if isinstance(key, SliceVal) and (new := assigned_slice(lo, base, key, value)) is not None:
            lo.alive(base)
            methods.replace_items(lo, base, new)
            return
        if base.kind == "dict":
            maps.open_up(lo, base, node, key)
            return store(lo, base, key, value, node, mode)
        if base.depth < lo.depth:
            raise control.MustMaterialise(base, lo.here)
        lo.materialise(base)
    if not isinstance(base, Cell):
        raise unsupported(lo, node, "this object cannot be written into")
    if maps.is_map(lo, base):
        maps.store(lo, base, maps.key_of(lo, key, node), value)
        return
    if isinstance(key, SliceVal) and lists.is_list(lo, base):
        lists.assign_slice(lo, base, key, value, node)
        return
    if isinstance(atom_type(lo.read(base)), (ListT, Unknown)) and isinstance(value, (Cell, TupleVal)):
        operand = lo.operand(value) if not isinstance(value, Cell) else lo.read(value)
        lo.write(base, (Sub(lo.operand(key)),), operand, mode)
        if isinstance(atom_type(lo.read(base)), ListT):
            hold(base.root(), value)
        return
    lo.write(base, (Sub(lo.operand(key)),), lo.operand(sequences.as_array(lo, value)), mode)


def assigned_slice(lo: Lowering, base: Cell, key: SliceVal, value: Value) -> list[Value] | None:
    """The items of a list after an assignment to a part of it, if all is known one by one."""
    bounds = [(True, None) if p is None else expressions.known(lo, p) for p in (key.lower, key.upper, key.step)]
    if base.kind != "list" or not all(k for k, _ in bounds) or base.depth < lo.depth or not sequences.has_known_items(value):
        return None
    items = list(base.items.values())
    items[slice(*(v for _, v in bounds))] = sequences.static_items(lo, value, None)
    return items


# -- augmented assignment ----------------------------------------------------------------------------------------------


def lower_augassign(lo: Lowering, node) -> None:
    """`target op= value`: an array changes in place under all its names; a number or tuple is rebound."""
    fn = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, gast.Name):
        old = expressions.resolve(lo, target.id, target)
        value = lower(lo, node.value)
        new = augment(lo, old, fn, value, node)
        if new is not None:
            lo.set(home(lo, target.id), target.id, named(lo, new, target.id))
        return
    base = lower(lo, target.value)
    if isinstance(target, gast.Attribute):
        old = methods.attribute(lo, base, target.attr, target)
        new = augment(lo, old, fn, lower(lo, node.value), node)
        objects.set_attribute(lo, base, target.attr, old if new is None else named(lo, new, target.attr), target)
        return
    key = expressions.lower_key(lo, target.slice)
    if isinstance(base, Cell) and base.kind == "array" and isinstance(atom_type(lo.read(base)), Array):
        value = sequences.as_array(lo, lower(lo, node.value))
        path_key = lo.operand(key)
        mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
        if mode and expressions.views(path_key):
            lo.write(base, (Sub(path_key),), lo.operand(value), mode)
            return
        item = lo.build.index(lo.read(base), path_key)
        lo.write(base, (Sub(path_key),), lo.read(expressions.operate(lo, fn, item, value)))
        return
    item = expressions.subscript(lo, base, key, target)
    value = lower(lo, node.value)
    new = augment(lo, item, fn, value, node)
    if new is not None:
        store(lo, base, key, new, target)


def augment(lo: Lowering, old: Value, fn, value: Value, node) -> Value | None:
    """`old op= value` of an object; the object to rebind the name to, or None if it changed in place."""
    if isinstance(old, Cell) and old.kind == "list" and fn is operator.add:
        methods.extend(lo, old, value, node)
        return None
    if isinstance(old, Cell) and old.kind == "array":
        t = atom_type(lo.read(old))
        if isinstance(t, Array) and lo.read(old) not in lo.build.maybe_number:
            mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
            if mode:
                lo.write(old, (), lo.operand(value), mode)
            else:
                lo.write(old, (), lo.read(expressions.operate(lo, fn, lo.read(old), value)))
            return None
        if isinstance(t, ListT):
            methods.extend(lo, old, value, node)
            return None
        if isinstance(t, SetT) and sets.set_type(lo, value) is not None:
            sets.replace(lo, old, fn, value, node)
            return None
        new = expressions.operate(lo, fn, old, value)
        if isinstance(t, Undefined):  # an item of what is empty in this round of lowering a loop
            return new
        if isinstance(t, Array) and atom_type(lo.read(new)) != t and getattr(atom_type(lo.read(new)), "dtype", None) != t.dtype:
            raise unsupported(lo, node, "the dtype of what is added differs from that of the array", "start from an array: `np.zeros(...)`")
        same = roots(old)
        for cell in same | {container for c in same for container in c.held_by}:
            how = f"changed by `{symbol(node.op)}=`, which changes an array in place, but a number not"
            lo.set(cell.slots, POISON, f"`{cell.name}` was {how}; its type is not known here")
        return new
    return expressions.operate(lo, fn, old, value)


def symbol(op) -> str:
    symbols = {
        "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@", "FloorDiv": "//", "Mod": "%",
        "BitOr": "|", "BitAnd": "&",
    }  # fmt: skip
    return symbols.get(type(op).__name__, "?")


def home(lo: Lowering, name: str):
    """The variables among which a name is assigned: those of this function, or of one around (`nonlocal`)."""
    return lo.scope.homes.get(name, lo.scope.names)
