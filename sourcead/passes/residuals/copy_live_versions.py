"""Copies a version of an array before a write if the version is read again after the write.

    a1 = a0 with [i] = v;  y = f(a0)        c = copy(a0);  a1 = c with [i] = v;  y = f(a0)

This is always legal, because values are immutable.  Lowering makes no such code, but a derivative may have it: its cotangent `d_x = x with
all += x` begins as the array `x` itself.  After this pass each version is read only until its successor is made, as the plan of residuals
requires.  The copy costs nothing, because the text would need it anyway.
"""

from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.analysis.liveness import Live, Reads
from sourcead.ir.nodes import Atom, Block, Call, Function, Loop, Op, Stmt, Update, Var, operand_atoms
from sourcead.ir.types import Array
from sourcead.ir.walk import map_blocks, with_body, with_stmts


def copy_live_versions(function: Function) -> Function:
    """Return the function with a copy before each update, or loop that carries it, of an array that is still read afterwards."""
    params = set(function.params)
    return with_body(function, _with_copies(function.body, Reads(), lambda v: v in params))


def _with_copies(block: Block, reads: Reads, live_out: Live) -> Block:
    """Return the block with such copies; `live_out` says which variables are read after the block or in its next run."""
    last = reads.last(block)
    stmts: list[Stmt] = []
    for k, stmt in enumerate(block.stmts):
        again = reads.of(stmt) if isinstance(stmt.op, Loop) else ()

        def live(v: Var, k: int = k) -> bool:
            return last.get(v, -1) > k or live_out(v)

        def live_inside(v: Var, live: Live = live, again=again) -> bool:
            return v in again or live(v)

        op = _separated(stmt, live, reads, stmts)
        stmt = stmt if op is stmt.op else replace(stmt, op=op)
        stmts.append(map_blocks(stmt, lambda b, live=live_inside: _with_copies(b, reads, live)))
    return with_stmts(block, stmts)


def _separated(stmt: Stmt, live: Live, reads: Reads, out: list[Stmt]) -> Op:
    """Return the op with copies of the arrays that it writes although they are read later, after appending the copies to `out`."""

    def own(atom: Atom, read) -> Atom:
        if not isinstance(atom, Var) or atom not in read and not live(atom):
            return atom
        t = atom_type(atom)
        made = Var(atom.name, t, True)
        fn = np.ndarray.copy if isinstance(t, Array) and t.dims else runtime.copy
        out.append(replace(stmt, targets=(made,), op=Call(fn, (atom,))))
        return made

    op = stmt.op
    match op:
        case Update(base, _, value):
            new = own(base, set(operand_atoms(value)))
            return op if new is base else replace(op, base=new)
        case Loop(_, _, params, inits, body):
            written, read = reads.written(body), reads.free(body)
            new = tuple(own(i, read) if p in written else i for p, i in zip(params, inits))
            return op if new == inits else replace(op, inits=new)
    return op
