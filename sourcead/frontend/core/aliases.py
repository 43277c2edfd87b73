"""Write cells, and decide which other cells may share the written memory.

Writing a view writes its base. Writing a cell poisons the cells that may share its memory: they must not be read any more.
"""

import functools
from collections.abc import Callable, Iterable

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type, operand_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend.core.cells import Cell, Value, cells_of, reach, roots
from sourcead.frontend.core.errors import READ_FROM_LIST, RETURN_IT, MustMaterialise, frozen_error, needs_items
from sourcead.frontend.core.journal import KIND, MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE
from sourcead.frontend.core.parts import is_surely_array, parts_of_value
from sourcead.frontend.core.pointer import Pointers
from sourcead.frontend.core.reading import Memory
from sourcead.frontend.core.sameness import Factory
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Build, Call, Const, Operand, Origin, Stmt, Sub, Var, View
from sourcead.ir.records import is_frozen
from sourcead.ir.types import (
    UNKNOWN, AnyTuple, Array, ListT, MapT, Type, Undefined, Unknown, carries_derivative, join, rank
)


def may_round(t: Type) -> bool:
    """Tell whether it is not known of an array whether it holds integers, so that a number may be rounded when it is written."""
    return isinstance(t, Array) and t.dtype is None or isinstance(t, Unknown) and not isinstance(t, AnyTuple)


FIELDS, USE_ARRAYS = "an array with named fields carries no derivative", "use an array for each field, or a dict of them"


def has_fields(t: Type) -> bool:
    """Tell whether a type is that of an array with named fields, whose cotangent would be one with fields too."""
    return isinstance(t, Array) and t.dtype is not None and t.dtype.names is not None


class Writing(Pointers, Memory):
    """Extend the memory of a lowering with writes.

    Attributes:
        written: maps parameters of the outermost function whose memory is written to the place of the write.
        compared: those parameters of which it asks by `is` whether they are one object.
        apart: whether objects in lists are kept one by one, and loops over them are lowered iteration by iteration.
    """

    def __init__(self):
        Memory.__init__(self)
        Pointers.__init__(self)
        self.written: dict[str, Origin | None] = {}
        self.compared: set[str] = set()
        self.apart = False

    def write(self, cell: Cell, path: tuple, value: Operand, mode: str = "set", through: bool = False) -> None:
        """Write to the part of an object at `path`, or add to it.

        Args:
            cell: the object.
            path: the subscripts and views that lead to the part.
            value: the new value, or a function of the version and the path that emits the new version.
            mode: "set", "add" or "sub".
            through: whether the part is written through a view of it.
        """
        if cell.base is not None:
            if STALE in cell.slots:
                raise AliasError(cell.slots[STALE], at=self.here, instead="copy it first: `x = x.copy()`")
            self.layouts |= cell.needs
            if not path and mode == "set" and not isinstance(atom_type(self.read(cell.base)), Array):
                path = (Sub(Const(Ellipsis)),)  # an array held by a list is filled, not replaced
            steps = path if cell.step is None else (cell.step, *path)
            return self.write(cell.base, steps, value, mode, through=through or cell.step is not None)
        if cell.stands_for is not None and cell.stands_for.kind == "list":  # it is not known which of its arrays is written
            self.merge(cell.stands_for)
            return self.write(cell, path, value, mode, through)
        if cell.frozen:
            raise frozen_error(cell, AliasError(cell.frozen, at=self.here, instead=of_copies(cell)))
        held = atom_type(self.read(cell)) if callable(value) else UNKNOWN
        for step in path:
            held = held.item if isinstance(held, ListT | MapT) and isinstance(step, Sub) else UNKNOWN
        lists_alone = isinstance(held, ListT)  # grows or shrinks, and no array changes
        if through and cell.doubled > lists_alone:
            why = f"one object may be in the list `{cell.name}` several times, and writing it changes all of them"
            raise AliasError(why, at=self.here, instead="append copies: `xs.append(x.copy())`")
        before = self.read(cell)
        if isinstance(value, Var) and carries_derivative(value.type) and has_fields(atom_type(before)):
            raise UnsupportedSyntaxError(FIELDS, at=self.here, instead=USE_ARRAYS)
        if callable(value):  # a function that changes the part at the path
            self.set_version(cell, value(before, path), slots_only=lists_alone, through=True)
            return
        whole = path and isinstance(path[0], Sub) and _is_whole(path[0].key)
        if whole and len(path) == 1 and rank(atom_type(before)) == 0 and isinstance(atom_type(before), Array):
            path, through = (), True
        elif rank(atom_type(before)) == 0 and path and isinstance(path[0], View):  # `np.reshape(a, -1)[0] = value`
            seen = self.build.update(self._derive(before, path[0], None), path[1:], value, mode)
            path, mode, through, value = (), "set", True, self.build.applied(np.reshape, (seen, ()), {})
        if path and rank(atom_type(before)) == 0 or whole and rank(atom_type(before)) is None:
            raise UnsupportedSyntaxError("a write into an array without axes", at=self.here, instead="rebind the name: `a = value`")
        if len(path) == 1 and mode == "set" and not through and not isinstance(atom_type(before), Array):
            if isinstance(atom_type(before), (ListT, MapT)):
                self.replace_slot(cell, lambda: self.build.update(before, path, value, mode))
                return
            for view in cell.viewers:  # a view of an array shows the new value, but an item read from a list is still the old one
                unknown = f"`{cell.name}`, of which it is not known whether it is an array or a list"
                self.set(view.slots, STALE, f"`{view.name}` was read from {unknown}, before a write")
        if path:  # for `a *= 2.0` of integers, NumPy raises an error
            self.keeps_fractions(before, path[:-1], f"`{cell.name}`", value)
        if isinstance(atom_type(before), MapT) and len(path) > 1:  # a dict's values are replaced, so that a cotangent may lack a key
            value = self.build.update(self.build.index(before, path[0].key), path[1:], value, mode)
            path, mode = path[:1], "set"
        self.set_version(cell, self.build.update(before, path, value, mode), through=through or len(path) > 1)

    def hold(self, container: Cell, value: Value) -> None:
        """Record that an object is in a list, and in those that may be this list and get what is put into it."""
        super().hold(container, value)
        pointer = self.pointer_of(container)
        for other in [*(pointer.cells() if pointer else ()), *(other for other, _ in self.pointers_to(container))]:
            for cell in roots(value):
                self.journal.discard(other.root(), "rows_of", cell)
            super().hold(other.root(), value)

    def keeps_fractions(self, holder: Atom, path: tuple, name: str, value: Operand) -> None:
        """Emit a check if it is not known whether what is at a path of an array or container has integers, to which a value is rounded."""
        if isinstance(value, Const) or not carries_derivative(operand_type(value)):
            return
        for step in path:
            if isinstance(atom_type(holder), Array) or not isinstance(step, Sub):
                break
            holder = self.build.index(holder, step.key)
        if may_round(atom_type(holder)):
            self.build.add(Stmt((Var("checked"),), Call(runtime.check_fractions, (holder, Const(name)), effect=True), self.here))

    def replace_slot(self, cell: Cell, change: Callable[[], Atom], grows: bool = False) -> None:
        """Replace the items of a list; with `grows`, the items that it held keep their places.

        A value read from it before keeps its identity, but the list may hold another object in that place now.
        """
        self.may_change(cell)
        current = [
            view
            for view in cell.viewers
            if SEEN in view.slots  # otherwise it was made in a branch or a loop round that was rolled back
            and POISON not in view.slots
            and (STALE not in view.slots or view.slots[SEEN] is cell.slots[VALUE])
        ]
        inside = [view for view in current if any(block is view.block for block in (self.build.stmts, *self.build.around))]
        for view in inside:
            self.read(view)
        self.set_version(cell, change(), slots_only=True)
        for view in current:
            if view in inside:
                self.set(view.slots, SEEN, cell.slots[VALUE])
            key = view.step.key if isinstance(view.step, Sub) else None
            if not (grows and isinstance(key, Const) and isinstance(key.value, int) and key.value >= 0):
                replaced = f"a list whose items were replaced in {self.line}"
                self.set(view.slots, STALE, f"`{view.name}` was read from {replaced}, and then one of them was written")

    def set_version(self, cell: Cell, new: Atom, slots_only: bool = False, through: bool = False) -> None:
        """Set a new version of an object.

        Args:
            slots_only: whether the items that it holds have not changed themselves; with `through`, whether the arrays among them have not.
            through: whether the memory of an item was written; otherwise an item may have been replaced.
        """

        def stays(other: Cell) -> bool:
            return slots_only and is_surely_array(other)

        self.dirty.add(cell)
        self.set(cell.slots, VALUE, new)
        same = roots(cell)
        self.note_written({each for each in reach(cell) if not stays(each)} if through else same)
        for other in same - {cell}:
            if not stays(other) and not (slots_only and other.kind == "object"):
                self.poison(other, cell)
        for container in {c for s in same for c in s.held_by} - same:
            if not all(s in container.rows_of for s in same if container in s.held_by):
                self.poison(container, cell)
        for held in [held for held in cell.holds if not stays(held)] if through else ():
            self.poison(held, cell)
            for container in held.held_by - {cell}:
                if held not in container.rows_of:
                    self.poison(container, cell)
        if self.follow is not None:
            self.follow(cell, [VALUE])

    def note_written(self, cells: Iterable[Cell]) -> None:
        """Record the parameters whose memory is or may be that of cells that are written."""
        for name in {self.params[cell] for cell in cells if cell in self.params}:
            self.written.setdefault(name, self.here)

    def note_compared(self, cells: Iterable[Cell]) -> None:
        """Record the parameters of which the program asks by `is` whether they are one object, which the text takes for different ones."""
        self.compared.update(self.params[cell] for cell in cells)

    def poison(self, other: Cell, written: Cell) -> None:
        """Forbid later reads of `other`, because it may share memory with `written`, which was just written."""
        for one, another in ((other, written), (written, other)):
            if another in one.apart:
                self.layouts |= one.apart[another]
                return
        if self.pointing and self.is_kept_equal(other, written):
            return
        if other.frozen not in (None, READ_FROM_LIST):
            why = f"`{written.name}`, which is written here, may be `{other.name}`: {other.frozen}"
            raise AliasError(why, at=self.here, instead="copy it first")
        read, into = self.written_as(other), self.written_as(written)
        what = f"`{into}`, which is written in {self.line}" if into and into != read else f"what is written in {self.line}"
        read = f"`{read}`" if read else "what is read here"
        self.set(other.slots, POISON, f"{read} may share memory with {what}, so its value is not known here")

    def written_as(self, cell: Cell) -> str | None:
        """Return how the user writes a value: a variable, or an item or attribute of one; else its name, if it is a word of the user's."""
        scopes = [(name, value) for scope in self.scopes() for name, value in scope.names.items() if str(name).isidentifier()]
        found = (text for name, value in scopes for text, part in parts_of_value(name, value, most=9) if part is cell)
        return min(found, key=len, default=cell.name if self.is_users_word(cell.name) else None)

    def is_users_word(self, name: str) -> bool:
        """Return whether a function that is being lowered has a variable or an attribute of this name."""
        return any(name in scope.words for scope in self.scopes())

    def sure(self, cell: Cell) -> None:
        """Refuse to use a list, dict or object as a whole that may have changed, or a dict whose keys depend on run-time values."""
        self.alive(cell)
        if UNSURE in cell.slots:
            instead = "give the dict all its keys where it is made: `{'a': None, ...}`"
            raise UnsupportedSyntaxError(cell.slots[UNSURE], at=self.here, instead=instead)

    def may_change(self, cell: Cell) -> None:
        """Refuse to replace items of what must not be written."""
        if cell.frozen:
            raise frozen_error(cell, AliasError(cell.frozen, at=self.here, instead=of_copies(cell)))

    def changed(self, cell: Cell) -> None:
        """Prepare for replacing an item of a list, dict or object of known structure: check permission and poison what may share it."""
        self.may_change(cell)
        self.note_written({cell, *cell.shares})
        self.set(cell.slots, WHOLE, MISSING)
        self.dirty.add(cell)
        containers = set(cell.held_by)
        for other in (cell.shares | containers | {c for h in containers for c in h.shares}) - {cell}:
            self.poison(other, cell)

    def keep_apart(self, value: Value) -> None:
        """Refuse to turn a list of mutable objects into one value if these objects must be kept one by one (`apart`)."""
        if self.apart and any(cell.kind == "object" and not is_frozen(cell.cls) for cell in cells_of(value)):
            raise needs_items("an object that is written is taken from a list at a place that is not known here", self.here)

    def _as_map(self, cell: Cell) -> Var:
        """Build one value from a dict of known keys: a dict from keys of one type to values of one type."""
        items = {key: self.read(value) for key, value in cell.items.items()}
        key_type = functools.reduce(join, (atom_type(Const(key)) for key in items), Undefined())
        item_type = functools.reduce(join, map(atom_type, items.values()), Undefined())
        t = MapT(key_type, item_type, None if cell.default is None else Factory(cell.default))
        return self.build.emit(Build("dict", tuple(items.values()), tuple(items)), t, cell.name, False)

    def materialise(self, cell: Cell) -> None:
        """Turn a list or dict of known structure into one IR value, in place; request it if the list was made outside this region."""
        if cell.depth < self.depth:
            raise MustMaterialise(cell, self.here)
        atom = self._as_map(cell) if cell.kind == "dict" else self._as_list(cell)
        for key, item in cell.items.items():
            self.hold(cell, item)
            self.set(cell.slots, key, MISSING)
        self.set(cell.slots, KIND, MISSING)
        self.set(cell.slots, WHOLE, MISSING)
        self.set(cell.slots, VALUE, atom)

    def _as_list(self, cell: Cell) -> Atom:
        """Read a list as one IR value, which is unassigned where the branch that made the list left it unassigned.

            if c: g0 = x                ->      if c: g0 = x
            g = [g0]                            g = if c: yield [g0] else: yield UNDEFINED
        """
        plain = all(isinstance(i, Atom) or isinstance(i, Cell) and i.kind == "array" and i.base is None for i in cell.contents)
        if cell.given is None or not plain or not self.may_be_missing(cell):
            return self.read_container(cell)
        cond, made = cell.given
        with self.build.block() as stmts:
            atom = self.read_container(cell)
        arms = Block(tuple(stmts), (atom,)), Block((), (UNDEFINED,))
        var = Var(cell.name, atom_type(atom), False)
        self.build.add(Stmt((var,), Branch(cond, arms[made], arms[1 - made])))
        self.build.unassigned.add(var)
        return var

    def merge(self, known: Cell) -> None:
        """Identify a list of known length with the cells that represent it as one IR value."""
        self.materialise(known)
        for cell in known.stood_for:
            for view in cell.viewers:
                self.journal.append(known, "viewers", view)
            self.journal.discard(known, "held_by", cell)
            for held in known.holds:
                self.journal.discard(held, "held_by", cell)
            self.journal.assign(cell, "base", known)
            self.journal.assign(cell, "step", None)


def _is_whole(key) -> bool:
    """Tell whether a key is `()` or `...`, either as written in a path or as a constant, and so stands for an array without axes."""
    value = key.value if isinstance(key, Const) else key
    return value is Ellipsis or isinstance(value, tuple) and all(map(_is_whole, value))


def of_copies(cell: Cell) -> str:
    """Return what to write in place of a write to data that the function must not change."""
    return f"write into a copy, `copied = {cell.name}.copy()`; what is to be kept, append to a global list, or {RETURN_IT}"
