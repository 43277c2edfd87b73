"""The state of one lowering: the statements so far, scopes, cells, and what was learned about globals.

Reading and writing of cells is here, because it is where sharing of memory is decided:

- reading a view whose base was written derives it again from the base;
- writing a view writes its base;
- writing a cell poisons those that may or may not share its memory; reading a poisoned cell is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gast

from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import AliasError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.values.cells import (
    KIND, MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, BoundVal, Cell, ChoiceVal, FunctionVal, Journal,
    MethodVal, OptionalVal, SliceVal, Slots, TupleVal, Value, hold, leaves, roots
)
from sourcead.ir.nodes import UNDEFINED, Atom, Build, Const, Operand, Origin, Stmt, Sub, Var, View
from sourcead.ir.type_of import list_type
from sourcead.ir.types import (
    Array, DictT, FunctionT, Known, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type, rank
)


@dataclass(eq=False)
class Scope:
    """The variables of one function being lowered; `source` is the function, `parent` the scope it was defined in."""

    source: Any
    names: Slots = field(default_factory=Slots)
    parent: Scope | None = None
    homes: dict = field(default_factory=dict)  # the variables that a `nonlocal` name is one of
    loops: int = 0  # how many loops of this function surround the current statement
    leaves: list = field(default_factory=list)  # the flags that end these loops, as far as they have one
    exits: dict = field(default_factory=dict)  # how control leaves the loops of this function (`exits.py`)
    ended: set = field(default_factory=set)  # names that blocks of the reverse sweep gave values to (`steering.py`)

    @cached_property
    def reads(self) -> tuple[Counter, set[gast.AST]]:
        """How often the function reads each name, and its loops."""
        node = self.source.node
        return name_reads(node), {n for n in gast.walk(node) if isinstance(n, (gast.For, gast.While))}


def name_reads(node: gast.AST) -> Counter:
    """How often each name is read."""
    return Counter(n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))


def is_text(atom: Atom) -> bool:
    """Whether an atom is a string or truth value known while compiling."""
    return isinstance(atom, Const) and not atom.live and isinstance(atom.value, (str, bool))


def is_empty_tuple(key) -> bool:
    """Whether a key is `()`, as it is written in a path or as a constant."""
    value = key.value if isinstance(key, Const) else key
    return isinstance(value, tuple) and not value


class NotStatic(Exception):
    """Raised while inlining a rule: a condition depends on what is not known while compiling."""


def needs_items(reason: str, at: Origin | None, instead: str | None = None) -> UnsupportedSyntaxError:
    """The error for what can be data only if the loop around is taken iteration by iteration (`loops.run_loop` does)."""
    error = UnsupportedSyntaxError(reason, at=at, instead=instead)
    error.needs_items = True
    return error


READ_FROM_LIST = "it was read from a list, and whether others see the change is not known here"


def frozen_error(cell: Cell, error: SourceADError) -> SourceADError:
    """The error for a write into what cannot be written; `objects_apart`: it could be if objects were not put into lists as values."""
    error.objects_apart = cell.frozen == READ_FROM_LIST
    return error


class MustMaterialise(Exception):
    """A list of known length changes its length where it is not known how often: it must become an IR value first."""

    def __init__(self, cell: Cell, origin: Origin | None):
        self.cell = cell
        self.origin = origin


class Lowering:
    """Everything that lowering one function (and what it calls) shares.

    Attributes:
        build: the builder of the current block.
        scope: the variables of the function being lowered.
        depth: how many branches and loops of unknown outcome surround the current statement.
        live: names of globals and closure variables that hold data: (where to read it, key, name in the text).
        guards: globals that were inlined or resolved: (where, key, the object found).
        written: parameters of the outermost function whose memory it writes.
        apart: objects in lists are kept one by one, and loops that take them by an index are lowered iteration by iteration.
        parts_stay: parts of arrays in lists are taken to stay as they are, which `parts_in_lists.py` finds out afterwards.
        static_only: raise `NotStatic` at a condition that is not known (while inlining rules).
    """

    def __init__(self):
        self.build = Builder()
        self.journal = Journal()
        self.scope: Scope | None = None
        self.depth = 0
        self.live: dict[str, tuple[Any, str]] = {}
        self.live_values: dict[str, Value] = {}
        self.guards: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self.written: dict[str, Origin | None] = {}
        self.params: dict[Cell, str] = {}
        self.dirty: set[Cell] = set()  # cells that were written at least once
        self.prelude: list[Stmt] = []  # statements at the top of the function
        self.walked: list[Cell] = []  # lists of known length that loops walk over by index, as one value each
        self.walks: list[Any] = []  # lists and dicts whose items the head of a loop takes one by one (`walks.py`)
        self.listing = False  # such lists are to be taken item by item
        self.static_only = False
        self.apart = False
        self.parts_stay = False
        self.called_from: Origin | None = None  # the call that is written out with other functions (`composing.py`)
        self.steering: dict[Any, Any] | None = None  # in an `adjoint_of` block: what it is about (`steering.py`)
        self.derived = False  # whether some of the statements are those of a derivative (`derivatives.py`)
        self.calls: list[Any] = []  # calls being inlined, outermost first
        self.version_of: dict[Atom, Cell] = {}  # the arrays that values are versions of
        self.layouts: set[Var] = set()  # arguments that must be in C order (`layouts.py`)
        self.pairs: dict[Any, Any] = {}  # the recursive functions called (`recursion.py`)

    # -- errors --------------------------------------------------------------------------------------------------

    def origin(self, node: gast.AST) -> Origin:
        return self.called_from or self.scope.source.origin(getattr(node, "stands_for", node))

    @property
    def here(self) -> Origin | None:
        return self.build.origin

    @contextmanager
    def at_top(self):
        """Statements emitted inside come first in the function, before any branch or loop."""
        with self.build.block() as stmts:
            yield
        self.prelude.extend(stmts)

    @contextmanager
    def at(self, node: gast.AST):
        """Statements emitted inside come from this syntax node."""
        before, self.build.origin = self.build.origin, self.origin(node)
        try:
            yield
        finally:
            self.build.origin = before

    # -- cells ---------------------------------------------------------------------------------------------------

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        self.journal.set(slots, key, value)
        if key is VALUE and isinstance(value, Var) and slots.cell is not None and slots.cell.base is None:
            self.version_of[value] = slots.cell

    def wrap(self, atom: Atom, *, shares=(), name: str | None = None) -> Value:
        """The value that an atom stands for: a cell if it is or may be something mutable."""
        t = atom_type(atom)
        if isinstance(t, (Scalar, Str, NoneType, FunctionT)):
            return atom
        if isinstance(t, StructT) and isinstance(atom, Var):
            value = self.unpack(atom, t)
            for leaf in leaves(value):
                if isinstance(leaf, Cell):
                    leaf.share(shares)
                    if leaf.kind != "array":
                        leaf.frozen = READ_FROM_LIST
            return value
        if isinstance(t, TupleT) and isinstance(atom, Var):
            items = tuple(self.wrap(self._item(atom, i), shares=shares) for i in range(len(t.items)))
            return TupleVal(items, atom)
        if isinstance(atom, Const) and not atom.live and not isinstance(t, (Array, ListT, DictT)):
            return atom
        return self.new_cell(atom, shares=shares, name=name or getattr(atom, "name", None) or atom.text or "t")

    def _item(self, base: Atom, key: Any) -> Var:
        named = base.name if isinstance(base, Var) else base.text or "item"
        return self.build.index(base, Const(key), name=f"{named}_{key}" if isinstance(key, (str, int)) else named)

    def new_cell(self, atom: Atom, *, shares=(), name: str = "t") -> Cell:
        return Cell(Slots({VALUE: atom}), name, shares=set(shares), depth=self.depth)

    def wrap_whole(self, atom: Var, items: Value) -> Cell:
        """The cell of a list or tuple as one value, beside that of its items."""
        cell = self.new_cell(atom, name=atom.name)
        hold(cell, items)
        return cell

    def new_list(self, items, name: str = "items") -> Cell:
        return Cell(Slots({KIND: "list", **dict(enumerate(items))}), name, depth=self.depth)

    def new_object(self, cls: type, attributes: dict[str, Value], name: str = "items") -> Cell:
        return Cell(Slots({KIND: "object", **attributes}), name, depth=self.depth, cls=cls)

    def new_dict(self, items: dict, name: str = "items") -> Cell:
        return Cell(Slots({KIND: "dict", **items}), name, depth=self.depth)

    def like(self, cell: Cell, items: dict[Any, Value], name: str) -> Cell:
        """A list, dict or object of the same kind, with other items."""
        return Cell(Slots({KIND: cell.kind, **items}), name, depth=self.depth, cls=cell.cls, default=cell.default)

    def view(self, base: Cell, step: Sub | View) -> Cell:
        """The cell of a part of `base`; derived when it is read."""
        cell = Cell(Slots(), base.name, base=base, step=step, depth=self.depth)
        if base.base is None and not isinstance(atom_type(base.slots[VALUE]), Array):
            base.viewers.append(cell)
        return cell

    def unpack(self, atom: Var, t: Type | None = None) -> Value:
        """A parameter as a value: tuples, lists and dicts of known structure are opened up."""
        t = t or atom_type(atom)
        match t:
            case TupleT(items):
                return TupleVal(tuple(self.unpack(self._item(atom, i), u) for i, u in enumerate(items)), atom)
            case ListT(_, items) if items is not None:
                cell = self.new_list([self.unpack(self._item(atom, i), u) for i, u in enumerate(items)], atom.name)
            case DictT(items):
                cell = self.new_dict({k: self.unpack(self._item(atom, k), u) for k, u in items}, atom.name)
            case StructT(cls, fields):
                found = {k: self.unpack_field(atom, k, u) for k, u in fields}
                if issubclass(cls, tuple):
                    return TupleVal(tuple(found.values()), atom, cls)
                cell = self.new_object(cls, found, atom.name)
            case FunctionT(function):
                return Const(function)
            case _:
                return self.wrap(atom)
        cell.slots[WHOLE] = atom
        return cell

    def unpack_field(self, record: Var, name: str, t: Type) -> Value:
        """A field of a record that came in as one value."""
        match t:
            case Known(value) | FunctionT(value):
                return Const(value)
            case NoneType():
                return Const(None)
        return self.unpack(self._item(record, name), t)

    def read(self, value: Value, name: str | None = None) -> Atom:
        """The value as one atom, as it is now."""
        match value:
            case Var() | Const():
                return value
            case Cell():
                if value.slots.get(VALUE) is UNDEFINED and POISON in value.slots:
                    raise needs_items(value.slots[POISON], self.here, "assign it again before it is read")
                if POISON in value.slots or POISON in value.root().slots:
                    raise AliasError(
                        value.slots.get(POISON) or value.root().slots[POISON],
                        at=self.here,
                        instead="copy what you want to keep, or write a copy: `y = x.copy()`",
                    )
                if value.kind != "array":
                    return self._read_container(value, name)
                if value.base is None:
                    return value.slots[VALUE]
                base = self.read(value.base)
                if value.step is None:
                    return base
                if value.slots.get(SEEN) is not base:
                    if STALE in value.slots:
                        raise AliasError(value.slots[STALE], at=self.here, instead="copy what you want to keep")
                    if SEEN in value.slots:  # its base was written since: it shows that, if it is a view
                        self.layouts |= value.needs
                    self.set(value.slots, VALUE, self._derive(base, value.step, value.slots.get(VALUE)))
                    self.set(value.slots, SEEN, base)
                return value.slots[VALUE]
            case TupleVal(items, origin, cls):
                if origin is not None and not any(self._was_written(i) for i in items):
                    return origin
                if cls is not None:
                    return self._build_record(cls, cls._fields, items, name or "record")
                operand = tuple(map(self.operand, items))
                if all(isinstance(o, Const) and not o.live for o in operand):
                    return Const(tuple(o.value for o in operand))
                atoms = tuple(map(self.read, items))
                return self.build.emit(Build("tuple", atoms), TupleT(tuple(map(atom_type, atoms))), name or "pair")
            case OptionalVal():
                raise UnsupportedSyntaxError(
                    "what is None or a tuple is used as a value where only data can stand", at=self.here,
                    instead="ask whether it is None, and take its items where it is not",
                )
            case SliceVal():
                raise needs_items("a slice is used as a value where only data can stand", self.here)
            case MethodVal(_, method):
                raise UnsupportedSyntaxError(f"the method `{method}` is used as a value", at=self.here, instead="call it, or use a lambda")
            case FunctionVal() | BoundVal() | ChoiceVal():
                raise needs_items("a function defined here is used as a value where only data can stand", self.here)
        if getattr(value, "value", None) is not None:
            return value.value()
        raise UnsupportedSyntaxError("this object cannot be used as a value here", at=self.here)

    def unreadable(self, value: Value) -> str | None:
        """Why the array that a name holds must not be read any more; None if it may be."""
        if not isinstance(value, Cell) or value.kind != "array":
            return None
        root = value.root()
        if POISON in value.slots or POISON in root.slots:
            return value.slots.get(POISON) or root.slots[POISON]
        while value.base is not None:
            if STALE in value.slots and value.slots.get(SEEN) is not value.base.slots.get(VALUE):
                return value.slots[STALE]
            value = value.base
        return None

    def _was_written(self, value: Value) -> bool:
        """Whether an item read from a container may differ from what the container held on entry."""
        cells = [leaf.root() for leaf in leaves(value) if isinstance(leaf, Cell)]
        return any(cell in self.dirty or POISON in cell.slots for cell in cells)

    def _read_container(self, cell: Cell, name: str | None = None) -> Atom:
        self.sure(cell)
        items = cell.items
        if WHOLE in cell.slots and not any(map(self._was_written, items.values())):
            return cell.slots[WHOLE]
        if cell.kind == "object":
            return self._build_record(cell.cls, tuple(items), tuple(items.values()), name or cell.name)
        atoms = tuple(map(self.read, items.values()))
        types = tuple(map(atom_type, atoms))
        if cell.kind == "list":
            return self.build.emit(Build("list", atoms), list_type(types), name or cell.name)
        keys = tuple(items)
        return self.build.emit(Build("dict", atoms, keys), DictT(tuple(zip(keys, types))), name or cell.name)

    def _build_record(self, cls: type, names: tuple[str, ...], items: tuple[Value, ...], name: str) -> Var:
        atoms = tuple(map(self.read, items))
        types = (Known(a.value) if is_text(a) else atom_type(a) for a in atoms)
        return self.build.emit(Build("record", atoms, names, cls), StructT(cls, tuple(zip(names, types))), name)

    def _derive(self, base: Atom, step: Sub | View, before: Atom | None) -> Var:
        match step:
            case Sub(key):
                var = self.build.index(base, key)
            case View(fn, args, kwargs):
                var = self.build.call(fn, base, *args, **dict(kwargs))
        if before is not None and isinstance(before, Var):
            self.rename(var, before.name, before.temp)
        return var

    def rename(self, var: Var, name: str, temp: bool = False) -> Var:
        """Gives a variable a name, if it has none of the user's."""
        if var.temp:
            var.name, var.temp = name, temp
        return var

    def operand(self, value: Value) -> Operand:
        """The value as an operand of a call or subscript: tuple displays and slices stay as they are written."""
        match value:
            case TupleVal(items, None, None):
                return tuple(map(self.operand, items))
            case SliceVal():
                return value.operand()
        return self.read(value)

    def write(self, cell: Cell, path: tuple, value: Operand, mode: str = "set", through: bool = False) -> None:
        """Replaces (or adds to) the part of the object at `path`; `through`: by way of a view of that part."""
        if cell.base is not None:
            if STALE in cell.slots:
                raise AliasError(cell.slots[STALE], at=self.here, instead="copy it first: `x = x.copy()`")
            self.layouts |= cell.needs
            if not path and mode == "set" and not isinstance(atom_type(self.read(cell.base)), Array):
                path = (Sub(Const(Ellipsis)),)  # the array that a list holds is filled, not replaced
            steps = path if cell.step is None else (cell.step, *path)
            return self.write(cell.base, steps, value, mode, through=through or cell.step is not None)
        if cell.stands_for is not None and cell.stands_for.kind == "list":  # one of its arrays is written, not known which
            if cell.stands_for.depth < self.depth:
                raise MustMaterialise(cell.stands_for, self.here)
            self.merge(cell.stands_for)
            return self.write(cell, path, value, mode, through)
        if cell.frozen:
            raise frozen_error(cell, AliasError(cell.frozen, at=self.here, instead="copy it first: `x = x.copy()`"))
        if through and cell.doubled:
            raise AliasError(
                f"one object may be in the list `{cell.name}` several times, and writing it changes all of them", at=self.here,
                instead="append copies: `xs.append(x.copy())`",
            )
        before = self.read(cell)
        if callable(value):  # another way to change the part at the path
            self.set_version(cell, value(before, path))
            for held in cell.holds:
                self.poison(held, cell)
            return
        whole = path and isinstance(path[0], Sub) and is_empty_tuple(path[0].key)
        if path and rank(atom_type(before)) == 0 or whole and rank(atom_type(before)) is None:
            raise UnsupportedSyntaxError("a write into an array without axes", at=self.here, instead="rebind the name: `a = value`")
        if cell in self.params:
            self.written.setdefault(self.params[cell], self.here)
        if len(path) == 1 and mode == "set" and not through and not isinstance(atom_type(before), Array):
            if isinstance(atom_type(before), (ListT, MapT)):
                self.replace_slot(cell, lambda: self.build.update(before, path, value, mode))
                return
            for view in cell.viewers:  # of an array it would show the new value, of a list still the old item
                self.set(
                    view.slots,
                    STALE,
                    f"`{view.name}` was read from `{cell.name}`, of which it is not known whether it is an array or a list, before a write",
                )
        if isinstance(atom_type(before), MapT) and len(path) > 1:  # a dict's values are replaced, so that a cotangent may lack a key
            value = self.build.update(self.build.index(before, path[0].key), path[1:], value, mode)
            path, mode = path[:1], "set"
        new = self.build.update(before, path, value, mode)
        self.set_version(cell, new)
        if through or len(path) > 1:  # what lies in the list was written, not replaced
            for held in cell.holds:
                self.poison(held, cell)

    def replace_slot(self, cell: Cell, change: Callable[[], Atom], grows: bool = False) -> None:
        """A list holds other items from now on; `grows`: those that it held keep their places.

        What was read from it before is still the object that it was, but not what the list has in that place now.
        """
        current = [
            view
            for view in cell.viewers
            if SEEN in view.slots  # else it belongs to an attempt that was rolled back
            and POISON not in view.slots
            and (STALE not in view.slots or view.slots[SEEN] is cell.slots[VALUE])
        ]
        for view in current:
            self.read(view)
        self.set_version(cell, change(), slots_only=True)
        for view in current:
            self.set(view.slots, SEEN, cell.slots[VALUE])
            key = view.step.key if isinstance(view.step, Sub) else None
            if not (grows and isinstance(key, Const) and isinstance(key.value, int) and key.value >= 0):
                where = f"line {self.here.line}" if self.here else "an earlier line"
                self.set(
                    view.slots,
                    STALE,
                    f"`{view.name}` was read from a list whose items were replaced in {where}, and then one of them was written",
                )

    def set_version(self, cell: Cell, new: Atom, slots_only: bool = False) -> None:
        """The object has changed: `new` is its value from now on; `slots_only`: what it holds has not changed itself."""
        self.dirty.add(cell)
        self.set(cell.slots, VALUE, new)
        same = roots(cell)
        for other in same - {cell}:
            if slots_only and other.kind == "array" and isinstance(atom_type(other.slots.get(VALUE, Const(None))), (Array, Scalar)):
                continue
            if slots_only and other.kind == "object":
                continue
            self.poison(other, cell)
        for container in {c for s in same for c in s.held_by} - same:
            if not all(s in container.parts_of for s in same if container in s.held_by):
                self.poison(container, cell)

    def poison(self, other: Cell, written: Cell) -> None:
        """`other` must not be read any more: `written`, which it may share memory with, has changed."""
        for one, another in ((other, written), (written, other)):
            if another in one.apart:
                self.layouts |= one.apart[another]
                return
        where = f"line {self.here.line}" if self.here else "an earlier line"
        why = f"`{other.name}` may share memory with `{written.name}`, which is written in {where}, so its value is not known here"
        self.set(other.slots, POISON, why)

    def alive(self, cell: Cell) -> None:
        """Refuses to go on with a list, dict or object that may have changed under another name."""
        if POISON in cell.slots:
            raise AliasError(cell.slots[POISON], at=self.here, instead="copy what you want to keep")

    def sure(self, cell: Cell) -> None:
        """Refuses to ask which keys a dict has where that depends on what the program does."""
        if UNSURE in cell.slots:
            raise UnsupportedSyntaxError(
                cell.slots[UNSURE], at=self.here, instead="give the dict all its keys where it is made: `{'a': None, ...}`"
            )

    def changed(self, cell: Cell) -> None:
        """An item of a list, dict or object of known structure is about to be replaced."""
        if cell.frozen:
            raise frozen_error(cell, AliasError(cell.frozen, at=self.here, instead="copy it first"))
        if cell in self.params:
            self.written.setdefault(self.params[cell], self.here)
        self.set(cell.slots, WHOLE, MISSING)
        self.dirty.add(cell)
        containers = set(cell.held_by)
        for other in (cell.shares | containers | {c for h in containers for c in h.shares}) - {cell}:
            self.poison(other, cell)

    def materialise(self, cell: Cell) -> None:
        """Turns a list or dict of known structure into one IR value, in place."""
        from sourcead.frontend.values import runtime_dicts as maps

        atom = maps.as_map(self, cell) if cell.kind == "dict" else self._read_container(cell)
        for key, item in cell.items.items():
            hold(cell, item)
            self.set(cell.slots, key, MISSING)
        self.set(cell.slots, KIND, MISSING)
        self.set(cell.slots, WHOLE, MISSING)
        self.set(cell.slots, VALUE, atom)

    def merge(self, known: Cell) -> None:
        """A list of known length and the cells that stand for it as one value are one object from now on."""
        self.materialise(known)
        for cell in known.stood_for:
            known.viewers += cell.viewers
            known.held_by.discard(cell)
            for held in known.holds:
                held.held_by.discard(cell)
            cell.base, cell.step = known, None

    # -- scopes --------------------------------------------------------------------------------------------------

    def visible(self) -> Iterator[Value]:
        """The values of the names that can be read or rebound here."""
        scope = self.scope
        while scope is not None:
            yield from scope.names.values()
            scope = scope.parent

    @contextmanager
    def deeper(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
