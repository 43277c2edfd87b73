"""TODO"""

from __future__ import annotations

import itertools
from typing import Any

from sourcead.frontend.core.cells import Cell
from sourcead.ir.nodes import Const

FALSE, TRUE = Const(False), Const(True)


class Flag(str):
    """A variable of a scope that no name of the user's can be mistaken for."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


_births = itertools.count()


class Meta(str):
    """A slot of a cell that is not an item of it."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


VALUE = Meta("value")  # the variable of the current version


SEEN = Meta("seen")  # of a view: the version of its base that VALUE was derived from


STALE = Meta("stale")  # of a view of a list whose items were replaced: why it cannot be derived again


POISON = Meta("poison")  # why the cell must not be read any more


UNSURE = Meta("unsure")  # of a dict: why it is not known which keys it has


KIND = Meta("kind")  # 'list', 'dict' or 'object' while its items are known one by one


WHOLE = Meta("whole")  # of a list, dict or object that came in as one value: that value, as long as it is unchanged


class Slots(dict):
    """Changeable state; hashable by identity, ordered by birth."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, *args):
        super().__init__(*args)
        self.birth = next(_births)
        self.cell: Cell | None = None  # whose state this is; None for a scope


MISSING = object()


class Journal:
    """The changes of slots since the beginning, undoable."""

    def __init__(self):
        self.entries: list[tuple[Slots, Any, Any]] = []

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        old = slots.get(key, MISSING)
        if old is value:
            return
        self.entries.append((slots, key, old))
        if value is MISSING:
            slots.pop(key, None)
        else:
            slots[key] = value

    def mark(self) -> int:
        return len(self.entries)

    def rollback(self, mark: int) -> None:
        while len(self.entries) > mark:
            slots, key, old = self.entries.pop()
            if old is MISSING:
                slots.pop(key, None)
            else:
                slots[key] = old

    def changed(self, mark: int, born_before: int) -> dict[tuple[Slots, Any], Any]:
        """Slots changed since the mark, of containers older than it, with their values at the mark."""
        changes: dict[tuple[Slots, Any], Any] = {}
        for slots, key, old in itertools.islice(self.entries, mark, None):
            if slots.birth < born_before:
                changes.setdefault((slots, key), old)
        return changes


def next_birth() -> int:
    """A number above that of every container made so far, and below that of every later one."""
    return next(_births)
