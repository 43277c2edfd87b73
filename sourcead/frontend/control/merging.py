"""Merge the two arms of a branch: make one value of each pair of values that differ between the arms.

Tuples, lists, dicts and objects of the same structure are merged item by item. A number or array becomes a result of the `Branch`. A
variable that is assigned in one arm only is `UNDEFINED` in the other.
"""

from dataclasses import dataclass, field
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import narrowing
from sourcead.frontend.core import (
    FALSE, KIND, MISSING, MOST_OBJECTS, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, BoundVal, Cell, ChoiceVal,
    FunctionVal, Iterable, Lowering, Meta, MustMaterialise, New, OptionalVal, Pointer, Slots, TupleVal, Value, parts_of,
    roots
)
from sourcead.ir.names import of_part
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Slice, Stmt, Var
from sourcead.ir.types import Array, ListT, MapT, NoneType, Scalar, Undefined, Unknown, join


@dataclass
class Arm:
    """The state of one arm of a branch after lowering.

    Attributes:
        stmts: the statements of the arm.
        value: the value of the arm.
        state: the slots that the arm changed, with their values at its end.
        before: these slots with their values before the arm.
        atoms: the versions of cells at the end of the arm.
        left: whether the arm raises, so that no value flows out of it.
        contents: the items, at the end of the arm, of the containers that it changed.
        poisoned: the cells that the arm poisoned, including those that it made, with the reason.
        captured: the variables of functions called in the arm that functions made there read, with their values at its end.
    """

    stmts: list[Stmt]
    value: Any
    state: dict[tuple[Slots, Any], Any]
    before: dict[tuple[Slots, Any], Any]
    atoms: dict[Cell, Atom]
    left: bool = False
    contents: dict[Cell, dict] = field(default_factory=dict)
    poisoned: dict[Cell, str] = field(default_factory=dict)
    captured: dict[Slots, dict[str, Value]] = field(default_factory=dict)

    def items(self, container: Cell) -> dict:
        """Return the items of a list, dict or object at the end of this arm."""
        return self.contents.get(container, container.items)

    def poison(self, value: Value) -> str | None:
        """Return the reason why a value must not be read after this arm, None if it may be."""
        if not isinstance(value, Cell):
            return None
        found = [self.poisoned.get(cell) for cell in (value, value.root())]
        return next((why for why in found if why is not None), None)


@dataclass
class Merger:
    """The merging of the two arms of a branch.

    Attributes:
        lo: the lowering, in its state after the branch.
        arms: the arms.
        birth: the number at which the branch begins; cells with a lower one were made before it.
        cond: the condition of the branch.
        results: (atom of the first arm, atom of the second, variable) for each result of the `Branch`.
        made: (value of the first arm, value of the second) -> the object that is one or the other after the branch.
        behind: each of these objects, and the cells of both arms that it may be.
    """

    lo: Lowering
    arms: list[Arm]
    birth: int
    cond: Atom
    results: list[tuple[Atom, Atom, Var]] = field(default_factory=list)
    made: dict[tuple[int, int], Cell] = field(default_factory=dict)
    behind: list[tuple[Cell, set[Cell]]] = field(default_factory=list)

    def slot(self, key: Any, a: Any, b: Any) -> Any:
        """Return the value of a slot after the branch, given its values at the ends of the arms."""
        if key is POISON or key is STALE or key is UNSURE:
            return a if a is not MISSING else b
        if key is SEEN:
            return MISSING
        if key in (KIND, WHOLE) and isinstance(key, Meta):
            return a if a is b else MISSING
        if self.arms[0].left:
            a = UNDEFINED if b is not MISSING else MISSING
        if self.arms[1].left:
            b = UNDEFINED if a is not MISSING else MISSING
        if a is MISSING and b is MISSING:
            return MISSING
        a, b = (UNDEFINED if v is MISSING else v for v in (a, b))
        if key is VALUE:
            some = a if isinstance(a, Var) else b
            return self.result(a, b, some.name if isinstance(some, Var) else "value", getattr(some, "temp", False))
        return self.value(a, b, key if isinstance(key, str) and not isinstance(key, Meta) else "value")

    def value(self, a: Value, b: Value, name: str) -> Value:
        """Return the merged value of `a` in the first arm and `b` in the second."""
        if a is b and not any(arm.left for arm in self.arms):
            return a
        if (id(a), id(b)) in self.made:
            return self.made[id(a), id(b)]
        if isinstance(a, Const) and isinstance(b, Const) and not a.live and not b.live and core.same_constant(a, b):
            return a
        if isinstance(a, Iterable) or isinstance(b, Iterable):
            self.lo.arms_differ()
            return core.unreadable(name, f"which iterator `{name}` is depends on a branch")
        a, b = (UNDEFINED if is_unassigned(x) and is_structure(y) else x for x, y in ((a, b), (b, a)))
        a, b = (UNDEFINED if arm.left else x for x, arm in zip((a, b), self.arms))
        if (found := self.optional(a, b, name)) is not None:
            return found
        some, other = (b, a) if a is UNDEFINED else (a, b)
        alone = other is UNDEFINED
        if (found := self.one_of_before(some, other)) is not None:
            return found
        if isinstance(some, TupleVal) and (alone or core.same_keys(other, some)):
            names = [of_part(name, k) if some.cls else name for k in some.keys]
            items = ([UNDEFINED] * len(names) if v is UNDEFINED else v.items for v in (a, b))
            return TupleVal(tuple(map(self.value, *items, names)), None, some.cls)
        if isinstance(some, Cell) and some.kind != "array" and (alone or self.have_same_keys(a, b)) and not self.has_new_key(a, b):
            return self.containers(some, a, b, name)
        self.request_one_value(a, b)
        if alone and (isinstance(some, (FunctionVal, BoundVal, ChoiceVal)) or isinstance(some, Const) and callable(some.value)):
            return self.reached(some, 0 if some is a else 1, name)
        if isinstance(some, Slice):
            a, b = (Slice(*(p and UNDEFINED for p in (some.lower, some.upper, some.step))) if v is UNDEFINED else v for v in (a, b))
        if isinstance(a, Slice) and isinstance(b, Slice) and (bounds := core.paired_bounds(a, b)) is not None:
            names = (f"{name}_start", f"{name}_stop", f"{name}_step")
            return Slice(*(None if x is None else self.value(x, y, n) for (x, y), n in zip(bounds, names)))
        if core.is_function(a) and core.is_function(b):
            return self.functions(a, b, name)
        return self.data(a, b, name)

    def one_of_before(self, some: Value, other: Value) -> Cell | None:
        """Return the object made before the branch that a name is after it in both arms, if it is one."""
        if not isinstance(some, Cell) or (found := self.lo.outside(some, self.birth)) is None:
            return None
        again = self.lo.outside(other, self.birth) if isinstance(other, Cell) else None
        return found if again is not None and core.same_view(found, again) else None

    def request_one_value(self, a: Value, b: Value) -> None:
        """Request that lists or dicts become one IR value if the arms leave them in different structures."""
        cells = [v for v in (a, b) if isinstance(v, Cell) and not is_unreadable(v)]
        for cell in cells:
            if len(cells) < 2 or cell.kind not in ("list", "dict") or cell.kind == "dict" and not core.can_be_map(cell, UNDEFINED):
                continue
            if cell.depth < self.lo.depth + 1:
                raise MustMaterialise(cell, self.lo.here)
            raise core.MustBeOneValue

    def one_object(self, a: Value, b: Value, merged: Cell) -> None:
        """Record the object that is `a` or `b` after the branch, with the other objects that it may share memory with."""
        self.made[id(a), id(b)] = merged
        self.lo.arms_differ()
        pointer = self.pointer(a, b) if self.lo.pointing else None
        if pointer is not None:
            self.lo.pointers[merged] = pointer
        alone = pointer is not None and merged.kind != "array"  # what is in it is merged, too, and related to what is in the others
        behind = {root for v in (a, b) if isinstance(v, Cell) for root in ({v, *v.shares} if alone else roots(v))}
        self.lo.share(merged, behind)
        for held in {held for cell in behind for held in cell.holds}:
            self.lo.hold(merged, held)
        for other, cells in self.behind:
            if cells & behind:
                self.lo.share(merged, [other])
        self.behind.append((merged, behind))

    def pointer(self, a: Value, b: Value) -> Pointer | None:
        """Return which objects made before the branch an object is after it, or None if that is not known."""
        if not is_truth(self.cond) or not all(can_be_followed(self.lo, v) for v in (a, b)) or (a.kind, a.cls) != (b.kind, b.cls):
            return None
        if a.kind == "array" and type(atom_type(self.lo.read(a))) is not type(atom_type(self.lo.read(b))):
            return None
        parts = self.pointed(a, 0), self.pointed(b, 1)
        if None in parts or all(isinstance(part, New) for part in parts):
            return None
        pointer = Pointer(self.cond, *parts, self.lo.build.stmts)
        return pointer if len(pointer.leaves()) <= MOST_OBJECTS else None

    def pointed(self, value: Cell | Pointer, arm: int) -> Cell | Pointer | None:
        """Return what leads to an object of an arm after the branch, or None if nothing does."""
        if isinstance(value, Cell):
            if (found := self.lo.outside(value, self.birth)) is not None:
                pointer = self.lo.pointer_of(found)
                return None if found is not value else found if pointer is None else pointer.with_new(found)
            made, value = value, self.lo.pointers.get(value)
            if value is None:
                return New(made) if made.kind != "array" or made.base is None else None
        if not is_truth(value.condition):
            return None
        parts = self.pointed(value.first, arm), self.pointed(value.second, arm)
        asked = (value.condition, FALSE) if arm == 0 else (FALSE, value.condition)
        return None if None in parts else Pointer(self.result(*asked, "which", True), *parts, self.lo.build.stmts)

    def data(self, a: Value, b: Value, name: str) -> Value:
        """Return the merged value of a number, array or other IR value in each arm, as a result of the `Branch`."""
        if any(parts_of(v) is not None or is_unreadable(v) or isinstance(v, Slice) or core.is_function(v) for v in (a, b)):
            return self.either(a, b, name)
        poisons = [arm.poison(v) or self.lo.unreadable(v) for arm, v in zip(self.arms, (a, b))]
        atoms = (UNDEFINED if v is UNDEFINED or why else self.final(v, arm) for v, why, arm in zip((a, b), poisons, self.arms))
        var = self.result(*atoms, name, name == "value")
        found = [c for v in (a, b) if isinstance(v, Cell) for c in roots(v)]
        merged = self.lo.wrap(var, shares=found, name=name)
        why = poisons[0] or poisons[1]
        if isinstance(merged, Cell):
            self.one_object(a, b, merged)
            merged.frozen = next((c.frozen for c in found if c.frozen), None)
            if why:
                merged.slots[POISON] = why
        return core.unreadable(name, why) if why and not isinstance(merged, Cell) else merged

    def either(self, a: Value, b: Value, name: str) -> Cell:
        """Return what stands for values of different structure: it must be assigned again before it is read."""
        why = next((why for why in map(self.lo.unreadable, (a, b)) if why is not None), None)
        if why is None:
            what = "what it gives" if name == "value" else f"`{name}`"
            one, other = map(core.structure_of, (a, b))
            why = f"{what} is {one} on one side of the branch in {self.lo.line}, and {other} on the other"
        merged = core.unreadable(name, why)
        self.one_object(a, b, merged)
        return merged

    def optional(self, a: Value, b: Value, name: str) -> OptionalVal | None:
        """Return the merged value of None in one arm and a tuple in the other, None for other values."""
        if UNDEFINED in (a, b) or (found := core.pairs_in_arms([a, b])) is None:
            return None
        missing, inside = zip(*found)
        flag = self.value(*missing, f"{name}_missing")
        return OptionalVal(flag, self.value(*inside, name))

    def functions(self, a: Value, b: Value, name: str) -> ChoiceVal:
        """Return the merged value of two functions: a choice between them by the number of the arm."""
        options = {0: self.reached(a, 0, name)}
        return ChoiceVal(self.result(Const(0), Const(1), "which", True), options, self.reached(b, 1, name))

    def reached(self, value: Value, arm: int, name: str) -> Value:
        """Return, after the branch, a value that is reached only where this arm ran, such as the default of a function made there."""
        match value:
            case FunctionVal(source, scope, defaults):
                reached = {k: self.reached(v, arm, k) for k, v in defaults.items()}
                return FunctionVal(source, scope, reached, value.attributes) if defaults else value
            case BoundVal(function, args, kwargs):
                function = self.reached(function, arm, name)
                given = tuple(self.reached(v, arm, name) for v in args)
                return BoundVal(function, given, {k: self.reached(v, arm, k) for k, v in kwargs.items()})
            case ChoiceVal(which, options, otherwise):
                which = self.result(*((which, Const(None)) if arm == 0 else (Const(None), which)), "which", True)
                options = {k: self.reached(f, arm, name) for k, f in options.items()}
                return ChoiceVal(which, options, otherwise and self.reached(otherwise, arm, name))
            case TupleVal(items, _, cls):
                return TupleVal(tuple(self.reached(v, arm, name) for v in items), None, cls)
            case Const():
                return value
            case Cell() if (found := self.lo.outside(value, self.birth)) is not None and core.same_view(found, value):
                return found
        return self.value(*((value, UNDEFINED) if arm == 0 else (UNDEFINED, value)), name)

    def captured(self) -> list[tuple[Slots, str, Value]]:
        """Return what the variables of functions that were called in an arm are after the branch, if functions made there read them."""
        return [
            (slots, name, self.reached(value, k, name))
            for k, arm in enumerate(self.arms) if not arm.left
            for slots, names in arm.captured.items() for name, value in names.items()
        ]  # fmt: skip

    def have_same_keys(self, a: Value, b: Value) -> bool:
        """Return whether two values are lists, dicts or objects with the same structure at the ends of their arms."""
        if not (isinstance(a, Cell) and isinstance(b, Cell) and a.kind == b.kind):
            return False
        return core.same_keys(*(self.lo.like(cell, arm.items(cell), "") for cell, arm in zip((a, b), self.arms)))

    def has_new_key(self, *values: Value) -> bool:
        """Return whether a key of a dict is an object that an arm made, which has no place after it."""
        return any(
            cell.slots.birth > self.birth
            for value, arm in zip(values, self.arms) if isinstance(value, Cell)
            for key in arm.items(value) for cell in core.objects_in(key)
        )  # fmt: skip

    def containers(self, some: Cell, a: Value, b: Value, name: str) -> Cell:
        """Return the merged list, dict or object of one in each arm, or of one in one arm only."""
        items = [{} if cell is UNDEFINED else arm.items(cell) for cell, arm in zip((a, b), self.arms)]
        keys = items[0] if some is a else items[1]
        cells = [v for v in (a, b) if isinstance(v, Cell)]
        merged = self.lo.like(some, {k: self.value(*(i.get(k, UNDEFINED) for i in items), of_part(name, k)) for k in keys}, name)
        self.one_object(a, b, merged)
        if len(cells) == 1 and not any(arm.left for arm in self.arms):
            merged.given = self.given(some, 0 if some is a else 1)
        merged.frozen = next((v.frozen for v in cells if v.frozen), None)
        before = next((v.slots[POISON] for v in cells if POISON in v.slots), None)
        if why := self.arms[0].poison(a) or self.arms[1].poison(b) or before:
            merged.slots[POISON] = why
        return merged

    def given(self, cell: Cell, arm: int) -> tuple[Atom, int] | None:
        """Return the condition under which there is a list, dict or object after the branch that only one arm leaves (`Cell.given`)."""
        if not self.lo.may_be_missing(cell):
            return self.cond, arm
        cond, made = cell.given or (None, 0)  # of a branch in the arm
        if cond is None or not isinstance(t := atom_type(cond), Scalar) or t.kind != "bool":
            return None
        other = Const(made == 1)
        return self.result(*((cond, other) if arm == 0 else (other, cond)), "made", True), made

    def final(self, value: Value, arm: Arm) -> Atom:
        """Return the atom of a value at the end of an arm."""
        return arm.atoms[value] if isinstance(value, Cell) and value in arm.atoms else self.lo.read(value)

    def result(self, a: Atom, b: Atom, name: str, temp: bool) -> Var:
        """Return the result of the `Branch` that is `a` after the first arm and `b` after the second, adding it if there is none."""
        for x, y, var in self.results:
            if x is a and y is b:
                return var
        types = [Undefined() if v is UNDEFINED else atom_type(v) for v in (a, b)]
        var = Var(name, join(*types), temp)
        others = {self.lo.build.unless_none.get(v, t) for v, t in zip((a, b), types)} - {NoneType()}
        if isinstance(var.type, Unknown) and len(others) == 1:
            self.lo.build.unless_none[var] = others.pop()
        if a in self.lo.build.maybe_number or b in self.lo.build.maybe_number:
            self.lo.build.maybe_number.add(var)
        if UNDEFINED in (a, b) or not self.lo.build.unassigned.isdisjoint((a, b)):
            self.lo.build.unassigned.add(var)
        narrowing.note(self.lo, var, a, b)
        self.results.append((a, b, var))
        return var


def is_truth(atom: Atom) -> bool:
    """Return whether an atom is a truth value."""
    return isinstance(atom, Var) and isinstance(atom.type, Scalar) and atom.type.kind == "bool"


def can_be_followed(lo: Lowering, value: Value) -> bool:
    """Return whether an object can be kept equal to another one that it may be, and may be read and written."""
    if not isinstance(value, Cell) or lo.unreadable(value) is not None or value.frozen or POISON in value.slots:
        return False
    if value.kind != "array":
        return core.array_of(value) is None and value.base is None
    root = value.root()
    return not root.holds and isinstance(atom_type(lo.read(root)), (Array, ListT, MapT) if root is value else Array)


def is_unassigned(value: Value) -> bool:
    """Return whether a value is a loop variant that is not assigned yet, as far as the current attempt knows."""
    return has_no_type(value) and not is_unreadable(value)


def is_unreadable(value: Value) -> bool:
    """Return whether a value stands for one that must be assigned again before it is read."""
    return isinstance(value, Cell) and POISON in value.slots and (value.slots.get(VALUE) is UNDEFINED or has_no_type(value))


def has_no_type(value: Value) -> bool:
    """Return whether a value is a variable of which no value is known."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    return isinstance(atom, Var) and atom.type == Undefined()


def is_structure(value: Value) -> bool:
    """Return whether a value is not a single IR value but a tuple, a function, or a container whose items are known one by one."""
    return isinstance(value, FunctionVal) or parts_of(value) is not None

