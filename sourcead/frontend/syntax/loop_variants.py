"""What a loop carries from one iteration to the next.

A loop is lowered until its assumptions hold: which slots an iteration changes (they become loop variants), the types of
the variants, and who may share memory with whom at the beginning of an iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.errors import AliasError, UnsupportedSyntaxError
from sourcead.frontend.core import Lowering, MustMaterialise, NotStatic
from sourcead.frontend.syntax import expressions
from sourcead.frontend.syntax.branches import NOT_SURE, is_new_key, open_dict, restartable, settle
from sourcead.frontend.values import optional_tuples as optional
from sourcead.frontend.values.cells import (
    MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, BoundVal, Cell, FunctionVal, Meta, OptionalVal, SliceVal, Slots,
    TupleVal, Value, cells_of, next_birth, roots
)
from sourcead.frontend.values.not_data import same_keys, same_thing, unreadable
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Call, Const, Loop, Stmt, Var
from sourcead.ir.types import Array, ListT, NoneType, Scalar, Sym, Type, Undefined, fits, join, syms, with_dims

MAX_ROUNDS = 12


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
    uncarried: dict[tuple, str] = field(default_factory=dict)  # what is no data, and another in each iteration: why it is not carried
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
    if path in assumed.uncarried:
        return unreadable(name, assumed.uncarried[path])
    if isinstance(shape, OptionalVal):
        missing, inside = optional.pair_of(init) or (UNDEFINED, MISSING)
        flag = _parameter(lo, slot, missing, None, (*path, "missing"), types, leaves_, assumed)
        inside = MISSING if inside is UNDEFINED else inside
        return OptionalVal(flag, _parameter(lo, slot, inside, shape.held, path, types, leaves_, assumed))
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
    if isinstance(shape, (FunctionVal, BoundVal, SliceVal)) or isinstance(shape, Const) and callable(shape.value):
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
    if isinstance(value, OptionalVal):
        return OptionalVal(value.missing, shape_of(lo, value.held))
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
    if isinstance(param, OptionalVal):
        missing, inside = optional.pair_of(end) or (None, None)
        if missing is not None and (inside is UNDEFINED or same_keys(inside, param.held)):
            inside = TupleVal((UNDEFINED,) * len(param.held.items), None, param.held.cls) if inside is UNDEFINED else inside
            flag = _collect(lo, (*path, "missing"), param.missing, missing, leaves_, yields, types, assumed, slot)
            return _collect(lo, path, param.held, inside, leaves_, yields, types, assumed, slot) and flag
    if len(path) == 1 and (tuple_of := _may_be_none(lo, param, end, types, path)) is not None:
        assumed.variants[slot] = OptionalVal(Const(True), shape_of(lo, tuple_of))
        types.pop(path, None)
        return False
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
    if path in assumed.uncarried:
        return True
    if path not in leaves_:
        if same_thing(end, param):
            return True
        what = "slice" if isinstance(param, SliceVal) else "function"
        assumed.uncarried[path] = f"`{_slot_name(slot, param)}` is one {what} in an iteration and another in the next"
        return False
    nothing = leaves_[path].init is UNDEFINED or atom_type(leaves_[path].init) == Undefined()  # so far, in the loop around
    if nothing and (types[path] == Undefined() and isinstance(end, TupleVal) or isinstance(end, Cell) and end.kind != "array"):
        assumed.variants[slot] = shape_of(lo, end)
        types.pop(path, None)
        return False
    if isinstance(end, (FunctionVal, BoundVal, SliceVal)) and leaves_[path].init is UNDEFINED:
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


def _may_be_none(lo: Lowering, param: Value, end: Value, types: dict, path: tuple) -> TupleVal | None:
    """The tuple that a variant is in some iterations where it is None in others; None if it is no such variant."""
    if isinstance(param, TupleVal):
        return param if optional.is_none(end) or isinstance(end, OptionalVal) and same_keys(end.held, param) else None
    if isinstance(param, (Var, Cell)) and types.get(path) == NoneType():
        pair = optional.pair_of(end)
        return pair[1] if pair is not None and pair[1] is not UNDEFINED else None
    return None


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
    if isinstance(param, OptionalVal):
        flag = _result(lo, (*path, "missing"), param.missing, outs, assumed)
        return OptionalVal(flag, _result(lo, path, param.held, outs, assumed))
    if isinstance(param, TupleVal):
        items = (_result(lo, (*path, i), p, outs, assumed) for i, p in zip(param.keys, param.items))
        return TupleVal(tuple(items), None, param.cls)
    if isinstance(param, Cell) and param.kind != "array":
        items = {k: _result(lo, (*path, k), p, outs, assumed) for k, p in param.items.items()}
        cell = lo.like(param, items, param.name)
        cell.share(c for c in param.shares if c.slots.birth < assumed.birth)
        cell.frozen = param.frozen
        return cell
    if path in assumed.uncarried:
        return unreadable(param.name, assumed.uncarried[path])
    if path not in outs:
        return param
    out = outs[path]
    if path[0][1] is VALUE and len(path) == 1:
        return out
    shares = [c for c in param.shares if c.slots.birth < assumed.birth] if isinstance(param, Cell) else ()
    return spoil(lo, lo.wrap(out, shares=shares, name=out.name), assumed.spoiled.get(path))
