"""The values of loop variants: at the beginning of an iteration, at its end, and after the loop.

A variant that is a tuple, list, dict or object has a parameter of the loop for each leaf: each number, array or other IR value in it.
A leaf has a *path*: the slot of the variant, then the positions or keys that lead to the leaf.
"""

from dataclasses import dataclass, field
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.analysis.sizes import equal_behind
from sourcead.frontend import core
from sourcead.frontend.core import (
    MISSING, POISON, VALUE, BoundVal, Cell, FunctionVal, Lowering, Meta, MustMaterialise, OptionalVal, Slots, TupleVal,
    Value, parts_of, roots
)
from sourcead.ir.dims import in_terms
from sourcead.ir.names import of_part
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const, Slice, Var
from sourcead.ir.promises import fits
from sourcead.ir.types import (
    Array, ListT, MapT, NoneType, Scalar, SetT, Str, Sym, Type, Undefined, Unknown, join, of_any_length
)


@dataclass
class Assumptions:
    """The assumptions under which a loop is lowered.

    Attributes:
        variants: slot -> template for the structure of its value, None if the structure is that of the value on entry.
        birth: the number at which the loop begins; cells with a lower one were made before it.
        leave: the slot of the flag that ends the loop.
        types: the types of the leaves.
        inits: the values of the variants on entry.
        sharing: path of an object -> cells made before the loop with which it may share memory.
        together: pairs of paths whose objects may share memory.
        same: path of an object -> path of an earlier variant's that is the same object at the beginning of every iteration.
        kept: path of an object -> the cell made before the loop that it is at the beginning of every iteration.
        held: (member, container): an object that may be in a container; each is a path, or a cell made before the loop.
        changing: paths whose object is none of these two in some iteration.
        poisoned: cell that must not be read -> the reason.
        spoiled: leaf or container that must not be read before it is assigned -> the reason.
        opened: containers that came in as one value and were changed since.
        unsure: dicts that get new keys in the loop.
        dropped: variant whose structure an iteration changes -> the reason why its value on entry is not carried.
        uncarried: leaf that is not data and differs between iterations -> the reason why it is not carried.
        missing: leaves that an iteration may leave without a value.
        numbers: leaves that may be a number although their type is an array.
        first_sym: the id from which on dims are made inside the loop.
        dims: dims that differ from one iteration to the next, and what stands for them in types: a new dim for `i + 1`.
        relations: cell made before the loop -> {relation: other cells}, as an iteration leaves them.
    """

    variants: dict[tuple[Slots, Any], Value | None]
    birth: int
    leave: tuple[Slots, Any]
    types: dict[tuple, Type] = field(default_factory=dict)
    inits: dict = field(default_factory=dict)
    sharing: dict[tuple, set[Cell]] = field(default_factory=dict)
    together: set[frozenset] = field(default_factory=set)
    same: dict[tuple, tuple] = field(default_factory=dict)
    kept: dict[tuple, Cell] = field(default_factory=dict)
    held: set[tuple] = field(default_factory=set)
    changing: set[tuple] = field(default_factory=set)
    poisoned: dict[Cell, str] = field(default_factory=dict)
    spoiled: dict[tuple, str] = field(default_factory=dict)
    opened: set[Slots] = field(default_factory=set)
    unsure: set[Slots] = field(default_factory=set)
    dropped: dict[tuple[Slots, Any], str] = field(default_factory=dict)
    uncarried: dict[tuple, str] = field(default_factory=dict)
    missing: set[tuple] = field(default_factory=set)
    numbers: set[tuple] = field(default_factory=set)
    first_sym: int = field(default_factory=lambda: Sym().id)
    dims: dict[Sym, Sym] = field(default_factory=dict)
    relations: dict[Cell, dict[str, Any]] = field(default_factory=dict)

    def poison(self, cell: Cell, why: str) -> bool:
        """Assume that a cell must not be read; return whether that was assumed already."""
        known = cell in self.poisoned
        self.poisoned.setdefault(cell, why)
        return known


KINDS = (Array, Scalar, Str, ListT, MapT, SetT, NoneType, Unknown)


def not_by_position(lo: Lowering, value: Value) -> bool:
    """Tell whether a value is an object, a named tuple, a dict or a set, none of which is read as an array, a list or a number is."""
    if isinstance(value, TupleVal):
        return value.cls is not None
    if not isinstance(value, Cell) or lo.unreadable(value) is not None:
        return False
    return value.kind in ("object", "dict") or isinstance(core.data_type(lo, value), (MapT, SetT))


@dataclass
class Leaf:
    """The value on entry and the loop parameter of one leaf."""

    init: Atom
    param: Var


@dataclass
class Round:
    """One attempt to lower a loop.

    Attributes:
        lo: the lowering.
        assumed: its assumptions.
        leaves: the leaves by their paths.
        objects: the objects at the beginning of an iteration, by their paths.
        left: the leaves and containers that an iteration leaves unreadable.
        runs: whether there surely is an iteration.
        changed: the variants of which another structure is assumed from now on.
    """

    lo: Lowering
    assumed: Assumptions
    leaves: dict[tuple, Leaf] = field(default_factory=dict)
    objects: dict[tuple, Cell] = field(default_factory=dict)
    left: set[tuple] = field(default_factory=set)
    runs: bool = False
    changed: set[tuple[Slots, Any]] = field(default_factory=set)

    def entry(self, slot: tuple[Slots, Any]) -> Value:
        """Return the value of a variant on entry, which must not be read if iterations change its structure."""
        init = slot[0][slot[1]] if slot[1] in slot[0] else core.inherited(self.lo, *slot)
        why = self.assumed.dropped.get(slot)
        return init if why is None else core.unreadable(slot_name(slot, init), why)

    def parameter(self, path: tuple, init: Value, template: Value | None) -> Value:
        """Return the value of a variant at the beginning of an iteration: its structure with a loop parameter for each leaf."""
        known = self.object_at(path, self.objects)
        value = self.new_parameter(path, init, template) if known is None else known
        if isinstance(value, Cell):
            self.objects[path] = value
        return value

    def object_at(self, path: tuple, objects: dict[tuple, Cell]) -> Cell | None:
        """Return the object at a path if it is assumed to be one made before the loop, or the same as at an earlier path."""
        if path in self.assumed.kept:
            return self.assumed.kept[path]
        return objects.get(self.assumed.same.get(path))

    def new_parameter(self, path: tuple, init: Value, template: Value | None) -> Value:
        """Return such a value for a variant that is an object of its own."""
        shape, name = init if template is None else template, slot_name(path[0], init)
        or_none = f"`{name}` is None in some iterations and an object in others"
        if path in self.assumed.uncarried or isinstance(shape, OptionalVal) and isinstance(shape.held, Cell):
            return core.unreadable(name, self.assumed.uncarried.get(path, or_none))
        if isinstance(shape, OptionalVal):
            missing, inside = core.pair_of(init) or (UNDEFINED, MISSING)
            flag = self.parameter((*path, "missing"), missing, None)
            return OptionalVal(flag, self.parameter(path, MISSING if inside is UNDEFINED else inside, shape.held))
        if (parts := parts_of(shape)) is not None and (isinstance(shape, TupleVal) or not isinstance(path[0][1], Meta)):
            inits = parts_of(init) if getattr(init, "kind", "tuple") == getattr(shape, "kind", "tuple") else None
            missing = init if self.lo.unreadable(init) is not None else MISSING
            items = {k: self.parameter((*path, k), (inits or {}).get(k, missing), t) for k, t in parts.items()}
            made = self.lo.like(shape, items, name)
            return self.container_parameter(path, init, made) if isinstance(made, Cell) else made
        if isinstance(shape, (FunctionVal, BoundVal, Slice, core.Iterable)) or isinstance(shape, Const) and callable(shape.value):
            return shape
        return self.leaf_parameter(path, init, name)

    def container_parameter(self, path: tuple, init: Value, cell: Cell) -> Cell:
        """Record what a list, dict or object at the beginning of an iteration shares with its value on entry; return it."""
        self.lo.share(cell, self.assumed.sharing.get(path, ()))
        if isinstance(init, Cell):
            self.lo.share(cell, self.older(roots(init)))
            cell.frozen = init.frozen
            if (why := init.poison) is not None:
                self.assumed.spoiled.setdefault(path, why)
        return self.spoil(path, cell)

    def leaf_parameter(self, path: tuple, init: Value, name: str) -> Value:
        """Return the number, array or other IR value of a leaf at the beginning of an iteration."""
        lo, assumed, slot = self.lo, self.assumed, path[0]
        if (why := lo.unreadable(init)) is not None:
            assumed.spoiled.setdefault(path, why)
        atom = UNDEFINED if init is MISSING or init is UNDEFINED or why is not None else lo.read(init)
        t = assumed.types.get(path)
        if t is None:
            t = assumed.types[path] = Undefined() if atom is UNDEFINED else of_any_length(atom_type(atom))
        if isinstance(t, Array) and atom is not UNDEFINED and isinstance(atom_type(atom), Scalar):  # see starts_as_number
            number = Const(core.known(lo, atom)[1])
            atom = lo.build.emit(Call(t.dtype.type, (number,)), t, name, temp=False)
            assumed.numbers.add(path)
        if isinstance(path[-1], str) and len(path) > 1:
            name = f"{name}_{path[-1]}"
        param = Var(name, t, isinstance(atom, Var) and atom.temp and slot[1] is VALUE)
        self.leaves[path] = Leaf(atom, param)
        if path in assumed.numbers or atom in lo.build.maybe_number:
            lo.build.maybe_number.add(param)
        if atom is UNDEFINED or atom in lo.build.unassigned or path in assumed.missing:
            lo.build.unassigned.add(param)
        if slot[1] is VALUE:
            return param
        shares = assumed.sharing.get(path, set()) | (self.older(roots(init)) if isinstance(init, Cell) else set())
        value = lo.wrap(param, shares=shares, name=name)
        if isinstance(value, Cell) and isinstance(init, Cell):
            value.frozen = None
        return self.spoil(path, value)

    def older(self, cells: set[Cell]) -> set[Cell]:
        """Return those of some cells that were made before the loop."""
        return {c for c in cells if c.slots.birth < self.assumed.birth}

    def spoil(self, path: tuple, value: Value, after: bool = False) -> Value:
        """Return the value of a leaf or container, poisoned if it must not be read before it is assigned, or `after` the loop."""
        why = None if after and self.runs and path not in self.left else self.assumed.spoiled.get(path)
        if why is not None:
            if not isinstance(value, Cell):
                return core.unreadable(slot_name(path[0], value), why)
            value.slots[POISON] = why
        return value

    # -- the end of an iteration -----------------------------------------------------------------------------------------

    def collect(self, path: tuple, param: Value, end: Value, yields: dict[tuple, Atom]) -> bool:
        """Enter the atoms that the iteration yields for a variant's leaves; return False if a type or structure was assumed wrongly."""
        slot = path[0]
        end = UNDEFINED if end is MISSING else end
        if slot in self.changed:
            return False
        if isinstance(param, Cell) and self.object_at(path, self.objects) is param:
            return True  # `one_object_each` compares the ends
        if isinstance(param, OptionalVal) and (found := self.optional_end(param, end)) is not None:
            flag = self.collect((*path, "missing"), param.missing, found[0], yields)
            return self.collect(path, param.held, found[1], yields) and flag
        if len(path) == 1 and (tuple_of := self.may_be_none(path, param, end)) is not None:
            self.assumed.variants[slot] = OptionalVal(Const(True), self.shape_of(tuple_of))
            self.assumed.types.pop(path, None)
            return False
        if (parts := parts_of(param)) is not None:
            if not core.same_keys(end, param):
                self.change(path, param, end)
                return False
            if isinstance(end, Cell) and not self.is_left_as_assumed(path, end.poison):
                return False
            ends = parts_of(end)
            stable = [self.collect((*path, k), part, ends[k], yields) for k, part in parts.items()]
            return all(stable)
        if path in self.assumed.uncarried:
            return True
        if path not in self.leaves:
            if core.same_thing(end, param):
                return True
            what = {Slice: "slice", core.Iterable: "iterator"}.get(type(param), "function")
            self.assumed.uncarried[path] = f"`{slot_name(slot, param)}` is one {what} in an iteration and another in the next"
            return False
        return self.collect_leaf(path, end, yields)

    def is_left_as_assumed(self, path: tuple, why: str | None) -> bool:
        """Record why what is at a path must not be read at the end, None if it may be; return whether that was assumed."""
        known = why is None or path in self.assumed.spoiled
        if why is not None:
            self.left.add(path)
            self.assumed.spoiled.setdefault(path, why)
        return known

    def optional_end(self, param: OptionalVal, end: Value) -> tuple[Atom, Value] | None:
        """Return for a variant that may be None whether it is None at the end, and its tuple; None if `end` is neither."""
        missing, inside = core.pair_of(end) or (None, None)
        if missing is None or inside is not UNDEFINED and not core.same_keys(inside, param.held):
            return None
        return missing, TupleVal((UNDEFINED,) * len(param.held.items), None, param.held.cls) if inside is UNDEFINED else inside

    def change(self, path: tuple, param: TupleVal | Cell | Var, end: Value) -> None:
        """Request that a growing list becomes one IR value; assume of other containers that their value on entry is not read."""
        init = self.assumed.inits.get(path[0]) if len(path) == 1 else None
        growing = all(isinstance(v, Cell) for v in (init, param, end)) and init.kind == param.kind == "list"
        rebound = growing and not isinstance(core.data_type(self.lo, end), ListT) and self.lo.may_be_missing(init)
        if growing and not rebound and self.lo.unreadable(end) is None:  # where it is unassigned, no list can be built of its items
            raise MustMaterialise(init, self.lo.here)
        slot = path[0]
        self.changed.add(slot)
        if slot in self.assumed.dropped:
            reason = f"{self.assumed.dropped[slot]}, and its structure changes from one iteration to the next"
            raise core.refused(self.lo, reason, "use `append` on one list, or an array")
        before = f"{core.structure_of(param)} before an iteration of the loop in {self.lo.line}"
        self.assumed.dropped[slot] = f"`{slot_name(slot, param)}` is {before} and {core.structure_of(end)} after it"
        self.assumed.variants[slot] = None
        for facts in (self.assumed.types, self.assumed.sharing, self.assumed.kept, self.assumed.same):
            for inside in [p for p in facts if p[0] == slot]:
                del facts[inside]

    def collect_leaf(self, path: tuple, end: Value, yields: dict[tuple, Atom]) -> bool:
        """Enter the atom that the iteration yields for one leaf; return False if its type or structure was assumed wrongly."""
        lo, assumed, init = self.lo, self.assumed, self.leaves[path].init
        nothing = init is UNDEFINED or atom_type(init) == Undefined()  # not assigned so far, in an enclosing loop
        becomes_tuple = assumed.types[path] == Undefined() and isinstance(end, TupleVal)
        if nothing and (becomes_tuple or isinstance(end, Cell) and end.kind != "array"):
            assumed.variants[path[0]] = self.shape_of(end)
            assumed.types.pop(path, None)
            return False
        if isinstance(end, (FunctionVal, BoundVal, Slice)) and init is UNDEFINED:
            assumed.variants[path[0]] = self.shape_of(end)
            return False
        if isinstance(end, core.Iterable):
            assumed.uncarried[path] = f"`{slot_name(path[0], end)}` is one iterator in an iteration and another in the next"
            return False
        if not_by_position(lo, end) and isinstance(t := assumed.types[path], KINDS) and not isinstance(core.data_type(lo, end), type(t)):
            self.change(path, self.leaves[path].param, end)
            return False
        if not self.is_left_as_assumed(path, why := lo.unreadable(end)):
            return False
        atom = UNDEFINED if end is UNDEFINED or why is not None else lo.read(end)
        t = assumed.types[path]
        end_type = Undefined() if atom is UNDEFINED else of_any_length(atom_type(atom))
        yields[path] = atom
        if (atom is UNDEFINED or atom in lo.build.unassigned) and why is None and path not in assumed.missing:
            assumed.missing.add(path)
            return False
        if atom in lo.build.maybe_number and path not in assumed.numbers:
            assumed.numbers.add(path)
            return False
        if not fits(end_type, t, assumed.dims) and not equal_behind(lo.build.stmts, end_type, t):
            t = end_type if self.starts_as_number(self.leaves[path], end_type) else join(t, end_type)
            assumed.types[path] = in_terms(t, assumed.first_sym, assumed.dims)
            return False
        return True

    def may_be_none(self, path: tuple, param: Value, end: Value) -> TupleVal | None:
        """Return the tuple of a variant that is a tuple in some iterations and None in others, None for other variants."""
        if isinstance(param, TupleVal):
            return param if core.is_none(end) or isinstance(end, OptionalVal) and core.same_keys(end.held, param) else None
        if isinstance(param, (Var, Cell)) and self.assumed.types.get(path) == NoneType():
            pair = core.pair_of(end)
            return pair[1] if pair is not None and isinstance(pair[1], TupleVal) else None
        return None

    def starts_as_number(self, leaf: Leaf, end: Type) -> bool:
        """Return whether a variant is a literal number before the first iteration and an array of the same shape after each.

        The number then stands for an array of that shape: NumPy broadcasts it wherever the array is expected, and its own cotangent is
        not needed.
        """
        found, value = core.known(self.lo, leaf.init)
        if not found or type(value) not in (int, float) or not isinstance(leaf.param.type, Scalar):
            return False
        if not isinstance(end, Array) or end.dtype is None or end.dtype.kind != "f" or not end.dims:
            return False
        return all(isinstance(n, int) or n.born < self.assumed.first_sym for n in end.dims)

    def shape_of(self, value: Value) -> Value:
        """Return a template with the current structure of a value, which remains valid when the lowering is rolled back."""
        if isinstance(value, OptionalVal):
            return OptionalVal(value.missing, self.shape_of(value.held))
        parts = parts_of(value)
        return value if parts is None else self.lo.like(value, {key: self.shape_of(part) for key, part in parts.items()})

    # -- after the loop ----------------------------------------------------------------------------------------------------

    def result(self, path: tuple, param: Value, outs: dict[tuple, Var], after: dict[tuple, Cell]) -> Value:
        """Return the value of a variant after the loop, given the results of the loop by path."""
        known = self.object_at(path, after)
        value = self.new_result(path, param, outs, after) if known is None else known
        if isinstance(value, Cell):
            after[path] = value
        return value

    def new_result(self, path: tuple, param: Value, outs: dict[tuple, Var], after: dict[tuple, Cell]) -> Value:
        """Return such a value for a variant that is an object of its own."""
        if len(path) == 1 and path[0] in self.assumed.dropped and not self.runs:
            return core.unreadable(slot_name(path[0], param), self.assumed.dropped[path[0]])
        if isinstance(param, OptionalVal):
            return OptionalVal(self.result((*path, "missing"), param.missing, outs, after), self.result(path, param.held, outs, after))
        if (parts := parts_of(param)) is not None:
            items = {k: self.result((*path, k), p, outs, after) for k, p in parts.items()}
            made = self.lo.like(param, items)
            if isinstance(made, Cell):
                self.lo.share(made, self.older(param.shares))
                made.frozen = param.frozen
                self.spoil(path, made, after=True)
            return made
        if path in self.assumed.uncarried:
            return core.unreadable(param.name, self.assumed.uncarried[path])
        if path not in outs or path[0][1] is VALUE and len(path) == 1:
            return outs.get(path, param)
        shares = self.older(param.shares) if isinstance(param, Cell) else ()
        value = self.lo.wrap(outs[path], shares=shares, name=outs[path].name)
        return self.spoil(path, value, after=True)


def slot_name(slot: tuple[Slots, Any], init: Value) -> str:
    """Return the name of a loop variant in the text and in messages."""
    key = slot[1]
    if isinstance(key, str) and not isinstance(key, Meta):
        return key.lstrip("$")
    return init.name if isinstance(init, (Var, Cell)) else of_part("item", key) if isinstance(key, int) else "value"
