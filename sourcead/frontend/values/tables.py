"""Tell which lists and tuples of known items a loop can take by index, and make those of numbers that stand in the program."""

import gast

from sourcead.analysis.builder import atom_type
from sourcead.frontend.control.pairs import canonical
from sourcead.frontend.core import WHOLE, Cell, Lowering, TupleVal, Value
from sourcead.frontend.core.known_values import type_of_value
from sourcead.ir.nodes import Build, Const, Var
from sourcead.ir.records import is_made_of_numbers, join_all, list_type
from sourcead.ir.types import Array, DictT, ListT, Scalar, StructT, TupleT, Type

FEW = 4  # the most constants over which a loop is taken iteration by iteration
SHORT = 8  # the most statements that such iterations have together


def is_short(items: list[Value], node) -> bool:
    """Tell whether a loop over items reads as well iteration by iteration: they are few, and the body of a `for` statement is short."""
    statements = sum(isinstance(n, gast.stmt) for n in gast.walk(node)) - 1 if isinstance(node, gast.For) else 1
    return len(items) <= 1 or len(items) <= FEW and len(items) * statements <= SHORT


def is_constant(item: Value) -> bool:
    """Tell whether a value is a real number that stands in the program, or a tuple of such numbers."""
    if isinstance(item, TupleVal):
        return item.cls is None and all(map(is_constant, item.items))
    return isinstance(item, Const) and not item.live and is_made_of_numbers(item.value)


def are_constants(items: list[Value]) -> bool:
    """Tell whether all items are constants, and one loop body serves all of them."""
    return all(map(is_constant, items)) and is_numeric(join_all(map(type_of_item, items)))


def table(lo: Lowering, value: TupleVal | Cell) -> Var:
    """Emit a list or tuple of constants, which the loop takes by index."""
    atoms = tuple(map(lo.read, value.contents))
    types = tuple(map(atom_type, atoms))
    if isinstance(value, Cell) or not alike(value.items):  # an engine that compiles knows tuples of one type, and makes lists so
        return lo.build.emit(Build("list", atoms), list_type(types), getattr(value, "name", "items"))
    return lo.build.emit(Build("tuple", atoms), TupleT(types), "items")


def alike(items: list[Value]) -> bool:
    """Tell whether one loop body serves all items because their structures, dtypes and ranks are the same."""
    types = [type_of_item(item) for item in items]
    return all(map(is_numeric, types)) and len(set(map(canonical, types))) == 1


def type_of_item(item: Value) -> Type | None:
    """Return the type of an item as one value, which a list or dict of numbers and arrays is while it is unchanged, or None."""
    whole = item.slots.get(WHOLE) if isinstance(item, Cell) and item.kind in ("list", "dict") else None
    t = None if whole is None else atom_type(whole)
    return t if isinstance(t, DictT | ListT) and all(map(is_numeric, kinds_in(t))) else type_of_value(item, records=True)


def kinds_in(t: DictT | ListT) -> list[Type]:
    """Return the types of the items of a list or dict."""
    return [t.item] if isinstance(t, ListT) and t.items is None else [u for _, u in t.items] if isinstance(t, DictT) else [*t.items]


def is_numeric(t: Type | None) -> bool:
    """Tell whether a type is of numbers, arrays or their containers."""
    if isinstance(t, ListT):
        return all(map(is_numeric, kinds_in(t)))
    return all(is_numeric(part) for _, part in t.fields) if isinstance(t, StructT) else isinstance(t, (Array, TupleT, Scalar, DictT))
