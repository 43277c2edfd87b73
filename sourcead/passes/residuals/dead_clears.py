"""Removes the clearing of a part of a cotangent array that nothing reads again.

    loop (d = d0) for i in range(n - 1, -1, -1):          loop (d = d0) for i in range(n - 1, -1, -1):
        v = d[i + 1]                                          v = d[i + 1]
        d1 = d with [i + 1] = 0.0
        d2 = d1 with [i] += mul(2, v)                         d2 = d with [i] += mul(2, v)
        yield d2                                              yield d2

The part is a box (`analysis/boxes.py`).  All that may read the array later is followed: the versions that updates make of it, the rest of
the iteration, later iterations of each loop around, in which the index has other values, and what comes behind the loops.  The clear is
kept if anything reads a box that is not known to be apart from the part, before the part is set again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sourcead.analysis.array_versions import queried
from sourcead.analysis.boxes import Box, Boxes, is_exact
from sourcead.analysis.loop_indices import names_elements_once
from sourcead.ir.nodes import (
    Atom, Block, Branch, Function, Index, Let, Loop, Operand, Stmt, Sub, Update, Var, operand_atoms
)
from sourcead.ir.types import Array, ListT
from sourcead.ir.walk import rewrite, substitute, walk, with_body
from sourcead.passes.residuals.clears import is_clearing

MOST = 200  # readers that are followed for one clear


def remove_dead_clears(function: Function) -> Function:
    """Return the function without writes of zeros in its reverse sweep that nothing reads."""
    clears = [s for s in walk(function.body) if is_clearing(s) and isinstance(s.op.base.type, (Array, ListT))]
    if not clears:
        return function
    uses = Uses(function)
    dead = {s for s in clears if uses.is_dead(s)}
    if not dead:
        return function
    body = rewrite(function.body, lambda s: [] if s in dead else [s])
    return with_body(function, substitute(body, {s.targets[0]: s.op.base for s in dead}))


@dataclass(frozen=True, eq=False)
class Place:
    """A statement, or None for the results of a block, and the statements around it, outermost first, each with its block."""

    stmt: Stmt | None
    around: tuple[tuple[Stmt, Block], ...]


@dataclass(frozen=True)
class Later:
    """How a place is reached from a clear: in which of the loops around the clear an iteration has ended since, and which have ended."""

    moved: frozenset[Stmt] = frozenset()
    left: frozenset[Stmt] = frozenset()


@dataclass(eq=False)
class Uses:
    """The places that read each variable of a function."""

    function: Function
    readers: dict[Atom, list[Place]] = field(default_factory=dict)
    of: dict[Stmt, Place] = field(default_factory=dict)

    def __post_init__(self):
        self.boxes = Boxes(self.function)
        self.note(self.function.body, ())

    def note(self, block: Block, around: tuple[tuple[Stmt, Block], ...]) -> None:
        for stmt in block.stmts:
            place = self.of[stmt] = Place(stmt, around)
            for v in set(stmt.op.reads):
                self.readers.setdefault(v, []).append(place)
            for inner in stmt.op.blocks:
                self.note(inner, (*around, (stmt, inner)))
        for v in set(block.results):
            self.readers.setdefault(v, []).append(Place(None, around))

    def is_dead(self, clear: Stmt) -> bool:
        """Return whether nothing reads the part that a statement clears, so that it may keep what is there."""
        path = clear.op.path
        if len(path) != 1 or not isinstance(path[0], Sub) or not names_elements_once(path[0].key):
            return False
        box = self.boxes.of(clear.op.base, path[0].key)
        if all(ends is None for ends in box.axes):
            return False
        home = self.of[clear].around
        todo, seen = [(clear.targets[0], Later())], set()
        while todo:
            version, later = todo.pop()
            if (version, later) in seen:
                continue
            seen.add((version, later))
            if len(seen) > MOST:
                return False
            for place in self.readers.get(version, ()):
                found = self.follow(place, version, later, box, home)
                if found is None:
                    return False
                todo += found
        return True

    def follow(self, place: Place, version: Var, later: Later, box: Box, home: tuple) -> Iterable[tuple[Var, Later]] | None:
        """Return the versions in which the part lives on behind a place that reads one, or None if the part may be read there."""
        stmt = place.stmt
        if stmt is None:
            return self.handed_on(place, version, later, home)
        if any(entry not in home and not isinstance(entry[0].op, (Branch, Loop)) for entry in place.around):
            return None  # who knows when a function runs that is only defined here
        if queried(stmt.op) is not None:
            return ()
        match stmt.op:
            case Let():
                return ((stmt.targets[0], later),)
            case Index(base, key) if base is version and self.misses(place, base, key, later, box, home):
                return ()
            case Update(base, (Sub(key),), value, mode) if base is version and value is not version:
                overwrites = mode == "set" and is_exact(key) and self.boxes.of(base, key) == box
                if overwrites and place.around == home and later == Later():
                    return ()
                if mode == "set" or self.misses(place, base, key, later, box, home):
                    return ((stmt.targets[0], later),)
            case Loop(params=params, inits=inits, leave=leave) if leave is not version and version not in operand_atoms(stmt.op.domain):
                return tuple((p, later) for p, init in zip(params, inits) if init is version)
        return None

    def misses(self, place: Place, array: Var, key: Operand, later: Later, box: Box, home: tuple) -> bool:
        """Return whether a subscript, at a place that is reached later, names nothing of a box."""
        if not names_elements_once(key):
            return False
        other, own = self.boxes.of(array, key), {s for s, _ in home}
        for stmt, _ in reversed(place.around):
            if isinstance(stmt.op, Loop):
                if stmt not in own or stmt in later.left:
                    other = self.boxes.over(stmt.op, other)
                elif stmt in later.moved:
                    other = self.boxes.elsewhere(stmt.op, other, later=True)
        return other.apart(box)

    def handed_on(self, place: Place, version: Var, later: Later, home: tuple) -> Iterable[tuple[Var, Later]] | None:
        """Return where a result of a block goes: to what is behind the branch or loop, and to later iterations; None if it leaves."""
        if not place.around:
            return None
        stmt, block = place.around[-1]
        places = [k for k, r in enumerate(block.results) if r is version]
        match stmt.op:
            case Branch():
                return tuple((stmt.targets[k], later) for k in places)
            case Loop(body=body, leave=leave) if block is body and version is not leave:
                inner = [s for s, _ in home if self.is_inside(s, stmt)]
                behind = Later(later.moved, later.left | {stmt, *inner})
                again = Later(later.moved | {stmt}, later.left | set(inner)) if stmt in {s for s, _ in home} else later
                return tuple(found for k in places for found in ((stmt.targets[k], behind), (stmt.op.params[k], again)))
        return None

    def is_inside(self, stmt: Stmt, outer: Stmt) -> bool:
        return any(s is outer for s, _ in self.of[stmt].around)
