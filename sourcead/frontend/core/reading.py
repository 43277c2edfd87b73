"""Make cells, and read the atoms that they currently hold.

A view whose base was written since it was last read is derived again from the base. A cell that may share memory with one that was
written is poisoned; reading it is refused.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend.core.cells import (
    HELD, ITEMS, BoundVal, Cell, ChoiceVal, FunctionVal, MethodVal, OptionalVal, TupleVal, Value, cells_of, is_text,
    leaves, parts_of, roots
)
from sourcead.frontend.core.errors import READ_FROM_LIST, RETURN_IT, needs_items, refused
from sourcead.frontend.core.journal import KIND, POISON, SEEN, STALE, VALUE, WHOLE, Journal, Slots
from sourcead.frontend.core.object_keys import has_objects_as_keys
from sourcead.frontend.core.parts import double
from sourcead.ir.names import of_part
from sourcead.ir.nodes import UNDEFINED, Atom, Build, Const, Operand, Origin, Slice, Sub, Var, View
from sourcead.ir.records import list_type
from sourcead.ir.types import Array, DictT, FunctionT, Known, ListT, MapT, NoneType, Scalar, Str, StructT, TupleT, Type


class Memory:
    """Hold the cells of a lowering, and record which of them may share memory.

    Attributes:
        build: the builder of the current block.
        journal: the changes of slots, cells and names since the beginning.
        depth: the number of branches and loops of unknown outcome around the current statement.
        params: maps each cell of an argument to the name of its parameter.
        dirty: cells that were written at least once.
        version_of: the array that a value is a version of.
        layouts: arguments that must be in C order (`values/memory_layouts.py`).
        classes: the classes that the lowering looked into -> whether they are there before the function is called.
    """

    def __init__(self):
        self.build = Builder()
        self.journal = Journal()
        self.depth = 0
        self.params: dict[Cell, str] = {}
        self.dirty: set[Cell] = set()
        self.version_of: dict[Atom, Cell] = {}
        self.layouts: set[Var] = set()
        self.classes: dict[type, bool] = {}

    @property
    def here(self) -> Origin | None:
        """Return the source location of the statement that is being lowered."""
        return self.build.origin

    @property
    def line(self) -> str:
        """Return the name of the line that is being lowered, for messages."""
        return f"line {self.here.line}" if self.here else "an earlier line"

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        """Set a slot, and record the change in the journal."""
        if slots.initial is not None:
            why = "only a first derivative leaves it there, and no code that is not lowered may read it"
            why = "in a function that calls itself" if self.in_pairs else why
            why = why if key in slots.initial else "it has no value before the call, which has to be given one"
            error = refused(self, f"`{key}`, which outlives the call, is assigned here: {why}", RETURN_IT)
            if key not in slots.initial or self.in_pairs:
                raise error
            self.changed_globals.setdefault((slots, key), error)
        self.journal.set(slots, key, value)
        if key is VALUE and isinstance(value, Var) and slots.cell is not None and slots.cell.base is None:
            self.version_of[value] = slots.cell

    def wrap(self, atom: Atom, *, shares=(), name: str | None = None) -> Value:
        """Wrap an atom as a value: as a cell if it is or may be mutable."""
        t = atom_type(atom)
        if isinstance(t, (Scalar, Str, NoneType, FunctionT)):
            return atom
        if isinstance(t, StructT) and isinstance(atom, Var):
            value = self.unpack(atom, t)
            for leaf in cells_of(value):
                self.share(leaf, shares)
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
        """Emit the item of a tuple, dict or record."""
        named = base.name if isinstance(base, Var) else base.text or "item"
        return self.build.index(base, Const(key), name=of_part(named, key) if isinstance(key, (str, int)) else named)

    def share(self, cell: Cell, others: Iterable[Cell]) -> None:
        """Record that a cell and others may be the same memory."""
        for other in set(others) - {cell}:
            self.journal.add(cell, "shares", other)
            self.journal.add(other, "shares", cell)

    def hold(self, container: Cell, value: Value) -> None:
        """Record that an object is in a list."""
        for cell in roots(value):
            double(self.journal, container, container.holds & {cell})
            self.journal.add(container, "holds", cell)
            self.journal.add(cell, "held_by", container)

    def put(self, container: Cell, value: Value) -> None:
        """Record that an object was put into a list or dict, which may be an item of another; an IR value cannot contain itself."""
        whole = container.root()
        if VALUE in whole.slots and isinstance(atom_type(whole.slots[VALUE]), (ListT, MapT)):
            parts = {leaf.root() for leaf in cells_of(value) if leaf.steps() > container.steps()}
            if whole in roots(value) - parts:
                raise refused(self, f"`{whole.name}`, whose length or keys depend on the run, is put into itself")
        self.hold(whole, value)

    def new_cell(self, atom: Atom, *, shares=(), name: str = "t") -> Cell:
        """Make a cell that holds an atom, which may be one of the objects that it `shares` memory with, or hold what they hold."""
        cell = Cell(Slots({VALUE: atom}), name, depth=self.depth, mark=self.journal.mark())
        self.share(cell, shares)
        t, inside = atom_type(atom), {held for other in shares for held in other.holds}
        if not isinstance(t, (ListT, MapT)):
            self.share(cell, (root for held in inside for root in roots(held)))
        if not isinstance(t, Array):
            for held in inside:
                self.hold(cell, held)
            cell.doubled = max((other.doubled for other in shares), default=0)
        return cell

    def wrap_whole(self, atom: Atom, items: Value) -> Cell:
        """Make a cell for a list or tuple as one value, in addition to that of its items."""
        cell = self.new_cell(atom, name=getattr(atom, "name", "items"))
        self.hold(cell, items)
        return cell

    def new_list(self, items, name: str = "items") -> Cell:
        """Make a list of known items."""
        return Cell(Slots({KIND: "list", **dict(enumerate(items))}), name, depth=self.depth)

    def new_object(self, cls: type, attributes: dict[str, Value], name: str = "items") -> Cell:
        """Make an object of a class with its attributes, which Python does not call when nothing refers to it any more."""
        if hasattr(cls, "__del__"):
            what = f"an object of {cls.__name__}, whose `__del__` runs when nothing refers to it"
            raise refused(self, what, "end it in a method that is called, or in the `__exit__` of a `with`")
        return self.known_object(cls, attributes, name)

    def known_object(self, cls: type, attributes: dict[str, Value], name: str) -> Cell:
        """Return the cell of an object that exists."""
        self.classes.setdefault(cls, True)
        return Cell(Slots({KIND: "object", **attributes}), name, depth=self.depth, cls=cls)

    def new_dict(self, items: dict, name: str = "items") -> Cell:
        """Make a dict of known keys."""
        return Cell(Slots({KIND: "dict", **items}), name, depth=self.depth)

    def like(self, value: TupleVal | Cell, items: dict[Any, Value], name: str | None = None) -> Value:
        """Make a tuple, list, dict or object of the same kind and class with other items."""
        if isinstance(value, TupleVal):
            return TupleVal(tuple(items.values()), None, value.cls)
        same = {"cls": value.cls, "default": value.default, "added": value.added}
        return Cell(Slots({KIND: value.kind, **items}), name or value.name, depth=self.depth, **same)

    def map_items(self, value: Value, f: Callable[[Value], Value], name: str | None = None) -> Value | None:
        """Copy a tuple, list, dict or object, which may not have changed, with `f(item)` for each item; return None for other values."""
        parts = parts_of(value)
        if isinstance(value, Cell) and parts is not None:
            self.alive(value)
        return None if parts is None else self.like(value, {key: f(part) for key, part in parts.items()}, name)

    def alive(self, cell: Cell) -> None:
        """Refuse to use a list, dict or object that may have changed under another name."""
        if POISON in cell.slots:
            raise AliasError(cell.slots[POISON], at=self.here, instead="copy what you want to keep")

    def view(self, base: Cell, step: Sub | View) -> Cell:
        """Make a cell for a part of `base`, which is derived when it is read."""
        cell = Cell(Slots(), base.name, base=base, step=step, block=self.build.stmts, depth=self.depth)
        if base.base is None and not isinstance(atom_type(base.slots[VALUE]), Array):
            self.journal.append(base, "viewers", cell)
        return cell

    def outside(self, cell: Cell, birth: int) -> Cell | None:
        """Return the object that is a cell outside of a branch or loop that began at `birth`, or None if it was made inside.

        A view that was taken inside, of an array made outside, is taken again outside if nothing inside decides what it shows.
        """
        if cell.slots.birth < birth:
            return cell
        base = None if cell.base is None or STALE in cell.slots else self.outside(cell.base, birth)
        if base is None or cell.step is None:
            return base
        if self.unreadable(base) is not None or not isinstance(atom_type(self.read(base)), Array) or not _is_known(cell.step):
            return None
        made = self.view(base, cell.step)
        made.name, made.needs = cell.name, cell.needs
        made.shares.add(base)  # which view it is, if there are several of this part, is not known
        return made

    def unpack(self, atom: Var, t: Type | None = None) -> Value:
        """Unpack a variable: a tuple, list, dict or record of known structure becomes a container of its items."""
        t = t or atom_type(atom)
        match t:
            case TupleT(items):
                return TupleVal(tuple(self.unpack(self._item(atom, i), u) for i, u in enumerate(items)), atom)
            case ListT(_, items) if items is not None:
                cell = self.new_list([self.unpack(self._item(atom, i), u) for i, u in enumerate(items)], atom.name)
            case DictT(items, default, added):
                cell = self.new_dict({k: self.unpack(self._item(atom, k), u) for k, u in items}, atom.name)
                cell.default, cell.added = None if default is None else Const(default), added
                if added is not None and added.kept_twice:
                    cell.frozen = f"`{atom.name}` is a {added.cls.__name__}, which keeps each item twice, as an item and as an attribute"
            case StructT(cls, fields):
                found = {k: self.unpack_field(atom, k, u) for k, u in fields}
                if issubclass(cls, tuple):
                    self.classes.setdefault(cls, True)
                    return TupleVal(tuple(found.values()), atom, cls)
                cell = self.known_object(cls, found, atom.name)
            case FunctionT(function):
                return Const(function)
            case _:
                return self.wrap(atom)
        cell.slots[WHOLE] = atom
        return cell

    def unpack_field(self, record: Var, name: str, t: Type) -> Value:
        """Unpack a field of a record that is one value."""
        match t:
            case Known(value) | FunctionT(value):
                return Const(value)
            case NoneType():
                return Const(None)
        return self.unpack(self._item(record, name), t)

    def read(self, value: Value, name: str | None = None) -> Atom:
        """Read the current value as one atom."""
        match value:
            case Var() | Const():
                return value
            case Cell():
                if value.slots.get(VALUE) is UNDEFINED and POISON in value.slots:
                    instead = "use it where its kind is known, or assign it again before it is read"
                    raise needs_items(value.slots[POISON], self.here, instead)
                if value.poison is not None:
                    instead = "copy what you want to keep, or write a copy: `y = x.copy()`"
                    raise AliasError(value.poison, at=self.here, instead=instead)
                if value.kind != "array":
                    return self.read_container(value, name)
                if value.base is None:
                    return value.slots[VALUE]
                base = self.read(value.base)
                if value.step is None:
                    return base
                if value.slots.get(SEEN) is not base:
                    if STALE in value.slots:
                        raise AliasError(value.slots[STALE], at=self.here, instead="copy what you want to keep")
                    if SEEN in value.slots:  # its base was written since, which it shows if it is a view
                        self.layouts |= value.needs
                    self.set(value.slots, VALUE, self._derive(base, value.step, value.slots.get(VALUE)))
                    self.set(value.slots, SEEN, base)
                return value.slots[VALUE]
            case TupleVal(items, origin, cls):
                if origin is not None and not any(self.was_written(i) for i in items):
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
                    "what is None or a tuple, or None or an object, is used as a value where only data can stand", at=self.here,
                    instead="ask whether it is None, and take its items or attributes where it is not",
                )
            case Slice():
                raise needs_items("a slice is used as a value where only data can stand", self.here)
            case MethodVal(of, method):
                if isinstance(of, Cell) and of.kind == "dict" and not hasattr(dict, method):
                    why = f"`.{method}` is no attribute of a dict, and what its class may add to a dict is not seen"
                    raise UnsupportedSyntaxError(why, at=self.here, instead=f"a subscript, `[{method!r}]`")
                instead = f"call it, as in `.{method}()`, or read the attribute outside of your function and pass it as an argument"
                raise UnsupportedSyntaxError(f"the method or attribute `{method}` is used as a value", at=self.here, instead=instead)
            case FunctionVal() | BoundVal() | ChoiceVal():
                raise needs_items("a function defined here is used as a value where only data can stand", self.here)
        if getattr(value, "value", None) is not None:
            return value.value()
        raise needs_items("this object cannot be used as a value here", self.here)

    def unreadable(self, value: Value) -> str | None:
        """Return why the array that a name holds must not be read any more, or None if it may be read."""
        if not isinstance(value, Cell) or value.kind != "array":
            return None
        if value.poison is not None:
            return value.poison
        while value.base is not None:
            if STALE in value.slots and value.slots.get(SEEN) is not value.base.slots.get(VALUE):
                return value.slots[STALE]
            value = value.base
        return None

    def may_be_missing(self, value: Value) -> bool:
        """Return whether a name or attribute with this value may have none, because a path left it unassigned or deleted it."""
        atoms = [leaf.slots.get(VALUE) if isinstance(leaf, Cell) else leaf for leaf in leaves(value)]
        return any(a is UNDEFINED or a in self.build.unassigned for a in atoms)

    def was_written(self, value: Value) -> bool:
        """Tell whether an item read from a container may differ from the item that the container held on entry."""
        return any(leaf.root() in self.dirty or POISON in leaf.root().slots for leaf in cells_of(value))

    def read_container(self, cell: Cell, name: str | None = None) -> Atom:
        """Read a list, dict or object as one IR value."""
        self.sure(cell)
        items = cell.items
        if WHOLE in cell.slots and not any(map(self.was_written, items.values())):
            return cell.slots[WHOLE]
        if HELD in items or ITEMS in items:
            what = "an array" if HELD in items else "a list, dict or tuple"
            raise needs_items(f"an object of class {cell.cls.__name__}, which is {what}, is used where its class is lost", self.here)
        if cell.kind == "object":
            return self._build_record(cell.cls, tuple(items), tuple(items.values()), name or cell.name)
        atoms = tuple(map(self.read, items.values()))
        types = tuple(map(atom_type, atoms))
        if cell.kind == "list":
            return self.build.emit(Build("list", atoms), list_type(types), name or cell.name)
        keys = tuple(items)
        if has_objects_as_keys(cell):
            raise needs_items("a dict with objects as keys is used as a value where only data can stand", self.here)
        return self.build.emit(Build("dict", atoms, keys), DictT(tuple(zip(keys, types))), name or cell.name)

    def _build_record(self, cls: type, names: tuple[str, ...], items: tuple[Value, ...], name: str) -> Var:
        """Emit a record of a class."""
        atoms = tuple(map(self.read, items))
        types = (Known(a.value) if is_text(a) else atom_type(a) for a in atoms)
        return self.build.emit(Build("record", atoms, names, cls), StructT(cls, tuple(zip(names, types))), name)

    def _derive(self, base: Atom, step: Sub | View, before: Atom | None) -> Var:
        """Emit the part of a base that a view shows."""
        match step:
            case Sub(key):
                var = self.build.index(base, key)
            case View(fn, args, kwargs):
                var = self.build.applied(fn, (base, *args), dict(kwargs))
        if before is not None and isinstance(before, Var):
            self.rename(var, before.name, before.temp)
        return var

    def rename(self, var: Var, name: str, temp: bool = False) -> Var:
        """Give a temporary variable a name from the user's program."""
        if var.temp:
            self.journal.assign(var, "name", name)
            self.journal.assign(var, "temp", temp)
        return var

    def operand(self, value: Value) -> Operand:
        """Return the value as an operand of a call or subscript: tuple displays and slices stay as they are written."""
        match value:
            case TupleVal(items, None, None):
                return tuple(map(self.operand, items))
            case Slice():
                return value
        return self.read(value)


def same_view(a: Cell, b: Cell) -> bool:
    """Tell whether two cells are one object, or views that show the same part of one array."""
    if a is b or None in (a.base, b.base, a.step, b.step):
        return a is b
    return same_view(a.base, b.base) and list(_parts(a.step)) == list(_parts(b.step))


def _is_known(step: Sub | View) -> bool:
    """Tell whether it is known while compiling which part a view shows."""
    return not any(isinstance(part, (Var, Const)) for part in _parts(step))


def _parts(step: Any) -> Iterator[Any]:
    """Iterate over what a step consists of, with known constants as Python objects."""
    match step:
        case tuple():
            yield len(step)
            for part in step:
                yield from _parts(part)
        case Slice(lower, upper, by):
            yield from _parts(("slice", lower, upper, by))
        case View(fn, args, kwargs):
            yield fn
            yield from _parts((args, kwargs))
        case Sub(key):
            yield from _parts(key)
        case Const(value, live=False):
            yield type(value)
            yield value
        case _:
            yield step
