"""The state that branches, loops and attempts change, and the record of its changes.

*Slots* are plain dicts: the variables of a scope, the current version of an array, the items of a list. The journal records each
change of a slot, so that lowering can try a branch, roll it back, try the other, and merge what differs. It also records the changes
that outlive a branch (which cells share memory, what a variable is called), which only an attempt that fails takes back.
"""

from __future__ import annotations

import itertools
from typing import Any

from sourcead.ir.nodes import Const

_births = itertools.count()
MISSING = object()
FALSE, TRUE = Const(False), Const(True)


class Meta(str):
    """A slot of a cell that is not an item of it."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


VALUE = Meta("value")  # the variable of the current version
SEEN = Meta("seen")  # the version of its base that a view's VALUE was derived from
STALE = Meta("stale")  # why a view of a list whose items were replaced cannot be derived again
POISON = Meta("poison")  # why the cell must not be read any more
UNSURE = Meta("unsure")  # why it is not known which keys a dict has
KIND = Meta("kind")  # 'list', 'dict' or 'object' while the items are known one by one
WHOLE = Meta("whole")  # the value that a list, dict or object came in as, as long as it is unchanged


class Flag(str):
    """A variable of a scope that is no name of the user's, such as whether a loop was left."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Slots(dict):
    """Changeable state; hashable by identity, ordered by birth."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, *args):
        super().__init__(*args)
        self.birth = next(_births)
        self.cell: Any = None  # the cell whose state this is; None for a scope


def next_birth() -> int:
    """A number above that of every container made so far, and below that of every later one."""
    return next(_births)


class Journal:
    """The changes since the beginning: `entries` those of slots, `others` how to undo the rest."""

    def __init__(self):
        self.entries: list[tuple[Slots, Any, Any]] = []
        self.others: list[tuple] = []

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        """Gives a slot a value; MISSING removes it."""
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
        """Takes back the changes of slots since a mark; other changes stay."""
        while len(self.entries) > mark:
            slots, key, old = self.entries.pop()
            if old is MISSING:
                slots.pop(key, None)
            else:
                slots[key] = old

    def changed(self, mark: int, born_before: int) -> dict[tuple[Slots, Any], Any]:
        """The slots changed since the mark, of containers older than it, with their values at the mark."""
        changes: dict[tuple[Slots, Any], Any] = {}
        for slots, key, old in itertools.islice(self.entries, mark, None):
            if slots.birth < born_before:
                changes.setdefault((slots, key), old)
        return changes

    # -- changes that only a failed attempt takes back -------------------------------------------------------------------

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """Gives an attribute of a cell or variable another value."""
        self.others.append((owner, setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def add(self, owner: Any, name: str, item: Any) -> None:
        """Adds to a set of a cell."""
        found = getattr(owner, name)
        if item not in found:
            self.others.append((owner, set.discard, found, item))
            found.add(item)

    def discard(self, owner: Any, name: str, item: Any) -> None:
        """Takes an item out of a set of a cell."""
        found = getattr(owner, name)
        if item in found:
            self.others.append((owner, set.add, found, item))
            found.discard(item)

    def append(self, owner: Any, name: str, item: Any) -> None:
        """Appends to a list of a cell."""
        found = getattr(owner, name)
        self.others.append((owner, list.pop, found))
        found.append(item)

    def touched(self, others: int) -> set[Any]:
        """The cells and variables with changes that are no slots, but for the first `others` changes."""
        return {owner for owner, *_ in self.others[others:]}

    def undo(self, others: int) -> None:
        """Takes back all but the first `others` changes that are no slots."""
        while len(self.others) > others:
            _, take_back, *args = self.others.pop()
            take_back(*args)
