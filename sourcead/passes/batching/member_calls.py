"""Calls and subscripts for the members of a batch, beside those of `calls.py`: numbers of Python become arrays, subscripts may differ.

    y = math.sin(x)         y = np.sin(x)                       x: (n)
    y = a[k]                y = a[k]                            k: (n), a the same for all
    y = x[k]                y = x[np.arange(n), k]              x: (n, m)
    x[k] += v               x[np.arange(n), k] += v
    y = cumsum(x)           y = cumsum(x, axis=1)
    y = array([a, b])       y = stack([a, b], axis=1)
    y = einsum("ij,j", a, x)    y = einsum("ij,aj->ai", a, x)
"""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder, atom_type, operand_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Index, Operand, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import INT, Array, ListT, Scalar, keyed_parts
from sourcead.ir.walk import map_operand
from sourcead.passes.batching.calls import ALL, Unbatchable, kind_of, moved, rank_of
from sourcead.passes.batching.entries import Entry, Parts, Same, Wide
from sourcead.passes.batching.forms import MemberForms
from sourcead.primitives.result_types.sparse import is_sparse
from sourcead.primitives.table import record_of

OTHER_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
               "atanh": "arctanh", "pow": "float_power"}  # fmt: skip
SAME_NAMES = """
sin cos tan sinh cosh tanh exp expm1 sqrt log log2 log10 log1p cbrt exp2 degrees radians fabs copysign fmod hypot isnan isinf isfinite
""".split()
OF_ARRAYS = {
    getattr(math, name): getattr(np, OTHER_NAMES.get(name, name)) for name in (*SAME_NAMES, *OTHER_NAMES) if hasattr(math, name)
}
"""The functions of NumPy that compute of arrays what those of `math` compute of numbers."""
WHOLE = {math.floor: np.floor, math.ceil: np.ceil, math.trunc: np.trunc, int: np.trunc, round: np.round}
NOT_FOR_INTEGERS = (operator.pow, pow, operator.lshift, operator.floordiv, operator.mod)  # Python's are not those of NumPy in all cases
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NORMAL = {np.cumsum: None, np.cumprod: None, np.argmax: None, np.argmin: None, np.sort: -1, np.argsort: -1, np.flip: None}


def is_python_int(atom: Operand) -> bool:
    return not isinstance(atom, tuple) and isinstance(t := atom_type(atom), Scalar) and t.kind == "int" and t.dtype is None


def is_divided(fn: Any, by: Operand) -> bool:
    """Return whether an integer of Python is divided by a known one that is not zero, as NumPy does it too."""
    return fn in (operator.floordiv, operator.mod) and isinstance(by, Const) and not by.live and type(by.value) is int and by.value != 0


class MemberCalls(MemberForms):
    """The rules of `Members` for calls and subscripts."""

    def refuse(self):
        raise Unbatchable

    def behind_first(self) -> Slice:
        return Slice(Const(1), None, None)

    # -- calls -----------------------------------------------------------------------------------------------------------

    def call(self, target: Var, op: Call) -> Var | Entry:
        fn, args, kwargs = op.fn, op.args, dict(op.kwargs)
        if isinstance(fn, Var) or any(isinstance(v, tuple) and self.is_batched(v) for v in kwargs.values()):
            raise Unbatchable
        if fn in (np.array, np.asarray) and len(args) == 1 and not kwargs:
            return self.array(target, args[0])
        if not kwargs and len(args) == 1 and fn in OF_NUMBERS:
            return OF_NUMBERS[fn](self, target, args[0])
        if fn in OF_ARRAYS and not kwargs:
            return self.of_math(target, OF_ARRAYS[fn], args)
        if fn in (min, max) and len(args) == 2 and not kwargs and all(rank_of(a) == 0 for a in args):
            a, b = map(self.value, args)
            better = self.build.call(operator.lt if fn is min else operator.gt, b, a, name="better")
            return self.emit(target, Call(np.where, (better, b, a)))
        if fn in NOT_FOR_INTEGERS and all(map(is_python_int, args)) and not is_divided(fn, args[-1]):
            raise Unbatchable
        if fn is np.interp and len(args) == 3 and not kwargs and not self.is_batched(args[1:]):
            return self.emit(target, Call(fn, tuple(map(self.value, args))))
        if fn is np.reshape and not kwargs and len(args) == 2 and self.may_be_empty:
            args = (args[0], tuple(Const(n) if isinstance(n, int) else self.refuse() for n in target.type.dims or ()))
            return super().call(target, replace(op, args=args))
        kind = record_of(fn).batched
        if kind == "product" and len(args) == 2 and not kwargs and is_sparse(operand_type(args[0])) and args[1] in self.found:
            return self.sparse_product(target, op)
        if kind == "product" and len(args) == 2 and not kwargs and 0 in map(rank_of, args):
            return super().call(target, replace(op, fn=np.multiply))
        if isinstance(kind, tuple):
            return self.by_form(target, op, kind)
        if kind in KINDS:
            return KINDS[kind](self, target, op, kwargs)
        if any(not isinstance(a, tuple) and a in self.parts for a in args):
            raise Unbatchable
        return super().call(target, op)

    def of_math(self, target: Var, fn: Any, args: tuple) -> Var:
        """Return a function of `math` of numbers, which are of double precision in it."""
        return self.emit(target, Call(fn, tuple(map(self.doubled, args))))

    def doubled(self, atom: Atom) -> Atom:
        value = self.value(atom)
        dtype = getattr(atom_type(value), "dtype", None)
        if dtype is None or dtype.kind != "f" or dtype == np.dtype(float):
            return value
        return self.build.call(np.ndarray.astype, value, Const(np.dtype(float)), name="x")

    def of_numbers(self, target: Var, atom: Atom, dtype: Any) -> Var | Entry:
        """Return `float(x)` and the like."""
        if rank_of(atom):
            raise Unbatchable
        whole = self.spread(atom)
        if whole.type.dtype == np.dtype(dtype):
            return Wide(whole)
        return self.emit(target, Call(np.ndarray.astype, (whole, Const(np.dtype(dtype)))))

    def whole_number(self, target: Var, atom: Atom, fn: Any) -> Var | Entry:
        """Return `int(x)`, `math.floor(x)` and the like."""
        whole = self.spread(atom)
        if rank_of(atom) or whole.type.dtype is None or whole.type.dtype.kind not in "fib":
            raise Unbatchable
        if whole.type.dtype.kind == "f":
            whole = self.build.call(fn, whole, name="whole")
        return self.of_numbers_in(target, whole)

    def of_numbers_in(self, target: Var, whole: Var) -> Var | Entry:
        if whole.type.dtype == np.dtype(np.int64):
            return Wide(whole)
        return self.emit(target, Call(np.ndarray.astype, (whole, Const(np.dtype(np.int64)))))

    def denied(self, target: Var, atom: Atom) -> Var:
        """Return `not x`."""
        return self.emit(target, Call(np.logical_not, (self.truth(atom),)))

    def length(self, target: Var, atom: Atom) -> Entry:
        """Return `len(x)`, which is the same for all members."""
        t = atom_type(atom)
        if (parts := keyed_parts(t)) is not None:
            return Same(Const(len(parts)))
        if isinstance(t, ListT):
            return Same(self.build.call(len, self.spread(atom), type=INT, name="n"))
        if not isinstance(t, Array) or not t.dims:
            raise Unbatchable
        if isinstance(t.dims[0], int):
            return Same(Const(t.dims[0]))
        return Same(self.build.index(self.attribute(atom, "shape"), Const(0), name="n"))

    def shape(self, target: Var, op: Call, kwargs: dict) -> Entry:
        names = {np.shape: "shape", np.size: "size", np.ndim: "ndim"}
        if op.fn not in names or len(op.args) != 1 or kwargs or not isinstance(atom_type(op.args[0]), Array):
            raise Unbatchable
        return Same(self.attribute(op.args[0], names[op.fn]))

    # -- joining ---------------------------------------------------------------------------------------------------------

    def items_of(self, operand: Operand) -> list[tuple[Entry, Any]] | None:
        """Return the entries and types of the items of a list or tuple, None if they are not known one by one."""
        if isinstance(operand, tuple):
            return [(self.entry(a), atom_type(a)) for a in operand if isinstance(a, (Var, Const))]
        entry = self.entry(operand)
        if isinstance(entry, Parts):
            return [(item, t) for item, (_, t) in zip(entry.items.values(), keyed_parts(entry.type))]
        found = keyed_parts(atom_type(operand))
        if not isinstance(entry, Wide) or found is None:
            return None
        return [(Wide(self.build.index(entry.var, Const(k))), t) for k, t in found]

    def listed(self, arrays: list[Atom]) -> Var:
        types = tuple(map(atom_type, arrays))
        alike = types[0] if all(t == types[0] for t in types) else Array(types[0].dtype, tuple(types[0].dims))
        return self.build.emit(Build("list", tuple(arrays)), ListT(alike, types), "items")

    def array(self, target: Var, operand: Operand) -> Var:
        """Return `np.array(x)` of an array, or of numbers and arrays in lists."""
        if not isinstance(operand, tuple) and isinstance(atom_type(operand), (Array, Scalar)):
            return self.emit(target, Call(np.copy, (self.spread(operand),)))
        if not isinstance(operand, tuple) and isinstance(self.entry(operand), Wide) and keyed_parts(atom_type(operand)) is None:
            return self.emit(target, Call(np.stack, (self.spread(operand),), (("axis", Const(1)),)))
        return self.emit(target, self.nested(self.items_of(operand)))

    def array_of(self, entry: Entry, t: Any) -> Var:
        """Return the members' arrays, or the arrays of their numbers and arrays in lists."""
        if isinstance(t, (Scalar, Array)):
            return self.spread_entry(entry, t)
        if isinstance(entry, Parts):
            inner = [(item, u) for item, (_, u) in zip(entry.items.values(), keyed_parts(entry.type))]
            return self.build.emit(self.nested(inner), name="row")
        if isinstance(entry, Same) and keyed_parts(t):
            inner = [(Same(self.build.index(entry.atom, Const(k))), u) for k, u in keyed_parts(t)]
            return self.build.emit(self.nested(inner), name="row")
        raise Unbatchable

    def nested(self, items: list | None) -> Call:
        if not items:
            raise Unbatchable
        arrays = [self.array_of(entry, t) for entry, t in items]
        dtype = np.result_type(*(a.type.dtype for a in arrays)) if all(a.type.dtype is not None for a in arrays) else None
        if dtype is None or len({len(a.type.dims or ()) for a in arrays}) > 1:
            raise Unbatchable
        return Call(np.stack, (self.listed(arrays),), (("axis", Const(1)),))

    def joined(self, target: Var, op: Call, kwargs: dict) -> Var:
        """Return `np.stack(xs)`, `np.concatenate(xs)` and the like."""
        if kwargs.keys() - {"axis"} or len(op.args) > 2:
            raise Unbatchable
        axis = number(kwargs.get("axis", op.args[1] if len(op.args) == 2 else Const(0)))
        items = self.items_of(op.args[0])
        if items is None:
            whole = self.spread(op.args[0])
            item = atom_type(op.args[0]).item
            arrays, ranks = whole, {len(item.dims)} if isinstance(item, Array) else {0}
        else:
            found = [self.array_of(e, t) for e, t in items]
            arrays, ranks = self.listed(found), {len(a.type.dims or ()) - 1 for a in found}
        if len(ranks) != 1 or axis is None:
            raise Unbatchable
        (rank,) = ranks
        fn = op.fn
        if fn in (np.hstack, np.vstack, np.column_stack):
            if rank not in (1, 2):
                raise Unbatchable
            fn, axis = {
                np.hstack: (np.concatenate, rank - 1), np.vstack: ((np.stack, np.concatenate)[rank - 1], 0),
                np.column_stack: ((np.stack, np.concatenate)[rank - 1], 1),
            }[fn]  # fmt: skip
        at = moved(axis, rank + 1 if fn is np.stack else rank)
        return self.emit(target, Call(fn, (arrays,), (("axis", Const(at)),)))

    # -- along axes ------------------------------------------------------------------------------------------------------

    def statistic(self, target: Var, op: Call, kwargs: dict) -> Var:
        """Return `np.std(x)` and the like, of all axes or of some."""
        if len(op.args) != 1 or self.is_batched(tuple(kwargs.values())) or kwargs.keys() - {"axis", "keepdims", "ddof"}:
            raise Unbatchable
        return self.reduction(target, op, kwargs)

    def along(self, target: Var, op: Call, kwargs: dict) -> Var:
        """Return a function that works along one axis."""
        x, *more = op.args
        rank = rank_of(x)
        if more or not rank or self.is_batched(tuple(kwargs.values())) or kwargs.keys() - {"axis", "n"}:
            raise Unbatchable
        axis = kwargs.pop("axis", Const(NORMAL[op.fn]))
        whole = self.spread(x)
        if isinstance(axis, Const) and axis.value is None:
            if rank > 1 and op.fn is np.flip:
                raise Unbatchable
            if rank > 1 and self.may_be_empty:
                raise Unbatchable
            whole = whole if rank == 1 else self.build.call(np.reshape, whole, (self.size, Const(-1)))
            at = 1
        elif (k := number(axis)) is not None:
            at = moved(k, rank)
        else:
            raise Unbatchable
        return self.emit(target, Call(op.fn, (whole,), (*kwargs.items(), ("axis", Const(at)))))

    # -- matrices --------------------------------------------------------------------------------------------------------

    def matrices(self, target: Var, op: Call, kwargs: dict) -> Var:
        """Return a function of the last two axes, which NumPy computes for stacks of matrices."""
        (x, *more) = op.args
        if rank_of(x) != 2 or self.is_batched((*more, *kwargs.values())):
            raise Unbatchable
        options = tuple((name, self.mapped(v)) for name, v in kwargs.items())
        whole = Call(op.fn, (self.spread(x), *map(self.mapped, more)), options)
        if isinstance(target.type, (Array, Scalar)):
            found, want = self.build.result_type(whole), self.wider(target.type)
            if getattr(found, "dtype", None) != want.dtype or len(found.dims or ()) != len(want.dims):
                raise Unbatchable
        return self.written(target, whole)

    def solve(self, target: Var, op: Call, kwargs: dict) -> Var:
        a, b = op.args
        if kwargs or rank_of(a) != 2 or rank_of(b) not in (1, 2):
            raise Unbatchable
        left = self.value(a)
        if rank_of(b) == 2:
            return self.emit(target, Call(op.fn, (left, self.value(b) if a in self.found else self.spread(b))))
        column = self.build.index(self.spread(b), (ALL, ALL, Const(None)))
        return self.drop(target, self.build.call(op.fn, left, column), (ALL, ALL, Const(0)))

    def einsum(self, target: Var, op: Call, kwargs: dict) -> Var:
        spec, *arrays = op.args
        text = spec.value.replace(" ", "") if isinstance(spec, Const) and isinstance(spec.value, str) else "..."
        if kwargs or "." in text:
            raise Unbatchable
        ins, arrow, out = text.partition("->")
        own = next(c for c in LETTERS if c not in text)
        if not arrow:
            out = "".join(sorted(c for c in set(ins) - {","} if ins.count(c) == 1))
        terms = [own + term if a in self.found else term for term, a in zip(ins.split(","), arrays)]
        return self.emit(target, Call(op.fn, (Const(f"{','.join(terms)}->{own}{out}"), *map(self.value, arrays))))

    def norm(self, target: Var, op: Call, kwargs: dict) -> Var:
        x, *more = op.args
        rank = rank_of(x)
        if more or kwargs.keys() - {"axis", "keepdims"} or "axis" not in kwargs and rank not in (1, 2):
            raise Unbatchable
        return self.reduction(target, op, kwargs)

    # -- subscripts ------------------------------------------------------------------------------------------------------

    def item_of_table(self, target: Var, base: Atom, key: Operand) -> Var:
        """Return the items that members take of a list or tuple of numbers, which is the same for all."""
        items = keyed_parts(atom_type(base))
        if self.varies(base) or not items or isinstance(key, (tuple, Slice)) or atom_type(key) not in (INT, *INTEGERS):
            raise Unbatchable
        if not all(isinstance(t, Scalar) and t == items[0][1] and t.kind in ("int", "float") for _, t in items):
            raise Unbatchable
        table = self.build.call(np.array, self.unbatched(base), name="table")
        return self.emit(target, Index(table, self.found[key]))

    def part_of_array(self, target: Var, base: Atom, key: Operand) -> Var:
        if not self.is_batched(key):
            return self.emit(target, Index(self.spread(base), self.key(key)))
        whole, places, first = self.subscript(base, key)
        if not first:
            return self.emit(target, Index(whole, places))
        t = self.build.index(whole, places)
        return self.emit(target, Call(np.moveaxis, (t, Const(first), Const(0))))

    def subscript(self, base: Atom, key: Operand, whole: Var | None = None) -> tuple[Atom, tuple, int]:
        """Return an array, the subscript that takes each member's part of it, and the axis at which the members are in that.

        `whole` is the array of all members; if it is not given, the array may be the same for all.
        """
        parts = key if isinstance(key, tuple) else (key,)
        kinds = ["slice" if isinstance(p, Slice) else kind_of(p) for p in parts]
        if any(isinstance(p, Const) and p.value is ... for p in parts) or any(isinstance(p, Slice) and self.is_batched(p) for p in parts):
            raise Unbatchable
        picks = [k for k, kind in enumerate(kinds) if kind in ("number", "array")]
        if any(kinds[k] == "array" and not is_of_integers(parts[k]) for k in picks):
            raise Unbatchable
        axes = max(rank_of(parts[k]) for k in picks)
        together = picks[-1] - picks[0] + 1 == len(picks)
        new = [self.aligned(p, axes) if k in picks and p in self.found else map_operand(p, self.unbatched) for k, p in enumerate(parts)]
        whole = self.found.get(base) if whole is None else whole
        if whole is None:
            return self.unbatched(base), tuple(new), picks[0] if together else 0
        if axes and together and picks[0]:
            raise Unbatchable  # their axes would stand behind those of slices
        members = self.build.call(np.arange, self.size, type=Array(np.dtype(np.int64), (self.dim,)), name="members")
        if axes:
            members = self.build.index(members, (ALL, *[Const(None)] * axes))
        return whole, (members, *new), 0

    def update(self, stmt: Stmt) -> Var:
        op: Update = stmt.op
        target = stmt.targets[0]
        if isinstance(atom_type(op.base), ListT) and len(op.path) == 1 and op.mode == "set" and isinstance(op.path[0], Sub):
            if self.is_batched(op.path[0].key) or isinstance(op.value, tuple) or isinstance(op.path[0].key, Slice):
                raise Unbatchable
            return self.written(target, replace(op, base=self.spread(op.base), path=self.mapped(op.path), value=self.spread(op.value)))
        if len(op.path) != 1 or not isinstance(op.path[0], Sub) or not self.is_batched(op.path[0].key):
            return super().update(stmt)
        if isinstance(op.value, tuple) or not isinstance(atom_type(op.base), Array):
            raise Unbatchable
        key = op.path[0].key
        base = self.spread(op.base)
        if is_mask(key) and not self.varies(op.value) and rank_of(op.value) == 0:
            return self.emit(target, replace(op, base=base, path=(Sub(self.found[key]),), value=self.unbatched(op.value)))
        part = rank_of(Builder().index(op.base, key))
        _, places, _ = self.subscript(op.base, key, base)
        single = all(rank_of(p) == 0 for p in (key if isinstance(key, tuple) else (key,)) if not isinstance(p, Slice))
        value = self.aligned(op.value, part)
        return self.emit(target, replace(op, base=base, path=(Sub(places),), value=value, distinct=single or op.distinct))


INTEGERS = tuple(Scalar("int", np.dtype(code)) for code in np.typecodes["AllInteger"])
OF_NUMBERS = {
    float: lambda self, target, x: self.of_numbers(target, x, float),
    bool: lambda self, target, x: Wide(self.truth(x)),
    operator.truth: lambda self, target, x: Wide(self.truth(x)),
    operator.not_: MemberCalls.denied,
    len: MemberCalls.length,
    **{fn: lambda self, target, x, of=of: self.whole_number(target, x, of) for fn, of in WHOLE.items()},
}
KINDS = {
    "statistic": MemberCalls.statistic, "along": MemberCalls.along, "joined": MemberCalls.joined, "matrices": MemberCalls.matrices,
    "solve": MemberCalls.solve, "einsum": MemberCalls.einsum, "norm": MemberCalls.norm, "shape": MemberCalls.shape,
}  # fmt: skip


def is_mask(key: Operand) -> bool:
    """Return whether a subscript is one array of truth values."""
    return isinstance(key, Var) and isinstance(key.type, Array) and key.type.dtype == np.dtype(bool) and bool(key.type.dims)


def is_of_integers(part: Atom) -> bool:
    """Return whether a part of a subscript is an array of integers, and no mask."""
    t = atom_type(part)
    return isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "iu"
