"""What a function changes in its arguments that a derivative of it leaves as it was: attributes, and items of lists and dicts.

    def loss(self, x):
        self.calls += 1         # the derivative computes with the new number, but the caller's `self` keeps the old one
        return np.sum(x ** 2)

Arrays that are written are no such change: nobody takes a derivative in order to write into an array.
"""

from functools import cached_property

import gast

from sourcead.frontend import core
from sourcead.frontend.core import MISSING, VALUE, Flag, Lowering, Meta, Value
from sourcead.frontend.find_source import Source
from sourcead.ir.nodes import Origin
from sourcead.ir.records import find
from sourcead.ir.types import Array, Unknown


def lost_changes(lo: Lowering, source: Source) -> dict[str, Origin]:
    """Return the parts of the arguments that a function which was lowered changes, as the user writes them, and where, as far as known."""
    mark, birth, params = lo.entered
    changed = {slot: before for slot, before in lo.journal.changed(mark, birth).items() if is_lost(lo, *slot, before)}
    found: dict[str, Origin] = {}
    own = source.node.args.kwarg and source.node.args.kwarg.id  # the dict of `**kwargs` is made anew for each call
    for name, value in params.items():
        for text, cell in core.parts_of_value(name, value):
            if text == own:
                continue
            if cell.slots.get(VALUE, MISSING) is not MISSING and name not in lo.written:
                continue  # it has become one value because of how it is read
            for slots, key in changed:
                if slots is cell.slots and not isinstance(find(cell.cls or object, key)[1], cached_property):  # anew for each derivative
                    attribute = key if cell.kind == "object" and isinstance(key, str) else None
                    found[text if attribute is None else f"{text}.{attribute}"] = place_of(source, text, attribute)
    return found


def is_lost(lo: Lowering, slots, key, before: Value) -> bool:
    """Tell whether a slot has another value than before, which no caller sees; what an array holds does not count."""
    now, cell = slots.get(key, MISSING), slots.cell
    if isinstance(key, Flag) or isinstance(key, Meta) and key is not VALUE or now is before or cell is None:
        return False
    if key is VALUE:
        return cell.base is None and now is not MISSING and not isinstance(core.data_type(lo, cell), Array | Unknown)
    if MISSING in (now, before):
        return True
    (found, value), (known_before, first) = core.known(lo, now), core.known(lo, before)
    return not (found and known_before and value is first)


def place_of(source: Source, text: str, attribute: str | None) -> Origin:
    """Return where a function assigns an attribute, or an item of a container or calls a method of it, or else where it begins."""

    def changes(node: gast.AST) -> bool:
        match node:
            case gast.Attribute(attr=name, ctx=gast.Store()):
                return name == attribute
            case gast.Subscript(value=container, ctx=gast.Store() | gast.Del()) | gast.Call(func=gast.Attribute(value=container)):
                return attribute is None and written(container) == text
        return False

    return source.origin(next(filter(changes, gast.walk(source.node)), source.node))


def written(node: gast.AST) -> str | None:
    """Return how a name, or an attribute of one, is written; None for other expressions."""
    match node:
        case gast.Name(id=name):
            return name
        case gast.Attribute(value=value, attr=name):
            return f"{written(value)}.{name}"
    return None
