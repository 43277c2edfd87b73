"""Removes the clearing of a part of a cotangent array that nothing reads again.

    loop (d = d0) for i in range(n - 1, -1, -1):          loop (d = d0) for i in range(n - 1, -1, -1):
        v = d[i + 1]                                          v = d[i + 1]
        d1 = d with [i + 1] = 0.0
        d2 = d1 with [i] += mul(2, v)                         d2 = d with [i] += mul(2, v)
        yield d2                                              yield d2

The adjoint of a write clears the cotangent of what was overwritten.  This is legal if nothing reads the array after the loop, the loop
uses it only at subscripts `i + c` along one axis, none of them negative, and the clear is the last use of the greatest of them (the least,
if the index rises): the loop moves on from there and never comes back.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead.analysis.builder import atom_type
from sourcead.analysis.loop_indices import Counting, is_int, offset
from sourcead.analysis.queries import queried
from sourcead.ir.nodes import Atom, Block, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Scalar, kind_of
from sourcead.ir.walk import all_reads, count_reads, definitions, map_atoms, op_blocks, op_reads, rewrite, walk
from sourcead.passes.peephole import with_body
from sourcead.passes.residuals.sink_clears import is_clearing


def remove_dead_clears(function: Function) -> Function:
    """Return the function without writes of zeros in its reverse sweep that nothing reads."""
    if not any(is_clearing(s) for s in walk(function.body)):
        return function
    uses, made = count_reads(function.body), definitions(function.body)
    counting = Counting(made)

    def change(stmt: Stmt) -> list[Stmt]:
        counted = counting.of(stmt.op) if isinstance(stmt.op, Loop) else None
        for k, target in enumerate(stmt.targets if counted is not None else ()):
            dead = [] if uses.get(target) else dead_clears(stmt.op, k, counted.first, made)
            if dead:
                stmt = replace(stmt, op=without(stmt.op, dead))
        return [stmt]

    return with_body(function, rewrite(function.body, change))


def dead_clears(loop: Loop, k: int, first: int, made: dict[Var, Stmt]) -> list[Stmt]:
    """Return the dead clears of the k-th variant of a loop, an array that is not read after the loop.

    `first` is the least value of the loop's index: no subscript may be negative, because that would count from the end.
    """
    versions, uses = {loop.params[k]}, []
    for at, stmt in enumerate(loop.body.stmts):
        for v in op_reads(stmt.op):
            if v in versions:
                uses.append((at, stmt))
                if isinstance(stmt.op, Update) and stmt.op.base is v and stmt.op.value is not v:
                    versions.add(stmt.targets[0])
        if any(v in versions for b in op_blocks(stmt.op) for v in all_reads(b)):
            return []
    if loop.body.results[k] not in versions or any(r in versions for j, r in enumerate(loop.body.results) if j != k):
        return []
    uses = [(at, s) for at, s in uses if queried(s.op) is None]
    keys = [key_of(s, versions) for _, s in uses]
    if None in keys:
        return []
    for axis in range(min(map(len, keys), default=0)):
        offsets = [offset(key[axis], loop.index, made) for key in keys]
        if None in offsets or min(offsets) + first < 0:
            continue
        behind = (max if is_int(loop.domain.step, -1) else min)(offsets)  # no later iteration uses the array there
        last = max(at for (at, _), own in zip(uses, offsets) if own == behind)
        found = (s for (at, s), own in zip(uses, offsets) if own == behind and at == last and is_clearing(s))
        return list(dict.fromkeys(found))
    return []


def key_of(stmt: Stmt, versions: set[Var]) -> tuple | None:
    """Return the subscript by which a statement uses an array, one item for each axis, or None if it uses the array in another way."""
    match stmt.op:
        case Index(base, key):
            pass
        case Update(base, (Sub(key),), value) if value not in versions:
            pass
        case _:
            return None
    parts = key if isinstance(key, tuple) else (key,)
    plain = all(isinstance(p, Slice) or isinstance(atom_type(p), Scalar) and kind_of(atom_type(p)) == "int" for p in parts)
    return parts if base in versions and plain else None


def without(loop: Loop, gone: list[Stmt]) -> Loop:
    """Return the loop without the updates `gone`; the array that an update was made from takes the place of its result."""
    instead: dict[Var, Atom] = {s.targets[0]: s.op.base for s in gone}

    def previous(atom: Atom) -> Atom:
        while atom in instead:
            atom = instead[atom]
        return atom

    kept = tuple(s for s in loop.body.stmts if s not in gone)
    return replace(loop, body=map_atoms(Block(kept, loop.body.results), previous))
