"""The objects that loop variants are, and which of them share memory, at the beginning of an iteration and after the loop.

An object is an array or a container; its *path* is the slot of the variant, then the positions or keys that lead to the object.
"""

import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.control.variant_values import Assumptions
from sourcead.frontend.core import MISSING, VALUE, Cell, Lowering, OptionalVal, Slots, TupleVal, Value, parts_of, roots
from sourcead.ir.nodes import UNDEFINED, Var
from sourcead.ir.types import Undefined

Objects = dict[tuple, Cell]


def of_variants(values: dict[tuple[Slots, Any], Value]) -> Objects:
    """Return the objects in the values of variants, by their paths; a variant that is a version of an object has none."""
    return {path: cell for slot, value in values.items() if slot[1] is not VALUE for path, cell in objects((slot,), value)}


def objects(path: tuple, value: Value) -> Iterator[tuple[tuple, Cell]]:
    """Iterate over the paths and cells of the arrays and containers in the value of a variant, a container before its items."""
    if isinstance(value, OptionalVal):
        value = value.held
    if isinstance(value, Cell):
        yield path, value
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind != "array":
        for key, item in zip(value.keys, value.contents):
            yield from objects((*path, key), item)


def memory(cell: Cell) -> set[Cell]:
    """Return the cells that an object may be or be a part of; those of the items of a container are not its own."""
    return roots(cell) if cell.kind == "array" else {cell, *(c.root() for c in cell.shares)}


def forget_objects(assumed: Assumptions, entry: Objects) -> None:
    """Give up the assumption that two paths lead to one object, or a path to one made before, where that does not hold on entry."""
    for path, first in list(assumed.same.items()):
        if entry.get(path) is not entry.get(first):
            assumed.changing.add(path)
            del assumed.same[path]
    firsts: dict[int, tuple] = {}
    for path, cell in entry.items():
        first = firsts.setdefault(id(cell), path)
        if first != path and path not in assumed.changing:
            assumed.same[path] = first


def sharing_on_entry(entry: Objects) -> set[frozenset]:
    """Return the pairs of paths whose objects may share memory on entry, such as an array and a view of it under another name."""
    own = defaultdict(list)
    for path, cell in entry.items():
        own[cell.root()].append(path)
    return {frozenset((a, b)) for b, cell in entry.items() for root in memory(cell) for a in own.get(root, ()) if a != b}


def link(lo: Lowering, found: Objects, pairs: Iterable[frozenset], held: Iterable[tuple] = ()) -> None:
    """Record that the two objects of each pair of paths may share memory, and which objects are held by which containers.

    Args:
        lo: the lowering.
        found: the objects.
        pairs: pairs of paths.
        held: (member, container), each a path or a cell.
    """
    for a, b in pairs:
        if a in found and b in found and found[a] is not found[b]:
            lo.share(found[a], [found[b]])
    for pair in held:
        member, container = (place if isinstance(place, Cell) else found.get(place) for place in pair)
        if member is not None and container is not None and member is not container:
            lo.hold(container.root(), member)


def older_memory(assumed: Assumptions, params: Objects) -> dict[tuple, set[Cell]]:
    """Return the cells made before the loop with which each object may share memory, by the path of the object."""
    return {path: {c for c in cell.shares if c.slots.birth < assumed.birth} for path, cell in params.items()}


def share_as_assumed(lo: Lowering, assumed: Assumptions, ends: Objects, params: Objects, older: dict[tuple, set[Cell]]) -> bool:
    """Return whether the objects at the end of an iteration are, and share memory, as assumed; if not, correct the assumption.

    Args:
        lo: the lowering.
        assumed: the assumptions.
        ends: the objects at the end of the iteration.
        params: those at its beginning.
        older: the cells made before the loop with which these might share memory at its beginning, also because they did on entry.
    """
    fine = _are_as_assumed(assumed, ends)
    entry = of_variants(assumed.inits)
    fine = _new_identities(lo, assumed, entry, ends) and fine
    inside = {cell.root() for path, cell in params.items() if path not in assumed.kept}
    sharing: dict[Cell, list[tuple]] = defaultdict(list)
    for path, cell in ends.items():
        if path in assumed.kept or path in assumed.same:
            continue
        reached = memory(cell)
        outer = {c for c in reached if c not in inside and c.slots.birth < assumed.birth}
        for root in reached - outer if cell.root() in inside else reached:
            sharing[root].append(path)
        if params.get(path) is cell:
            continue
        known = assumed.sharing.setdefault(path, set())
        fine = fine and outer <= known | older.get(path, set())
        known |= outer
    held = _held(assumed, ends, params)
    fine = fine and held <= assumed.held
    assumed.held |= held
    pairs = {frozenset((a, b)) for paths in sharing.values() for k, a in enumerate(paths) for b in paths[k + 1 :] if a != b}
    pairs -= sharing_on_entry(entry)
    fine = fine and pairs <= assumed.together
    assumed.together |= pairs
    return fine


def _are_as_assumed(assumed: Assumptions, ends: Objects) -> bool:
    """Return whether the paths that were assumed to lead to one object do so at the end of an iteration; if not, correct that."""
    fine = True
    for path in [*assumed.same, *assumed.kept]:
        expected = assumed.kept[path] if path in assumed.kept else ends.get(assumed.same[path])
        same = core.same_view if path in assumed.kept else operator.is_
        if path not in ends or expected is None or not same(ends[path], expected):
            assumed.same.pop(path, None)
            assumed.kept.pop(path, None)
            assumed.changing.add(path)
            fine = False
    return fine


def _new_identities(lo: Lowering, assumed: Assumptions, entry: Objects, ends: Objects) -> bool:
    """Return whether nothing is left to assume about objects that are on entry what they are at the end, and about names of one object."""
    fine = True
    firsts: dict[int, tuple] = {}
    for path, cell in ends.items():
        first = firsts.setdefault(id(cell), path)
        if path in assumed.changing or path in assumed.same or path in assumed.kept:
            continue
        kept = lo.outside(cell, assumed.birth)
        if kept is not None and entry.get(path) is kept:
            assumed.kept[path] = kept
            fine = False
        elif first != path and _is_unassigned(assumed, path) and _is_unassigned(assumed, first):
            assumed.same[path] = first
            fine = False
    return fine


def _is_unassigned(assumed: Assumptions, path: tuple) -> bool:
    """Return whether a path leads to nothing on entry, not even to a number: the program cannot read it if there is no iteration."""
    value = assumed.inits.get(path[0], MISSING)
    for key in path[1:]:
        parts = parts_of(value.held if isinstance(value, OptionalVal) else value)
        if parts is None or key not in parts:
            return value is MISSING or value is UNDEFINED
        value = parts[key]
    return value is MISSING or value is UNDEFINED or isinstance(value, Var) and isinstance(value.type, Undefined)


def _held(assumed: Assumptions, ends: Objects, params: Objects) -> set[tuple]:
    """Return (member, container) for the objects at the end of an iteration that are in containers, or hold objects themselves.

    A container of known items can become one IR value, which is then the container: `w = 0.0`, and `w = [z]` in the loop.
    """
    paths: dict[Cell, list[tuple]] = defaultdict(list)
    for path, cell in ends.items():
        if path not in assumed.kept and path not in assumed.same:
            paths[cell.root()].append(path)

    def places(cell: Cell) -> list:
        return [cell] if cell.slots.birth < assumed.birth else paths.get(cell, [])

    around = {path: _value_around(path, params) for path in ends if path not in params}
    inside = {(place, one) for path, one in around.items() if one for c in roots(ends[path]) for place in places(c)}
    members = inside | {(path, place) for cell, own in paths.items() for path in own for c in cell.held_by for place in places(c)}
    return members | {(place, path) for cell, own in paths.items() for path in own for c in cell.holds for place in places(c)}


def _value_around(path: tuple, params: Objects) -> tuple | None:
    """Return the path of the loop parameter that an object without one of its own is a part of, or None if there is none."""
    return next((path[:k] for k in range(len(path) - 1, 0, -1) if path[:k] in params), None)
