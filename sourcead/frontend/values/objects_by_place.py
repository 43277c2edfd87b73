"""Take an object out of a few by a place, a key or a comparison that the run decides, as one that is known to be one of them; ask which.

    items[i]                       items[0] if i == 0 else items[1] if i == 1 else items[2]
    max(items, key=f)              items[1] if f(items[1]) > f(items[0]) else items[0]
    sorted(items, key=f)           the same for each pair of neighbours, of at most three items
    items[i] is a                  (items[0] is a) if i == 0 else (items[1] is a) if i == 1 else (items[2] is a)

Only where objects that may be one of several are kept equal to these (`control/pointers.py`); elsewhere they become one value.
"""

import itertools
import operator
from collections.abc import Callable
from typing import Any

from sourcead import runtime
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.core import Cell, Lowering, OneOf, TupleVal, Value
from sourcead.ir.nodes import Const, Slice
from sourcead.ir.types import BOOL, INT, ListT


def are_few_objects(lo: Lowering, items: list[Value]) -> bool:
    """Tell whether items are objects of which one is taken by branches."""
    return lo.pointing and 1 < len(items) <= core.MOST_OBJECTS and all(isinstance(item, Cell) for item in items)


def may_differ(lo: Lowering, items: list[Value], node) -> bool:
    """Tell whether an expression is that of an assignment which goes on in another way with each of a few items."""
    return node is not None and node is lo.chooses and 1 < len(items) <= core.MOST_OBJECTS


def noted(lo: Lowering, value: Value) -> Value:
    """Return what a choice gives; note it if it is of no one structure."""
    if lo.unreadable(value) is not None:
        core.choice_differs(lo)
    return value


def or_noted(lo: Lowering, items: list[Value], lower: Callable[[], Value]) -> Value:
    """Lower a choice of one of these items; note it if that is refused, or may be later, since they are of several classes."""
    if len({(core.class_of(item), getattr(item, "kind", None)) for item in items}) > 1:
        core.choice_differs(lo)
    try:
        return lower()
    except UnsupportedSyntaxError:
        core.choice_differs(lo)
        raise


def place_of(lo: Lowering, items: list[Value], key: Value) -> Value:
    """Return the place, from 0, that a subscript of a sequence means, which raises the error of the subscript if there is none."""
    inside = lo.build.index(lo.build.call(range, Const(len(items))), lo.read(key))
    return lo.build.call(int, inside, type=INT, name="place")


def best_of(lo: Lowering, exceeds: Any, items: list[Value], key: Value, node) -> OneOf:
    """Lower `max(items, key=key)`, or `min`, as one of the items."""
    best: list[Value] = [Const(0), core.call(lo, key, [items[0]], {}, node)]
    for k, item in enumerate(items[1:], 1):
        own = core.call(lo, key, [item], {}, node)
        better, before = TupleVal((Const(k), own)), TupleVal(tuple(best))
        found = branches.choose(lo, core.operate(lo, exceeds, own, best[1]), lambda new=better: new, lambda old=before: old, "ifexp")
        best = list(found.items)
    return OneOf(best[0], dict(enumerate(items)))


def orders_of(lo: Lowering, items: list[Value], key: Value, backward: bool, node) -> OneOf:
    """Lower `sorted(items, key=key, reverse=backward)` as one of the orders of the items."""
    keys = lo.read(lo.new_list([core.call(lo, key, [item], {}, node) for item in items]))
    order = lo.wrap(lo.build.call(runtime.sorted_order, keys, type=ListT(INT), name="order", reverse=Const(backward)))
    which: Value = Const(0)
    for k in range(len(items)):
        tens = core.operate(lo, operator.mul, which, Const(10))
        which = core.operate(lo, operator.add, tens, core.subscript(lo, order, Const(k), node))
    orders = itertools.permutations(range(len(items)))
    return OneOf(which, {int("".join(map(str, found))): lo.new_list([items[k] for k in found]) for found in orders})


def item_at(lo: Lowering, items: list[Value], key: Value, node) -> Value | None:
    """Lower `items[key]` for an index that is not known, None where one of the items is not taken by branches."""
    if issubclass(IndexError, lo.catching) or isinstance(key, Slice):
        return None
    if may_differ(lo, items, node):
        return OneOf(place_of(lo, items, key), dict(enumerate(items)))
    return by_index(lo, items, key) if are_few_objects(lo, items) else None


def by_index(lo: Lowering, items: list[Value], key: Value) -> Value:
    """Lower `items[key]`."""
    place = place_of(lo, items, key)

    def item(k: int) -> Value:
        if k == len(items) - 1:
            return items[k]
        return branches.choose(lo, lo.build.call(operator.eq, place, Const(k), type=BOOL), lambda: items[k], lambda: item(k + 1), "ifexp")

    return noted(lo, item(0))


def item_of(lo: Lowering, items: dict[Any, Value], key: Value, node) -> Value | None:
    """Lower `d[key]` for a dict of these items and a key that is not known, None where one of the items is not taken by branches."""
    if may_differ(lo, list(items.values()), node) and not issubclass(KeyError, lo.catching):
        return OneOf(key, items, KeyError)
    return by_key(lo, items, key) if are_few_objects(lo, list(items.values())) else None


def by_key(lo: Lowering, items: dict[Any, Value], key: Value) -> Value:
    """Lower `d[key]` for a dict of these items."""
    keys = list(items)

    def item(k: int) -> Value:
        if k == len(keys):
            return branches.raised_here(lo, KeyError, lo.read(key))
        is_this = core.operate(lo, operator.eq, key, Const(keys[k]))
        return branches.choose(lo, is_this, lambda: items[keys[k]], lambda: item(k + 1), "ifexp")

    return noted(lo, item(0))


def extreme(lo: Lowering, exceeds: Any, items: list[Value], key: Value, node) -> Value:
    """Lower `max(items, key=key)`, or `min`, by the operator that tells whether a key is better than the best so far."""
    best, best_key = items[0], core.call(lo, key, [items[0]], {}, node)
    for item in items[1:]:
        own = core.call(lo, key, [item], {}, node)
        better, before = TupleVal((item, own)), TupleVal((best, best_key))
        found = branches.choose(lo, core.operate(lo, exceeds, own, best_key), lambda new=better: new, lambda old=before: old, "ifexp")
        best, best_key = found.items
    return noted(lo, best)


def in_order(lo: Lowering, items: list[Value], key: Value, backward: bool, node) -> list[Value]:
    """Lower `sorted(items, key=key, reverse=backward)`: two neighbours change places where the second belongs before the first."""
    rows: list[Value] = [TupleVal((item, core.call(lo, key, [item], {}, node))) for item in items]
    for k in [k for last in range(len(items) - 1, 0, -1) for k in range(last)]:
        one, other = rows[k : k + 2]
        keys = (one.items[1], other.items[1]) if backward else (other.items[1], one.items[1])
        kept, changed = TupleVal((one, other)), TupleVal((other, one))
        wrong = core.operate(lo, operator.lt, *keys)
        rows[k : k + 2] = branches.choose(lo, wrong, lambda new=changed: new, lambda old=kept: old, "ifexp").items
    return [noted(lo, row.items[0]) for row in rows]


def identity(lo: Lowering, fn: Any, a: Value, b: Value) -> Value | None:
    """Lower `a is b` or `a is not b` where one is known to be one of several objects, by the conditions that decide which it is."""
    cells = [v for v in (a, b) if isinstance(v, Cell)]
    if not lo.pointing or len(cells) < 2 or a is b:
        return None
    pointer = lo.pointer_of(a)
    if pointer is None:
        return None if lo.pointer_of(b) is None else identity(lo, fn, b, a)
    if any(isinstance(leaf, core.New) for leaf in pointer.cells()):
        return None

    def asked(tree: Any) -> Value:
        if isinstance(tree, Cell):
            related = {tree, *tree.shares} & {b, *b.shares}
            plain = not any(v.kind == "array" or v.frozen or v in lo.params or lo.pointer_of(v) for v in (tree, b))
            same = True if tree is b else False if plain and related <= lo.pointers.keys() else None
            return core.operate(lo, fn, tree, b) if same is None else Const(same == (fn is operator.is_))
        return branches.choose(lo, tree.condition, lambda: asked(tree.first), lambda: asked(tree.second), "ifexp")

    return asked(pointer)
