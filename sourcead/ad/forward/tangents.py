"""The tangents of the variables of a function: how they are stored, shaped and made of zeros.

The tangent of a variable is one atom of its structure, shape and dtype.  A variable without one has a tangent of zeros,
which is written out only where a loop, a branch, a container or the caller needs it.  The tangent of a display (a tuple,
list, dict or record) is kept item by item too, so that an item that is read by its key is the one that was put in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sourcead import runtime
from sourcead.ad.apply_rule import promised
from sourcead.ad.cotangents.algebra import NOT_DATA, zeros
from sourcead.ad.cotangents.shapes import cast
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import UNDEFINED, Atom, Build, Const, Op, Operand, Slice, Var
from sourcead.ir.types import Array, ListT, MapT, Scalar, Unknown, dims_of, kind_of, tangent_type


@dataclass(frozen=True, eq=False)
class Items:
    """The tangent of a display: that of each item, None where it is zero; and as one value, where it is read as a whole."""

    display: Build
    tangents: tuple[Atom | Items | None, ...]
    whole: Atom

    def at(self, key: object) -> Atom | Items | None:
        """Return the tangent of the item with this key, None if there is no such item, so that the program does not come to read it."""
        if self.display.keys is not None:
            return dict(zip(self.display.keys, self.tangents)).get(key)
        return self.tangents[key] if -len(self.tangents) <= key < len(self.tangents) else None


class Tangents:
    """The tangents of the variables that have one.

    Attributes:
        build: where statements go.
        active: the variables that may have one.
        known: the tangents, of those that are not known to be zero.
        empty: displays without items, which are their own tangents.
    """

    def __init__(self, build: Builder, active: set[Var]):
        self.build = build
        self.active = active
        self.known: dict[Var, Atom | Items] = {}
        self.empty: dict[Var, Build] = {}

    def has(self, operand: Operand | None) -> bool:
        """Return whether an operand has a tangent that is not known to be zero."""
        if isinstance(operand, tuple):
            return any(map(self.has, operand))
        return operand in self.known

    def put(self, var: Var, t: Atom | Items | None) -> None:
        """Record the tangent of a variable."""
        if t is None:
            return
        if isinstance(t, Var):
            t = self._named(t, var)
        self.known[var] = t
        if var in self.build.maybe_number and isinstance(t, Var):
            self.build.maybe_number.add(t)

    def emit(self, var: Var, op: Op) -> Var:
        """Emit the op that computes the tangent of a variable, record the tangent and return it."""
        t = self.build.emit(op, tangent_type(var.type), f"t_{var.name}")
        self.put(var, t)
        return t

    def _named(self, t: Var, var: Var) -> Var:
        """Return a tangent that was just computed, with its name, and with the type of `var` if inference found none."""
        stmt = self.build.stmts[-1] if self.build.stmts else None
        if stmt is None or t not in stmt.targets or not t.temp:
            return t
        t.name = f"t_{var.name}"
        return promised(self.build, t, tangent_type(var.type))

    def get(self, operand: Operand | None) -> Operand | None:
        """Return the tangent of an operand as an operand; None if it is zero."""
        if isinstance(operand, tuple):
            return tuple(map(self.get_or_zero, operand)) if self.has(operand) else None
        if not isinstance(operand, Var) or operand not in self.known:
            return None
        t = self.known[operand]
        return t.whole if isinstance(t, Items) else t

    def get_or_zero(self, operand: Operand) -> Operand:
        """Return the tangent of an operand as an operand."""
        t = self.get(operand)
        return self.zero(operand) if t is None else t

    def put_items(self, var: Var, display: Build) -> None:
        """Record the tangent of a display."""
        if not any(map(self.has, display.items)):
            return
        found = tuple(self.known.get(item) if isinstance(item, Var) else None for item in display.items)
        atoms = tuple(map(self.get_or_zero, display.items))
        t = tangent_type(var.type) if isinstance(var.type, MapT) else None
        self.known[var] = Items(display, found, self.build.emit(replace(display, items=atoms), t, f"t_{var.name}"))

    def zero(self, operand: Operand) -> Operand:
        """Return a zero tangent of an operand."""
        if isinstance(operand, tuple):
            return tuple(map(self.zero, operand))
        if operand is UNDEFINED or isinstance(operand, Slice):
            return operand
        t = atom_type(operand)
        if isinstance(t, NOT_DATA) and not isinstance(t, Unknown):
            return operand if isinstance(operand, Const) and operand.value is None else Const(None)
        if operand in self.empty:
            return self.build.emit(self.empty[operand], tangent_type(t), f"t_{operand.name}")
        if isinstance(t, ListT) and t.items == ():
            return self.build.emit(Build("list", ()), t, "t_items")
        if isinstance(t, MapT):  # with the keys of the dict itself, so that both are read alike
            return self.build.call(runtime.zeros_like, operand, type=tangent_type(t))
        if operand in self.build.unassigned and not isinstance(t, Scalar):
            made = self.build.call(runtime.zeros_if_assigned, operand, type=tangent_type(t))
        elif isinstance(t, Scalar) or t == tangent_type(t):
            made = zeros(self.build, operand)
        else:
            made = self.build.call(runtime.zeros_like, operand, type=tangent_type(t))
        if isinstance(made, Var):
            made.name = f"t_{operand.name}" if isinstance(operand, Var) else "t"
        return made

    def fit(self, t: Atom, y: Var) -> Atom:
        """Return the tangent of `y` in the shape and dtype of `y`, also if `y` was broadcast against operands without tangents."""
        have, want = atom_type(t), y.type
        if isinstance(want, Scalar):
            return t
        if not isinstance(want, Array) or want.dims is None:
            return self.build.call(runtime.unbroadcast, t, y, type=tangent_type(want))
        if isinstance(have, Unknown):
            return self.build.call(runtime.unbroadcast, t, y, type=want)
        dims = dims_of(have)
        if dims != want.dims:
            dtype = getattr(have, "dtype", None)
            shape = self.build.attr(y, "shape")
            if isinstance(have, Scalar):
                dtype = want.dtype if want.dtype is not None and kind_of(want) == have.kind else np.dtype(have.kind)
            t = self.build.call(np.broadcast_to, t, shape, type=Array(dtype, want.dims))
        return cast(self.build, t, y)
