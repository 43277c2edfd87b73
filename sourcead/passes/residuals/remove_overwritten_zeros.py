"""A list of cotangents that a loop fills item by item is not made of zeros first.

    d_ps = zeros_like(ps)                        d_ps = [None] * len(ps)
    for i in reversed(range(len(ps))):           for i in reversed(range(len(ps))):
        d_ps[i] = add(d_ps[i], (d_w, d_b))           d_ps[i] = (d_w, d_b)

Right where the loop's index runs over every position once, and nothing else touches the list inside it.  Where it runs over some
positions once, what is added to zeros is set: `d_hs[i] += d_h` becomes `d_hs[i] = d_h`, in lists of arrays and in arrays.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import (
    Atom, Attr, Block, Build, Call, Const, Function, Index, Loop, Op, Range, Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.types import INT, Array, ListT, Scalar, Type
from sourcead.ir.walk import map_blocks, op_blocks, op_reads
from sourcead.passes.cleanup.loop_indices import Counting
from sourcead.passes.cleanup.shapes_of_versions import ASKED
from sourcead.passes.equality import same_dim

ZEROS = (np.zeros, np.zeros_like, runtime.zeros_like)


def remove_overwritten_zeros(function: Function, lists: bool = True) -> Function:
    """The function with lists of zeros replaced by lists that are filled; without `lists`, arrays alone."""
    definitions: dict[Var, Stmt] = {}
    replaced: dict[Var, list[Stmt]] = {}
    uses: dict[Var, int] = {}
    counting = Counting(definitions)
    changed = False

    def count(block: Block) -> None:
        for stmt in block.stmts:
            for v in op_reads(stmt.op) if not asks(stmt.op) else ():
                uses[v] = uses.get(v, 0) + 1
            for inner in op_blocks(stmt.op):
                count(inner)
        for r in block.results:
            if isinstance(r, Var):
                uses[r] = uses.get(r, 0) + 1

    def visit(block: Block) -> Block:
        nonlocal changed
        stmts = []
        for stmt in block.stmts:
            definitions.update(dict.fromkeys(stmt.targets, stmt))
            stmt = map_blocks(stmt, visit)
            if isinstance(stmt.op, Loop):
                for k, init in enumerate(stmt.op.inits):
                    once = set_once(stmt.op, k, definitions.get(init), uses)
                    if once is not stmt.op:
                        stmt, changed = replace(stmt, op=once), True
                    if sets_all(stmt.op, k, definitions.get(init), uses, counting):
                        replaced[init] = [without_zeros(definitions[init])]
                    body = filled(stmt.op, k, definitions.get(init), uses, definitions) if lists else None
                    if body is not None:
                        stmt = replace(stmt, op=replace(stmt.op, body=body))
                        replaced[init] = empty_list(definitions[init])
            stmts.append(stmt)
        return Block(tuple(stmts), block.results)

    count(function.body)
    body = visit(function.body)
    return replace(function, body=with_replaced(body, replaced)) if replaced or changed else function


def asks(op: Op) -> bool:
    """Whether an op asks for no more than a shape or dtype."""
    return isinstance(op, Attr) and op.name in ASKED and isinstance(atom_type(op.base), Array)


def filled(loop: Loop, k: int, init: Stmt | None, uses: dict[Var, int], definitions: dict[Var, Stmt]) -> Block | None:
    """The body with the k-th variant set instead of added to; None if that is not known to be the same."""
    param = loop.params[k]
    match init.op if init is not None else None:
        case Call(fn, (seq,), ()) if fn is runtime.zeros_like and isinstance(param.type, ListT) and uses.get(init.targets[0]) == 1:
            pass
        case _:
            return None
    if not covers(loop, seq, definitions):
        return None
    read = added = written = None
    for stmt in loop.body.stmts:
        match stmt.op:
            case Index(base, key) if base is param and key is loop.index and read is None:
                read = stmt
            case Call(fn, (a, _), ()) if fn is runtime.add and read is not None and a is read.targets[0] and added is None:
                added = stmt
            case Update(base, (Sub(key),), value, "set") if base is param and key is loop.index and added is not None:
                if value is added.targets[0]:
                    written = stmt
    if written is None or loop.body.results[k] is not written.targets[0]:
        return None
    if uses.get(param) != 2 or uses.get(read.targets[0]) != 1 or uses.get(added.targets[0]) != 1:
        return None
    stmts = [s for s in loop.body.stmts if s is not read and s is not added]
    value = added.op.args[1]
    stmts = [replace(s, op=replace(s.op, value=value)) if s is written else s for s in stmts]
    return Block(tuple(stmts), loop.body.results)


def set_once(loop: Loop, k: int, init: Stmt | None, uses: dict[Var, int]) -> Loop:
    """The loop with `+=` replaced by `=` where each part of an array, or each array in a list, of zeros is added to at most once."""
    param, result = loop.params[k], loop.body.results[k]
    match init.op if init is not None else None:
        case Call(fn) if fn in ZEROS and uses.get(init.targets[0]) == 1 and uses.get(param) == 1 and counts(loop):
            pass
        case _:
            return loop
    for n, stmt in enumerate(loop.body.stmts):
        match stmt.op:
            case Update(base, (Sub(key),), value, "add") if base is param and stmt.targets[0] is result and uses.get(result) == 1:
                if axis_of(key, loop.index) is not None and same_arrays(atom_type(value), part_type(param.type, axis_of(key, loop.index))):
                    stmt = replace(stmt, op=replace(stmt.op, mode="set"))
                    stmts = (*loop.body.stmts[:n], stmt, *loop.body.stmts[n + 1 :])
                    return replace(loop, body=replace(loop.body, stmts=stmts))
    return loop


def sets_all(loop: Loop, k: int, init: Stmt | None, uses: dict[Var, int], counting: Counting) -> bool:
    """Whether every part of an array of zeros is set before anything is read."""
    param, counted = loop.params[k], counting.of(loop)
    match init.op if init is not None else None:
        case Call(fn) if fn in ZEROS and uses.get(init.targets[0]) == 1 and uses.get(param) == 1 and isinstance(param.type, Array):
            pass
        case _:
            return False
    dims = atom_type(init.targets[0]).dims if isinstance(atom_type(init.targets[0]), Array) else None
    if counted is None or counted.first != 0 or dims is None:
        return False
    for stmt in loop.body.stmts:
        match stmt.op:
            case Update(base, (Sub(key),), _, "set") if base is param and stmt.targets[0] is loop.body.results[k]:
                if uses.get(stmt.targets[0]) != 1:  # rows that are not set yet may be read, as zeros
                    return False
                axis = axis_of(key, loop.index)
                return axis is not None and axis < len(dims) and same_dim(dims[axis], counted.rows)
    return False


def without_zeros(zeros: Stmt) -> Stmt:
    """`np.empty_like(x)` in place of `np.zeros_like(x)`, which is filled."""
    return replace(zeros, op=replace(zeros.op, fn=np.empty if zeros.op.fn is np.zeros else np.empty_like))


def part_type(t: Type, axis: int) -> Type | None:
    """The type of one part along an axis, or of an item of a list."""
    match t:
        case ListT(item):
            return item if axis == 0 else None
        case Array(dtype, dims) if dims is not None and axis < len(dims):
            return Array(dtype, (*dims[:axis], *dims[axis + 1 :]))
    return None


def axis_of(key, index: Var | None) -> int | None:
    """The axis along which a subscript takes one part per iteration, everything along the others."""
    if key is index:
        return 0
    match key:
        case (Slice(None, None, None), at) if at is index:
            return 1
    return None


def counts(loop: Loop) -> bool:
    """Whether the index of the loop is never negative and never the same twice."""
    if not isinstance(loop.domain, Range):
        return False
    start, stop, step = loop.domain.start, loop.domain.stop, loop.domain.step
    return is_int(step, 1) and is_int(start, 0) or is_int(step, -1) and is_int(stop, -1)


def same_arrays(value: Type, item: Type | None) -> bool:
    """Whether a value is surely an array of the dtype and rank of the items, not a number or row that is broadcast."""
    if isinstance(item, Array) and item.dims == () and isinstance(value, Scalar):
        return value.dtype in (None, item.dtype)
    if not isinstance(value, Array) or not isinstance(item, Array) or not value.dims or not item.dims or value.dtype is None:
        return False
    return value.dtype == item.dtype and len(value.dims) == len(item.dims) and all(n == m or n != 1 for n, m in zip(value.dims, item.dims))


def covers(loop: Loop, seq: Atom, definitions: dict[Var, Stmt]) -> bool:
    """Whether the loop visits each position of the sequence exactly once."""
    if not isinstance(loop.domain, Range):
        return False
    start, stop, step = loop.domain.start, loop.domain.stop, loop.domain.step
    if is_int(step, 1) and is_int(start, 0):
        return is_length(stop, seq, definitions)
    if is_int(step, -1) and is_int(stop, -1) and isinstance(start, Var):
        match getattr(definitions.get(start), "op", None):
            case Call(operator.sub, (n, one), ()) if is_int(one, 1):
                return is_length(n, seq, definitions)
    return False


def is_int(atom: Atom, value: int) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int and atom.value == value and not atom.live


def is_length(atom: Atom, seq: Atom, definitions: dict[Var, Stmt]) -> bool:
    match getattr(definitions.get(atom), "op", None) if isinstance(atom, Var) else None:
        case Call(fn, (x,), ()) if fn is len:
            return x is seq
    return False


def empty_list(zeros: Stmt) -> list[Stmt]:
    """`[None] * len(seq)` in place of `zeros_like(seq)`."""
    (seq,) = zeros.op.args
    length, one = Var("n", INT, True), Var("nothing", zeros.targets[0].type, True)
    return [
        replace(zeros, targets=(length,), op=Call(len, (seq,))),
        replace(zeros, targets=(one,), op=Build("list", (Const(None),))),
        replace(zeros, op=Call(operator.mul, (one, length))),
    ]


def with_replaced(block: Block, replaced: dict[Var, list[Stmt]]) -> Block:
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        if len(stmt.targets) == 1 and stmt.targets[0] in replaced:
            stmts += replaced[stmt.targets[0]]
            continue
        stmt = map_blocks(stmt, lambda b: with_replaced(b, replaced))
        stmts.append(stmt)
    return Block(tuple(stmts), block.results)
