"""The builder of typed IR: the result type of each op is inferred as it is emitted."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from sourcead.analysis.numbers import Numbers, atom_type, operand_type
from sourcead.ir.dims import map_dims
from sourcead.ir.equal_sizes import EqualSizes
from sourcead.ir.nodes import (
    Append, Atom, Attr, Build, Call, Const, Index, Let, Op, Operand, Slice, Stmt, Sub, Update, Var, View
)
from sourcead.ir.records import list_type
from sourcead.ir.types import UNKNOWN, Array, DictT, ListT, MapT, NoneType, Scalar, SetT, StructT, TupleT, Type, join
from sourcead.primitives.result_types.infer import NOT_CONST, Arg, SliceArg, infer_attr, infer_call, infer_index
from sourcead.primitives.result_types.lists_as_arrays import display_positions

NOT_OF_NONE = frozenset({  # functions that raise an error if they are given None
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul, operator.neg, abs, float, len,
    *(fn for fn in vars(math).values() if callable(fn)),
})  # fmt: skip


def container(t: Type, items: tuple[Atom, ...]) -> Build:
    """Return the op that makes a tuple, list, dict or record of a type from its parts, in the order of `keyed_parts`."""
    match t:
        case TupleT():
            return Build("tuple", items)
        case ListT():
            return Build("list", items)
        case DictT(parts):
            return Build("dict", items, tuple(key for key, _ in parts))
    return Build("record", items, tuple(name for name, _ in t.fields), t.cls)


class Builder(Numbers):
    """Collects the statements of a block.

    Attributes:
        stmts: the statements of the innermost open block; `around` has those of the blocks around it.
        origin, adjoint_of, within: fields of the statements that are emitted.
        maybe_number: arrays that may be a number at run time, such as a loop variant that starts as the number 0.
        unassigned: variables that have no value on some paths; it is None while they are differentiated (`unassigned.py`).
        pullbacks: the pullbacks of recursive calls, by result (`ir/recursive_calls.py`); None in a function that is differentiated again.
        made_by: the op that defines each variable.
        unless_none: for a variable that is None after one arm of a branch, its type after the other.
        part_dims: the dims of parts of arrays, by the dims of the array and the key of the subscript.
        one_of: the constants that the result of a branch may be (`frontend/control/narrowing.py`).
        equal: sizes that are known to be equal while the reverse of a block is written.
        complexes: whether some number in the function that is differentiated is complex by its type.
        truths: whether a variable is true, where that is known although its value is not (`a and False`).
        check: refuses an op that the lowering must not emit with a result of this type (`frontend/core/special_effects.py`).
    """

    def __init__(self):
        self.stmts: list[Stmt] = []
        self.around: list[list[Stmt]] = []
        self.origin = None
        self.adjoint_of = None
        self.within: tuple[Call, ...] = ()
        super().__init__()
        self.maybe_number: set[Var] = set()
        self.unassigned: set[Var] = set()
        self.pullbacks: dict[Var, Var] | None = {}
        self.made_by: dict[Var, Op] = {}
        self.unless_none: dict[Var, Type] = {}
        self.part_dims: dict[tuple, tuple] = {}
        self.one_of: dict[Var, tuple[Const, ...]] = {}
        self.equal = EqualSizes()
        self.complexes = False
        self.truths: dict[Var, bool] = {}
        self.check: Callable[[Op, Type], None] | None = None

    @classmethod
    def knowing(cls, other: Builder) -> Builder:
        """Return a builder without statements that shares the knowledge of another builder about the variables."""
        new = cls()
        for name in (
            "known", "shape_dims", "size_dim", "numbers", "lengths", "among", "globals", "maybe_number", "unless_none", "part_dims"
        ):
            setattr(new, name, getattr(other, name))
        return new

    def at(self, stmt: Stmt) -> Builder:
        """Use the origin of `stmt` for the statements that are emitted next, and return the builder."""
        self.origin, self.adjoint_of, self.within = stmt.origin, stmt.adjoint_of, stmt.within
        return self

    # -- known facts ----------------------------------------------------------------------------------------------

    def arg(self, operand: Operand | None) -> Arg | SliceArg:
        """Return the type of an operand for type inference, with its value if that is known."""
        match operand:
            case Var():
                return self._arg_of_variable(operand)
            case Const(value):
                return Arg(atom_type(operand), number=self.number(operand)) if operand.live else Arg(atom_type(operand), value)
            case None:
                return Arg(NoneType(), None)
            case Slice(lower, upper, step):
                return SliceArg(*(None if part is None else self.arg(part) for part in (lower, upper, step)))
            case tuple():
                args = tuple(map(self.arg, operand))
                if all(isinstance(a, Arg) and a.known for a in args):
                    return Arg(operand_type(operand), tuple(a.value for a in args))
                return Arg(operand_type(operand), items=args)

    def _arg_of_variable(self, var: Var) -> Arg:
        """Return the type of a variable for type inference, with what is known of its value."""
        if var in self.known:
            return Arg(var.type, self.known[var])
        if isinstance(var.type, Scalar) and var.type.kind != "int" and var not in self.size_dim:
            return Arg(var.type, NOT_CONST, self.shape_dims.get(var))
        made = self.made_by.get(var)
        if isinstance(made, Build) and made.kind == "list":
            items = list(map(self.arg, made.items))
            if all(item.known for item in items):
                return Arg(var.type, [item.value for item in items])
        size, number, length = self.size_dim.get(var), self.number(var), self.length(var)
        value = number if isinstance(number, int) else size if isinstance(size, int) else NOT_CONST
        return Arg(var.type, value, self.shape_dims.get(var), size, number=length if number is None else number)

    def result_type(self, op: Op, seen: Callable[[Arg], Arg] = lambda arg: arg) -> Type:
        """Return the type of the result of an op without blocks, if its operands are what `seen` makes of them."""

        def arg(operand: Operand | None) -> Arg | SliceArg:
            return seen(self.arg(operand))

        match op:
            case Call(fn, args, kwargs) if not isinstance(fn, Var):
                found = list(map(arg, args))
                if fn in NOT_OF_NONE:
                    found = [Arg(self.unless_none[a]) if isinstance(a, Var) and a in self.unless_none else t for a, t in zip(args, found)]
                return infer_call(fn, found, {k: arg(v) for k, v in kwargs})
            case Index(base, key):
                found = tuple(map(arg, key)) if isinstance(key, tuple) else arg(key)
                t = self.unless_none.get(base, atom_type(base))  # Python raises an error if it is None
                return self._same_dims(base, key, infer_index(t, found))
            case Attr(base, name):
                return infer_attr(atom_type(base), name)
            case Let(value):
                return operand_type(value)
            case Update(base, path, value):
                return written_type(atom_type(base), path, operand_type(value))
            case Append(base, value, path):
                return grown_type(atom_type(base), path, operand_type(value))
            case Build():
                return display_type(op, tuple(map(atom_type, op.items)))
        return UNKNOWN

    def _same_dims(self, base: Atom, key: Operand, t: Type) -> Type:
        """Return the type of a part, with the dims of an earlier part that the same key took of an array of the same shape."""
        whole = getattr(atom_type(base), "dims", None)
        if not isinstance(t, Array) or not t.dims or whole is None or all(isinstance(n, int) or n in whole for n in t.dims):
            return t
        return replace(t, dims=self.part_dims.setdefault((whole, key_of(key)), t.dims))

    # -- emitting ------------------------------------------------------------------------------------------------

    def emit(self, op: Op, type: Type | None = None, name: str = "t", temp: bool = True) -> Var:
        """Bind a new variable to an op; its type is inferred if it is not given."""
        if type is None:
            type = map_dims(self.result_type(op, self.with_equal_sizes), self.equal.best) if self.equal.names else self.result_type(op)
        if self.check is not None:
            self.check(op, type)
        var = Var(name, type, temp)
        if self.maybe_number and isinstance(type, Array) and self._number_like(op):
            self.maybe_number.add(var)
        self.stmts.append(Stmt((var,), op, self.origin, self.adjoint_of, self.within))
        self.made_by[var] = op
        self.learn(var, op)
        return var

    def with_equal_sizes(self, arg: Arg | SliceArg) -> Arg | SliceArg:
        """Return an operand with one name for sizes that are known to be equal."""
        if isinstance(arg, SliceArg):
            return arg
        dims = None if arg.dims is None else tuple(map(self.equal.best, arg.dims))
        items = None if arg.items is None else tuple(map(self.with_equal_sizes, arg.items))
        return replace(arg, type=map_dims(arg.type, self.equal.best), dims=dims, items=items)

    def _number_like(self, op: Op) -> bool:
        """Return whether the result of an op may be a number because each array that it reads may be one."""
        arrays = [v for v in op.reads if not isinstance(v.type, Scalar)]
        return bool(arrays) and all(v in self.maybe_number for v in arrays)

    def add(self, stmt: Stmt) -> None:
        """Append a statement, with the current origin."""
        origin, adjoint_of, within = stmt.origin or self.origin, stmt.adjoint_of or self.adjoint_of, stmt.within or self.within
        self.stmts.append(replace(stmt, origin=origin, adjoint_of=adjoint_of, within=within))

    def call(self, fn, *args: Operand, name: str | None = None, type: Type | None = None, **kwargs: Operand) -> Var:
        """Emit `fn(*args, **kwargs)`, where no option of the function has the name `name` or `type`."""
        return self.applied(fn, args, kwargs, type, name)

    def applied(self, fn, args: tuple[Operand, ...], kwargs: dict[str, Operand], type: Type | None = None, name: str | None = None) -> Var:
        """Emit `fn(*args, **kwargs)`."""
        for i in display_positions(fn, args, operand_type):
            args = (*args[:i], self.call(np.array, args[i]), *args[i + 1 :])
        if "weights" in kwargs and display_positions(fn, (kwargs["weights"],), operand_type):
            kwargs["weights"] = self.call(np.array, kwargs["weights"])
        return self.emit(Call(fn, args, tuple(kwargs.items())), type, name or call_name(fn, args))

    def index(self, base: Atom, key: Operand, name: str | None = None) -> Var:
        """Emit `base[key]`."""
        base_name = base.name if isinstance(base, Var) else "item"
        return self.emit(Index(base, key), name=name or f"{base_name}_item")

    def attr(self, base: Atom, attribute: str) -> Var:
        """Emit `base.attribute`."""
        return self.emit(Attr(base, attribute), name=attribute)

    def part(self, base: Atom, path: tuple[Sub | View, ...]) -> Atom:
        """Emit the read of the part of an array or container that a path leads to."""
        for step in path:
            base = self.index(base, step.key) if isinstance(step, Sub) else self.applied(step.fn, (base, *step.args), dict(step.kwargs))
        return base

    def update(self, base: Atom, path: tuple[Sub | View, ...], value: Operand, mode: str = "set") -> Var:
        """Emit a new version of an array or container, under the same name."""
        named = isinstance(base, Var)
        return self.emit(Update(base, path, value, mode), None, base.name if named else "out", base.temp if named else False)

    @contextmanager
    def block(self):
        """Collect the statements that are emitted inside the `with` block in a separate list, which is yielded."""
        outer, self.stmts = self.stmts, []
        self.around.append(outer)
        try:
            yield self.stmts
        finally:
            self.stmts = outer
            self.around.pop()


def written_type(t: Type, path: tuple[Sub | View, ...], value: Type) -> Type:
    """Return the type of a container after a write at a path: an array casts the value, a list or dict holds it."""
    if not isinstance(t, (ListT, TupleT, DictT, MapT)) or not path or not isinstance(path[0], Sub):
        return t
    key = path[0].key
    match t:
        case ListT(item, items):
            if isinstance(key, Slice):
                return ListT(join(item, value.item)) if isinstance(value, ListT) else UNKNOWN
            new = written_type(item, path[1:], value) if len(path) > 1 else value
            return ListT(join(item, new), None if items is None else tuple(join(i, new) for i in items))
        case MapT(k, item, default):
            new = written_type(item, path[1:], value) if len(path) > 1 else value
            return MapT(join(k, operand_type(key)), join(item, new), default)
        case DictT(items) if isinstance(key, Const):
            new = written_type(dict(items).get(key.value, UNKNOWN), path[1:], value) if len(path) > 1 else value
            found = {**dict(items), key.value: new}
            return DictT(tuple(found.items()))
        case DictT():
            return UNKNOWN
    return t


def grown_type(t: Type, path: tuple[Sub, ...], item: Type) -> Type:
    """Return the type of a container after an item was added to the list at a path."""
    if not path:
        return ListT(join(t.item, item)) if isinstance(t, ListT) else t
    return written_type(t, path[:1], grown_type(getattr(t, "item", UNKNOWN), path[1:], item))


def shrunk_type(t: Type, path: tuple[Sub, ...], at: Operand | None) -> Type:
    """Return the type of a container after the item at `at` was removed from the list at a path; None is the end of the list."""
    if path:
        return written_type(t, path[:1], shrunk_type(getattr(t, "item", UNKNOWN), path[1:], at))
    if not isinstance(t, ListT) or t.items is None:
        return t
    k = len(t.items) - 1 if at is None else at.value if isinstance(at, Const) and type(at.value) is int else None
    return ListT(t.item, (*t.items[:k], *t.items[k + 1 :]) if k is not None and 0 <= k < len(t.items) else None)


def display_type(display: Build, types: tuple[Type, ...]) -> Type:
    """Return the type of a container that is built like `display` of items of these types."""
    match display.kind:
        case "tuple":
            return TupleT(types)
        case "list":
            return list_type(types)
        case "set":
            return SetT(list_type(types).item)
        case "dict":
            return DictT(tuple(zip(display.keys, types)))
    return StructT(display.cls, tuple(zip(display.keys, types)))


def key_of(operand: Operand | None):
    """Return a key that is equal for two subscripts only if they take the same part of arrays of the same shape."""
    match operand:
        case tuple():
            return tuple(map(key_of, operand))
        case Slice(lower, upper, step):
            return slice, key_of(lower), key_of(upper), key_of(step)
        case Const(value, None, False) if value is None or isinstance(value, (int, type(Ellipsis))):
            return type(value), value
    return operand


SYMBOLS = {
    operator.add: "total", operator.sub: "diff", operator.mul: "product", operator.truediv: "ratio", operator.pow: "power",
    operator.matmul: "product", operator.neg: "minus", operator.floordiv: "quotient", np.sum: "total", np.prod: "product",
    np.ndarray.astype: "same",
}  # fmt: skip


def call_name(fn, args: tuple[Operand, ...]) -> str:
    """Return a readable name for an intermediate result, such as `exp_x`."""
    if isinstance(fn, Hashable) and fn in SYMBOLS:
        return SYMBOLS[fn]
    name = getattr(fn, "__name__", "value").strip("_<>") or "value"
    if args and isinstance(args[0], Var) and not args[0].temp and "_" not in args[0].name:
        return f"{name}_{args[0].name}"
    return name
