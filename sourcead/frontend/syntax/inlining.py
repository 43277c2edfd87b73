"""Calls of Python functions: the body is lowered in place, the parameters bound to the arguments."""

from __future__ import annotations

import gast

from sourcead.errors import ArgumentError, UnsupportedSyntaxError
from sourcead.frontend.core import Lowering, Scope
from sourcead.frontend.source import Source
from sourcead.frontend.syntax import calls, expressions, generators, recursion
from sourcead.frontend.values.cells import FunctionVal, TupleVal, Value
from sourcead.ir.nodes import Const

MAX_INLINE = 60  # calls inside calls


def local_function(lo: Lowering, node) -> FunctionVal:
    """A `def` or `lambda` inside the function being lowered."""
    source = LocalSource(lo.scope.source, node)
    defaults: dict[str, Value] = {}
    positional = [*node.args.posonlyargs, *node.args.args]
    for arg, default in zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults):
        defaults[arg.id] = expressions.lower(lo, default)
    for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
        if default is not None:
            defaults[arg.id] = expressions.lower(lo, default)
    return FunctionVal(source, lo.scope, defaults)


class LocalSource:
    """The source of a nested function: its own node, the rest of the function around it."""

    def __init__(self, outer: Source, node):
        self.node, self.outer = node, outer
        self.name = getattr(node, "name", "<lambda>")
        self.globals, self.closure, self.file = outer.globals, outer.closure, outer.file

    def origin(self, node):
        return self.outer.origin(node)


def bind(
    lo: Lowering, source, args: list[Value], kwargs: dict[str, Value], defaults: dict[str, Value]
) -> dict[str, Value]:
    """The values of a function's parameters for a call.

    Raises:
        ArgumentError: the arguments do not fit the parameters.
    """
    a = source.node.args
    positional = [p.id for p in [*a.posonlyargs, *a.args]]
    bound: dict[str, Value] = dict(zip(positional, args))
    if len(args) > len(positional) and a.vararg is None:
        few = f"{len(positional)} positional argument{'s' * (len(positional) != 1)}"
        raise ArgumentError(f"`{source.name}` takes {few}, and {len(args)} are given", at=lo.here)
    if a.vararg is not None:
        bound[a.vararg.id] = TupleVal(tuple(args[len(positional) :]))
    names = {*positional[len(a.posonlyargs) :], *(p.id for p in a.kwonlyargs)}
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in names and name not in bound:
            bound[name] = value
        elif a.kwarg is not None and name not in names:
            extra[name] = value
        else:
            fault = "more than once" if name in names else "which it does not take"
            raise ArgumentError(f"`{source.name}` is given the argument `{name}`, {fault}", at=lo.here)
    if a.kwarg is not None:
        bound[a.kwarg.id] = lo.new_dict(extra)
    for name in [*positional, *(p.id for p in a.kwonlyargs)]:
        if name not in bound:
            if name not in defaults:
                raise ArgumentError(f"`{source.name}` is not given the argument `{name}`", at=lo.here)
            bound[name] = defaults[name]
    return bound


def inline(
    lo: Lowering, source, args, kwargs, node, scope: Scope | None = None, defaults: dict[str, Value] | None = None,
    rest: Value | None = None,
) -> Value:  # fmt: skip
    """Lowers the body of a callee in place."""
    from sourcead.frontend.syntax import statements

    key = source.node
    if len(lo.calls) > MAX_INLINE:
        raise UnsupportedSyntaxError("functions are nested too deeply here", at=lo.here)
    if defaults is None:
        defaults = {k: calls.as_value(lo, v) for k, v in source.defaults.items()}
    bound = bind(lo, source, args, kwargs, defaults)
    if rest is not None:  # `*args` of which it is not known how many there are
        bound[source.node.args.vararg.id] = rest
    if generators.is_generator(source.node):
        return generators.made(lo, source, bound, scope)
    refuse_generators(source)
    if recursion.is_under_way(lo, key, bound) or recursion.is_called_as_pair(lo, source, bound):
        return recursion.call_pair(lo, source, bound, scope, node)
    inner = Scope(source, parent=scope)
    for name, value in bound.items():
        inner.names[name] = value
    outer_scope, outer_origin = lo.scope, lo.build.origin
    lo.scope = inner
    lo.calls.append(recursion.Frame(key, bound))
    try:
        if isinstance(source.node, gast.Lambda):
            return expressions.lower(lo, source.node.body)
        left = statements.lower_statements(lo, source.node.body)
    finally:
        lo.calls.pop()
        lo.scope, lo.build.origin = outer_scope, outer_origin
    return left.value if isinstance(left, statements.Return) else Const(None)


def refuse_generators(source) -> None:
    for n in generators.own_nodes(source.node):
        if isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)):
            raise UnsupportedSyntaxError(f"`{source.name}` is a generator or coroutine", at=source.origin(n), instead="return a list")
