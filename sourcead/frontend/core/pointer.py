"""Say which of several objects an object is, as conditions decide (`control/pointers.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sourcead.frontend.core.cells import Cell
from sourcead.frontend.core.journal import Slots
from sourcead.ir.nodes import Atom

MOST_OBJECTS = 8


class New(Cell):
    """Stand for an object that an arm of a branch made, which nothing but the merged object leads to after it."""

    def __init__(self):
        super().__init__(Slots(), "new")


@dataclass(frozen=True, eq=False)
class Pointer:
    """Represent the object `first` where a condition holds, and `second` where it does not.

    `block` has the statements of the block in which the condition is known.
    """

    condition: Atom
    first: Cell | Pointer
    second: Cell | Pointer
    block: list[Any]

    def cells(self) -> list[Cell]:
        """Return the objects that it may lead to, each once."""
        parts = (self.first, self.second)
        return list(dict.fromkeys(cell for part in parts for cell in (part.cells() if isinstance(part, Pointer) else [part])))


class Pointers:
    """Hold the pointers of a lowering.

    Attributes:
        pointing: whether objects that may be one of several are kept equal with these, in place of poisoned.
        pointers: what an object is that was merged after a branch.
        follow: writes what was written to an object to those that are the same one; None while it does that.
    """

    def __init__(self):
        self.pointing = False
        self.pointers: dict[Cell, Pointer] = {}
        self.follow: Any = None

    def pointer_of(self, cell: Cell) -> Pointer | None:
        """Return what an object may be if its conditions are known here, and no two of these objects may share memory."""
        pointer = self.pointers.get(cell)
        if pointer is None or all(block is not pointer.block for block in (self.build.stmts, *self.build.around)):
            return None
        whole = {leaf.root() for leaf in pointer.cells()}
        return None if any(other in leaf.shares for leaf in whole for other in whole) else pointer

    def pointers_to(self, cell: Cell) -> Iterator[tuple[Cell, Pointer]]:
        """Iterate over the objects that may be this one, or a part of it."""
        for other in list(self.pointers):
            if other is not cell and (pointer := self.pointer_of(other)) is not None:
                if any(leaf is cell or leaf.root() is cell for leaf in pointer.cells()):
                    yield other, pointer

    def is_kept_equal(self, one: Cell, other: Cell) -> bool:
        """Tell whether a write to one of two objects is written to the other one if they are one object."""
        reached = []
        for cell in (one, other):
            pointer = self.pointer_of(cell)
            reached.append({cell} if pointer is None else {root for leaf in pointer.cells() for root in (leaf, leaf.root())} | {cell})
        return not reached[0].isdisjoint(reached[1])
