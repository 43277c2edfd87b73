"""Values that live on for nothing but their shape: another value is asked that has the same.

    prod = x * y;  prod.shape        x.shape
    np.zeros_like(prod)              np.zeros_like(x)

Asked instead is a parameter or a value that the user named, if its memory is not written to and handed on nowhere: else
the question would keep an old version of it alive, and a copy would have to be made.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import Attr, Block, Branch, Call, Const, Function, Loop, Op, Operand, Stmt, Update, Var
from sourcead.ir.types import Array, Scalar, same_dtype
from sourcead.ir.walk import op_blocks
from sourcead.passes.cleanup.equal_dims import KnownDims
from sourcead.passes.elementwise import is_elementwise
from sourcead.passes.rewriting import Facts, rewrite

ATTRIBUTES = ("shape", "size", "ndim")
QUESTIONS = (np.shape, np.size, np.ndim)
LIKE = (np.zeros_like, np.ones_like, np.empty_like)


def share_shapes(function: Function) -> Function:
    """The function without values that are computed only to be asked for their shape."""
    if not any(_asks(s.op) for s in _statements(function.body)):
        return function
    dims, moving = KnownDims(), _moving(function)
    params = [p for p in function.params if p not in moving]
    known: dict[Hashable, tuple[Var, int]] = {}

    def offer(var: Var, scope: int, facts: Facts) -> None:
        shape = dims.shape(var.type, facts)
        if shape is None or var in moving or var.temp:
            return
        other, where = known.get(shape, (None, None))
        if other is None or where not in facts.open:
            known[shape] = var, scope

    def rule(stmt: Stmt, facts: Facts):
        dims.learn(stmt, facts)
        asked = _asks(stmt.op)
        answer = None
        only_asked = asked is not None and all(_asks(op) is not None for op in facts.readers.get(asked, ()))
        if only_asked or asked is not None and asked.temp:  # a temporary that is not asked can be nested
            same = _combined_with_itself(facts.op(asked)) if only_asked else None
            if isinstance(stmt.op, Attr) and same is not None and same not in moving:
                return replace(stmt.op, base=same)
            named, scope = known.get(dims.shape(asked.type, facts), (None, None))
            answer = _answer(stmt.op, asked, [*params, named] if scope in facts.open else params, dims, facts)
        if isinstance(stmt.op, Call) and is_elementwise(stmt.op.fn) and len(stmt.targets) == 1:
            offer(stmt.targets[0], facts.scope, facts)
        return answer

    return rewrite(function, rule)


def _combined_with_itself(op: Op | None) -> Var | None:
    """x, if the op is elementwise and reads x and numbers alone: `x * x`, `x ** 2`."""
    if not (isinstance(op, Call) and is_elementwise(op.fn) and not op.kwargs):
        return None
    variables = {a for a in op.args if isinstance(a, Var) and not isinstance(a.type, Scalar)}
    numbers = all(isinstance(a, Var) or isinstance(a, Const) and np.ndim(a.value) == 0 for a in op.args)
    if len(variables) != 1 or not numbers:
        return None
    (x,) = variables
    return x if isinstance(x.type, Array) else None


def _asks(op: Op | None) -> Var | None:
    """The array that an op reads for its shape alone."""
    match op:
        case Attr(Var() as base, name) if name in ATTRIBUTES:
            return base
        case Call(fn, (Var() as base,), ()) if fn in QUESTIONS or fn in LIKE:
            return base
    return None


def _answer(op: Op, asked: Var, candidates: list[Var], dims: KnownDims, facts: Facts) -> Op | None:
    """The same question, put to another array."""
    shape = dims.shape(asked.type, facts)
    if shape is None or asked in candidates:
        return None
    like = isinstance(op, Call) and op.fn in LIKE
    for var in candidates:
        if dims.shape(var.type, facts) == shape and (not like or _same_dtype(var, asked)):
            return replace(op, base=var) if isinstance(op, Attr) else replace(op, args=(var,))
    return None


def _same_dtype(a: Var, b: Var) -> bool:
    return isinstance(a.type, Array) and isinstance(b.type, Array) and a.type.dtype is not None and same_dtype(a.type.dtype, b.type.dtype)


def _moving(function: Function) -> set[Operand]:
    """Values whose memory may be written or handed on: bases of updates, and what goes into and out of blocks."""
    moving: set[Operand] = set()
    for stmt in _statements(function.body):
        match stmt.op:
            case Update(base):
                moving.add(base)
            case Loop(_, _, _, inits, body):
                moving.update((*inits, *body.results))
            case Branch(_, then, orelse):
                moving.update((*then.results, *orelse.results))
    return moving


def _statements(block: Block):
    for stmt in block.stmts:
        yield stmt
        for inner in op_blocks(stmt.op):
            yield from _statements(inner)
