"""Lowering of branches and loops.

A branch whose condition is not known is lowered side by side: first one arm, then, from the same state, the other; what
differs afterwards becomes a result of the `Branch`.

A loop is lowered until its assumptions hold: which slots an iteration changes (they become loop variants), the types of
the variants, and who may share memory with whom at the beginning of an iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend import choices, expressions, objects
from sourcead.frontend.context import Lowering, MustMaterialise, NotStatic
from sourcead.frontend.exits import FALSE, TRUE, Flag
from sourcead.frontend.recursion import NeverReturns
from sourcead.frontend.values import (
    KIND,
    MISSING,
    POISON,
    SEEN,
    STALE,
    UNSURE,
    VALUE,
    WHOLE,
    BoundVal,
    Cell,
    ChoiceVal,
    FunctionVal,
    IterVal,
    Meta,
    Slots,
    TupleVal,
    Value,
    cells_of,
    leaves,
    next_birth,
    roots,
)
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Call, Const, Loop, Stmt, Var
from sourcead.ir.types import Array, ListT, Scalar, Sym, Type, Undefined, fits, join, syms, with_dims

MAX_ROUNDS = 12


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
    from sourcead.frontend import maps

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
    if alone and isinstance(some, (FunctionVal, BoundVal, IterVal)) or isinstance(some, Const) and alone and callable(some.value):
        return some
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


def _merge_functions(lo: Lowering, a: Value, b: Value, name: str, pairs) -> ChoiceVal:
    """One of two functions."""
    found = []
    for k, fn in enumerate((a, b)):
        if isinstance(fn, ChoiceVal):
            if not all(choices.outlives(lo, f) for f in (*fn.options.values(), *((fn.otherwise,) if fn.otherwise else ()))):
                raise UnsupportedSyntaxError("a function that was made inside a branch is called after it", at=lo.here)
            ends = (fn.which, Const(None)) if k == 0 else (Const(None), fn.which)
            fn = ChoiceVal(_join_atoms(lo, *ends, "which", pairs, True), fn.options, fn.otherwise)
        elif not choices.outlives(lo, fn):
            raise UnsupportedSyntaxError("a function that was made inside a branch is called after it", at=lo.here)
        found.append(fn)
    return ChoiceVal(_join_atoms(lo, Const(0), Const(1), "which", pairs, True), {0: found[0]}, found[1])


def is_unassigned(value: Value) -> bool:
    """Whether a loop variant has nothing assigned to it, as far as is known in this round."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    return isinstance(atom, Var) and atom.type == Undefined()


def is_structure(value: Value) -> bool:
    return isinstance(value, (TupleVal, FunctionVal)) or isinstance(value, Cell) and value.kind != "array"


def final(lo: Lowering, value: Value, atoms: dict[Cell, Atom]) -> Atom:
    """The atom of a value at the end of an arm."""
    if isinstance(value, Cell):
        if value.kind != "array":
            raise UnsupportedSyntaxError("the two sides of this branch leave lists, dicts or objects of different shape", at=lo.here)
        if value in atoms:
            return atoms[value]
    if isinstance(value, TupleVal):
        raise UnsupportedSyntaxError("the two sides of this branch leave a tuple and something else", at=lo.here)
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


def same_keys(a: Value, b: Value) -> bool:
    """Whether two tuples, lists, dicts or objects have the same structure and class."""
    return type(a) is type(b) and getattr(a, "kind", None) == getattr(b, "kind", None) and a.cls is b.cls and (
        a.keys.keys() == b.keys.keys() if isinstance(a.keys, dict) else list(a.keys) == list(b.keys)
    )


def same_constant(a: Const, b: Const) -> bool:
    """Whether two constants are the same object for every purpose."""
    return type(a.value) is type(b.value) and (a.value is b.value or isinstance(a.value, (int, str, bool, tuple)) and a.value == b.value)


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


# -- loops -----------------------------------------------------------------------------------------------------------


@dataclass
class Assumptions:
    """What a loop is lowered under: its variants and their types, who shares memory, what is poisoned."""

    variants: dict[tuple[Slots, Any], Any]  # slot -> template of its value
    birth: int  # what was made before the loop is older
    sharing: dict[tuple[Slots, Any], set[Cell]] = field(default_factory=dict)
    together: set[frozenset] = field(default_factory=set)  # pairs of variant slots that may share memory
    poisoned: dict[Cell, str] = field(default_factory=dict)
    spoiled: dict[tuple, str] = field(default_factory=dict)  # variants that must not be read before they are assigned
    opened: set[Slots] = field(default_factory=set)  # containers that no longer are what came in as one value
    inits: dict = field(default_factory=dict)  # the values of the variants on entry
    unsure: set[Slots] = field(default_factory=set)  # dicts that get keys inside
    numbers: set[tuple] = field(default_factory=set)  # variants that may be a number although they are arrays by type
    first_sym: int = field(default_factory=lambda: Sym().id)  # dims with this id or above are born inside the loop
    dims: set[Sym] = field(default_factory=set)  # dims that differ from one iteration to the next


@dataclass
class Leaf:
    """One loop variant: its value on entry, its parameter, its type."""

    init: Atom
    param: Var


def loop(lo: Lowering, make_domain: Callable, body: Callable, seed: list[tuple[Slots, Any]], leave=None, policy=None) -> None:
    """Lowers a loop. `make_domain(index)` is called inside the iteration and returns the element bound by the target;
    `body()` lowers an iteration; `seed` are slots that it surely changes; `leave` is the slot that ends it when true; `policy` says what
    its reverse finds saved."""
    if lo.static_only:
        raise NotStatic
    restartable(lo, lambda: _loop(lo, make_domain, body, seed, leave, policy))


def _loop(lo: Lowering, domain: Any, body: Callable, seed, leave, policy) -> None:
    assumed = Assumptions(dict.fromkeys(seed), next_birth())
    types: dict[tuple, Type] = {}
    known_parts = lo.build.part_dims
    for _ in range(MAX_ROUNDS):
        mark, start = lo.journal.mark(), len(lo.build.stmts)
        lo.build.part_dims = dict(known_parts)  # what an attempt learns of the parts of variants is not true in the next
        ended = _iteration(lo, domain, body, assumed, types, leave)
        if ended is not None:
            loop_op, targets, results = ended
            lo.journal.rollback(mark)
            lo.build.add(Stmt(targets, replace(loop_op, policy=policy)))
            for (slots, key), value in results.items():
                lo.set(slots, key, value)
            for cell, why in assumed.poisoned.items():
                lo.set(cell.slots, POISON, why)
            for slots in assumed.opened:
                lo.set(slots, WHOLE, MISSING)
            for slots in assumed.unsure:
                lo.set(slots, UNSURE, NOT_SURE)
            return
        lo.journal.rollback(mark)
        del lo.build.stmts[start:]
    raise UnsupportedSyntaxError(
        "the kinds of values that this loop carries from one iteration to the next do not settle",
        at=lo.here,
        instead="give the variables the same type before the loop as they have inside it",
    )


def sharing_on_entry(inits: dict[tuple, Value]) -> set[frozenset]:
    """Pairs of variants whose objects on entry may share memory: an array, and a view of it under another name."""
    own = {slot: {cell.root() for cell in cells_of(value)} for slot, value in inits.items() if not isinstance(slot[1], Meta)}
    slots = [slot for slot, found in own.items() if found]
    return {frozenset((a, b)) for k, a in enumerate(slots) for b in slots[k + 1 :] if own[a] & roots(inits[b])}


def _iteration(lo: Lowering, domain: Any, body: Callable, assumed: Assumptions, types: dict, leave) -> Any:
    """One attempt; None if an assumption turned out wrong (`assumed` and `types` are then corrected)."""
    birth = next_birth()
    inits: dict[tuple, Value] = {slot: slot[0].get(slot[1], MISSING) for slot in assumed.variants}
    assumed.inits = inits
    leaves_: dict[tuple, Leaf] = {}
    mark = lo.journal.mark()
    params: dict[tuple, Value] = {}
    for slot, template in assumed.variants.items():
        params[slot] = _parameter(lo, slot, inits[slot], template, (slot,), types, leaves_, assumed)
    for slot, value in params.items():
        lo.set(*slot, value)
    link(params, assumed.together | sharing_on_entry(inits))
    for cell, why in assumed.poisoned.items():
        lo.set(cell.slots, POISON, why)
    for slots in assumed.opened:
        lo.set(slots, WHOLE, MISSING)
    for slots in assumed.unsure:
        lo.set(slots, UNSURE, NOT_SURE)
    with lo.deeper(), lo.build.block() as stmts:
        loop_domain, index = domain()
        body()
        changed = lo.journal.changed(mark, birth)
        for slots, key in changed:
            if not isinstance(key, Meta):
                settle(lo, slots.get(key, MISSING), {})
        changed = lo.journal.changed(mark, birth)
        ends = {slot: slot[0].get(slot[1], MISSING) for slot in assumed.variants}
        if not _holds(lo, changed, ends, params, assumed, birth):
            return None
        yields = dict.fromkeys(leaves_, UNDEFINED)
        stable = True
        for slot, end in ends.items():
            stable &= _collect(lo, (slot,), params[slot], end, leaves_, yields, types, assumed, slot)
        if not stable:
            return None
    order = list(leaves_)
    loop_op = Loop(
        loop_domain, index, tuple(leaves_[p].param for p in order), tuple(leaves_[p].init for p in order),
        Block(tuple(stmts), tuple(yields[p] for p in order)), leaves_[(leave,)].param if (leave,) in leaves_ else None,
    )
    left = {dim: Sym(dim.least) for dim in assumed.dims}  # the dims that differ between iterations, as the last leaves them
    outs = {p: Var(leaves_[p].param.name, with_dims(leaves_[p].param.type, left), leaves_[p].param.temp) for p in order}
    lo.build.maybe_number.update(outs[p] for p in order if leaves_[p].param in lo.build.maybe_number)
    results = {}
    for slot, value in params.items():
        results[slot] = _result(lo, (slot,), value, outs, assumed)
    link(results, assumed.together | sharing_on_entry(inits))  # there may be no iteration at all
    return loop_op, tuple(outs.values()), results


def same_on_entry(inits: dict[tuple, Value], birth: int) -> set[frozenset]:
    """The pairs of variants that may be the same object when the loop begins."""
    values = {slot: v for slot, v in inits.items() if slot[1] is not VALUE and v is not MISSING}
    found = {slot: {c for c in roots(v) if c.slots.birth < birth} for slot, v in values.items()}
    slots = [slot for slot, cells in found.items() if cells]
    return {frozenset((a, b)) for i, a in enumerate(slots) for b in slots[i + 1 :] if found[a] & found[b]}


def link(values: dict[tuple[Slots, Any], Value], pairs: set[frozenset]) -> None:
    """Notes which variants may share memory with each other."""
    for pair in pairs:
        found = [cells_of(values[slot]) for slot in pair if slot in values]
        if len(found) == 2:
            for cell in found[0]:
                cell.share(found[1])


def _holds(lo, changed, ends, params, assumed, birth) -> bool:
    """Whether the slots that changed are the variants, and sharing is as assumed."""
    fine = True
    changed = {slot: old for slot, old in changed.items() if slot[0].birth < assumed.birth}
    for (slots, key), old in changed.items():
        if key in (SEEN,) or (slots, key) in assumed.variants:
            continue
        if old is MISSING and slots.get(key, MISSING) is MISSING:
            continue
        if key is POISON:
            continue
        if key is UNSURE:
            fine = fine and slots in assumed.unsure
            assumed.unsure.add(slots)
            continue
        if key is STALE:
            if slots.cell not in assumed.poisoned:
                assumed.poisoned[slots.cell] = slots[STALE]
                fine = False
            continue
        if key is WHOLE:
            fine = fine and slots in assumed.opened
            assumed.opened.add(slots)
            continue
        if key is VALUE and slots.cell.base is not None:  # a view derived again: it follows its base
            continue
        assumed.variants[(slots, key)] = None
        fine = False
        if not isinstance(key, Meta) and is_new_key(slots, old, slots.get(key, MISSING)):
            open_dict(lo, slots.cell, slots.get(key, MISSING) if old is MISSING else old)
            assumed.unsure.add(slots)
    for slots, key in changed:
        if key is POISON and slots.get(POISON) is not None:
            if slots.cell not in assumed.poisoned:
                assumed.poisoned[slots.cell] = slots[POISON]
                fine = False
    owners: dict[Cell, tuple] = {}
    for slot, value in params.items():
        for cell in cells_of(value):
            owners[cell.root()] = slot
    reach: dict[tuple, set] = {}
    for slot, end in ends.items():
        if end is MISSING or slot[1] is VALUE or slot not in params or end is params[slot]:
            continue
        found = roots(end)
        reach[slot] = found
        outer = {c for c in found if c not in owners and c.slots.birth < assumed.birth}
        known = assumed.sharing.setdefault(slot, set())
        if not outer <= known:
            known |= outer
            fine = False
    slots_ = list(reach)
    for i, a in enumerate(slots_):
        for b in slots_[i + 1 :]:
            common = {c for c in reach[a] & reach[b] if c in owners or c.slots.birth > birth}
            if common and frozenset((a, b)) not in assumed.together:
                assumed.together.add(frozenset((a, b)))
                fine = False
        for cell in reach[a]:
            owner = owners.get(cell)
            if owner is not None and owner != a and ends.get(owner) is params.get(owner) and frozenset((a, owner)) not in assumed.together:
                assumed.together.add(frozenset((a, owner)))
                fine = False
    return fine


def _parameter(lo, slot, init, template, path, types, leaves_, assumed) -> Value:
    """The value of a variant at the beginning of an iteration: its structure, with a parameter for each leaf."""
    shape = template if template is not None else init
    name = _slot_name(slot, init)
    if isinstance(shape, TupleVal):
        inits = init.items if isinstance(init, TupleVal) else [MISSING] * len(shape.items)
        return TupleVal(tuple(
            _parameter(lo, slot, i, t, (*path, n), types, leaves_, assumed)
            for n, i, t in zip(shape.keys, inits, shape.items)
        ), None, shape.cls)
    if isinstance(shape, Cell) and shape.kind != "array" and not isinstance(slot[1], Meta):
        inits = init.items if isinstance(init, Cell) and init.kind == shape.kind else {}
        items = {k: _parameter(lo, slot, inits.get(k, MISSING), t, (*path, k), types, leaves_, assumed) for k, t in shape.items.items()}
        cell = lo.like(shape, items, name)
        cell.share(assumed.sharing.get(slot, ()))
        if isinstance(init, Cell):
            cell.share(c for c in roots(init) if c.slots.birth < assumed.birth)
            cell.frozen = init.frozen
            if POISON in init.slots:
                cell.slots[POISON] = init.slots[POISON]
        return cell
    if isinstance(shape, (FunctionVal, BoundVal, IterVal)) or isinstance(shape, Const) and callable(shape.value):
        return shape
    if (why := lo.unreadable(init)) is not None:
        assumed.spoiled.setdefault(path, why)
    atom = UNDEFINED if init is MISSING or init is UNDEFINED or why is not None else lo.read(init)
    t = types.get(path)
    if t is None:
        t = types[path] = Undefined() if atom is UNDEFINED else widened(atom_type(atom))
    if isinstance(t, Array) and atom is not UNDEFINED and isinstance(atom_type(atom), Scalar):  # see starts_as_number
        number = Const(expressions.known(lo, atom)[1])
        atom = lo.build.emit(Call(t.dtype.type, (number,)), t, name, temp=False)
        assumed.numbers.add(path)
    if isinstance(path[-1], str) and len(path) > 1:
        name = f"{name}_{path[-1]}"
    param = Var(name, t, isinstance(atom, Var) and atom.temp and slot[1] is VALUE)
    leaves_[path] = Leaf(atom, param)
    if path in assumed.numbers or atom in lo.build.maybe_number:
        lo.build.maybe_number.add(param)
    if slot[1] is VALUE:
        return param
    shares = set(assumed.sharing.get(slot, ()))
    if isinstance(init, Cell):
        shares |= {c for c in roots(init) if c.slots.birth < assumed.birth}
    value = lo.wrap(param, shares=shares, name=name)
    if isinstance(value, Cell) and isinstance(init, Cell):
        value.frozen = None
    return spoil(lo, value, assumed.spoiled.get(path))


def spoil(lo: Lowering, value: Value, why: str | None) -> Value:
    """The value of a variant that must not be read until something is assigned to it."""
    if why is None:
        return value
    if not isinstance(value, Cell):
        raise AliasError(why, at=lo.here)
    value.slots[POISON] = why
    return value


def shape_of(lo: Lowering, value: Value) -> Value:
    """The structure of a value as it is now, kept when lowering rolls back."""
    if isinstance(value, TupleVal):
        return TupleVal(tuple(shape_of(lo, v) for v in value.items), None, value.cls)
    if isinstance(value, Cell) and value.kind != "array":
        return lo.like(value, {k: shape_of(lo, v) for k, v in value.items.items()}, value.name)
    return value


def widened(t: Type) -> Type:
    """A list that an iteration may lengthen has no known length."""
    return ListT(t.item) if isinstance(t, ListT) else t


def _slot_name(slot, init) -> str:
    key = slot[1]
    if isinstance(key, str) and not isinstance(key, Meta):
        return key.lstrip("$")
    if isinstance(init, Var):
        return init.name
    if isinstance(init, Cell):
        return init.name
    return f"item_{key}" if isinstance(key, int) else "value"


def _collect(lo, path, param, end, leaves_, yields, types, assumed, slot) -> bool:
    """Fills in what the iteration yields for each leaf; False if a type or structure was assumed wrongly."""
    if end is MISSING:
        end = UNDEFINED
    if isinstance(param, TupleVal):
        if isinstance(end, TupleVal) and same_keys(end, param):
            results = [
                _collect(lo, (*path, i), p, e, leaves_, yields, types, assumed, slot)
                for i, p, e in zip(param.keys, param.items, end.items)
            ]
            return all(results)
        raise UnsupportedSyntaxError(
            f"`{_slot_name(slot, param)}` is a tuple of {len(param.items)} before an iteration and something else after it",
            at=lo.here,
        )
    if isinstance(param, Cell) and param.kind != "array":
        if isinstance(end, Cell) and same_keys(end, param):
            results = [_collect(lo, (*path, k), param.items[k], end.items[k], leaves_, yields, types, assumed, slot) for k in param.items]
            return all(results)
        init = assumed.inits.get(slot) if len(path) == 1 else None
        if isinstance(init, Cell) and init.kind == param.kind == "list" and isinstance(end, Cell):
            raise MustMaterialise(init, lo.here)
        raise UnsupportedSyntaxError(
            f"`{_slot_name(slot, param)}` is {'an object' if param.kind == 'object' else f'a {param.kind}'} "
            "whose structure changes from one iteration to the next",
            at=lo.here,
            instead="use `append` on one list, or an array",
        )
    if path not in leaves_:
        if end is param or isinstance(end, Const) and isinstance(param, Const) and same_constant(end, param):
            return True
        raise UnsupportedSyntaxError(f"`{_slot_name(slot, param)}` is one function in an iteration and another in the next", at=lo.here)
    nothing = leaves_[path].init is UNDEFINED or atom_type(leaves_[path].init) == Undefined()  # so far, in the loop around
    if nothing and (types[path] == Undefined() and isinstance(end, TupleVal) or isinstance(end, Cell) and end.kind != "array"):
        assumed.variants[slot] = shape_of(lo, end)
        types.pop(path, None)
        return False
    if isinstance(end, (FunctionVal, BoundVal, IterVal)) and leaves_[path].init is UNDEFINED:
        assumed.variants[slot] = shape_of(lo, end)
        return False
    if (why := lo.unreadable(end)) is not None and path not in assumed.spoiled:
        assumed.spoiled[path] = why
        return False
    atom = UNDEFINED if end is UNDEFINED or why is not None else lo.read(end)
    t = types[path]
    end_type = Undefined() if atom is UNDEFINED else widened(atom_type(atom))
    yields[path] = atom
    if atom in lo.build.maybe_number and path not in assumed.numbers:
        assumed.numbers.add(path)
        return False
    if not fits(end_type, t, assumed.dims):
        types[path] = end_type if starts_as_number(leaves_[path], end_type, assumed, lo) else join(t, end_type)
        assumed.dims |= {s for s in syms(types[path]) if s.id >= assumed.first_sym}
        return False
    return True


def starts_as_number(leaf: Leaf, end: Type, assumed: Assumptions, lo: Lowering) -> bool:
    """Whether a variant is a literal number before the first iteration and an array of one shape after each.

    The number then stands for an array of that shape: NumPy broadcasts it wherever the array is expected, and its own
    cotangent is of no interest.
    """
    found, value = expressions.known(lo, leaf.init)
    if not found or type(value) not in (int, float) or not isinstance(leaf.param.type, Scalar):
        return False
    if not isinstance(end, Array) or end.dtype is None or end.dtype.kind != "f" or not end.dims:
        return False
    return all(isinstance(n, int) or n.id < assumed.first_sym for n in end.dims)


def _result(lo, path, param, outs, assumed) -> Value:
    """The value of a variant after the loop."""
    if isinstance(param, TupleVal):
        items = (_result(lo, (*path, i), p, outs, assumed) for i, p in zip(param.keys, param.items))
        return TupleVal(tuple(items), None, param.cls)
    if isinstance(param, Cell) and param.kind != "array":
        items = {k: _result(lo, (*path, k), p, outs, assumed) for k, p in param.items.items()}
        cell = lo.like(param, items, param.name)
        cell.share(c for c in param.shares if c.slots.birth < assumed.birth)
        cell.frozen = param.frozen
        return cell
    if path not in outs:
        return param
    out = outs[path]
    if path[0][1] is VALUE and len(path) == 1:
        return out
    shares = [c for c in param.shares if c.slots.birth < assumed.birth] if isinstance(param, Cell) else ()
    return spoil(lo, lo.wrap(out, shares=shares, name=out.name), assumed.spoiled.get(path))


# -- comprehensions ------------------------------------------------------------------------------------------------


def comprehension(lo: Lowering, node) -> Value:
    """`[f(x) for x in xs if c]` is the loop that appends."""
    from sourcead.frontend import comprehensions

    return comprehensions.comprehension(lo, node)
