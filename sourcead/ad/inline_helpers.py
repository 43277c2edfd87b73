"""Helpers of generated text that have no derivative rule: their bodies stand in their place before they are differentiated.

    d_a = eigh_cotangent(d_w, d_v, w, v)        d_a = v @ (...) @ v.T       what the helper is in NumPy

Only calls that a derivative passes through are opened, and those that the bodies make in turn.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import replace

from sourcead.ad.rules import as_value
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder
from sourcead.errors import SourceADError
from sourcead.frontend.lower import Lowered, Lowering, NotStatic, Scope, call_source
from sourcead.frontend.source import find_source
from sourcead.ir.nodes import Atom, Block, Call, Function, Let, Stmt, Var, operand_atoms
from sourcead.ir.walk import map_op, op_blocks, walk
from sourcead.passes.plan import simplify
from sourcead.primitives.table import has_rule, no_derivative
from sourcead.runtime import is_helper


def simplified(lowered: Lowered, wrt: Iterable[str]) -> Function:
    """A lowered function, simplified, its helpers opened where it is differentiated by the parameters `wrt`."""
    function = simplify(lowered.function)
    if not any(can_open(stmt) for stmt in walk(function.body)):
        return function
    build = Builder.knowing(lowered.build)
    inputs = [lowered.params[name] for name in wrt if name in lowered.params]
    body = opened(function.body, inputs, build)
    return function if body is function.body else simplify(replace(function, body=body))


def opened(block: Block, inputs: Iterable[Var], build: Builder) -> Block:
    """A block without calls of helpers that have no rule, as far as derivatives pass from the inputs to its results.

    Args:
        block: the body of a function.
        inputs: the parameters that it is differentiated by.
        build: has what is known of the function's variables, and learns what is known of the new ones.
    """
    while any(can_open(stmt) for stmt in walk(block)):
        active = active_vars(block, inputs, [r for r in block.results if isinstance(r, Var)])
        if not any(is_open(stmt, active) for stmt in walk(block)):
            return block
        block = opened_once(block, active, build)
    return block


def can_open(stmt: Stmt) -> bool:
    """Whether a statement calls a helper that has a body and no rule."""
    fn = stmt.op.fn if isinstance(stmt.op, Call) else None
    if not isinstance(fn, types.FunctionType) or not (is_helper(fn) or (fn.__module__ or "").startswith("sourcead.primitives.")):
        return False
    return not has_rule(fn) and not no_derivative(fn)


def is_open(stmt: Stmt, active: set[Var]) -> bool:
    """Whether a derivative passes through a call that can be opened."""
    if not can_open(stmt) or not any(t in active for t in stmt.targets):
        return False
    operands = (*stmt.op.args, *(v for _, v in stmt.op.kwargs))
    return any(a in active for o in operands for a in operand_atoms(o))


def opened_once(block: Block, active: set[Var], build: Builder) -> Block:
    with build.block() as stmts:
        for stmt in block.stmts:
            if op_blocks(stmt.op):
                op = map_op(stmt.op, lambda atom: atom, lambda inner: opened_once(inner, active, build))
                build.stmts.append(replace(stmt, op=op))
            elif is_open(stmt, active):
                put_body(stmt, build)
            else:
                build.stmts.append(stmt)
    return Block(tuple(stmts), block.results)


def put_body(stmt: Stmt, build: Builder) -> None:
    """The statements of the function that a statement calls."""
    call = stmt.op
    build.origin, build.adjoint_of, build.within = stmt.origin, stmt.adjoint_of, stmt.within
    start = len(build.stmts)
    try:
        result = body_of(call, stmt, build, static_only=True)
    except (NotStatic, SourceADError):  # what the types do not tell is decided when the text runs
        del build.stmts[start:]
        result = body_of(call, stmt, build, static_only=False)
    build.add(replace(stmt, op=Let(result)))
    build.origin = build.adjoint_of = None
    build.within = ()


def body_of(call: Call, stmt: Stmt, build: Builder, static_only: bool) -> Atom:
    """What the function that is called returns, its statements emitted here."""
    source = find_source(call.fn)
    lo = Lowering()
    lo.build, lo.scope, lo.called_from, lo.static_only = build, Scope(source), stmt.origin, static_only
    start = len(build.stmts)
    args = [as_value(lo, a) for a in call.args]
    kwargs = {name: as_value(lo, v) for name, v in call.kwargs}
    result = lo.read(call_source(lo, source, args, kwargs, source.node))
    build.stmts[start:start] = lo.prelude
    return result
