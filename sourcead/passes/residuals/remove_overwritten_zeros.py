"""Removes the writing of zeros that a loop overwrites.

    d0 = zeros_like(x)                                d0 = empty_like(x)
    loop (d = d0) for i in range(0, n, 1):            loop (d = d0) for i in range(0, n, 1):
        d1 = d with [i] = v;  yield d1                    d1 = d with [i] = v;  yield d1

    l0 = zeros_like(xs)                               l0 = [None] * len(xs)
    loop (l = l0) for i in range(0, len(xs), 1):      loop (l = l0) for i in range(0, len(xs), 1):
        p = l[i];  q = add(p, v)
        l1 = l with [i] = q;  yield l1                    l1 = l with [i] = v;  yield l1

Zeros become `empty`, or None in a list, if the index takes every position, and nothing else reads the array inside the loop.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.array_versions import queried
from sourcead.analysis.loop_indices import Counting, axis_of
from sourcead.analysis.sizes import dims_in
from sourcead.ir.nodes import Atom, Block, Build, Call, Const, Function, Index, Loop, Stmt, Sub, Update, Var
from sourcead.ir.types import INT, Array, ListT
from sourcead.ir.walk import count_reads, definitions, has, rewrite, walk, with_body

ZEROS = (np.zeros, np.zeros_like, runtime.zeros_like)


def remove_overwritten_zeros(function: Function, lists: bool = True) -> Function:
    """Return the function without zeros that loops overwrite, in arrays and, with `lists`, also in lists."""
    if not has(function.body, Loop):
        return function
    made = definitions(function.body)
    counting = Counting(made)
    uses = count_reads(function.body)
    for array in (queried(s.op) for s in walk(function.body)):
        if array is not None:
            uses[array] -= 1
    replaced: dict[Var, list[Stmt]] = {}

    def change(stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        for k, init in enumerate(op.inits if isinstance(op, Loop) else ()):
            zeros = made.get(init)
            if zeros is None or not isinstance(zeros.op, Call) or zeros.op.fn not in ZEROS or uses.get(init) != 1:
                continue
            if sets_all(op, k, init, uses, counting):
                empty = np.empty if zeros.op.fn is np.zeros else np.empty_like
                replaced[init] = [replace(zeros, op=replace(zeros.op, fn=empty))]
            body = filled(op, k, zeros.op, uses, counting) if lists else None
            if body is not None:
                op, replaced[init] = replace(op, body=body), empty_list(zeros)
        return [stmt if op is stmt.op else replace(stmt, op=op)]

    body = rewrite(function.body, change)
    if replaced:
        body = rewrite(body, lambda s: replaced.get(s.targets[0], (s,)) if len(s.targets) == 1 else (s,))
    return with_body(function, body)


def filled(loop: Loop, k: int, zeros: Call, uses: dict[Var, int], counting: Counting) -> Block | None:
    """Return the body of a loop with its k-th variant, a list of zeros, set in place of added to, or None if that is illegal."""
    param = loop.params[k]
    if zeros.fn is not runtime.zeros_like or not isinstance(param.type, ListT) or not covers(loop, zeros.args[0], counting):
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


def update_of(loop: Loop, k: int, mode: str, uses: dict[Var, int]) -> tuple[Stmt, int] | None:
    """Return the update that makes the next value of the k-th variant, if it is all that reads it, and the axis of the index."""
    param, result = loop.params[k], loop.body.results[k]
    for stmt in loop.body.stmts if uses.get(param) == 1 == uses.get(result) else ():
        match stmt.op:
            case Update(base, (Sub(key),), _, found) if base is param and stmt.targets[0] is result and found == mode:
                axis = axis_of(key, loop.index)
                return None if axis is None else (stmt, axis)
    return None


def sets_all(loop: Loop, k: int, init: Var, uses: dict[Var, int], counting: Counting) -> bool:
    """Return whether a loop sets every part of its k-th variant, an array of zeros, before anything reads it."""
    found, counted, dims = update_of(loop, k, "set", uses), counting.of(loop), dims_in(init)
    if found is None or counted is None or counted.first != 0 or dims is None or not isinstance(loop.params[k].type, Array):
        return False
    axis = found[1]
    return axis < len(dims) and dims[axis] == counted.rows


def covers(loop: Loop, seq: Atom, counting: Counting) -> bool:
    """Return whether the loop visits each position of the sequence exactly once."""
    counted = counting.of(loop)
    match counting.op(counted.count) if counted is not None and counted.first == 0 else None:
        case Call(fn, (x,), ()) if fn is len:
            return x is seq
    return False


def empty_list(zeros: Stmt) -> list[Stmt]:
    """Return the statements that compute `[None] * len(seq)` in place of `zeros_like(seq)`."""
    (seq,) = zeros.op.args
    length, one = Var("n", INT, True), Var("nothing", zeros.targets[0].type, True)
    return [
        replace(zeros, targets=(length,), op=Call(len, (seq,))),
        replace(zeros, targets=(one,), op=Build("list", (Const(None),))),
        replace(zeros, op=Call(operator.mul, (one, length))),
    ]
