"""Say which of several objects an object is, as conditions decide (`control/pointers.py`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sourcead.frontend.core.cells import Cell
from sourcead.frontend.core.journal import Slots
from sourcead.ir.nodes import Atom

MOST_OBJECTS = 8


class New(Cell):
    """Stand for an object that an arm of a branch made, to which only merged objects lead after it."""

    def __init__(self, made: Cell):
        super().__init__(Slots(), "new")
        self.made = made


@dataclass(frozen=True, eq=False)
class Pointer:
    """Represent the object `first` where a condition holds, and `second` where it does not.

    `block` has the statements of the block in which the condition is known.
    """

    condition: Atom
    first: Cell | Pointer
    second: Cell | Pointer
    block: list[Any]

    def with_new(self, merged: Cell) -> Pointer:
        """Return the pointer with the merged object in place of the object that a branch has made."""
        parts = (merged if isinstance(p, New) else p.with_new(merged) if isinstance(p, Pointer) else p for p in (self.first, self.second))
        return Pointer(self.condition, *parts, self.block)

    def leaves(self) -> list[Cell]:
        """Return the objects that it leads to, one for each way to decide the conditions."""
        return [cell for part in (self.first, self.second) for cell in (part.leaves() if isinstance(part, Pointer) else [part])]

    def cells(self) -> list[Cell]:
        """Return the objects that it may lead to, each once."""
        return list(dict.fromkeys(self.leaves()))


class Pointers:
    """Hold the pointers of a lowering.

    Attributes:
        pointing: whether objects that may be one of several are kept equal with these, in place of poisoned.
        pointers: what an object is that was merged after a branch.
        follow: writes what was written to an object to those that are the same one; None while it does that.
        followed: counts these writes, also those of attempts that failed.
    """

    def __init__(self):
        self.pointing = False
        self.pointers: dict[Cell, Pointer] = {}
        self.follow: Any = None
        self.followed = itertools.count(1)

    def pointer_of(self, cell: Cell) -> Pointer | None:
        """Return what an object may be if its conditions are known here, and no two of these objects may share memory."""
        pointer = self.pointers.get(cell)
        if pointer is None or all(block is not pointer.block for block in (self.build.stmts, *self.build.around)):
            return None
        whole = {leaf.root(): self.pointers.get(leaf) for leaf in pointer.cells()}
        for leaf, among in whole.items():  # a leaf is a pointer where it is an object that a branch made, and its others are leaves, too
            for other, others in whole.items():
                if other in leaf.shares and not (among and other in among.cells() or others and leaf in others.cells()):
                    return None
        return pointer

    def pointers_to(self, cell: Cell) -> Iterator[tuple[Cell, Pointer]]:
        """Iterate over the objects that may be this one, or a part of it."""
        for other in list(self.pointers):
            if other is not cell and (pointer := self.pointer_of(other)) is not None:
                if any(leaf is cell or leaf.root() is cell for leaf in pointer.cells()):
                    yield other, pointer

    def is_kept_equal(self, one: Cell, other: Cell) -> bool:
        """Tell whether a write to one of two objects is written to the other one if they are one object."""
        reached, made = [], []
        for cell in (one, other):
            pointer = self.pointer_of(cell)
            leaves = [cell] if pointer is None else pointer.cells()
            reached.append({cell, *leaves, *(leaf.root() for leaf in leaves)})
            made.append([leaf for leaf in leaves if isinstance(leaf, New)] + [leaf for leaf in leaves if leaf in self.pointers])
        if one in reached[1] or other in reached[0]:
            return True
        new = [{cell for leaf in leaves if leaf not in made[1 - k] for cell in self.made_in_arms(leaf)} for k, leaves in enumerate(made)]
        return new[0].isdisjoint(new[1]) and not reached[0].isdisjoint(reached[1])

    def made_in_arms(self, cell: Cell) -> list[Cell]:
        """Return the objects made in arms of branches that a leaf of a pointer may be."""
        leaves = self.pointers[cell].cells() if cell in self.pointers else [cell]
        return [leaf.made for leaf in leaves if isinstance(leaf, New)]
