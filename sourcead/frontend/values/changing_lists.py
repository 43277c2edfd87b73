"""Lower loops that change the list or dict they run over: each iteration takes the item that is there at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Iterable, Lowering, Value


@dataclass(eq=False)
class Walk:
    """Record the items of a list or dict, in loop order, as they were when the loop began."""

    cell: Cell
    items: list[tuple[Any, Value]]

    def stands(self, k: int) -> bool:
        """Tell whether the items from place `k` on are unchanged."""
        now = self.cell.items
        return len(now) == len(self.items) and all(now.get(key) is item for key, item in self.items[k:])


def walk(lo: Lowering, cell: Cell, items: list[tuple[Any, Value]]) -> Iterable:
    """Iterate over the values of a list or dict one by one."""
    made = Walk(cell, items)
    lo.walks.append(made)

    def reverse() -> Iterable:
        lo.walks.remove(made)
        return walk(lo, cell, items[::-1])

    return Iterable(items=[item for _, item in items], reverse=reverse, walk=made)


def pairs(lo: Lowering, cell: Cell, made: Iterable) -> Iterable:
    """Register an iterable made of the items of a dict, so that changes of the dict during the loop are refused."""
    lo.walks.append(Walk(cell, list(cell.items.items())))
    return made


def element(lo: Lowering, walks: list[Walk], iterable: Iterable, k: int, node) -> Value:
    """Return the element that iteration `k` takes; refuse if the loop changes what it runs over in an unsupported way."""
    for one in walks:
        if one.stands(k):
            continue
        now, (key, _) = one.cell.items, one.items[k] if k < len(one.items) else (None, None)
        if iterable.walk is not one or len(now) != len(one.items) or key not in now:
            raise core.unsupported(lo, node, "what this loop walks over is changed by it", "loop over a copy: `list(...)`")
        return now[key]
    return iterable.items[k]
