"""The parts of a variable's value, with what the user writes for them: `h`, `h[0]`, `h['key']`, `h.attribute`; which occur twice."""

from collections.abc import Iterable, Iterator

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import Cell, TupleVal, Value
from sourcead.frontend.core.journal import VALUE, Journal
from sourcead.ir.names import shown
from sourcead.ir.nodes import Const
from sourcead.ir.types import Array, Scalar


def parts_of_value(text: str, value: Value, around: tuple = (), most: int | None = None) -> Iterator[tuple[str, Cell]]:
    """Yield the arrays, containers and objects inside a value; at most so many of each container, if a number is given."""
    if not isinstance(value, Cell | TupleVal) or value in around:
        return
    if isinstance(value, Cell):
        yield text, value
    items = dict(enumerate(value.items)) if isinstance(value, TupleVal) else value.items
    for key, item in list(items.items())[:most]:
        attribute = isinstance(value, Cell) and value.kind == "object" and isinstance(key, str)
        yield from parts_of_value(f"{text}.{key}" if attribute else f"{text}[{shown(key)}]", item, (*around, value), most)


def is_surely_array(cell: Cell) -> bool:
    """Tell whether a cell is an array or number, and no list, dict or object."""
    return cell.kind == "array" and isinstance(atom_type(cell.slots.get(VALUE, Const(None))), Array | Scalar)


def double(journal: Journal, container: Cell, cells: Iterable[Cell]) -> None:
    """Record that objects may be in a list twice."""
    for cell in cells:
        journal.assign(container, "doubled", max(container.doubled, 1 if is_surely_array(cell) else 2))
