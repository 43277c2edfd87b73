"""Delays the clearing of a part of an array until the cleared array is next needed.

    v = d0[i]                                    v = d0[i]
    d1 = d0 with [i] = 0.0                       z = mul(v, 0.25)
    z = mul(v, 0.25)                             d1 = d0 with [i] = 0.0
    d2 = d1 with [j] += z                        d2 = d1 with [j] += z

    d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           d2 = d0 with [i] = v
    v = d0[i];  d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           v = d0[i], and d0 for d2

The adjoint of a write reads a cotangent and clears it; once the clear has moved down, the read can be nested.  The move is legal because
values are immutable; it goes down to the first statement that reads the result, and not across a statement with blocks.  What is added
to a part that was just set to zero is set if the subscript names no element twice and nothing else reads the cleared array.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Block, Const, Function, Index, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import count_reads, definitions, map_blocks, op_blocks, reads_inside, substitute
from sourcead.passes.equality import operand_key
from sourcead.passes.peephole import with_body, with_stmts


def sink_clears(function: Function) -> Function:
    """Return the function with writes of constants moved down to where the array is next read."""
    uses, made = count_reads(function.body), definitions(function.body)
    unchanged: dict[Var, Atom] = {}  # version -> the one that it is equal to

    def visit(block: Block) -> Block:
        waiting: list[Stmt] = []
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, visit)
            reads = set(reads_inside(stmt.op))
            for earlier in [w for w in waiting if w.targets[0] in reads]:
                waiting.remove(earlier)
                if sets_what_was_cleared(stmt, earlier, uses):
                    stmt = replace(stmt, op=replace(stmt.op, base=earlier.op.base, mode="set"))
                    if is_part(made.get(stmt.op.value), stmt.op):
                        unchanged[stmt.targets[0]] = stmt.op.base
                else:
                    stmts.append(earlier)
            if is_clearing(stmt):
                waiting.append(stmt)
                continue
            if op_blocks(stmt.op):
                stmts += waiting
                waiting.clear()
            if unchanged.keys().isdisjoint(stmt.targets):
                stmts.append(stmt)
        return with_stmts(block, stmts + waiting)

    return with_body(function, substitute(visit(function.body), unchanged))


def is_part(read: Stmt | None, update: Update) -> bool:
    """Return whether a statement reads the part of the array that an update writes."""
    op = None if read is None else read.op
    return isinstance(op, Index) and op.base is update.base and operand_key(op.key) == operand_key(update.path[0].key)


def sets_what_was_cleared(stmt: Stmt, earlier: Stmt, uses: dict[Var, int]) -> bool:
    """Return whether a statement adds to exactly the part that an earlier one set to zero, and nothing else reads the cleared array."""
    op, cleared = stmt.op, earlier.op
    if not (isinstance(op, Update) and op.mode == "add" and op.base is earlier.targets[0] and uses[op.base] == 1):
        return False
    if len(op.path) != 1 or len(cleared.path) != 1 or type(cleared.value.value) is not float or cleared.value.value != 0:
        return False
    a, b = op.path[0], cleared.path[0]
    is_array = isinstance(op.base.type, Array) and op.base.type.dtype is not None
    return is_array and isinstance(a, Sub) and isinstance(b, Sub) and is_plain(a.key) and operand_key(a.key) == operand_key(b.key)


def is_plain(key) -> bool:
    """Return whether a subscript has no integer arrays, which may name an element twice."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(p, Slice) or isinstance(atom_type(p), Scalar) for p in parts)


def is_clearing(stmt: Stmt) -> bool:
    """Return whether a statement of the reverse sweep sets a part of an array to a constant."""
    return stmt.adjoint_of is not None and isinstance(stmt.op, Update) and stmt.op.mode == "set" and isinstance(stmt.op.value, Const)
