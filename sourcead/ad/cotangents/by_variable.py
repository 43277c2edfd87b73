"""The cotangents of the variables of a block.

The cotangent of a variable is one atom of its type; the first contribution assigns, later ones add:

    d_x = c1        d_x = d_x + c2

The cotangent of a tuple, list, dict or record is kept item by item as long as only items with constant keys contribute.
"""

from __future__ import annotations

from sourcead.ad.cotangents.algebra import assembled, plus, zeros
from sourcead.ad.cotangents.shapes import in_dtype
from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Var
from sourcead.ir.types import FLOAT, Type

RECENT = 8  # statements of one rule


class Cotangents:
    """The cotangents of the variables of one block.

    Attributes:
        build: where statements go.
        active: the variables that have one at all.
        whole: the cotangents that are one atom.
        parts: those of the items of containers, by their constant keys.
    """

    def __init__(self, build: Builder, active: set[Var]):
        self.build = build
        self.active = active
        self.whole: dict[Var, Atom] = {}
        self.parts: dict[Var, dict[object, Atom]] = {}

    def copy(self) -> Cotangents:
        """Return a copy of the cotangents, to which an arm of a branch can contribute independently."""
        new = Cotangents(self.build, self.active)
        new.whole, new.parts = dict(self.whole), {k: dict(v) for k, v in self.parts.items()}
        return new

    def by_key(self) -> dict[tuple, Atom]:
        """Return all cotangents: those of whole variables by `(variable,)`, those of items by `(variable, key)`."""
        items = {(var, key): d for var, parts in self.parts.items() for key, d in parts.items()}
        return {(var,): d for var, d in self.whole.items()} | items

    def has(self, var: Atom) -> bool:
        """Return whether anything has contributed to the cotangent of a variable."""
        return var in self.whole or var in self.parts

    def add(self, var: Atom, d: Atom | None) -> None:
        """Add a contribution to the cotangent of a variable."""
        if d is None or not isinstance(var, Var) or var not in self.active:
            return
        d = in_dtype(self.build, d, var)
        self.whole[var] = self._sum(self.whole.get(var), d, var, var.type)

    def add_part(self, var: Var, key: object, d: Atom, item: Type) -> None:
        """Add a contribution to the item, of type `item`, at a constant key of a container's cotangent."""
        if var in self.active:
            parts = self.parts.setdefault(var, {})
            parts[key] = self._sum(parts.get(key), d, var, item)

    def _sum(self, before: Atom | None, d: Atom, var: Var, t: Type) -> Atom:
        if before is None:
            return renamed(self.build, d, f"d_{var.name}")
        t = FLOAT if var in self.build.maybe_number else t  # what may be a number takes no array in place
        return plus(t, self.build, before, d, f"d_{var.name}")

    def get(self, var: Var) -> Atom | None:
        """Return the cotangent as one atom; None if nothing has contributed."""
        if var in self.parts:
            built = assembled(self.build, var, self.parts.pop(var))
            self.whole[var] = self._sum(self.whole.get(var), built, var, var.type)
        return self.whole.get(var)

    def get_or_zero(self, var: Var) -> Atom:
        """Return the cotangent as one atom, of zeros if nothing has contributed."""
        d = self.get(var)
        return zeros(self.build, var) if d is None else d

    def take(self, var: Var) -> Atom | None:
        """Remove and return the cotangent, to which nothing can contribute any more, or None if nothing has."""
        d = self.get(var)
        self.whole.pop(var, None)
        return d

    def take_or_zero(self, var: Var) -> Atom:
        """Remove and return the cotangent, of zeros if nothing has contributed."""
        d = self.get_or_zero(var)
        self.whole.pop(var, None)
        return d

    def put(self, var: Var, d: Atom) -> None:
        """Replace the cotangent of a variable."""
        self.whole[var] = d


def renamed(build: Builder, atom: Atom, name: str) -> Atom:
    """Return a cotangent, renamed after its variable if the rule that has just computed it gave it no such name."""
    if isinstance(atom, Var) and atom.temp and not atom.name.startswith("d_") and any(atom in s.targets for s in build.stmts[-RECENT:]):
        atom.name = name
    return atom
