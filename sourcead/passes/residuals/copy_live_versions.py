"""Versions of an array kept apart: an old version that is read again after the write is another array.

    a1 = a0 with [i] = v; f(a0)        c = copy a0; a1 = c with [i] = v; f(a0)

Lowering writes only what nobody reads any more.  A derivative may not: its cotangent `d_x = x with all += x` begins as the
array `x` itself.  After this pass each version is read only until its successor is made, which is what the planning of
residuals relies on.  The copy costs nothing: the text would need it anyway.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Attr, Block, Call, Function, Loop, Op, Stmt, Update, Var, operand_atoms
from sourcead.ir.types import Array
from sourcead.ir.walk import bound_vars, map_op, op_blocks, op_reads

ASKED = (len, np.zeros_like, np.shape, np.ndim, np.size, np.ones_like, np.empty_like)


def copy_live_versions(function: Function) -> Function:
    """The function with a copy before each update, or loop that carries it, of an array that is still read afterwards."""
    body = _apart(function.body, set(function.params))
    return function if body is function.body else replace(function, body=body)


def _apart(block: Block, live: set[Var]) -> Block:
    """`live`: the variables from outside that are read after the block, or in it again."""
    live = live | {r for r in block.results if isinstance(r, Var)}
    stmts: list[Stmt] = []
    for stmt in reversed(block.stmts):
        op, copies = _separate(stmt, live)
        inner = set().union(*(_reads(b) for b in op_blocks(op))) if op_blocks(op) else set()
        again = inner if isinstance(op, Loop) else set()
        if op_blocks(op):
            op = map_op(op, lambda a: a, lambda b, read=live | again: _apart(b, read))
        stmts.append(stmt if op is stmt.op else replace(stmt, op=op))
        stmts.extend(reversed(copies))
        live |= inner
        if not _only_asks(op):
            live.update(op_reads(op))
        live -= set(stmt.targets)
        live -= set(bound_vars(op))
    return Block(tuple(reversed(stmts)), block.results)


def _separate(stmt: Stmt, live: set[Var]) -> tuple[Op, list[Stmt]]:
    """The op with copies in place of what it replaces although it is read later, and the statements that make them."""
    copies: list[Stmt] = []

    def own(atom: Atom, read: set[Var]) -> Atom:
        if atom not in read:
            return atom
        t = atom_type(atom)
        made = Var(atom.name, t, True)
        fn = np.ndarray.copy if isinstance(t, Array) and t.dims else runtime.copy
        copies.append(replace(stmt, targets=(made,), op=Call(fn, (atom,))))
        return made

    op = stmt.op
    match op:
        case Update(base, _, value):
            return replace(op, base=own(base, live | set(operand_atoms(value)))), copies
        case Loop(_, _, params, inits, body):
            written = {u.op.base for u in _updates(body)}
            read = live | _reads(body)
            return replace(op, inits=tuple(own(i, read) if p in written else i for p, i in zip(params, inits))), copies
    return op, copies


def _updates(block: Block):
    for stmt in block.stmts:
        if isinstance(stmt.op, Update):
            yield stmt
        if isinstance(stmt.op, Loop):  # what it carries on is written where it is
            inside = {u.op.base for b in op_blocks(stmt.op) for u in _updates(b)}
            yield from (replace(stmt, op=Update(i, (), i)) for p, i in zip(stmt.op.params, stmt.op.inits) if p in inside)
        for inner in op_blocks(stmt.op):
            yield from _updates(inner)


def _reads(block: Block) -> set[Var]:
    """The variables that a block reads, other than for their shapes."""
    found = {r for r in block.results if isinstance(r, Var)}
    for stmt in block.stmts:
        if not _only_asks(stmt.op):
            found.update(op_reads(stmt.op))
        for inner in op_blocks(stmt.op):
            found |= _reads(inner)
    return found


def _only_asks(op: Op) -> bool:
    return isinstance(op, Attr) or isinstance(op, Call) and op.fn in ASKED
