"""Lower what compares objects inside containers, item by item, in the order in which Python asks their classes.

    x in items             x is items[0] or items[0] == x or ...        no item after the one that is found is asked
    (a, b) == (c, d)       (a is c or a == c) and (b is d or b == d)
    (a, b) < (c, d)        a < c if not (a is c or a == c) else b < d

So what `__eq__` and `__lt__` change is seen. `special_effects.py` has what happens where the items are not known one by one.
"""

import functools
import operator
from collections.abc import Callable

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.core import FALSE, TRUE, Cell, Lowering, TupleVal, Value, leaves
from sourcead.ir.nodes import Const

ORDER = (operator.lt, operator.le, operator.gt, operator.ge)
COMPARISONS = (operator.eq, operator.ne, *ORDER)


def holds_objects(*values: Value) -> bool:
    """Tell whether there is an object of a user's class in some of the values."""
    return any(isinstance(leaf, Cell) and leaf.kind == "object" for value in values for leaf in leaves(value))


def is_same(lo: Lowering, a: Value, b: Value) -> Value:
    """Lower `a is b or a == b`, by which containers compare their items."""
    if a is b and isinstance(a, (Cell, TupleVal)):
        return TRUE
    try:
        same = core.operate(lo, operator.is_, a, b)
    except UnsupportedSyntaxError:  # it is not known whether they are one object
        if holds_objects(a, b):
            raise
        same = FALSE
    return branches.choose(lo, same, lambda: TRUE, lambda: core.condition(lo, core.operate(lo, operator.eq, a, b)), "ifexp")


def compared(lo: Lowering, fn: Callable, a: Value, b: Value) -> Value:
    """Lower the comparison of two lists or of two tuples, one of which holds objects."""
    one, other = a.contents, b.contents
    if fn in (operator.eq, operator.ne) and isinstance(a, Cell) and len(one) != len(other):
        return Const(fn is operator.ne)

    def after(place: int) -> Value:
        if place == min(len(one), len(other)):
            return Const(fn(len(one), len(other)))
        x, y = one[place], other[place]

        def differ() -> Value:
            return core.operate(lo, fn, x, y) if fn in ORDER else Const(fn is operator.ne)

        return branches.choose(lo, is_same(lo, x, y), lambda: after(place + 1), differ, "ifexp")

    return after(0)


def among(lo: Lowering, items: list[Value], wanted: Value) -> Value:
    """Lower `wanted in items`."""
    if not items:
        return FALSE
    return branches.choose(lo, is_same(lo, items[0], wanted), lambda: TRUE, lambda: among(lo, items[1:], wanted), "ifexp")


def places(lo: Lowering, items: list[Value], wanted: Value, first: bool) -> list[int] | None:
    """Return the places of the items that equal what is looked for, or of the first of them; None where that is not known."""
    found: list[int] = []
    with lo.attempt() as attempt:
        for place, item in enumerate(items):
            verdict = core.truth(lo, is_same(lo, item, wanted))
            if verdict is None:
                attempt.fail()
                break
            if verdict:
                found.append(place)
                if first:
                    break
    return None if attempt.failed else found


def place_of(lo: Lowering, items: list[Value], wanted: Value, first: int = 0) -> Value:
    """Lower `items.index(wanted)` where the run decides which item it is."""
    if first == len(items):
        return branches.raised_here(lo, ValueError, Const("list.index(x): x not in list"))
    found = is_same(lo, items[first], wanted)
    return branches.choose(lo, found, lambda: Const(first), lambda: place_of(lo, items, wanted, first + 1), "ifexp")


def number_of(lo: Lowering, items: list[Value], wanted: Value) -> Value:
    """Lower `items.count(wanted)` where the run decides which items it is."""
    found = [core.call_object(lo, int, [is_same(lo, item, wanted)], {}, None) for item in items]
    return functools.reduce(lambda a, b: core.operate(lo, operator.add, a, b), found, Const(0))
