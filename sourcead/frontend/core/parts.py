"""The parts of the value of a variable, with what the user writes for them: `h`, `h[0]`, `h['key']`, `h.attribute`."""

from collections.abc import Iterator

from sourcead.frontend.core.cells import Cell, TupleVal, Value
from sourcead.ir.names import shown


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
