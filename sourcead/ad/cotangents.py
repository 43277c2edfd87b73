"""Where cotangents are stored, summed and shaped.  The one place that knows how.

The cotangent of a variable is one atom of the same type; the first contribution assigns, later ones add:

    d_x = c1        d_x = d_x + c2

The cotangent of a tuple, list or dict is kept item by item as long as items are read by constant keys.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Update, Var
from sourcead.ir.type_of import list_type
from sourcead.ir.types import (
    Array, DictT, FunctionT, Known, ListT, MapT, NoneType, Scalar, Str, StructT, Sym, TupleT, Type, Unknown, dims_of,
    kind_of
)

NOT_DATA = (Known, FunctionT, NoneType, Str, Unknown)  # fields that no derivative can belong to


class Cotangents:
    """The cotangents of the variables of one block.

    Attributes:
        build: where statements go.
        active: the variables that have one at all.
    """

    def __init__(self, build: Builder, active: set[Var]):
        self.build = build
        self.active = active
        self.whole: dict[Var, Atom] = {}
        self.parts: dict[Var, dict[object, Atom]] = {}

    def has(self, var: Atom) -> bool:
        return var in self.whole or var in self.parts

    def add(self, var: Atom, d: Atom | None) -> None:
        """Adds a contribution to the cotangent of a variable."""
        if d is None or not isinstance(var, Var) or var not in self.active:
            return
        d = in_dtype(self.build, d, var)
        self.whole[var] = self._sum(self.whole.get(var), d, var)

    def add_part(self, var: Var, key: object, d: Atom, item: Type) -> None:
        """Adds a contribution to the item at a constant key of a container's cotangent."""
        if var in self.active:
            parts = self.parts.setdefault(var, {})
            parts[key] = self._sum(parts.get(key), d, var, item)

    def _sum(self, before: Atom | None, d: Atom, var: Var, t: Type | None = None) -> Atom:
        name = f"d_{var.name}"
        if before is None:
            return renamed(self.build, d, name)
        t = t or var.type
        if isinstance(t, Scalar) or var in self.build.maybe_number:  # a zero made like a number cannot take an array in place
            return self.build.call(operator.add, before, d, name=name)
        if isinstance(t, Array):
            return self.build.emit(Update(before, (), d, "add"), atom_type(before), name)
        return self.build.call(runtime.add, before, d, type=t, name=name)

    def get(self, var: Var) -> Atom | None:
        """The cotangent as one atom; None if nothing has contributed."""
        if var in self.parts:
            built = self._assemble(var, self.parts.pop(var))
            self.whole[var] = self._sum(self.whole.get(var), built, var)
        return self.whole.get(var)

    def take(self, var: Var) -> Atom | None:
        """The cotangent, which nothing can contribute to any more."""
        d = self.get(var)
        self.whole.pop(var, None)
        return d

    def get_or_zero(self, var: Var) -> Atom:
        d = self.get(var)
        return zeros(self.build, var) if d is None else d

    def put(self, var: Var, d: Atom) -> None:
        self.whole[var] = d

    def _assemble(self, var: Var, parts: dict[object, Atom]) -> Atom:
        match var.type:
            case TupleT(items):
                kind, keys = "tuple", range(len(items))
            case ListT(_, items):
                kind, keys = "list", range(len(items or ()))
            case DictT(items):
                kind, keys = "dict", [k for k, _ in items]
            case StructT(_, items):
                kind, keys = "record", [k for k, _ in items]
        atoms = [parts[k] if k in parts else self._zero_item(var, k) for k in keys]
        found = tuple(map(atom_type, atoms))
        named = tuple(zip(keys, found))
        cls = getattr(var.type, "cls", None)
        t = {"tuple": TupleT(found), "list": list_type(found), "dict": DictT(named), "record": StructT(cls, named)}[kind]
        op = Build(kind, tuple(atoms), tuple(keys) if kind in ("dict", "record") else None, cls)
        return self.build.emit(op, t, f"d_{var.name}")

    def _zero_item(self, var: Var, key: object) -> Atom:
        if isinstance(var.type, StructT):
            t = dict(var.type.fields)[key]
            if isinstance(t, NOT_DATA):
                return Const(None)
            if isinstance(t, ListT) and t.items == ():
                return self.build.emit(Build("list", ()), t, "items")
        return zeros(self.build, self.build.index(var, Const(key)))


def zeros(build: Builder, var: Atom) -> Atom:
    """A zero cotangent of a variable."""
    t = atom_type(var)
    name = f"d_{var.name}" if isinstance(var, Var) else "d"
    match t:
        case Scalar("complex"):
            return Const(0j)
        case Scalar():
            return Const(0.0)
        case MapT():  # a key that is missing stands for zero
            return build.emit(Build("dict", (), ()), t, name)
        case _ if var in build.unassigned:
            return build.call(runtime.zeros_if_assigned, var, type=t, name=name)
        case Array(dtype) if dtype is not None and dtype.kind in "fc":
            return build.call(np.zeros_like, var, name=name)
    return build.call(runtime.zeros_like, var, type=t, name=name)


def in_dtype(build: Builder, d: Atom, var: Var) -> Atom:
    """The cotangent in the variable's dtype, where a join of values of several dtypes has lost it."""
    t, to = atom_type(d), var.type
    if not isinstance(t, Array) or not isinstance(to, Array) or to.dtype is None or to.dtype.kind not in "fc":
        return d
    if t.dtype is not None and t.dtype == to.dtype or t.dtype is not None and t.dtype.kind not in "fc":
        return d
    return same_number_all_over(build, d, Array(to.dtype, t.dims)) or build.call(
        np.ndarray.astype, d, Const(to.dtype), type=Array(to.dtype, t.dims), name=f"d_{var.name}"
    )


def same_number_all_over(build: Builder, d: Atom, t: Array) -> Var | None:
    """If the last statement made `d` by broadcasting one number: the same made in the right dtype from the start."""
    last = build.stmts[-1] if build.stmts else None
    if last is None or last.targets != (d,) or not isinstance(last.op, Call) or last.op.fn is not np.broadcast_to:
        return None
    source, shape = last.op.args
    if not isinstance(atom_type(source), Scalar):
        return None
    build.stmts.pop()
    return build.call(np.full, shape, source, Const(t.dtype), type=t, name=d.name)


RECENT = 8  # statements of one rule


def renamed(build: Builder, atom: Atom, name: str) -> Atom:
    """The variable, called after what it is the cotangent of, if it has no name of that kind yet."""
    if isinstance(atom, Var) and atom.temp and not atom.name.startswith("d_") and any(atom in s.targets for s in build.stmts[-RECENT:]):
        atom.name = name
    return atom


def unbroadcast(build: Builder, d: Atom, x: Atom) -> Atom:
    """The cotangent `d` of `x` as it was broadcast, summed to the shape of `x` and cast to its dtype."""
    t, to = atom_type(d), atom_type(x)
    if not isinstance(t, (Scalar, Array)) or not isinstance(to, (Scalar, Array)):
        return build.call(runtime.unbroadcast, d, x, type=to, name="d")
    have, want = dims_of(t), dims_of(to)
    if have is None or want is None or not known_axes(have, want):
        return build.call(runtime.unbroadcast, d, x, type=to, name="d")
    if len(have) < len(want):
        d = build.call(np.broadcast_to, d, build.attr(x, "shape"), type=Array(getattr(t, "dtype", None), want))
        return cast(build, d, x)
    lead = tuple(range(len(have) - len(want)))
    inner = tuple(k for k, (n, m) in enumerate(zip(have[len(lead) :], want)) if is_one(m) and not is_one(n))
    if lead:
        d = build.call(np.sum, d) if len(lead) == len(have) else build.call(np.sum, d, axis=Const(lead if len(lead) > 1 else 0))
    if inner:
        d = build.call(np.sum, d, axis=Const(inner if len(inner) > 1 else inner[0]), keepdims=Const(True))
    return cast(build, d, x)


def is_one(dim: int | Sym) -> bool:
    return isinstance(dim, int) and dim == 1


def known_axes(have: tuple, want: tuple) -> bool:
    """Whether the types tell which axes were broadcast."""
    for n, m in zip(have[::-1], want[::-1]):
        if isinstance(m, Sym) and not m.many and m is not n and not is_one(n):
            return False
        if is_one(m) and isinstance(n, Sym) and not n.many:
            return False
        if is_one(n) and not is_one(m):
            return False
        if isinstance(n, Sym) and not n.many and n is not m and not is_one(m):  # of an einsum whose other operand may have length 1 here
            return False
    return True


def cast(build: Builder, d: Atom, x: Atom) -> Atom:
    """The cotangent in the dtype of `x`, where the types tell that it differs."""
    t, to = atom_type(d), atom_type(x)
    have, want = getattr(t, "dtype", None), getattr(to, "dtype", None)
    if kind_of(t) == "complex" and kind_of(to) == "float":
        d = build.call(np.real, d)
        t, have = atom_type(d), getattr(atom_type(d), "dtype", None)
    if isinstance(to, Scalar) or isinstance(t, Scalar) or want is None or have is None or have == want:
        return d
    if want.kind not in "fc" or have.kind == "O" or want.kind == "O":
        return d
    return same_number_all_over(build, d, Array(want, dims_of(to))) or build.call(np.ndarray.astype, d, Const(want))
