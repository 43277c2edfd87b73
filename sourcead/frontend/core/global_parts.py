"""Find out which object a part of a global is now, and make the text anew when it is another one.

The text reads data of globals again in each call and relies on their types alone.  Where lowering needs the object itself, such as the
key of a dict or a mark that is compared by `is`, it relies on every step that leads to the object.
"""

from typing import Any

from sourcead.frontend.core.cells import Cell, TupleVal, Value
from sourcead.frontend.core.journal import VALUE, WHOLE
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Const, Index, Let, Var

NOT_A_PART = object()


def part_of_global(lo: Lowering, value: Value) -> Any:
    """Return the object that a part of a global or closure variable is, on which the text relies then; NOT_A_PART for others."""
    atom = value.slots.get(WHOLE, value.slots.get(VALUE)) if isinstance(value, Cell) else value.origin if isinstance(value, TupleVal) else value
    keys = []
    while isinstance(atom, Var):
        match lo.build.made_by.get(atom):
            case Index(base, Const(key)):
                keys.append(key)
                atom = base
            case Let(base):
                atom = base
            case _:
                return NOT_A_PART
    if not isinstance(atom, Const) or not atom.live or atom.text not in lo.live:
        return NOT_A_PART
    steps, found = [(*lo.live[atom.text], atom.value)], atom.value
    for key in reversed(keys):
        holder, found = found, item_of(found, key)
        if found is NOT_A_PART:
            return NOT_A_PART
        if not isinstance(holder, tuple):
            steps.append((holder, key, found))
    lo.guards.update({(id(holder), key): (holder, key, part) for holder, key, part in steps})
    return found


def item_of(holder: Any, key: Any) -> Any:
    """Return the item of a list, tuple or dict, or the attribute of a record; NOT_A_PART if there is none."""
    if type(holder) in (list, tuple, dict):
        return holder[key] if not isinstance(holder, dict) or key in holder else NOT_A_PART
    return getattr(holder, key, NOT_A_PART) if isinstance(key, str) else NOT_A_PART


class Unchanged:
    """The items of a set, which is there before the function is called, as they were while it was lowered."""

    def __init__(self, items: set | frozenset):
        self._items, self.before = items, frozenset(items)

    @property
    def state(self) -> object:
        """This object as long as the set has the same items, another one afterwards."""
        return self if self._items == self.before else object()


def items_of_set(lo: Lowering, value: Value) -> frozenset | None:
    """Return the items of a set of a global, on which the text relies then; None for any other value."""
    found = part_of_global(lo, value)
    if type(found) not in (set, frozenset):
        return None
    now = Unchanged(found)
    lo.guards[id(now), "state"] = now, "state", now
    return now.before
