"""Lowering of branches.

A branch whose condition is not known is lowered side by side: first one arm, then, from the same state, the other; what
differs afterwards becomes a result of the `Branch`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend.core import Lowering, MustMaterialise, NotStatic, needs_items
from sourcead.frontend.syntax import expressions
from sourcead.frontend.syntax.early_exits import FALSE, TRUE, Flag
from sourcead.frontend.syntax.recursion import NeverReturns
from sourcead.frontend.values import function_choices as choices, objects, optional_tuples as optional
from sourcead.frontend.values.cells import (
    KIND, MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, BoundVal, Cell, ChoiceVal, FunctionVal, Meta, OptionalVal,
    SliceVal, Slots, TupleVal, Value, leaves, next_birth, roots
)
from sourcead.frontend.values.not_data import paired_parts, same_constant, same_keys
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Const, Stmt, Var
from sourcead.ir.types import Scalar, Undefined, join


def restartable(lo: Lowering, attempt: Callable[[], Any]) -> Any:
    """Runs `attempt`; each time it meets a list of known length that must become an IR value, does that first."""
    birth = next_birth()
    while True:
        mark, stmts, depth, scope = lo.journal.mark(), len(lo.build.stmts), lo.depth, lo.scope
        block, origin, within = lo.build.stmts, lo.build.origin, lo.build.within
        try:
            return attempt()
        except MustMaterialise as request:
            lo.journal.rollback(mark)
            lo.depth, lo.scope, lo.build.stmts, lo.build.origin, lo.build.within = depth, scope, block, origin, within
            del lo.build.stmts[stmts:]
            objects.keep_apart(lo, request.cell)
            if request.cell.depth < depth:  # made outside of an enclosing region: that one must restart
                raise
            if request.cell.slots.birth > birth or request.cell.kind not in ("list", "dict"):
                raise UnsupportedSyntaxError(
                    "the length of this list depends on what the program does here", at=request.origin,
                    instead="make the list before the branch or loop, and only append to it inside",
                ) from None
            lo.materialise(request.cell)


# -- branches --------------------------------------------------------------------------------------------------------


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


RAISED = object()


def branch(lo: Lowering, cond: Atom, arms: list[Callable[[], Any]], kind: str = "if") -> Any:
    """`if cond: arms[0]() else: arms[1]()`; returns the arms' values merged (None where they have none).

    An arm may return RAISED: then what the other leaves is what holds afterwards.
    """
    if lo.static_only:
        raise NotStatic
    return restartable(lo, lambda: _branch(lo, cond, arms, kind))


def _branch(lo: Lowering, cond: Atom, arms: list[Callable[[], Any]], kind: str) -> Any:
    birth = next_birth()
    done = [_lower_arm(lo, arm, birth) for arm in arms]
    pairs: list[tuple[Atom, Atom, str]] = []
    merged: list[tuple[Slots, Any, Any]] = []
    unsure: list[Slots] = []
    keys = {**done[0].before, **done[1].before}
    for (slots, key), old in keys.items():
        a, b = (arm.state.get((slots, key), old) for arm in done)
        if done[0].left and done[1].left or slots.cell is not None and slots.cell.base is not None and key in (VALUE, SEEN):
            continue  # nothing comes after; or a view, which follows its base
        merged.append((slots, key, (key, a, b)))
        if not isinstance(key, Meta) and is_new_key(slots, a, b) and not (done[0].left or done[1].left):
            open_dict(lo, slots.cell, b if a is MISSING else a)
            unsure.append(slots)
    blocks = []
    out = []
    for slots, key, (_, a, b) in merged:
        if isinstance(key, Flag) and a is TRUE and b is FALSE and isinstance(atom_type(cond), Scalar) and not done[1].left:
            out.append((slots, key, cond))
            continue
        out.append((slots, key, _merge_slot(lo, key, a, b, done, pairs)))
    value = None
    if done[0].value is RAISED and done[1].value is RAISED:
        value = RAISED
    elif done[0].value is RAISED or done[1].value is RAISED:
        survivor = 1 if done[0].value is RAISED else 0
        if done[survivor].value is not None:
            value = _merge_value(lo, done[survivor].value, done[survivor].value, "value", done, pairs)
    elif done[0].value is not None:
        value = _merge_value(lo, done[0].value, done[1].value, "value", done, pairs)
    for arm, side in zip(done, (0, 1)):
        blocks.append(Block(tuple(arm.stmts), tuple(p[side] for p in pairs)))
    if not blocks[0].stmts and not blocks[1].stmts and not pairs:
        targets = ()
    else:
        targets = tuple(p[2] for p in pairs)
        lo.build.add(Stmt(targets, Branch(cond, blocks[0], blocks[1], kind)))
    for slots, key, new in out:
        lo.set(slots, key, new)
    for slots in unsure:
        lo.set(slots, UNSURE, NOT_SURE)
    return value


NOT_SURE = "which keys this dict has depends on what the program does, and its values differ in kind"


def is_new_key(slots: Slots, before: Value, after: Value) -> bool:
    """Whether a slot is a key that a dict has on one path only."""
    return slots.cell is not None and slots.cell.kind == "dict" and (before is MISSING) != (after is MISSING)


def open_dict(lo: Lowering, cell: Cell, value: Value) -> None:
    """Makes a dict, whose keys depend on what the program does, one IR value, if its values are of one kind."""
    from sourcead.frontend.values import runtime_dicts as maps

    if maps.may_be(lo, cell, value):
        raise MustMaterialise(cell, lo.here)


def _lower_arm(lo: Lowering, arm: Callable[[], Any], birth: int) -> Arm:
    mark, within = lo.journal.mark(), lo.build.within
    atoms: dict[Cell, Atom] = {}
    with lo.build.block() as stmts, lo.deeper():
        try:
            value = arm()
        except NeverReturns:
            value = RAISED
        lo.build.within = within
        for slots, key in lo.journal.changed(mark, birth):
            if not isinstance(key, Meta):
                settle(lo, slots.get(key, MISSING), atoms)
        if value is not RAISED:
            settle(lo, value, atoms)
        written = {slots.cell for slots, key in lo.journal.changed(mark, birth) if key is VALUE}
        for held in lo.visible():  # the other arm may rebind a name of what this one wrote
            if any(isinstance(leaf, Cell) and leaf.root() in written for leaf in leaves(held)):
                settle(lo, held, atoms)
        changed = lo.journal.changed(mark, birth)
    state = {(slots, key): slots.get(key, MISSING) for slots, key in changed}
    touched = {slots.cell for slots, _, _ in lo.journal.entries[mark:] if slots.cell is not None}
    contents = {cell: cell.items for cell in touched if cell.kind != "array"}
    poisoned = {cell: cell.slots[POISON] for cell in touched if POISON in cell.slots}
    lo.journal.rollback(mark)
    return Arm(stmts, value, state, changed, atoms, value is RAISED, contents, poisoned)


def settle(lo: Lowering, value: Any, atoms: dict[Cell, Atom]) -> None:
    """Notes the current versions of the cells in a value, views brought up to date."""
    for leaf in leaves(value):
        if isinstance(leaf, Cell) and leaf.kind == "array" and lo.unreadable(leaf) is None:
            atoms[leaf] = lo.read(leaf)


def _merge_slot(lo, key, a, b, arms, pairs):
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
    return _merge_value(lo, a, b, name, arms, pairs)


def _merge_value(lo: Lowering, a: Value, b: Value, name: str, arms, pairs) -> Value:
    """One value for `a` in the first arm and `b` in the second."""
    gone_a, gone_b = (arm.left for arm in arms)
    if a is b and not (gone_a or gone_b):
        return a
    if isinstance(a, Const) and isinstance(b, Const) and not a.live and not b.live and same_constant(a, b):
        return a
    a, b = (UNDEFINED if is_unassigned(x) and is_structure(y) else x for x, y in ((a, b), (b, a)))
    if (found := _merge_optional(lo, a, b, name, arms, pairs)) is not None:
        return found
    some = b if a is UNDEFINED or gone_a else a
    other = a if some is b else b
    alone = a is UNDEFINED or b is UNDEFINED or gone_a or gone_b
    if isinstance(some, TupleVal) and (alone or isinstance(other, TupleVal) and same_keys(other, some)):
        items_a = [UNDEFINED] * len(some.items) if a is UNDEFINED or gone_a else a.items
        items_b = [UNDEFINED] * len(some.items) if b is UNDEFINED or gone_b else b.items
        names = [f"{name}_{k}" if some.cls else name for k in some.keys]
        items = (_merge_value(lo, x, y, n, arms, pairs) for x, y, n in zip(items_a, items_b, names))
        return TupleVal(tuple(items), None, some.cls)
    if isinstance(some, Cell) and some.kind != "array":
        theirs, mine = (arms[1 if v is b else 0] for v in (other, some))
        if alone or (
            isinstance(other, Cell)
            and other.kind == some.kind
            and same_keys(lo.like(other, theirs.items(other), ""), lo.like(some, mine.items(some), ""))
        ):
            return _merge_containers(lo, some, a, b, gone_a, gone_b, name, arms, pairs)
        for cell in (a, b):
            if isinstance(cell, Cell) and cell.kind == "list" and cell.depth < lo.depth + 1:
                raise MustMaterialise(cell, lo.here)
    if alone and isinstance(some, (FunctionVal, BoundVal)) or isinstance(some, Const) and alone and callable(some.value):
        return some
    if isinstance(a, SliceVal) and isinstance(b, SliceVal) and (parts := paired_parts(a, b)) is not None:
        names = (f"{name}_start", f"{name}_stop", f"{name}_step")
        return SliceVal(*(None if p[0] is None else _merge_value(lo, *p, n, arms, pairs) for p, n in zip(parts, names)))
    if choices.is_function(a) and choices.is_function(b):
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
    if UNDEFINED in (a, b) or arms[0].left or arms[1].left or (found := optional.pairs_in_arms([a, b])) is None:
        return None
    missing, inside = zip(*found)
    flag = _merge_value(lo, *missing, f"{name}_missing", arms, pairs)
    return OptionalVal(flag, _merge_value(lo, *inside, name, arms, pairs))


def _merge_functions(lo: Lowering, a: Value, b: Value, name: str, pairs) -> ChoiceVal:
    """One of two functions."""
    found = []
    for k, fn in enumerate((a, b)):
        if isinstance(fn, ChoiceVal):
            if not all(choices.outlives(lo, f) for f in (*fn.options.values(), *((fn.otherwise,) if fn.otherwise else ()))):
                raise needs_items("a function that was made inside a branch is called after it", lo.here, "define it before the branch")
            ends = (fn.which, Const(None)) if k == 0 else (Const(None), fn.which)
            fn = ChoiceVal(_join_atoms(lo, *ends, "which", pairs, True), fn.options, fn.otherwise)
        elif not choices.outlives(lo, fn):
            raise needs_items("a function that was made inside a branch is called after it", lo.here, "define it before the branch")
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
        k: _merge_value(lo, item(a, k, gone_a, arms[0]), item(b, k, gone_b, arms[1]), f"{name}_{k}", arms, pairs)
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


# -- conditions ------------------------------------------------------------------------------------------------------


def both(lo: Lowering, a: Value, b: Value) -> Value:
    """`a and b` of two values that are computed anyway."""
    for first, second in ((a, b), (b, a)):
        verdict = expressions.truth(lo, first)
        if verdict is not None:
            return second if verdict else first
    return branch(lo, lo.read(a), [lambda: b, lambda: a], "and")


def short_circuit(lo: Lowering, nodes: list, kind: str) -> Value:
    """`a and b and c`, `a or b or c`: the rest is evaluated only if it decides."""
    first = expressions.lower(lo, nodes[0])
    if len(nodes) == 1:
        return first
    verdict = expressions.truth(lo, first)
    if verdict is not None:
        return short_circuit(lo, nodes[1:], kind) if verdict == (kind == "and") else first
    rest = lambda: short_circuit(lo, nodes[1:], kind)  # noqa: E731
    arms = [rest, lambda: first] if kind == "and" else [lambda: first, rest]
    return branch(lo, lo.read(first), arms, kind)


def conditional(lo: Lowering, node: gast.IfExp) -> Value:
    """`a if c else b`."""
    cond = expressions.lower(lo, node.test)
    verdict = expressions.truth(lo, cond)
    if verdict is not None:
        return expressions.lower(lo, node.body if verdict else node.orelse)
    arms = [lambda: expressions.lower(lo, node.body), lambda: expressions.lower(lo, node.orelse)]
    return branch(lo, lo.read(cond), arms, "ifexp")
