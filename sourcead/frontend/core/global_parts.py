"""Find out which object a part of a global is now, and make the text anew when it is another one.

The text reads data of globals again in each call and relies on their types alone.  Where lowering needs the object itself, such as the
key of a dict or a mark that is compared by `is`, it relies on that, and each call asks whether it is still there.
"""

import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.frontend.core.cells import Cell, TupleVal, Value
from sourcead.frontend.core.errors import refused
from sourcead.frontend.core.journal import VALUE, WHOLE
from sourcead.frontend.core.lowering import Lowering
from sourcead.ir.nodes import Call, Const, Index, Let, Var
from sourcead.ir.number_classes import is_special_number

NOT_A_PART = object()
ALL_ITEMS = ("all items",)


@dataclass(frozen=True, eq=False)
class Part:
    """A place in a global or closure variable, and the object that a text relies on to be there."""

    holder: Any
    name: str
    keys: tuple
    expected: Any

    @property
    def now(self) -> Any:
        """The expected object as long as it, or an equal number, string or set, is at the place; another one afterwards."""
        try:
            found = at_place(self.holder, self.name, self.keys)
            by_value = type(found) in (str, bytes, int, float, complex, set, frozenset) and type(found) is type(self.expected)
            same = found is self.expected or by_value and found == self.expected
        except Exception:  # there is nothing any more
            same = False
        return self.expected if same else NOT_A_PART

    def rebound(self, holder: Any) -> "Part":
        """Return the same place in another closure variable."""
        return Part(holder, self.name, self.keys, self.expected)


class Table(Part):
    """A list, tuple or dict at such a place, whose items in all depths are expected to be what they were."""

    @property
    def now(self) -> Any:
        """The expected items as long as equal ones are there."""
        try:
            return self.expected if at_place(self.holder, self.name, self.keys) == self.expected else NOT_A_PART
        except Exception:
            return NOT_A_PART

    def rebound(self, holder: Any) -> Part:
        return Table(holder, self.name, self.keys, self.expected)


def copied_table(value: Any) -> Any:
    """Return a copy of nested lists, tuples and dicts of numbers, texts and functions; raise TypeError if they hold anything else."""
    if isinstance(value, int | float | str | None | types.FunctionType | types.BuiltinFunctionType | np.ufunc):
        return value
    if type(value) is list or isinstance(value, tuple) and type(value).__eq__ is tuple.__eq__:
        return type(value)(map(copied_table, value)) if type(value) in (list, tuple) else tuple(map(copied_table, value))
    if type(value) is dict:
        return {key: copied_table(item) for key, item in value.items()}
    raise TypeError


@dataclass(frozen=True, eq=False)
class ThisCell(Part):
    """A closure cell into which a text writes, which serves no function with another cell."""

    name: str = "cell_contents"
    keys: tuple = ()
    expected: Any = None

    @property
    def now(self) -> Any:
        """The cell itself."""
        return self.holder

    def rebound(self, holder: Any) -> Part:
        """Return the other cell."""
        return ThisCell(holder)


def at_place(holder: Any, name: str, keys: tuple) -> Any:
    """Return what a global, a closure variable or an attribute holds, or the part of it that some keys lead to."""
    if isinstance(holder, types.CellType):
        holder = {name: holder.cell_contents}
    found = holder[name] if isinstance(holder, dict) else getattr(holder, name)
    for key in keys:
        found = found[key] if type(found) in (list, tuple, dict) else getattr(found, key)
    return found


def part_of_global(lo: Lowering, value: Value) -> Any:
    """Return the object that a part of a global or closure variable is, on which the text relies then; NOT_A_PART for others."""
    if (place := place_in_global(lo, value)) is None:
        return NOT_A_PART
    holder, name, keys, found = place
    part = Part(holder, name, keys, set(found) if type(found) is set else found)
    lo.guards[id(holder), name, keys] = part, "now", part.expected
    return part.expected


def integer_of_table(lo: Lowering, value: Value) -> int | None:
    """Return the integer that an item of a global list, tuple or dict is; the text relies on all of its items then."""
    holder, name, keys, found = place_in_global(lo, value) or (None, "", (), None)
    if type(found) is not int or not keys:
        return None
    if (id(holder), name, ALL_ITEMS) not in lo.guards:
        try:
            table = Table(holder, name, (), copied_table(at_place(holder, name, ())))
        except TypeError:
            return None
        lo.guards[id(holder), name, ALL_ITEMS] = table, "now", table.expected
    return found


def place_in_global(lo: Lowering, value: Value) -> tuple[Any, str, tuple, Any] | None:
    """Return where in a global or closure variable a value was read, as holder, name and keys, and what is there; None for others."""
    atom = value.origin if isinstance(value, TupleVal) else value
    if isinstance(value, Cell):
        atom = value.slots.get(WHOLE, value.slots.get(VALUE))
    keys: tuple = ()
    while isinstance(atom, Var):
        match lo.build.made_by.get(atom):
            case Index(base, Const(key)):
                keys = (key, *keys)
                atom = base
            case Let(base):
                atom = base
            case _:
                return None
    if not isinstance(atom, Const) or not atom.live or atom.text not in lo.live:
        return None
    holder, name = lo.live[atom.text]
    try:
        return holder, name, keys, at_place(holder, name, keys)
    except Exception:  # an object that says itself what its items are
        return None


def number_of_class(lo: Lowering, value: Value) -> Any:
    """Return the global number of a class derived from `float` or another that a value is, None for any other value."""
    number = part_of_global(lo, value) if lo.number_classes else None
    return number if is_special_number(number) else None


def classes_of_number(lo: Lowering, value: Value, own: list[type]) -> list[type]:
    """Return the classes that a number may have whose type tells that its class is one of `own`, or one derived from these."""
    if (number := number_of_class(lo, value)) is not None:
        return [type(number)]
    made = lo.build.made_by.get(value) if isinstance(value, Var) else None
    is_computed = isinstance(made, Call) and (isinstance(made.fn, np.ufunc) or getattr(made.fn, "__module__", "") in ("_operator", "math"))
    return own if is_computed else [*own, *(cls for cls in lo.number_classes if issubclass(cls, tuple(own)))]


def refuse_unknown_class(lo: Lowering, classes: list[type]) -> None:
    """Refuse a question about the class of a number that may be one of a class of its own, or become one in a later iteration."""
    if not lo.number_classes.isdisjoint(classes) and len(classes) > 1:
        raise refused(lo, "whether this number is one of a class of its own is not known before the program runs", "ask the global itself")
    if (lo.loops or lo.in_pairs) and len(classes) == 1 and issubclass(classes[0], int | float | complex):
        lo.number_classes.asked = True
