"""Generators of the user's: a loop over one is the generator's body, with the loop's body in place of each `yield`.

    def squares(xs):                 for x in xs:
        for x in xs:                     e = x * x
            yield x * x                  s = s + e

    for e in squares(xs):
        s = s + e

Each of the two sees its own variables.  Where the loop may be left early, the generator returns after the `yield` if it was.
"""

from __future__ import annotations

import copy

import gast

from sourcead.frontend.core import Lowering, Scope
from sourcead.frontend.syntax import expressions, recursion
from sourcead.frontend.syntax.early_exits import Flag, is_endless
from sourcead.frontend.syntax.iteration import Iterable
from sourcead.frontend.values.cells import Value
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

    endless = any(is_endless(n) for n in own_nodes(source.node))
    return Iterable(drive=drive, endless=endless, once=True)


def run(lo: Lowering, source, bound: dict[str, Value], scope: Scope | None, act, leave) -> None:
    """Lowers the body of a generator; `act(value)` is done at each `yield`, and has left the loop if `leave` is true."""
    from sourcead.frontend.syntax import statements

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
    lo.calls.append(recursion.Frame(source.node, bound))
    try:
        statements.lower_statements(lo, body)
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


def lower_yield(lo: Lowering, node) -> Value | None:
    """`yield value` as a statement."""
    consume = getattr(lo.scope, "consume", None)
    if consume is None:
        raise expressions.unsupported(lo, node, f"`{lo.scope.source.name}` is a generator", "return a list")
    return consume(Const(None) if node.value is None else expressions.lower(lo, node.value))


def search(lo: Lowering, call: gast.Call) -> Value:
    """`next((f(x) for x in xs if c), default)`: the loop that is left at the first one."""
    from sourcead.frontend.syntax import statements
    from sourcead.frontend.values.cells import MISSING

    if not hasattr(call, "as_search"):
        call.as_search = _search_loop(call)
    loop, name = call.as_search
    names = lo.scope.names
    shadowed = {n.id for n in gast.walk(loop.target) if isinstance(n, gast.Name)} | {name}
    before = {n: names.get(n, MISSING) for n in shadowed}
    statements.lower_statements(lo, [loop])
    result = expressions.resolve(lo, name)
    for n, value in before.items():
        lo.set(names, n, value)
    return result


def _search_loop(call: gast.Call):
    generator, *default = call.args
    (g,) = generator.generators
    name = Flag("found")

    def store(value):
        return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)

    body = [store(generator.elt), gast.Break()]
    for test in reversed(g.ifs):
        body = [gast.If(test, body, [])]
    stop = gast.Call(gast.Name("StopIteration", gast.Load(), None, None), [], [])
    loop = gast.For(g.target, g.iter, body, [store(default[0]) if default else gast.Raise(stop, None)], None)
    for n in gast.walk(loop):
        if isinstance(n, gast.stmt) or not hasattr(n, "lineno"):
            n.stands_for = call
    return loop, name
