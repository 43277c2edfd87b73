"""Clearing a part of an array only when that is next used.

    d_v = d_a[i]                     d_z = d_a[i] * 0.25
    d_a[i] = 0                       d_a[i] = 0
    d_z = d_v * 0.25                 d_a[j] += d_z
    d_a[j] += d_z

The adjoint of a write reads a cotangent and clears it.  Moved down to the first statement that needs the cleared array,
the write is out of the way of what only wants to read, which can then be nested.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead.ir.nodes import Block, Const, Function, Stmt, Update, free_vars, map_op, op_blocks


def clear_late(function: Function) -> Function:
    """The function with writes of constants moved down to where the array is next read."""
    changed = False

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
                stmts.append(earlier)
            if is_clearing(stmt):
                waiting.append(stmt)
                continue
            if waiting and op_blocks(stmt.op):  # not across a block
                stmts += waiting
                waiting.clear()
            stmts.append(stmt)
        stmts += waiting
        if any(a is not b for a, b in zip(stmts, block.stmts)):
            changed = True
        return Block(tuple(stmts), block.results)

    body = visit(function.body)
    return replace(function, body=body) if changed else function


def is_clearing(stmt: Stmt) -> bool:
    """Whether a statement of the reverse sweep sets a part of an array to a constant."""
    return stmt.adjoint_of is not None and isinstance(stmt.op, Update) and stmt.op.mode == "set" and isinstance(stmt.op.value, Const)
