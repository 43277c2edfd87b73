"""Inlining of runtime helpers that have no derivative rule, before the calls of them are differentiated.

    before      d_a = eigh_cotangent(d_w, d_v, w, v)
    after       d_a = v @ (...) @ v.T                       the body of the helper

Only calls that a derivative passes through are inlined, including those in the inlined bodies.
"""

import types
from collections.abc import Iterable
from dataclasses import replace

from sourcead import runtime
from sourcead.ad.apply_rule import as_value
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, operand_type
from sourcead.errors import SourceADError, UnsupportedSyntaxError
from sourcead.frontend.find_source import find_source
from sourcead.frontend.lower import Lowered, Lowering, NotStatic, Scope, call_source
from sourcead.ir.nodes import Atom, Block, Call, Function, Let, Stmt, Var
from sourcead.ir.types import StructT, TupleT
from sourcead.ir.walk import rewrite, walk
from sourcead.passes.plan import simplify
from sourcead.primitives.table import record_of
from sourcead.runtime import is_helper


def simplified(lowered: Lowered, wrt: Iterable[str]) -> Function:
    """Return a lowered function, simplified, with the helpers inlined through which derivatives by the parameters `wrt` pass."""
    function = simplify(lowered.function)
    if not any(can_inline(stmt) for stmt in walk(function.body)):
        return function
    build = Builder.knowing(lowered.build)
    inputs = [lowered.params[name] for name in wrt if name in lowered.params]
    body = inlined(function.body, inputs, build)
    return function if body is function.body else simplify(replace(function, body=body))


def inlined(block: Block, inputs: Iterable[Var], build: Builder) -> Block:
    """Inline the calls of helpers without a rule through which a derivative passes from the inputs to the results of a block.

    Args:
        block: the body of a function.
        inputs: the parameters that it is differentiated by.
        build: the builder that holds the facts about the function's variables, and receives those about the new ones.
    """
    while any(can_inline(stmt) for stmt in walk(block)):
        active = active_vars(block, inputs, [r for r in block.results if isinstance(r, Var)])
        new = rewrite(block, lambda stmt, active=active: body_stmts(stmt, build) if is_inlined(stmt, active) else (stmt,))
        if new is block:
            return block
        block = new
    return block


def can_inline(stmt: Stmt) -> bool:
    """Return whether a statement calls a helper that has a body and no rule."""
    fn = stmt.op.fn if isinstance(stmt.op, Call) else None
    if not isinstance(fn, types.FunctionType) or not (is_helper(fn) or (fn.__module__ or "").startswith("sourcead.primitives.")):
        return False
    return not record_of(fn).has_rule and not record_of(fn).no_derivative


def is_inlined(stmt: Stmt, active: set[Var]) -> bool:
    """Return whether a derivative passes through a call that can be inlined."""
    return can_inline(stmt) and any(t in active for t in stmt.targets) and any(v in active for v in stmt.op.reads)


def body_stmts(stmt: Stmt, build: Builder) -> list[Stmt]:
    """Return the statements of the function that a statement calls."""
    if stmt.op.fn is runtime.read_from_text:
        why = "a number that was read from a text: a derivative does not pass through text"
        raise UnsupportedSyntaxError(why, at=stmt.origin, instead="the number itself, before it is written as a text")
    if stmt.op.fn is runtime.drawn:
        raise UnsupportedSyntaxError("a number that is read from a drawing", at=stmt.origin, instead="the number that was drawn")
    refuse_cleared_items(stmt)
    with build.block() as stmts:
        build.at(stmt)
        try:
            result = body_of(stmt, build, static_only=True)
        except (NotStatic, SourceADError):  # what the types leave open is decided when the text runs
            stmts.clear()
            result = body_of(stmt, build, static_only=False)
        build.add(replace(stmt, op=Let(result)))
        build.origin = build.adjoint_of = None
        build.within = ()
    return stmts


def refuse_cleared_items(stmt: Stmt) -> None:
    """Refuse to differentiate a read of the cotangent of a dict of tuples or objects: at cleared keys it holds None, unlike its type."""
    t = operand_type(stmt.op.args[0]) if stmt.op.fn is runtime.cotangent_at else None
    if isinstance(getattr(t, "item", None), (TupleT, StructT)):
        raise UnsupportedSyntaxError(
            "the derivative of a dict of tuples or objects whose keys are known only at run time cannot be differentiated again yet",
            at=stmt.origin, instead="a dict for each of the items",
        )  # fmt: skip


def body_of(stmt: Stmt, build: Builder, static_only: bool) -> Atom:
    """Emit the statements of the function that a statement calls, and return its result."""
    call = stmt.op
    source = find_source(call.fn)
    lo = Lowering()
    lo.build, lo.scope, lo.called_from, lo.static_only = build, Scope(source), stmt.origin, static_only
    args = [as_value(lo, a) for a in call.args]
    kwargs = {name: as_value(lo, v) for name, v in call.kwargs}
    return lo.read(call_source(lo, source, args, kwargs, source.node))
