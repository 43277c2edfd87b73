"""TODO"""

from __future__ import annotations

import copy

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import exits
from sourcead.frontend.core import Flag, Frame, Iterable, Lowering, Scope, Value
from sourcead.ir.nodes import Const

STOP = Flag("stop")


def own_nodes(node):
    """The syntax nodes of a function, without those of functions inside it."""
    todo = list(gast.iter_child_nodes(node))
    while todo:
        n = todo.pop()
        yield n
        if not isinstance(n, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            todo.extend(gast.iter_child_nodes(n))


def is_generator(node) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in own_nodes(node))


def made(lo: Lowering, source, bound: dict[str, Value], scope: Scope | None) -> Iterable:
    """What a call of a generator returns."""

    def drive(act, leave=None):
        return run(lo, source, bound, scope, act, leave)

    endless = any(exits.is_endless(n) for n in own_nodes(source.node))
    return Iterable(drive=drive, endless=endless, once=True)


def run(lo: Lowering, source, bound: dict[str, Value], scope: Scope | None, act, leave) -> None:
    """Lowers the body of a generator; `act(value)` is done at each `yield`, and has left the loop if `leave` is true."""
    consumer, origin = lo.scope, lo.build.origin
    inner = Scope(source, parent=scope)
    inner.names.update(bound)
    inner.names[STOP] = Const(False)

    def consume(value: Value):
        before, at = lo.scope, lo.build.origin
        lo.scope = consumer
        try:
            left = act(value)
        finally:
            lo.scope = before
        lo.build.origin = at
        if leave is not None:
            lo.set(inner.names, STOP, consumer.names[leave])
        return left

    inner.consume = consume
    body = stopping(source.node) if leave is not None else source.node.body
    lo.scope = inner
    lo.calls.append(Frame(source.node, bound))
    try:
        core.lower_statements(lo, body)
    finally:
        lo.calls.pop()
        lo.scope, lo.build.origin = consumer, origin


def stopping(node) -> list[gast.AST]:
    """The body of a generator that returns after a `yield` if the loop was left there."""
    if not hasattr(node, "stopping"):
        node.stopping = _Stopping().visit(copy.deepcopy(node)).body
    return node.stopping


class _Stopping(gast.NodeTransformer):
    def visit_Expr(self, node):
        if not isinstance(node.value, (gast.Yield, gast.YieldFrom)):
            return node
        leave = gast.copy_location(gast.Return(None), node)
        stop = gast.copy_location(gast.If(gast.Name(STOP, gast.Load(), None, None), [leave], []), node)
        return [node, stop]

    def visit_FunctionDef(self, node):
        return self.generic_visit(node) if not hasattr(node, "inside") else node

    def visit_Lambda(self, node):
        return node


def refuse_generators(lo: Lowering, source) -> None:
    for n in own_nodes(source.node):
        if isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)):
            raise UnsupportedSyntaxError(f"`{source.name}` is a generator or coroutine", at=source.origin(n), instead="return a list")
