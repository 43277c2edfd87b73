"""A part of a cotangent array that nothing reads again is not cleared.

    for i in reversed(range(n)):                 for i in reversed(range(n)):
        d_x[i] += 2 * d_y[i + 1]                     d_x[i] += 2 * d_y[i + 1]
        d_y[i + 1] = 0.0

The adjoint of a write clears the cotangent of what was overwritten.  If the loop uses the array at places that it moves on from, such as
`i + 1`, `i` and `i - 1` with falling i, and nothing reads the array after the loop, then what lies behind is never seen again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Attr, Block, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Scalar, kind_of
from sourcead.ir.walk import all_reads, definitions, map_blocks, map_op, op_blocks, op_reads, walk
from sourcead.passes.cleanup.loop_indices import Counting, is_int, offset
from sourcead.passes.cleanup.shapes_of_versions import ASKED
from sourcead.passes.residuals.sink_clears import is_clearing


def remove_dead_clears(function: Function) -> Function:
    """The function without writes of zeros in its reverse sweep that nothing sees."""
    if not any(is_clearing(s) for s in walk(function.body)):
        return function
    uses = Counter(all_reads(function.body))
    made = definitions(function.body)
    counting = Counting(made)
    changed = False

    def visit(block: Block) -> Block:
        nonlocal changed
        stmts = []
        for stmt in block.stmts:
            counted = counting.of(stmt.op) if isinstance(stmt.op, Loop) else None
            if counted is not None:
                for k, target in enumerate(stmt.targets):
                    unseen = [] if uses[target] else unseen_clearings(stmt.op, k, counted.first, made)
                    if unseen:
                        stmt, changed = replace(stmt, op=without(stmt.op, unseen)), True
            stmt = map_blocks(stmt, visit)
            stmts.append(stmt)
        return Block(tuple(stmts), block.results)

    body = visit(function.body)
    return replace(function, body=body) if changed else function


def unseen_clearings(loop: Loop, k: int, first: int, made: dict[Var, Stmt]) -> list[Stmt]:
    """The statements that clear parts of a loop variant for nothing, if the array is not read after the loop.

    `first`: the least value of the loop's index. A negative subscript counts from the end, so there must be none.
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
    uses = [(at, s) for at, s in uses if not (isinstance(s.op, Attr) and s.op.name in ASKED)]
    keys = [key_of(s, versions) for _, s in uses]
    if None in keys:
        return []
    axes = range(min(map(len, keys), default=0))
    found = []
    for axis in axes:
        offsets = [offset(key[axis], loop.index, made) for key in keys]
        if None in offsets or min(offsets) + first < 0:
            continue
        ahead = max if is_int(loop.domain.step, -1) else min
        for (at, stmt), own in zip(uses, offsets):
            behind = ahead(offsets) == own and not any(
                other == own and place > at for (place, _), other in zip(uses, offsets)
            )
            if is_clearing(stmt) and behind and stmt not in found:
                found.append(stmt)
        break
    return found


def key_of(stmt: Stmt, versions: set[Var]) -> tuple | None:
    """The subscript by which a statement uses an array; None if it uses it in another way."""
    match stmt.op:
        case Index(base, key):
            pass
        case Update(base, (Sub(key),), value) if value not in versions:
            pass
        case _:
            return None
    parts = key if isinstance(key, tuple) else (key,)
    plain = all(
        isinstance(p, Slice) or isinstance(atom_type(p), Scalar) and kind_of(atom_type(p)) == "int" for p in parts
    )
    return parts if base in versions and plain else None  # each takes one axis


def without(loop: Loop, gone: list[Stmt]) -> Loop:
    """The loop without updates: what they were made from stands for what they made."""
    instead: dict[Var, Atom] = {s.targets[0]: s.op.base for s in gone}

    def f(atom: Atom) -> Atom:
        while atom in instead:
            atom = instead[atom]
        return atom

    stmts = tuple(replace(s, op=map_op(s.op, f, lambda b: b)) for s in loop.body.stmts if s not in gone)
    return replace(loop, body=Block(stmts, tuple(map(f, loop.body.results))))
