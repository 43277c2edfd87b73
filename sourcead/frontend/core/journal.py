"""Hold the state that branches, loops and attempts change, and record its changes.

*Slots* are plain dicts: the variables of a scope, the current version of an array, the items of a list. The journal records each
change of a slot, so that lowering can try a branch, roll it back, try the other, and merge what differs. It also records the changes
that outlive a branch (which cells share memory, how a variable is named), which only a failed attempt undoes.

An *attempt* at lowering takes a snapshot of each attribute of the lowering, its builder and the visible scopes, and of the position
in the journal. If it fails, the changes in the journal are undone one by one, and everything else is restored.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from sourcead.ir.nodes import Const

_births = itertools.count()
MISSING = object()
FALSE, TRUE = Const(False), Const(True)


class Meta(str):
    """Name a slot of a cell that is not one of its items."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


VALUE = Meta("value")  # the variable of the current version
SEEN = Meta("seen")  # the version of its base that a view's VALUE was derived from
STALE = Meta("stale")  # why a view of a list whose items were replaced cannot be derived again
POISON = Meta("poison")  # why the cell must not be read any more
UNSURE = Meta("unsure")  # why it is not known which keys a dict has
KIND = Meta("kind")  # 'list', 'dict' or 'object' while the items are known one by one
WHOLE = Meta("whole")  # the IR value that a list, dict or object was unpacked from, while it is unchanged


class Flag(str):
    """Name a variable of a scope that is not the user's, such as whether a loop was left; a copy of syntax has the same flags."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __deepcopy__(self, memo: dict) -> Flag:
        return self


class Slots(dict):
    """Hold mutable state; slots are hashed by identity and numbered by creation."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, *args):
        super().__init__(*args)
        self.birth = next(_births)
        self.cell: Any = None  # the cell whose state this is; None for a scope
        self.initial: dict | None = None  # the values before the call, of variables and items that outlive it (`control/outliving.py`)
        self.owner: Const | None = None  # the module, closure cell or dict of those


def next_birth() -> int:
    """Return a number above that of every `Slots` object made so far and below that of every later one."""
    return next(_births)


class Journal:
    """Record all changes: `entries` lists those of slots, `others` tells how to undo the rest."""

    def __init__(self):
        self.entries: list[tuple[Slots, Any, Any, list]] = []
        self.others: list[tuple] = []

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        """Set a slot to a value; MISSING removes it."""
        old = slots.get(key, MISSING)
        if old is value:
            return
        later = list(slots)[list(slots).index(key) + 1 :] if value is MISSING and slots.cell is not None else []
        self.entries.append((slots, key, old, later))
        if value is MISSING:
            del slots[key]
        else:
            slots[key] = value

    def mark(self) -> int:
        return len(self.entries)

    def rollback(self, mark: int) -> None:
        """Undo the changes of slots since a mark; keep other changes."""
        while len(self.entries) > mark:
            slots, key, old, later = self.entries.pop()
            if old is MISSING:
                slots.pop(key, None)
            else:
                slots[key] = old
            for after in later:  # the order of the keys of a dict is part of its value
                slots[after] = slots.pop(after)

    def changed(self, mark: int, born_before: int) -> dict[tuple[Slots, Any], Any]:
        """Return the slots changed since the mark, of containers older than it, with their values at the mark."""
        changes: dict[tuple[Slots, Any], Any] = {}
        for slots, key, old, _ in itertools.islice(self.entries, mark, None):
            if slots.birth < born_before:
                changes.setdefault((slots, key), old)
        return changes

    # -- changes that only a failed attempt takes back -------------------------------------------------------------------

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a cell or variable."""
        self.others.append((owner, setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def add(self, owner: Any, name: str, item: Any) -> None:
        """Add an item to a set of a cell."""
        found = getattr(owner, name)
        if item not in found:
            self.others.append((owner, set.discard, found, item))
            found.add(item)

    def discard(self, owner: Any, name: str, item: Any) -> None:
        """Remove an item from a set of a cell."""
        found = getattr(owner, name)
        if item in found:
            self.others.append((owner, set.add, found, item))
            found.discard(item)

    def append(self, owner: Any, name: str, item: Any) -> None:
        """Append an item to a list of a cell."""
        found = getattr(owner, name)
        self.others.append((owner, list.pop, found))
        found.append(item)

    def touched(self, others: int) -> set[Any]:
        """Return the owners of all changes outside slots, except the first `others` changes."""
        return {owner for owner, *_ in self.others[others:]}

    def undo(self, others: int) -> None:
        """Undo all changes outside slots, except the first `others` changes."""
        while len(self.others) > others:
            _, take_back, *args = self.others.pop()
            take_back(*args)


# -- attempts --------------------------------------------------------------------------------------------------------------


SYNTAX = frozenset({"exits", "local", "reads", "words"})
"""Attributes of a scope that cache facts of the syntax alone: they hold for every attempt, and are kept."""


@dataclass(eq=False)
class Attempt:
    """Hold the outcome of an attempt: whether it failed, and the error that made it fail."""

    failed: bool = False
    error: Exception | None = None

    def fail(self) -> None:
        """Mark the attempt as failed, so that it is undone when it ends."""
        self.failed = True


PLAIN = frozenset({dict, set, list})


class Snapshot:
    """Save the state of a lowering when the snapshot is made."""

    def __init__(self, lo: Any):
        self.journal, self.entries, self.others = lo.journal, lo.journal.mark(), len(lo.journal.others)
        self.attributes = [(owner, vars(owner).copy()) for owner in (lo, lo.build, *lo.scopes())]
        self.contents = [  # slots are covered by the journal; the content of plain containers is copied
            (value, value.copy())
            for _, attributes in self.attributes
            for name, value in attributes.items()
            if type(value) in PLAIN and name not in SYNTAX
        ]

    def restore(self) -> None:
        """Restore the lowering to the saved state."""
        self.journal.rollback(self.entries)
        self.journal.undo(self.others)
        for owner, attributes in self.attributes:
            for name in attributes.keys() - SYNTAX:
                setattr(owner, name, attributes[name])
        for value, content in self.contents:
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(content)
