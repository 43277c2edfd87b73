"""Keep equal what is one object under several names, where conditions decide which object a name is.

    q = a if c else b         q.v, a.v and b.v are three variables
    q.v = 2.0                 q.v = 2.0;  if c: a.v = q.v  else: b.v = q.v
    a.v = 3.0                 a.v = 3.0;  if c: q.v = a.v

The merged object `q` has slots of its own, as after any branch. After a write to it, the object that it is takes what was written; after a
write to one of these, it takes that if it is this object. Elsewhere (a condition that is not known any more, objects that may share memory
for another reason) a write still poisons the others.
"""

from collections.abc import Callable
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.core import MISSING, VALUE, Cell, Lowering, MustMaterialise, New, Pointer, TupleVal
from sourcead.ir.nodes import Const, Sub
from sourcead.ir.types import Array

Truths = dict[Any, bool]
MOST_WRITES = 250


def follow(lo: Lowering, cell: Cell, keys: list[Any]) -> None:
    """Make what `cell` is, and what is `cell`, the same as it after `keys` of it were changed."""
    if next(lo.followed) > MOST_WRITES:
        raise core.refused(lo, "too many writes to what is one of several objects", "write the choice around what follows it")
    with lo.using(follow=None):  # what follows from that is done here
        push(lo, cell, keys)
        pull(lo, cell, keys, None)


def push(lo: Lowering, cell: Cell, keys: list[Any]) -> None:
    """Write what was written to an object to the object that it is."""
    pointer = lo.pointer_of(cell)
    if pointer is None:
        return
    at_leaves(lo, pointer, {}, lambda leaf, truths: assign(lo, leaf, cell, keys, truths))
    for leaf in pointer.cells():
        pull(lo, leaf, keys, cell)
        if leaf.base is not None:
            pull(lo, leaf.root(), [VALUE], cell)


def pull(lo: Lowering, cell: Cell, keys: list[Any], but: Cell | None) -> None:
    """Write what was written to an object to all that may be it, where they are."""
    for other, pointer in lo.pointers_to(cell):
        if other is but:
            continue

        def taken(leaf: Cell, truths: Truths, other: Cell = other) -> None:
            if leaf is cell or leaf.root() is cell:
                assign(lo, other, leaf, keys if leaf is cell else [VALUE], truths)
            else:  # it stays what it was: the parts of this object
                for key in keys if other.kind != "array" else ():
                    if key in other.slots:
                        lo.set(other.slots, key, resolved(lo, other.slots[key], truths))

        at_leaves(lo, pointer, {}, taken)
        pull(lo, other, keys, cell)


def at_leaves(lo: Lowering, tree: Pointer | Cell, truths: Truths, act: Callable[[Cell, Truths], None]) -> None:
    """Lower `act(leaf, truths)` for the object that a pointer leads to, in a branch on each of its conditions."""
    if isinstance(tree, Cell):
        return None if isinstance(tree, New) else act(tree, truths)
    arms = [lambda part=part, truth=truth: at_leaves(lo, part, {**truths, tree.condition: truth}, act)
            for part, truth in ((tree.first, True), (tree.second, False))]  # fmt: skip
    branches.branch(lo, tree.condition, arms)


def resolved(lo: Lowering, value: Any, truths: Truths) -> Any:
    """Return the object that a value is where these conditions are known."""
    if isinstance(value, TupleVal):
        items = tuple(resolved(lo, item, truths) for item in value.items)
        return value if items == value.items else TupleVal(items, None, value.cls)
    while isinstance(value, Cell) and (pointer := lo.pointer_of(value)) is not None:
        tree: Pointer | Cell = pointer
        while isinstance(tree, Pointer) and tree.condition in truths:
            tree = tree.first if truths[tree.condition] else tree.second
        if not isinstance(tree, Cell) or isinstance(tree, New):
            return value
        value = tree
    return value


def assign(lo: Lowering, target: Cell, source: Cell, keys: list[Any], truths: Truths) -> None:
    """Give an object what another one has under some keys."""
    if target.kind == "array":
        if source.kind != "array":
            raise MustMaterialise(source, lo.here)
        value = lo.read(source)
        if target.base is not None:
            return lo.write(target, (Sub(Const(Ellipsis)),), value)
        if isinstance(atom_type(value), Array):
            return lo.set_version(target, value)
        lo.resized.append((target, frozenset()))
        return lo.replace_slot(target, lambda: value)
    found = source.kind == target.kind
    grown = found and target.kind in ("list", "dict") and any((k in source.slots) != (k in target.slots) for k in keys)
    if not found or grown:
        raise MustMaterialise(target, lo.here)
    lo.changed(target)
    for key in keys:
        lo.set(target.slots, key, resolved(lo, source.slots.get(key, MISSING), truths))
