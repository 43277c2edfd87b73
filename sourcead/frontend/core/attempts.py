"""Undo everything that an attempt at lowering has changed if it fails.

A snapshot holds each attribute of the lowering, its builder and the visible scopes, and the position in the journal. Changes in
the journal (slots, cells, names of variables) are undone one by one; everything else is restored. Facts that are derived from the
syntax alone and cached (`SYNTAX`) hold for every attempt, and are kept.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

SYNTAX = frozenset({"exits", "reads"})  # attributes of a scope


@dataclass(eq=False)
class Attempt:
    """Hold the outcome of an attempt: whether it failed, and the error that made it fail."""

    failed: bool = False
    error: Exception | None = None

    def fail(self) -> None:
        """Mark the attempt as failed, so that it is undone when it ends."""
        self.failed = True


class Snapshot:
    """Save the state of a lowering when the snapshot is made."""

    def __init__(self, lo: Any):
        self.journal, self.entries, self.others = lo.journal, lo.journal.mark(), len(lo.journal.others)
        self.owners = [(owner, _attributes(owner)) for owner in (lo, lo.build, *lo.scopes())]

    def restore(self) -> None:
        """Restore the lowering to the saved state."""
        self.journal.rollback(self.entries)
        self.journal.undo(self.others)
        for owner, before in self.owners:
            for name, (value, content) in before.items():
                setattr(owner, name, value)
                if content is not None:
                    value.clear()
                    (value.extend if isinstance(value, list) else value.update)(content)


def _attributes(owner: Any) -> dict[str, tuple[Any, Any]]:
    """Copy the attributes of an object and the content of plain containers among them; slots are covered by the journal."""
    return {
        name: (value, copy.copy(value) if type(value) in (dict, set, list) else None)
        for name, value in vars(owner).items()
        if name not in SYNTAX
    }
