"""Clearing a part of an array only when that is next used.

    d_v = d_a[i]                     d_z = d_a[i] * 0.25
    d_a[i] = 0                       d_a[i] = 0
    d_z = d_v * 0.25                 d_a[j] += d_z
    d_a[j] += d_z

    d_v = d_a[i]                     (nothing)
    d_a[i] = 0
    d_a[i] += d_v

The adjoint of a write reads a cotangent and clears it.  Moved down to the first statement that needs the cleared array,
the write is out of the way of what only wants to read, which can then be nested.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Block, Const, Function, Index, Op, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import all_reads, free_vars, map_op, op_blocks, substitute, walk
from sourcead.passes.equality import operand_key


def sink_clears(function: Function) -> Function:
    """The function with writes of constants moved down to where the array is next read."""
    changed = False
    uses = Counter(v for b in [function.body] for v in all_reads(b))
    made = {t: s.op for s in walk(function.body) for t in s.targets}
    unchanged: dict[Var, Atom] = {}  # version -> the one that it is equal to

    def visit(block: Block) -> Block:
        nonlocal changed
        waiting: list[Stmt] = []
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if op_blocks(stmt.op):
                op = map_op(stmt.op, lambda a: a, visit)
                stmt = replace(stmt, op=op)
            reads = set(free_vars(Block((stmt,))))
            for earlier in [w for w in waiting if w.targets[0] in reads]:
                waiting.remove(earlier)
                if sets_what_was_cleared(stmt, earlier, uses):
                    stmt = replace(stmt, op=replace(stmt.op, base=earlier.op.base, mode="set"))
                    if is_part(made.get(stmt.op.value) if isinstance(stmt.op.value, Var) else None, stmt.op):
                        unchanged[stmt.targets[0]] = stmt.op.base
                else:
                    stmts.append(earlier)
            if is_clearing(stmt):
                waiting.append(stmt)
                continue
            if waiting and op_blocks(stmt.op):  # not across a block
                stmts += waiting
                waiting.clear()
            if unchanged.keys().isdisjoint(stmt.targets):
                stmts.append(stmt)
        stmts += waiting
        if len(stmts) != len(block.stmts) or any(a is not b for a, b in zip(stmts, block.stmts)):
            changed = True
        return Block(tuple(stmts), block.results)

    body = substitute(visit(function.body), unchanged)
    return replace(function, body=body) if changed else function


def is_part(op: Op | None, update: Update) -> bool:
    """Whether an op reads the very part of the array that is written."""
    return isinstance(op, Index) and op.base is update.base and operand_key(op.key) == operand_key(update.path[0].key)


def sets_what_was_cleared(stmt: Stmt, earlier: Stmt, uses: Counter) -> bool:
    """Whether a statement adds to nothing else than the part that was just set to zero: then it sets it."""
    op, cleared = stmt.op, earlier.op
    if not (isinstance(op, Update) and op.mode == "add" and op.base is earlier.targets[0] and uses[op.base] == 1):
        return False
    if len(op.path) != 1 or len(cleared.path) != 1 or not isinstance(cleared.value.value, float):
        return False
    a, b = op.path[0], cleared.path[0]
    whole = isinstance(op.base.type, Array) and op.base.type.dtype is not None
    return whole and isinstance(a, Sub) and isinstance(b, Sub) and plain(a.key) and operand_key(a.key) == operand_key(b.key)


def plain(key) -> bool:
    """Whether a subscript has no integer arrays, which may name an element twice."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(p, Slice) or isinstance(atom_type(p), Scalar) for p in parts)


def is_clearing(stmt: Stmt) -> bool:
    """Whether a statement of the reverse sweep sets a part of an array to a constant."""
    return stmt.adjoint_of is not None and isinstance(stmt.op, Update) and stmt.op.mode == "set" and isinstance(stmt.op.value, Const)
