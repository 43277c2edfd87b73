"""Lower branches whose condition is not known while compiling.

Both arms are lowered from the same state, one after the other; each value that differs between their ends becomes a result of the
`Branch`. An arm that cannot be differentiated raises the error in the run, if the function is refused otherwise (`refused_arms`):

    if x > 3:                 if x > 3:
        f = open(path)            raise UnsupportedSyntaxError("what `open` reads or changes ...")
        ...
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.errors import SourceADError, UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import narrowing
from sourcead.frontend.control.merging import Arm, Merger
from sourcead.frontend.core import (
    FALSE, MISSING, POISON, RAISED, SEEN, TRUE, UNSURE, VALUE, Cell, Flag, Lowering, Meta, MustBeOneValue,
    MustMaterialise, NeverReturns, NotStatic, Slots, TupleVal, Value, leaves, next_birth
)
from sourcead.ir.nodes import Atom, Block, Branch, Const, Effect, Origin, Stmt
from sourcead.ir.types import BOOL, Array, Scalar, Unknown


def restartable(lo: Lowering, lower: Callable[[], Any], one_value: set | None = None) -> Any:
    """Call `lower`; each time it finds that a list or dict must become one IR value, do that and call `lower` again.

    `one_value` receives the places of those that become one only where the arms of a branch leave them.
    """
    birth, depth = next_birth(), lo.depth
    while True:
        with lo.attempt(MustMaterialise, *() if one_value is None else (MustBeOneValue,)) as attempt:
            return lower()
        request = attempt.error
        if isinstance(request, MustBeOneValue):
            if request.place in one_value:
                lo.arms_differ()
                reason = "the two sides of this branch leave lists or dicts of different structure in the same place"
                raise core.refused(lo, reason, "give them the same structure on both sides")
            one_value.add(request.place)
            continue
        if one_value:
            one_value.clear()
        lo.keep_apart(request.cell)
        if request.cell.depth < depth:  # made outside of an enclosing region, which must restart
            raise request
        if request.cell.slots.birth > birth or request.cell.kind not in ("list", "dict"):
            raise UnsupportedSyntaxError(
                "the length of this list depends on what the program does here", at=request.origin,
                instead="make the list before the branch or loop, and only append to it inside",
            )
        lo.materialise(request.cell)


def raised(lo: Lowering, error: Atom, at: Origin | None = None) -> Any:
    """Emit `raise error`, which Python does at the current statement or at a place; return how control leaves."""
    lo.build.add(Stmt((), Effect("raise", (error,)), origin=at))
    return RAISED


UNDECIDED = "whether an exception is raised here decides what is computed"
INSTEAD = "test for the case with `if` before it arises"


def raised_here(lo: Lowering, cls: type, *arguments: Atom) -> Any:
    """Emit `raise cls(*arguments)`, which Python does here; refuse it if the program handles it, since handlers are lowered elsewhere."""
    if issubclass(cls, lo.catching):
        raise core.surely(lo, core.refused(lo, UNDECIDED, INSTEAD), cls)
    return raised(lo, lo.build.call(cls, *arguments))


def branch(lo: Lowering, cond: Atom, arms: list[Callable[[], Any]], kind: str = "if") -> Any:
    """Lower `if cond: arms[0]() else: arms[1]()`; return the merged values of the arms, None if they have no value.

    If an arm returns RAISED, the state after the branch is that at the end of the other arm.
    """
    if lo.static_only:
        raise NotStatic
    asked = tested(lo, cond)
    one_value: set[tuple[Slots, Any] | None] = set()
    return restartable(lo, lambda: _merged(lo, asked, arms, kind, one_value), one_value)


def tested(lo: Lowering, cond: Atom) -> Atom:
    """Return a condition as a truth value, asked for by a statement, where the program handles the error that arrays raise for that."""
    may_be_array = isinstance(t := atom_type(cond), Unknown) or isinstance(t, Array) and t.dims != ()
    if lo.pointing and not (isinstance(t, Scalar) and t.kind == "bool"):
        return lo.build.call(bool, cond, type=BOOL)
    return lo.build.call(bool, cond) if may_be_array and issubclass(ValueError, lo.catching) else cond


def choose(lo: Lowering, condition: Value, then: Callable[[], Any], otherwise: Callable[[], Any], kind: str = "if") -> Any:
    """Lower `then()` if the condition is known to hold, `otherwise()` if it is known not to, else a branch between the two."""
    condition = core.condition(lo, condition)
    verdict = core.truth(lo, condition)
    if verdict is None:
        return branch(lo, lo.read(condition), [then, otherwise], kind)
    return then() if verdict else otherwise()


def _merged(lo: Lowering, cond: Atom, arms: list[Callable[[], Any]], kind: str, one_value: set) -> Any:
    """Lower a branch in one attempt, which raises MustMaterialise if a list or dict must become one IR value before it.

    `one_value` holds the slots in which an arm leaves a list or dict that must be one IR value; None is the value of the arm.
    """
    birth = next_birth()
    done, refused = [], []
    for truth, arm in zip((True, False), arms):
        place = (kind, truth, *((at.file, at.line, at.col) for at in (lo.here.chain() if lo.here is not None else ())))
        if place in lo.refused_arms:
            refused.append(lo.refused_arms[place])
            arm = functools.partial(_refused_in_run, lo, refused[-1])
        with narrowing.holding(lo, cond, truth), _marking(place):
            done.append(_lower_arm(lo, arm, birth, one_value))
    if refused and done[0].left and done[1].left and all(arm.value is RAISED for arm in done):
        raise core.marked(refused[0], arm=None)  # no run comes to what follows: an arm of a branch around this one may be refused
    merger = Merger(lo, done, birth, cond)
    changed: list[tuple[Slots, Any, Any, Any]] = []
    unsure: list[Slots] = []
    for (slots, key), old in {**done[0].before, **done[1].before}.items():
        a, b = (arm.state.get((slots, key), old) for arm in done)
        if done[0].left and done[1].left or slots.cell is not None and slots.cell.base is not None and key in (VALUE, SEEN):
            continue  # no statement follows, or the slot is a view's, which follows its base
        a, b = (core.inherited(lo, slots, key) if v is MISSING else v for v in (a, b))
        changed.append((slots, key, a, b))
        if not isinstance(key, Meta) and is_new_key(slots, a, b) and not (done[0].left or done[1].left):
            if core.objects_in(key):
                lo.arms_differ()
            else:
                open_dict(lo, slots.cell, b if a is MISSING else a)
            unsure.append(slots)
    merged = []
    for slots, key, a, b in changed:
        is_condition = isinstance(key, Flag) and a is TRUE and b is FALSE and isinstance(atom_type(cond), Scalar) and not done[1].left
        with _leaving((slots, key)):
            merged.append((slots, key, cond if is_condition else merger.slot(key, a, b)))
    merged += merger.captured()
    values = [arm.value for arm in done if arm.value is not RAISED]
    with _leaving(None):
        value = RAISED if not values else None if values[0] is None else merger.value(values[0], values[-1], "value")
    first, second = (Block(tuple(arm.stmts), tuple(r[side] for r in merger.results)) for side, arm in enumerate(done))
    if first.stmts or second.stmts or merger.results:
        lo.build.add(Stmt(tuple(var for _, _, var in merger.results), Branch(cond, first, second, kind)))
    for slots, key, new in merged:
        lo.set(slots, key, new)
    for slots in unsure:
        lo.set(slots, UNSURE, NOT_SURE)
    return value


def raised_for_sure(lo: Lowering, error: UnsupportedSyntaxError) -> Any:
    """Emit the exception that an arm raises for sure where this error was found; raise the error if it stands for none, or is handled."""
    cls, place = core.surely_raised(error)
    if cls is None or place is not lo.build.stmts or issubclass(cls, lo.catching) or lo.static_only:
        raise error
    hint = f": write {error.instead}" if error.instead and "\n" not in error.instead else ""
    return raised(lo, lo.build.call(cls, Const(error.reason + hint)), error.at)


def _refused_in_run(lo: Lowering, error: SourceADError) -> Any:
    """Emit the error for an arm that is not differentiated: a run that comes there is refused, all others have their derivative."""
    cls = type(error) if type(error).__init__ is SourceADError.__init__ else UnsupportedSyntaxError
    made = lo.build.call(cls, Const(error.reason), Const(None), Const(error.instead), name="error")
    return raised(lo, made, error.at)


@contextmanager
def _marking(place: tuple) -> Iterator[None]:
    """Note on the error for what cannot be differentiated the innermost arm that it is in."""
    try:
        yield
    except SourceADError as error:
        if getattr(error, "arm", None) is None:
            error.arm = place
        raise


@contextmanager
def _leaving(place: tuple[Slots, Any] | None) -> Iterator[None]:
    """Tell the place of a list or dict that must be one IR value."""
    try:
        yield
    except MustBeOneValue as request:
        request.place = place
        raise


NOT_SURE = "which keys this dict has depends on what the program does, and its values differ in kind"


def is_new_key(slots: Slots, before: Value, after: Value) -> bool:
    """Return whether a slot belongs to a key that a dict has on one of two paths only."""
    return slots.cell is not None and slots.cell.kind == "dict" and (before is MISSING) != (after is MISSING)


def open_dict(lo: Lowering, cell: Cell, value: Value) -> None:
    """Request that a dict becomes one IR value if its values are of one kind, since its keys depend on the run."""
    if core.can_be_map(cell, value):
        raise MustMaterialise(cell, lo.here)


def _lower_arm(lo: Lowering, arm: Callable[[], Any], birth: int, one_value: set) -> Arm:
    """Lower an arm, record its state at the end, and undo its changes of slots."""
    mark, made_functions, within = lo.journal.mark(), len(lo.made_functions), lo.build.within
    atoms: dict[Cell, Atom] = {}
    with lo.build.block() as stmts, lo.using(depth=lo.depth + 1, arm=len(lo.resized)):
        try:
            value = arm()
        except NeverReturns:
            value = RAISED
        except SourceADError as error:
            value = raised_for_sure(lo, error)
        lo.build.within = within
        for place in one_value:
            make_one_value(lo, value if place is None else place[0].get(place[1]), birth)
        for slots, key in lo.journal.changed(mark, birth):
            if not isinstance(key, Meta):
                settle(lo, slots.get(key, MISSING), atoms)
        if value is not RAISED:
            settle(lo, value, atoms)
        written = {slots.cell for slots, key in lo.journal.changed(mark, birth) if key is VALUE}
        for held in lo.visible() if written else ():  # the other arm may rebind the name of a value that this arm wrote
            if any(isinstance(leaf, Cell) and leaf.root() in written for leaf in leaves(held)):
                settle(lo, held, atoms)
        captured = {names: dict(names) for names in lo.captured(made_functions) if names.birth > birth}
        for names in captured.values():
            for held in names.values():
                settle(lo, held, atoms)
        changed = lo.journal.changed(mark, birth)
    state = {(slots, key): slots.get(key, MISSING) for slots, key in changed}
    touched = {slots.cell for slots, *_ in lo.journal.entries[mark:] if slots.cell is not None}
    contents = {cell: cell.items for cell in touched if cell.kind != "array"}
    poisoned = {cell: cell.slots[POISON] for cell in touched if POISON in cell.slots}
    made = {cell: dict(cell.slots) for cell in touched if cell.slots.birth > birth}
    lo.journal.rollback(mark)
    for cell, slots in made.items():  # only this arm can reach them: they stay as it left them
        cell.slots.clear()
        cell.slots.update(slots)
    return Arm(stmts, value, state, changed, atoms, value is RAISED, contents, poisoned, captured)


def make_one_value(lo: Lowering, value: Any, birth: int) -> None:
    """Make the list or dict that an arm leaves one IR value, or those in the tuples and objects that it leaves."""
    if isinstance(value, Cell) and value.kind in ("list", "dict"):
        if value.slots.birth > birth:
            lo.materialise(value)
    elif isinstance(value, (Cell, TupleVal)):
        for part in (core.parts_of(value) or {}).values():
            make_one_value(lo, part, birth)


def settle(lo: Lowering, value: Any, atoms: dict[Cell, Atom]) -> None:
    """Record in `atoms` the current versions of the array cells in a value, after bringing views up to date."""
    for leaf in leaves(value):
        if isinstance(leaf, Cell) and leaf.kind == "array" and lo.unreadable(leaf) is None:
            atoms[leaf] = lo.read(leaf)
