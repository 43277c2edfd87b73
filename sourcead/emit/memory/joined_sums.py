"""Adds the contributions to a cotangent in one statement where they fit into a line.

    d_w = d_y.T @ h                                 d_w = d_y.T @ h + x.T @ d_z
    d_w += x.T @ d_z                    ->
    d_h -= d_y * r                                  d_h += d_z @ u.T - d_y * r
    d_h += d_z @ u.T

This is legal because values are immutable here: nothing but the second statement reads what the first one makes.  Contributions are added
to each other only if they have one shape, and the dtype of the cotangent, so that the results differ by rounding alone.  Those that have
names, or get them because the line would become too long, are added where they are.
"""

import operator
from dataclasses import replace

from sourcead.analysis.builder import operand_type
from sourcead.emit.memory.sharing import call_sharing
from sourcead.emit.text.nesting import MAX_LENGTH, Nesting
from sourcead.ir.nodes import Block, Call, Const, Function, Stmt, Update, Var, fresh
from sourcead.ir.types import Array, same_dtype
from sourcead.ir.walk import has_effect, map_blocks, with_body

SIGNS = {"add": operator.add, "sub": operator.sub}


def join_sums(function: Function) -> Function:
    """Return the function with fewer statements that add to cotangents; its updates are not in place yet."""
    nesting = Nesting(function)
    body = _joined(function.body, nesting)
    return function if body is function.body else with_body(function, body)


def _joined(block: Block, nesting: Nesting) -> Block:
    stmts: list[Stmt] = []
    first: dict[Var, Stmt] = {}  # the statements whose results a later one may add to
    lengths = nesting.lengths
    for stmt in (map_blocks(s, lambda b: _joined(b, nesting)) for s in block.stmts):
        before = first.get(stmt.op.base) if isinstance(stmt.op, Update) and isinstance(stmt.op.base, Var) else None
        length = sum(lengths.get(s.targets[0], MAX_LENGTH) for s in (before, stmt)) if before is not None else 0
        fits = before is not None and before.within == stmt.within and length <= MAX_LENGTH
        if fits and (joined := _sum(before, stmt, nesting)):
            at = stmts.index(before)
            stmts[at : at + 1], (*more, stmt) = joined
            stmts += more
            lengths[stmt.targets[0]] = length
        stmts.append(stmt)
        if _may_be_first(stmt) and nesting.counts.get(stmt.targets[0]) == 1:
            first[stmt.targets[0]] = stmt
    changed = len(stmts) != len(block.stmts) or any(a is not b for a, b in zip(stmts, block.stmts))
    return Block(tuple(stmts), block.results) if changed else block


def _may_be_first(stmt: Stmt) -> bool:
    """Return whether a statement of the reverse sweep makes an array, or adds to one."""
    if stmt.adjoint_of is None or len(stmt.targets) != 1 or not isinstance(stmt.targets[0].type, Array):
        return False
    match stmt.op:
        case Call() as op:
            return not has_effect(op) and call_sharing(op) == "fresh"
        case Update(Var(), (), _, "add" | "sub"):
            return True
    return False


def _sum(before: Stmt, stmt: Stmt, nesting: Nesting) -> tuple[list[Stmt], list[Stmt]] | None:
    """Return what stands in the places of two statements of which the second adds to the result of the first, or None if they stay."""
    op = stmt.op
    if op.path or op.mode not in SIGNS or not (_has_dtype_of(op.value, op.base) or _is_weak(op.value) and _has_dtype_of(op.base, op.base)):
        return None
    if isinstance(before.op, Call):
        first = fresh(op.base, temp=True)
        return [replace(before, targets=(first,))], [replace(stmt, op=Call(SIGNS[op.mode], (first, op.value)))]
    value, other = before.op.value, op.value
    alike = _has_dtype_of(value, op.base) and _has_dtype_of(other, op.base) and value.type.dims == other.type.dims
    if not alike or not {value, other} & nesting.result.keys():
        return None
    if op.mode == before.op.mode:  # d -= x;  d -= y
        mode, combined = op.mode, Call(operator.add, (value, other))
    else:
        mode, combined = "add", Call(operator.sub, (value, other) if op.mode == "sub" else (other, value))
    total = fresh(value, name="total", temp=True)
    nesting.result[total] = combined
    return [], [replace(stmt, targets=(total,), op=combined), replace(stmt, op=Update(before.op.base, (), total, mode))]


def _is_weak(value) -> bool:
    """Return whether a value is a literal, whose sum with an array of floating point numbers has the dtype of the array."""
    return isinstance(value, Const) and type(value.value) in (int, float) and not value.live


def _has_dtype_of(value, base: Var) -> bool:
    """Return whether a value is an array of the dtype of another, in which NumPy gives the sum of two such arrays, of known dims."""
    t = operand_type(value)
    known = isinstance(value, Var) and isinstance(t, Array) and t.dims is not None and base.type.dims is not None
    return known and t.dtype is not None and t.dtype.isnative and same_dtype(t.dtype, base.type.dtype)
