"""Loops over lists and dicts that are changed while they are walked: each iteration takes what stands there by then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import Cell, Iterable, Lowering, Value


@dataclass(eq=False)
class Walk:
    """The items of a list or dict as they were when a loop began, in the order that it takes them."""

    cell: Cell
    items: list[tuple[Any, Value]]

    def stands(self, k: int) -> bool:
        """Whether what is still to be taken from place `k` on is as it was."""
        now = self.cell.items
        return len(now) == len(self.items) and all(now.get(key) is item for key, item in self.items[k:])


def walk(lo: Lowering, cell: Cell, items: list[tuple[Any, Value]]) -> Iterable:
    """The values of a list or dict, one by one."""
    made = Walk(cell, items)
    lo.walks.append(made)

    def reverse() -> Iterable:
        lo.walks.remove(made)
        return walk(lo, cell, items[::-1])

    return Iterable(items=[item for _, item in items], reverse=reverse, walk=made)


def pairs(lo: Lowering, cell: Cell, made: Iterable) -> Iterable:
    """An iterable that is made of the items of a dict, and refuses that they change."""
    lo.walks.append(Walk(cell, list(cell.items.items())))
    return made


def element(lo: Lowering, walks: list[Walk], iterable: Iterable, k: int, node) -> Value:
    """The element that iteration `k` takes."""
    for one in walks:
        if one.stands(k):
            continue
        now, (key, _) = one.cell.items, one.items[k] if k < len(one.items) else (None, None)
        if iterable.walk is not one or len(now) != len(one.items) or key not in now:
            raise core.unsupported(lo, node, "what this loop walks over is changed by it", "loop over a copy: `list(...)`")
        return now[key]
    return iterable.items[k]
