"""Lower assignments to names, tuples, attributes and items, and `x += y`, which may change an object in place."""

import contextlib
import operator
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.control.exits import standing_for
from sourcead.frontend.core import VALUE, Cell, Held, Iterable, Lowering, OneOf, Value
from sourcead.frontend.syntax import choices
from sourcead.frontend.syntax.expressions import BINARY, named_object
from sourcead.frontend.values import iterables, lists, objects, sequences, subscripts
from sourcead.ir.nodes import Atom, Const, Let, Slice, Sub, Var
from sourcead.ir.records import find
from sourcead.ir.types import Array, ListT, MapT, SetT


@core.lower_statement.register(gast.Assign)
def lower_assign(lo: Lowering, node: gast.Assign, rest: list[gast.AST]) -> tuple[Any, bool]:
    """Lower `a = b = value`, or `a = b if cond else c` as the `if` that it is."""
    with lo.at(node):
        if not isinstance(node.value, gast.IfExp) or not lo.splits_here():
            with lo.using(names_for_items=names_of_items(node), chooses=node.value if core.chooses_here(lo) else None):
                value = core.lower(lo, node.value)
            if isinstance(value, OneOf):
                return core.lower_statements(lo, [choices.for_each_option(node, value), *rest]), True
            return assign_all(lo, node, value), False
    arms = [[gast.copy_location(gast.Assign(node.targets, value, None), node)] for value in (node.value.body, node.value.orelse)]
    return core.lower_statement(lo, gast.copy_location(gast.If(node.value.test, *arms), node), rest)


def assign_all(lo: Lowering, node: gast.Assign, value: Value) -> None:
    """Assign a value to the targets of an assignment."""
    with exchanged(lo, node):
        for target in node.targets:
            assign(lo, target, value)


def names_of_items(node: gast.Assign) -> int:
    """Return the number of names among which an assignment distributes the items of a comprehension, 0 for other assignments."""
    match node:
        case gast.Assign(
            targets=[gast.Tuple(elts=names) | gast.List(elts=names)], value=gast.ListComp(generators=[gast.comprehension(ifs=[])])
        ) if not any(isinstance(n, gast.Starred) for n in names):
            return len(names)
    return 0


@contextlib.contextmanager
def exchanged(lo: Lowering, node):
    """Keep the record of held items across `xs[i], xs[k] = xs[k], xs[i]`, after which the list holds the same items as before."""
    name, places = places_exchanged(node)
    named = xs = lo.scope.names.get(name)
    if isinstance(xs, Cell) and core.ITEMS in xs.items and all(find(xs.cls, f"__{kind}item__")[0] is list for kind in ("get", "set")):
        xs = xs.items[core.ITEMS]
    if not isinstance(xs, Cell) or xs.base is not None or not all(is_same_again(lo, named, place) for place in places):
        yield
        return
    before = xs.doubled, set(xs.holds)
    yield
    for name, value in zip(("doubled", "holds"), before):
        lo.journal.assign(xs, name, value)


def places_exchanged(node) -> tuple[str | None, list[gast.AST]]:
    """Return the name of the list in which an assignment exchanges two items, and their subscripts; (None, []) for other assignments."""
    match node:
        case gast.Assign(targets=[gast.Tuple(elts=[gast.Subscript() as a, gast.Subscript() as b])], value=gast.Tuple(elts=values)):
            names = {getattr(t.value, "id", None) for t in (a, b)}
            if len(names) == 1 and [expression_text(v) for v in values] == [expression_text(b), expression_text(a)]:
                return names.pop(), [a.slice, b.slice]
    return None, []


SAME_AGAIN = (len, int, min, max, abs)


def is_same_again(lo: Lowering, xs: Cell, place: gast.AST) -> bool:
    """Tell whether a subscript surely has the same value if it is evaluated again after an item of the list `xs` was replaced."""
    match place:
        case gast.Call(func=func):
            fn = named_object(lo, func)
            return fn is len or fn in SAME_AGAIN and all(is_same_again(lo, xs, arg) for arg in place.args)
        case gast.Name(id=name):
            return all(scope.names.get(name) is not xs for scope in lo.scopes())
    return not isinstance(place, gast.NamedExpr) and all(is_same_again(lo, xs, part) for part in gast.iter_child_nodes(place))


def expression_text(node: gast.AST) -> str:
    """Dump an expression in the same form whether it is read or assigned to."""
    return gast.dump(node).replace("Store()", "Load()")


@core.statement(gast.AnnAssign)
def lower_annassign(lo: Lowering, node) -> None:
    """Lower `a: T = value`."""
    if node.value is not None:
        assign(lo, node.target, core.lower(lo, node.value))


@core.lower.register(gast.NamedExpr)
def lower_namedexpr(lo: Lowering, node) -> Value:
    """Lower `name := value`."""
    value = core.lower(lo, node.value)
    assign(lo, node.target, value)
    return value


def assign(lo: Lowering, target: gast.AST, value: Value) -> None:
    """Lower `target = value`."""
    match target:
        case gast.Name(id=name):
            lo.set(lo.scope.home(name), name, named(lo, value, name))
        case gast.Tuple(elts=targets) | gast.List(elts=targets):
            unpack(lo, targets, value, target)
        case gast.Subscript():
            base = core.lower(lo, target.value)
            key = core.lower(lo, target.slice)
            core.store(lo, base, key, value, target)
        case gast.Attribute(value=gast.Attribute(value=owner, attr="flags"), attr="writeable"):
            base = core.lower(lo, owner)
            if isinstance(base, Var | Cell) and core.class_of(base) is None:
                core.call_method(lo, base, "setflags", [], {"write": value}, target)
            else:
                objects.set_attribute(lo, core.attribute(lo, base, "flags", target), "writeable", value, target)
        case gast.Attribute(value=owner, attr=name):
            objects.set_attribute(lo, core.lower(lo, owner), name, named(lo, value, name), target)
        case _:
            raise core.unsupported(lo, target)


def named(lo: Lowering, value: Value, name: str) -> Value:
    """Give a value the name that the user assigns it to."""
    if lo.static_only or name.startswith("$"):
        return value
    match value:
        case Var() if value.temp:
            return lo.rename(value, name)
        case Cell() if value.kind == "array" and value.base is None:
            version = value.slots[VALUE]
            if isinstance(version, Var) and version.temp:
                lo.rename(version, name)
                lo.journal.assign(value, "name", name)
            elif value.name.startswith("$"):
                lo.journal.assign(value, "name", name)
        case Cell() if value.kind != "array" and value.name == "items":
            lo.journal.assign(value, "name", name)
        case Cell() if value.base is not None and isinstance(value.slots.get(VALUE), Var) and value.slots[VALUE].temp:
            lo.rename(value.slots[VALUE], name)
        case Const(number, None, False) if isinstance(number, (int, float, complex)):
            var = lo.build.emit(Let(value), atom_type(value), name, temp=False)
            lo.build.known[var] = number
            return var
    return value


def unpack(lo: Lowering, targets: list, value: Value, node) -> None:
    """Lower `a, (b, *c) = value`."""
    i = next((i for i, t in enumerate(targets) if isinstance(t, gast.Starred)), None)
    if i is not None and core.special_method(value, "__next__") is not None:  # Python calls its `__iter__` twice
        raise core.unsupported(lo, node, "a starred name for what an iterator of a class of yours has left", "unpack `list(...)` of it")
    with lo.using(names_for_items=len(targets) if i is None else 0):
        value = sequences.taken(lo, value, node)
        without_places = i is not None and isinstance(core.data_type(lo, value), (SetT, MapT))
        if without_places or isinstance(value, Iterable) and value.items is None and not value.endless:
            value = sequences.collect(lo, core.iterate(lo, value, node), lambda item: item, node)
    if i is None:
        check_count(lo, value, len(targets), node)
        items = sequences.static_items(lo, value, node, len(targets))
    else:
        after = len(targets) - i - 1
        targets = [*targets[:i], targets[i].value, *targets[i + 1 :]]
        if not core.has_countable_items(lo, value):
            sequences.check_has_items(lo, value, node)
            items = lists.starred_items(lo, value, i, after, node)
        else:
            items = sequences.static_items(lo, value, node)
            if len(items) >= len(targets) - 1:
                items = [*items[:i], lo.new_list(items[i : len(items) - after]), *items[len(items) - after :]]
    if len(items) != len(targets):
        raise wrong_count(lo, len(items), len(targets), node)
    for t, item in zip(targets, items):
        assign(lo, t, item)


def wrong_count(lo: Lowering, found: int, count: int, node) -> UnsupportedSyntaxError:
    """Return the error for an assignment of some values to another number of names, which raises ValueError in Python."""
    return core.surely(lo, core.unsupported(lo, node, f"{found} values cannot be unpacked into {count} names"), ValueError)


def check_count(lo: Lowering, value: Value, count: int, node) -> None:
    """Refuse a list or array that does not have `count` items; if its length is not known, raise the error of Python at run time."""
    t = core.data_type(lo, value)
    known = iterables.known_length(t) if t is not None else None
    if known is not None and known != count:
        raise wrong_count(lo, known, count, node)
    if isinstance(t, ListT) and lo.build.length(lo.read(value)) == count:
        return
    if isinstance(t, ListT) and t.items is None or isinstance(t, Array) and t.dims and not isinstance(t.dims[0], int):
        same = core.operate(lo, operator.eq, core.call_object(lo, len, [value], {}, node), Const(count))
        text = Const(f"there are not {count} values to unpack")
        branches.choose(lo, same, lambda: None, lambda: branches.raised_here(lo, ValueError, text))


# -- augmented assignment ----------------------------------------------------------------------------------------------


@core.statement(gast.AugAssign)
def lower_augassign(lo: Lowering, node) -> None:
    """Lower `target op= value`: an array changes in place under all its names; a number or tuple is rebound."""
    fn, target, base = BINARY[type(node.op)], node.target, None
    if not isinstance(target, gast.Name):  # the object and the key are evaluated once
        base = core.lower(lo, target.value)
        if isinstance(target, gast.Attribute):
            target = standing_for(target, gast.Attribute(Held(base), target.attr, gast.Load()))
        else:
            key = core.lower(lo, target.slice)
            if isinstance(core.data_type(lo, base), Array):
                before = lo.read(base)
                return augment_item(lo, base, key, fn, before, core.lower(lo, node.value))
            target = standing_for(target, gast.Subscript(Held(base), Held(key), gast.Load()))
    old, version = core.lower(lo, target), version_of(lo, base)
    added = core.lower(lo, node.value)
    is_changed = version is not version_of(lo, base)  # evaluating `added` may have put another object there
    new = subscripts.augment(lo, old, fn, added, node)
    if new is not None:
        assign(lo, target, new)
    elif isinstance(target, gast.Attribute):  # its setter is called although the object is the same
        objects.set_attribute(lo, base, target.attr, old, target)
    elif isinstance(target, gast.Name):
        if (home := lo.scope.home(target.id)).get(target.id, old) is not old:
            lo.set(home, target.id, old)
    elif isinstance(key, Slice) or core.special_method(base, "__setitem__"):  # a slice of a list is a copy
        core.store(lo, base, key, old, target)
    elif is_changed or isinstance(base, Cell) and base.kind in ("list", "dict") and core.lower(lo, target) is not old:
        core.store(lo, base, key, old, target)


def version_of(lo: Lowering, base: Value | None) -> Atom | None:
    """Return the value that holds all items of a list or dict which are not known one by one, None for anything else."""
    return lo.read(base) if isinstance(base, Cell) and base.kind == "array" else None


def augment_item(lo: Lowering, base: Cell, key: Value, fn, before: Atom, added: Value) -> None:
    """Lower `base[key] op= added` of an array, which was `before` when the item was read; evaluating `added` may have written it.

    An item that is a view shows what was written since, a number or a copy does not.
    """
    value, path = sequences.as_array(lo, added), (Sub(subscripts.key_operand(lo, base, key)),)
    mode = {operator.add: "add", operator.sub: "sub"}.get(fn)
    if before is not lo.read(base) and subscripts.is_view(lo, before, path[0].key):
        before = lo.read(base)
    if mode and before is lo.read(base) and subscripts.effects_of(path[0].key) <= subscripts.VIEWS:
        lo.write(base, path, lo.operand(value), mode)
    else:
        item = lo.build.index(before, path[0].key)
        subscripts.store_in_array(lo, base, key, core.operate(lo, fn, item, value), None)
