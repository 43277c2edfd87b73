"""Lower loops, and find the values that a loop carries from one iteration to the next.

A loop is lowered again until its assumptions hold: the slots that an iteration changes, which become loop variants, the types of these
variants, and the values that may share memory when an iteration begins. An attempt that finds a wrong assumption corrects it and is undone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend.control import loops_inside
from sourcead.frontend.control.branches import NOT_SURE, is_new_key, open_dict, restartable, settle
from sourcead.frontend.control.variant_objects import (
    forget_objects, link, of_variants, older_memory, share_as_assumed, sharing_on_entry
)
from sourcead.frontend.control.variant_values import Assumptions, Leaf, Round
from sourcead.frontend.core import (
    MISSING, POISON, SEEN, STALE, UNSURE, VALUE, WHOLE, Cell, Lowering, Meta, MustMaterialise, NotStatic, Slots,
    TupleVal, Value, known, next_birth, refused
)
from sourcead.ir.dims import paired_dims, with_dims
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Loop, Policy, Range, Stmt, Var
from sourcead.ir.sizes import form_of, lower_bound
from sourcead.ir.types import Array, Scalar, Sym, Type

MAX_ROUNDS = 12
Slot = tuple[Slots, Any]


def loop(lo: Lowering, make_domain: Callable, body: Callable, seed: list[Slot], leave: Any = None, policy: Policy | None = None) -> Loop:
    """Lower a loop whose number of iterations is not known, and return it.

    Args:
        lo: the lowering.
        make_domain: a function that binds the target at the beginning of an iteration and returns the domain and the index.
        body: a function that lowers the body of an iteration.
        seed: slots that an iteration is known to change.
        leave: the flag, among the variables of the function, that ends the loop when it is true.
        policy: the checkpoint policy of the loop.
    """
    if lo.static_only:
        raise NotStatic
    names = lo.scope.names
    return restartable(lo, lambda: _loop(lo, make_domain, body, Assumptions(dict.fromkeys(seed), next_birth(), (names, leave)), policy))


def _loop(lo: Lowering, domain: Callable, body: Callable, assumed: Assumptions, policy: Policy | None) -> Loop:
    """Lower a loop repeatedly until its assumptions hold."""
    loops = loops_inside.begun(lo, assumed)
    for _ in range(MAX_ROUNDS):
        with lo.attempt() as attempt:
            mark = lo.journal.mark()
            with lo.using(loops=loops, nth_loop=0):
                ended = _iteration(lo, domain, body, assumed)
            if ended is None:
                attempt.fail()
            else:
                stmt, results = ended
                lo.journal.rollback(mark)
                loops_inside.ended(lo, loops, assumed)
                lo.build.add(replace(stmt, op=replace(stmt.op, policy=policy)))
                for (slots, key), value in results.items():
                    lo.set(slots, key, value)
                note(lo, assumed)
                return stmt.op
    reason = "the kinds of values that this loop carries from one iteration to the next do not settle"
    raise refused(lo, reason, "give the variables the same type before the loop as they have inside it")


def known_range(lo: Lowering, domain: Range) -> range | None:
    """Return the numbers that the index of a loop runs over if they are known while compiling, else None."""
    bounds = [known_bound(lo, a) for a in (domain.start, domain.stop, domain.step)]
    return None if not all(isinstance(b, int) for b in bounds) else range(*bounds)


def known_bound(lo: Lowering, bound: Atom) -> Any:
    """Return the value of a bound, which is a number or the length of an axis of fixed length; a `Sym` or None if it is not known."""
    found, value = known(lo, bound)
    return value if found else lo.build.arg(bound).dim


def surely_runs(lo: Lowering, domain: Range | Block) -> bool:
    """Return whether a loop surely has an iteration."""
    if isinstance(domain, Block):
        return known(lo, domain.results[0]) == (True, True)
    args = (lo.build.arg(a) for a in (domain.start, domain.stop, domain.step))
    start, stop, step = (arg.integer if arg.dim is None else arg.dim for arg in args)
    if type(step) is not int or step == 0 or not all(isinstance(bound, int | Sym) for bound in (start, stop)):
        return bool(known_range(lo, domain))
    return lower_bound(form_of(stop).plus(form_of(start), -1).times(1 if step > 0 else -1)) > 0


def loses_types(loop_op: Loop) -> bool:
    """Return whether the rank or the dtype of a variant is known before a loop, and not in it, because iterations change it."""
    return any(is_known_number(atom_type(init)) and not is_known_number(param.type) for param, init in zip(loop_op.params, loop_op.inits))


def is_known_number(t: Type) -> bool:
    """Return whether a type is that of a number, or of an array whose rank and dtype are known."""
    return isinstance(t, Scalar) or isinstance(t, Array) and t.dtype is not None and t.dims is not None


def note(lo: Lowering, assumed: Assumptions) -> None:
    """Apply the assumptions about cells that are not variants: poison them, open them, or mark their keys as unknown."""
    for cell, why in assumed.poisoned.items():
        lo.set(cell.slots, POISON, why)
    for slots in assumed.opened:
        lo.set(slots, WHOLE, MISSING)
    for slots in assumed.unsure:
        lo.set(slots, UNSURE, NOT_SURE)


RELATIONS = ("shares", "holds", "held_by", "rows_of")


def relate(lo: Lowering, assumed: Assumptions) -> int:
    """Give cells made before the loop the relations that an iteration leaves; return the journal's length, as a mark of this moment."""
    for cell, relations in assumed.relations.items():
        for name in RELATIONS:
            for other in relations[name] - getattr(cell, name):
                lo.journal.add(cell, name, other)
        for other in {c for c in cell.rows_of if c.slots.birth < assumed.birth} - relations["rows_of"]:
            lo.journal.discard(cell, "rows_of", other)
        if relations["doubled"]:
            lo.journal.assign(cell, "doubled", max(cell.doubled, relations["doubled"]))
    return len(lo.journal.others)


def _is_related_as_assumed(lo: Lowering, others: int, assumed: Assumptions) -> bool:
    """Return whether an iteration leaves the relations between cells made before the loop as assumed; if not, correct the assumption.

    For example, an object that one iteration puts into a list is in the list when the next begins.
    """
    fine = True
    changed = cells_related_anew(lo, others, assumed)
    for cell in lo.journal.touched(others):
        if isinstance(cell, Cell) and cell.slots.birth < assumed.birth and (cell in changed or cell in assumed.relations):
            relations: dict[str, Any] = {name: {c for c in getattr(cell, name) if c.slots.birth < assumed.birth} for name in RELATIONS}
            relations["doubled"] = cell.doubled
            fine &= assumed.relations.get(cell) == relations
            assumed.relations[cell] = relations
    return fine


def cells_related_anew(lo: Lowering, others: int, assumed: Assumptions) -> set[Any]:
    """Return the owners of which an iteration changed a relation to a cell made before the loop; other changes do not outlive it."""
    found = set()
    for owner, take_back, _, *args in lo.journal.others[others:]:
        other = args[0] if args else None  # the name of an attribute, or a cell that was added or removed
        if take_back is setattr and other == "doubled" or isinstance(other, Cell) and other.slots.birth < assumed.birth:
            found.add(owner)
    return found


def _iteration(lo: Lowering, domain: Callable, body: Callable, assumed: Assumptions) -> tuple[Stmt, dict[Slot, Value]] | None:
    """Lower a loop in one attempt; return its statement and the variants' values after it, None if an assumption was wrong."""
    birth, mark = next_birth(), lo.journal.mark()
    variants = Round(lo, assumed)
    assumed.inits = {slot: variants.entry(slot) for slot in assumed.variants}
    entry = of_variants(assumed.inits)
    forget_objects(assumed, entry)
    params = {slot: variants.parameter((slot,), assumed.inits[slot], template) for slot, template in assumed.variants.items()}
    for (slots, key), value in params.items():
        lo.set(slots, key, value)
        if slots.cell is not None:
            lo.dirty.add(slots.cell)  # by an earlier iteration
    link(lo, of_variants(params), assumed.together | sharing_on_entry(entry), assumed.held)
    note(lo, assumed)
    others, older = relate(lo, assumed), older_memory(assumed, of_variants(params))
    with lo.using(depth=lo.depth + 1), lo.build.block() as stmts:
        loop_domain, index = domain()
        variants.runs = surely_runs(lo, loop_domain)
        with materialised_on_entry(params, assumed.inits):
            body()
        for slots, key in lo.journal.changed(mark, birth):
            if not isinstance(key, Meta):
                settle(lo, slots.get(key, MISSING), {})
        changed = lo.journal.changed(mark, birth)
        ends = {slot: slot[0].get(slot[1], MISSING) for slot in assumed.variants}
        related = _is_related_as_assumed(lo, others, assumed)
        if not _holds(lo, changed, ends, params, older, assumed) or not related:
            return None
        yields = dict.fromkeys(variants.leaves, UNDEFINED)
        stable = [variants.collect((slot,), params[slot], end, yields) for slot, end in ends.items()]
        if not all(stable) or not all(_dims_agree(assumed, variants, atoms) for atoms in (yields, _inits(variants))):
            return None
    leaves = variants.leaves
    ending = leaves.get((assumed.leave,))
    _take_names(lo, leaves, yields)
    loop_op = Loop(
        loop_domain, index, tuple(leaf.param for leaf in leaves.values()), tuple(leaf.init for leaf in leaves.values()),
        Block(tuple(stmts), tuple(yields[path] for path in leaves)), ending.param if ending else None,
    )  # fmt: skip
    after = {dim: Sym(dim.least, varies=True) for dim in assumed.dims}  # new dims after the loop for those that differ between iterations
    outs = {p: Var(leaf.param.name, with_dims(leaf.param.type, after), leaf.param.temp) for p, leaf in leaves.items()}
    lo.build.maybe_number.update(outs[p] for p, leaf in leaves.items() if leaf.param in lo.build.maybe_number)
    some = lo.build.unassigned
    unassigned = [p for p, leaf in leaves.items() if yields[p] in some or not variants.runs and leaf.param in some]
    lo.build.unassigned.update(outs[p] for p in unassigned)
    lo.build.after(loop_op, tuple(outs.values()))
    made: dict[tuple, Cell] = {}
    results = {slot: variants.result((slot,), value, outs, made) for slot, value in params.items()}
    link(lo, of_variants(results), assumed.together | sharing_on_entry(entry), assumed.held)  # there may be no iteration
    return Stmt(tuple(outs.values()), loop_op), results


def _take_names(lo: Lowering, leaves: dict[tuple, Leaf], yields: dict[tuple, Atom]) -> None:
    """Give variants without a name of their own, as parts of a list are, the name of the user's variable that an iteration puts there."""
    for path, leaf in leaves.items():
        new, init = yields[path], leaf.init
        unnamed = isinstance(init, Var) and init.temp and leaf.param.name == init.name and not isinstance(path[0][1], str)
        if unnamed and isinstance(new, Var) and not new.temp:
            leaf.param.name, leaf.param.temp = new.name, False
            lo.rename(init, new.name, temp=True)


@contextmanager
def materialised_on_entry(params: dict[Slot, Value], inits: dict[Slot, Value]) -> Iterator[None]:
    """Where a list or dict inside a variant must become one value, as `h` in `h = grown(h)`, request it of the one on entry."""
    try:
        yield
    except MustMaterialise as request:
        found = (at_same_place(request.cell, value, inits[slot]) for slot, value in params.items())
        request.cell = next((cell for cell in found if cell is not None), request.cell)
        raise


def at_same_place(cell: Cell, value: Value, other: Value, around: tuple = ()) -> Cell | None:
    """Return the cell of `other` at the place where `value` has `cell`; None if there is none."""
    if value is cell:
        return other if isinstance(other, Cell) and other.kind == cell.kind else None
    if value in around or not isinstance(value, Cell | TupleVal) or type(value) is not type(other):
        return None
    mine, theirs = (dict(enumerate(v.items)) if isinstance(v, TupleVal) else v.items for v in (value, other))
    found = (at_same_place(cell, part, theirs[key], (*around, value)) for key, part in mine.items() if key in theirs)
    return next((inner for inner in found if inner is not None), None)


def _inits(variants: Round) -> dict[tuple, Atom]:
    """Return the atoms of the leaves on entry."""
    return {path: leaf.init for path, leaf in variants.leaves.items()}


def _dims_agree(assumed: Assumptions, variants: Round, atoms: dict[tuple, Atom]) -> bool:
    """Return whether leaves that share a dim which changes share it in these values of theirs too; if not, one gets a dim of its own.

    In `c = u; u = u[1:]`, what `c` is at the end of an iteration is as long as `u` was at its beginning, not at its end.
    """
    found: dict[Sym, Any] = {}
    for path in variants.leaves:
        for dim, now in paired_dims(assumed.types[path], atom_type(atoms[path])):
            if dim in assumed.dims and found.setdefault(dim, now) != now:
                own = Sym(dim.least, varies=dim.varies)
                assumed.types[path] = with_dims(assumed.types[path], {dim: own})
                assumed.dims[own] = own
                return False
    return True


def _holds(lo: Lowering, changed: dict[Slot, Any], ends: dict, params: dict, older: dict, assumed: Assumptions) -> bool:
    """Return whether an iteration changed only slots that are variants, and poisoned and shared cells only as assumed."""
    changed = {slot: old for slot, old in changed.items() if slot[0].birth < assumed.birth}
    expected = [_is_expected(lo, slots, key, old, assumed) for (slots, key), old in changed.items()]
    fine = all(expected)
    for slots, key in changed:
        if key is POISON and slots.get(POISON) is not None:
            fine &= assumed.poison(slots.cell, slots[POISON])
    moving = {slot: end for slot, end in ends.items() if slot in params}
    return share_as_assumed(lo, assumed, of_variants(moving), of_variants(params), older) and fine


def _is_expected(lo: Lowering, slots: Slots, key: Any, old: Any, assumed: Assumptions) -> bool:
    """Return whether a slot that an iteration changed was assumed to change; if not, correct the assumption."""
    new = slots.get(key, MISSING)
    if key is SEEN or (slots, key) in assumed.variants or old is MISSING and new is MISSING or key is POISON:
        return True
    if key is UNSURE or key is WHOLE:
        expected = assumed.unsure if key is UNSURE else assumed.opened
        fine = slots in expected
        expected.add(slots)
        return fine
    if key is STALE:
        return assumed.poison(slots.cell, slots[STALE])
    if key is VALUE and slots.cell.base is not None:  # a view that was derived again from its base
        return True
    assumed.variants[(slots, key)] = None
    if not isinstance(key, Meta) and is_new_key(slots, old, new):
        open_dict(lo, slots.cell, new if old is MISSING else old)
        assumed.unsure.add(slots)
    return False
