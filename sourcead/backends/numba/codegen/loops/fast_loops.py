"""Loops over elements in a form that runs fast as machine code; the text for NumPy keeps the user's order."""

from __future__ import annotations

from dataclasses import replace

from sourcead.analysis.element_loops import body_of
from sourcead.analysis.same_element import Subscripts
from sourcead.backends.numba.codegen.loops.reordering import reordered
from sourcead.backends.numba.codegen.loops.slice_loops import slices_as_loops
from sourcead.ir.nodes import Block, Function, Loop, Stmt
from sourcead.ir.walk import map_blocks
from sourcead.passes.loops.scalar_replacement import in_registers, where_not_empty


def with_fast_loops(function: Function) -> Function:
    """Return the function with array elements in variables and with loops split and reversed; must run before `assign_memory`."""
    function = slices_as_loops(function)
    subscripts = Subscripts(function.body)

    def block(b: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in b.stmts:
            stmt = map_blocks(stmt, block)
            stmts += fast(stmt, subscripts, b.stmts) if isinstance(stmt.op, Loop) else [stmt]
        return Block(tuple(stmts), b.results)

    return replace(function, body=block(function.body))


def fast(stmt: Stmt, subscripts: Subscripts, beside: tuple[Stmt, ...]) -> list[Stmt]:
    """Return the statements that replace a loop, or the loop itself."""
    body = body_of(stmt.op)
    if body is None:
        return [stmt]
    before, loop, after, certain = in_registers(stmt, body, subscripts, beside)
    body = body_of(loop.op)
    stmts = [*before, *(reordered(loop, body, subscripts) if body is not None else [loop]), *after]
    return stmts if certain else where_not_empty(stmts, stmt, subscripts)
