"""Elements that a loop adds to while it reads others of the same array, in variables, before differentiation.

    for k in range(i + 1, m):                       b_item = b[i, j]
        b[i, j] += a[k, i] * b[k, j]                for k in range(i + 1, m):
                                                        b_item += a[k, i] * b[k, j]
                                                    b[i, j] = b_item

The reverse sweep needs `b[k, j]` as it was, which later statements overwrite.  Now the array is written once, not in each iteration, so
that what is overwritten is saved once.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead.analysis.element_loops import body_of
from sourcead.analysis.references import Subscripts
from sourcead.ir.nodes import Block, Function, Loop, Stmt
from sourcead.ir.walk import map_blocks
from sourcead.passes.loops.scalar_replacement import accumulating


def accumulate_in_variables(function: Function) -> Function:
    """The function with such elements in variables."""
    subscripts = None
    changed = False

    def block(b: Block) -> Block:
        nonlocal subscripts, changed
        stmts: list[Stmt] = []
        for stmt in b.stmts:
            stmt = map_blocks(stmt, block)
            body = body_of(stmt.op) if isinstance(stmt.op, Loop) else None
            if body is None:
                stmts.append(stmt)
                continue
            subscripts = subscripts or Subscripts(function.body)
            found = accumulating(stmt, body, subscripts, b.stmts)
            changed |= len(found) > 1
            stmts += found
        return Block(tuple(stmts), b.results)

    body = block(function.body)
    return replace(function, body=body) if changed else function
