"""Keeps an element of an array in a variable while a loop adds to it and reads other elements of the array.

    b1 = loop (b = b0) for k in range(p, m, 1):      e0 = b0[i, j]
        c = b[k, j]                                  e1 = loop (e = e0) for k in range(p, m, 1):
        b2 = b with [i, j] += mul(a, c)                  c = b0[k, j]
        yield b2                                         e2 = add(e, mul(a, c));  yield e2
                                                     b1 = b0 with [i, j] = e1

The reverse sweep needs `b[k, j]` as it was, which later statements overwrite.  Now the array is written once, so that what is overwritten
is saved once.  This is legal if the other elements are known to be other ones (`analysis/same_element.py`); where the loop may have no
iterations, and nothing beside it uses the element anyway, a branch makes sure that it is not read in vain.
"""

from __future__ import annotations

from functools import cache

from sourcead.analysis.element_loops import body_of
from sourcead.analysis.same_element import Subscripts
from sourcead.ir.nodes import Block, Function, Loop, Stmt
from sourcead.ir.walk import map_blocks
from sourcead.passes.loops.scalar_replacement import accumulating
from sourcead.passes.peephole import with_body, with_stmts


def accumulate_in_variables(function: Function) -> Function:
    """Return the function with variables for the elements that innermost loops add to while they read other elements."""
    subscripts = cache(lambda: Subscripts(function.body))  # computed only when needed: it takes time, and most functions have no such loop

    def visit(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, visit)
            body = body_of(stmt.op) if isinstance(stmt.op, Loop) else None
            stmts += [stmt] if body is None else accumulating(stmt, body, subscripts(), block.stmts)
        return with_stmts(block, stmts)

    return with_body(function, visit(function.body))
