"""Objects as keys of dicts: the cell that stands for an object stands for the key, too."""

from dataclasses import dataclass
from typing import Any

from sourcead.frontend.core.cells import Cell


@dataclass(frozen=True)
class IdentityVal:
    """Represent `id(obj)` of an object, which no other object has as long as this one is held."""

    of: Cell


def objects_in(key: Any) -> list[Cell]:
    """Return the object that a key of a dict is, which its cell stands for, or those in a tuple."""
    if type(key) is tuple:
        return [cell for part in key for cell in objects_in(part)]
    return [key] if isinstance(key, Cell) else []


def has_objects_as_keys(cell: Cell) -> bool:
    """Tell whether some keys of a dict are objects, so that it can be no value of the IR."""
    return cell.kind == "dict" and any(map(objects_in, cell.items))
