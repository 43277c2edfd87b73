"""Copies a version of an array before a write if the version is read again after the write.

    a1 = a0 with [i] = v;  y = f(a0)        c = copy(a0);  a1 = c with [i] = v;  y = f(a0)

This is always legal, because values are immutable.  Lowering makes no such code, but a derivative may have it: its cotangent `d_x = x with
all += x` begins as the array `x` itself.  After this pass each version is read only until its successor is made, as the plan of residuals
requires.  The copy costs nothing, because the text would need it anyway.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.array_versions import queried
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Block, Call, Function, Loop, Op, Stmt, Update, Var, operand_atoms
from sourcead.ir.types import Array
from sourcead.ir.walk import bound_vars, map_blocks, walk
from sourcead.passes.peephole import with_body, with_stmts


def copy_live_versions(function: Function) -> Function:
    """Return the function with a copy before each update, or loop that carries it, of an array that is still read afterwards."""
    return with_body(function, _with_copies(function.body, set(function.params)))


def _with_copies(block: Block, live: set[Var]) -> Block:
    """Return the block with such copies; `live` holds the outer variables that are read after the block or in its next run."""
    live = live | {r for r in block.results if isinstance(r, Var)}
    stmts: list[Stmt] = []
    for stmt in reversed(block.stmts):
        op, copies = _separated(stmt, live)
        inner = set().union(*map(_reads, op.blocks))
        read = live | inner if isinstance(op, Loop) else live
        stmt = stmt if op is stmt.op else replace(stmt, op=op)
        stmts.append(map_blocks(stmt, lambda b, read=read: _with_copies(b, read)))
        stmts.extend(reversed(copies))
        live |= inner
        if queried(op) is None:
            live.update(op.reads)
        live -= set(stmt.targets)
        live -= set(bound_vars(op))
    return with_stmts(block, stmts[::-1])


def _separated(stmt: Stmt, live: set[Var]) -> tuple[Op, list[Stmt]]:
    """Return the op with copies of the arrays that it writes although they are read later, and the statements that make the copies."""
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
            base = own(base, live | set(operand_atoms(value)))
            return op if base is op.base else replace(op, base=base), copies
        case Loop(_, _, params, inits, body):
            written = _written(body)
            read = live | _reads(body)
            inits = tuple(own(i, read) if p in written else i for p, i in zip(params, inits))
            return replace(op, inits=inits) if copies else op, copies
    return op, copies


def _written(block: Block) -> set[Atom]:
    """Return the arrays that a block updates, itself or in a loop that carries them on."""
    found: set[Atom] = set()
    for stmt in walk(block):
        if isinstance(stmt.op, Update):
            found.add(stmt.op.base)
        elif isinstance(stmt.op, Loop):
            inside = set().union(*map(_written, stmt.op.blocks))
            found.update(i for p, i in zip(stmt.op.params, stmt.op.inits) if p in inside)
    return found


def _reads(block: Block) -> set[Var]:
    """Return the variables that a block reads for more than their shape or dtype."""
    found = {r for r in block.results if isinstance(r, Var)}
    for stmt in walk(block):
        if queried(stmt.op) is None:
            found.update(stmt.op.reads)
        found.update(r for b in stmt.op.blocks for r in b.results if isinstance(r, Var))
    return found
