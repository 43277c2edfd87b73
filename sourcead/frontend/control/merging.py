"""TODO"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.core import (
    KIND, MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, BoundVal, Cell, ChoiceVal, FunctionVal, IterVal, Lowering,
    Meta, MustMaterialise, OptionalVal, SliceVal, Slots, TupleVal, Value, roots
)
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Stmt, Var
from sourcead.ir.types import Undefined, join


@dataclass
class Arm:
    """One arm of a branch after lowering: its statements, its value, and the slots it changed."""

    stmts: list[Stmt]
    value: Any
    state: dict[tuple[Slots, Any], Any]
    before: dict[tuple[Slots, Any], Any]
    atoms: dict[Cell, Atom]  # the versions of cells at its end
    left: bool = False  # raised: nothing flows out of it
    contents: dict[Cell, dict] = field(default_factory=dict)  # the items of the containers that it changed, at its end
    poisoned: dict[Cell, str] = field(default_factory=dict)  # what it poisoned, also of what it made itself

    def items(self, container: Cell) -> dict:
        """The items of a list, dict or object at the end of this arm."""
        return self.contents.get(container, container.items)

    def poison(self, value: Value) -> str | None:
        """Why a value must not be read after this arm; None if it may be."""
        if not isinstance(value, Cell):
            return None
        found = [self.poisoned.get(cell) for cell in (value, value.root())]
        return next((why for why in found if why is not None), None)


def merge_slot(lo, key, a, b, arms, pairs):
    if key is POISON or key is STALE or key is UNSURE:
        return a if a is not MISSING else b
    if key is SEEN:
        return MISSING
    if key in (KIND, WHOLE) and isinstance(key, Meta):
        return a if a is b else MISSING
    if arms[0].left:
        a = UNDEFINED if b is not MISSING else MISSING
    if arms[1].left:
        b = UNDEFINED if a is not MISSING else MISSING
    if a is MISSING and b is MISSING:
        return MISSING
    a, b = (UNDEFINED if v is MISSING else v for v in (a, b))
    name = key if isinstance(key, str) and not isinstance(key, Meta) else "value"
    if key is VALUE:
        some = a if isinstance(a, Var) else b
        name = some.name if isinstance(some, Var) else "value"
        return _join_atoms(lo, a, b, name, pairs, getattr(some, "temp", False))
    return merge_value(lo, a, b, name, arms, pairs)


def merge_value(lo: Lowering, a: Value, b: Value, name: str, arms, pairs) -> Value:
    """One value for `a` in the first arm and `b` in the second."""
    gone_a, gone_b = (arm.left for arm in arms)
    if a is b and not (gone_a or gone_b):
        return a
    if isinstance(a, Const) and isinstance(b, Const) and not a.live and not b.live and core.same_constant(a, b):
        return a
    a, b = (UNDEFINED if is_unassigned(x) and is_structure(y) else x for x, y in ((a, b), (b, a)))
    if (found := _merge_optional(lo, a, b, name, arms, pairs)) is not None:
        return found
    some = b if a is UNDEFINED or gone_a else a
    other = a if some is b else b
    alone = a is UNDEFINED or b is UNDEFINED or gone_a or gone_b
    if isinstance(some, TupleVal) and (alone or isinstance(other, TupleVal) and core.same_keys(other, some)):
        items_a = [UNDEFINED] * len(some.items) if a is UNDEFINED or gone_a else a.items
        items_b = [UNDEFINED] * len(some.items) if b is UNDEFINED or gone_b else b.items
        names = [f"{name}_{k}" if some.cls else name for k in some.keys]
        items = (merge_value(lo, x, y, n, arms, pairs) for x, y, n in zip(items_a, items_b, names))
        return TupleVal(tuple(items), None, some.cls)
    if isinstance(some, Cell) and some.kind != "array":
        theirs, mine = (arms[1 if v is b else 0] for v in (other, some))
        if alone or (
            isinstance(other, Cell)
            and other.kind == some.kind
            and core.same_keys(lo.like(other, theirs.items(other), ""), lo.like(some, mine.items(some), ""))
        ):
            return _merge_containers(lo, some, a, b, gone_a, gone_b, name, arms, pairs)
        for cell in (a, b):
            if isinstance(cell, Cell) and cell.kind == "list" and cell.depth < lo.depth + 1:
                raise MustMaterialise(cell, lo.here)
    if alone and isinstance(some, (FunctionVal, BoundVal, IterVal)) or isinstance(some, Const) and alone and callable(some.value):
        return some
    if isinstance(a, SliceVal) and isinstance(b, SliceVal) and (parts := core.paired_parts(a, b)) is not None:
        names = (f"{name}_start", f"{name}_stop", f"{name}_step")
        return SliceVal(*(None if p[0] is None else merge_value(lo, *p, n, arms, pairs) for p, n in zip(parts, names)))
    if core.is_function(a) and core.is_function(b):
        return _merge_functions(lo, a, b, name, pairs)
    why = arms[0].poison(a) or arms[1].poison(b)
    x = UNDEFINED if a is UNDEFINED or gone_a or arms[0].poison(a) else final(lo, a, arms[0].atoms)
    y = UNDEFINED if b is UNDEFINED or gone_b or arms[1].poison(b) else final(lo, b, arms[1].atoms)
    var = _join_atoms(lo, x, y, name, pairs, name == "value")
    shares = {c for v in (a, b) if isinstance(v, Cell) for c in roots(v)}
    frozen = next((c.frozen for v in (a, b) if isinstance(v, Cell) for c in roots(v) if c.frozen), None)
    merged = lo.wrap(var, shares=shares, name=name)
    if isinstance(merged, Cell):
        merged.frozen = frozen
        if why:
            merged.slots[POISON] = why
    elif why:
        raise AliasError(why, at=lo.here)
    return merged


def _merge_optional(lo: Lowering, a: Value, b: Value, name: str, arms, pairs) -> OptionalVal | None:
    """What is None in one arm and a tuple in the other; None for anything else."""
    if UNDEFINED in (a, b) or arms[0].left or arms[1].left or (found := core.pairs_in_arms([a, b])) is None:
        return None
    missing, inside = zip(*found)
    flag = merge_value(lo, *missing, f"{name}_missing", arms, pairs)
    return OptionalVal(flag, merge_value(lo, *inside, name, arms, pairs))


def _merge_functions(lo: Lowering, a: Value, b: Value, name: str, pairs) -> ChoiceVal:
    """One of two functions."""
    found = []
    for k, fn in enumerate((a, b)):
        if isinstance(fn, ChoiceVal):
            if not all(outlives(lo, f) for f in (*fn.options.values(), *((fn.otherwise,) if fn.otherwise else ()))):
                raise core.needs_items("a function that was made inside a branch is called after it", lo.here, "define it before the branch")
            ends = (fn.which, Const(None)) if k == 0 else (Const(None), fn.which)
            fn = ChoiceVal(_join_atoms(lo, *ends, "which", pairs, True), fn.options, fn.otherwise)
        elif not outlives(lo, fn):
            raise core.needs_items("a function that was made inside a branch is called after it", lo.here, "define it before the branch")
        found.append(fn)
    return ChoiceVal(_join_atoms(lo, Const(0), Const(1), "which", pairs, True), {0: found[0]}, found[1])


def is_unassigned(value: Value) -> bool:
    """Whether a loop variant has nothing assigned to it, as far as is known in this round."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    return isinstance(atom, Var) and atom.type == Undefined()


def is_structure(value: Value) -> bool:
    return isinstance(value, (TupleVal, FunctionVal)) or isinstance(value, Cell) and value.kind != "array"


SAME_STRUCTURE = "assign values of one structure on both sides, or use what differs inside the branch"


def final(lo: Lowering, value: Value, atoms: dict[Cell, Atom]) -> Atom:
    """The atom of a value at the end of an arm."""
    if isinstance(value, Cell):
        if value.kind != "array":
            raise UnsupportedSyntaxError(
                "the two sides of this branch leave lists, dicts or objects of different shape", at=lo.here, instead=SAME_STRUCTURE
            )
        if value in atoms:
            return atoms[value]
    if isinstance(value, TupleVal):
        raise UnsupportedSyntaxError("the two sides of this branch leave a tuple and something else", at=lo.here, instead=SAME_STRUCTURE)
    return lo.read(value)


def _merge_containers(lo, some, a, b, gone_a, gone_b, name, arms, pairs):
    def item(cell, key, gone, arm):
        return UNDEFINED if cell is UNDEFINED or gone else arm.items(cell)[key]

    keys = arms[0].items(a) if some is a else arms[1].items(b)
    items = {
        k: merge_value(lo, item(a, k, gone_a, arms[0]), item(b, k, gone_b, arms[1]), f"{name}_{k}", arms, pairs)
        for k in keys
    }
    merged = lo.like(some, items, name)
    merged.share(c for v in (a, b) if isinstance(v, Cell) for c in roots(v))
    merged.frozen = next((v.frozen for v in (a, b) if isinstance(v, Cell) and v.frozen), None)
    before = next((v.slots[POISON] for v in (a, b) if isinstance(v, Cell) and POISON in v.slots), None)
    if why := arms[0].poison(a) or arms[1].poison(b) or before:
        merged.slots[POISON] = why
    return merged


def _join_atoms(lo: Lowering, a: Atom, b: Atom, name: str, pairs: list, temp: bool) -> Var:
    for x, y, var in pairs:
        if x is a and y is b:
            return var
    var = Var(name, join(*(Undefined() if v is UNDEFINED else atom_type(v) for v in (a, b))), temp)
    if a in lo.build.maybe_number or b in lo.build.maybe_number:
        lo.build.maybe_number.add(var)
    pairs.append((a, b, var))
    return var


def outlives(lo: Lowering, fn: Value) -> bool:
    """Whether a function that was made in an arm of a branch needs nothing that is out of sight after it."""
    match fn:
        case FunctionVal(_, scope, defaults):
            around = lo.scope
            while around is not None and around is not scope:
                around = around.parent
            return around is scope and all(isinstance(v, Const) for v in defaults.values())
        case BoundVal(function, args, kwargs):
            inner = outlives(lo, function) if isinstance(function, (FunctionVal, BoundVal)) else True
            return inner and all(isinstance(v, Const) for v in (*args, *kwargs.values()))
    return isinstance(fn, Const)
