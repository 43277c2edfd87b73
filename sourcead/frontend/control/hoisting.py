"""Give an expression inside a statement an assignment of its own before the statement, with all that Python evaluates before it.

    y = a * b + (yield c)               first = a * b
                                        second = yield c
                                        y = first + second

    y += (yield c) if p else d          first = y
                                        if p: second = yield c
                                        else: second = d
                                        first += second;  y = first
"""

import builtins
import types
from collections.abc import Callable

import gast

from sourcead.frontend.control.exits import assignment, standing_for, variable
from sourcead.frontend.core import Flag, Scope

FIELDS = {  # statements, and the fields of theirs that are evaluated first, once
    gast.Assign: "value", gast.Return: "value", gast.Expr: "value", gast.If: "test", gast.For: "iter", gast.Assert: "test",
    gast.Raise: "exc",
}  # fmt: skip
OPAQUE = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class NotHoisted(Exception):
    """The expression is in a place of which it is not known when it is evaluated."""


def hoisted(node: gast.AST, wanted: Callable[[gast.AST], bool], scope: Scope) -> list[gast.AST] | None:
    """Return the statements for one in which some expressions get assignments of their own; None if there are none, or none can.

    Args:
        node: the statement; it is not changed, and its blocks are taken as they are.
        wanted: tells which expressions.
        scope: the scope of the function.
    """
    hoist = _Hoist(node, wanted, scope)
    try:
        if isinstance(node, gast.AugAssign):
            return hoist.augmented() if hoist.has_wanted(node.value) or hoist.has_wanted(node.target) else None
        if isinstance(node, gast.While):
            return hoist.tested() if hoist.has_wanted(node.test) else None
        name = FIELDS.get(type(node))
        old = getattr(node, name) if name else None
        if old is None or not hoist.has_wanted(old) or isinstance(node, gast.Assign) and any(map(hoist.has_wanted, node.targets)):
            return None
        top = isinstance(node, gast.Assign | gast.Expr) and wanted(old)  # it has its own statement already
        new = hoist.operands(old) if top else hoist.value(old)
    except NotHoisted:
        return None
    if new is old or top and not hoist.before:
        return None
    fields = {**dict(gast.iter_fields(node)), name: new}
    return [*hoist.before, standing_for(node, type(node)(**fields))]


def stays(scope: Scope | None, name: str) -> bool:
    """Tell whether a name stands for a module, class or function outside of all functions, which is taken to stay what it is."""
    globals_ = scope.source.globals
    while scope is not None:
        if name in scope.names or name in scope.local or name in scope.source.closure:
            return False
        scope = scope.parent
    found = globals_.get(name, getattr(builtins, name, None))
    return callable(found) or isinstance(found, types.ModuleType)


class _Hoist:
    """Collects the assignments that come `before` a statement."""

    def __init__(self, node: gast.AST, wanted: Callable[[gast.AST], bool], scope: Scope):
        self.node, self.wanted, self.scope, self.before = node, wanted, scope, []

    def has_wanted(self, expr: gast.AST | None) -> bool:
        """Tell whether an expression is or has a part that is wanted, outside of functions inside it."""
        if expr is None or isinstance(expr, OPAQUE):
            return False
        return self.wanted(expr) or any(map(self.has_wanted, gast.iter_child_nodes(expr)))

    def held(self, expr: gast.AST) -> gast.AST:
        """Evaluate an expression here, unless its value is the same at any time; return what stands for its value."""
        if isinstance(expr, (gast.Constant, gast.Lambda)) or isinstance(expr, gast.Name) and stays(self.scope, expr.id):
            return expr
        name = Flag("part")
        self.before.append(assignment(name, expr, self.node))
        return variable(name)

    def value(self, expr: gast.AST) -> gast.AST:
        """Return an expression with what is wanted in it, and what is evaluated before that, evaluated here."""
        if not self.has_wanted(expr):
            return expr
        match expr:
            case gast.IfExp(test=test, body=body, orelse=orelse):
                return self.either(self.value(test), body, orelse)
            case gast.BoolOp(op=op, values=[first, *others]):
                name, rest = Flag("part"), others[0] if len(others) == 1 else gast.BoolOp(op, others)
                self.before.append(assignment(name, self.value(first), self.node))
                return self.either(variable(name), *((rest, variable(name)) if isinstance(op, gast.And) else (variable(name), rest)), name)
            case gast.NamedExpr(target=target, value=inner):
                self.before.append(standing_for(self.node, gast.Assign([target], self.value(inner), None)))
                return variable(target.id)
        new = self.operands(expr)
        return self.held(standing_for(expr, new)) if self.wanted(expr) else new

    def either(self, test: gast.AST, body: gast.AST, orelse: gast.AST, name: Flag | None = None) -> gast.AST:
        """Evaluate one of two expressions here; return what stands for its value."""
        name, arms = name or Flag("part"), []
        for arm in (body, orelse):
            inner = _Hoist(self.node, self.wanted, self.scope)
            value = inner.value(arm)
            arms.append([*inner.before, assignment(name, value, self.node)])
        self.before.append(standing_for(self.node, gast.If(test, *arms)))
        return variable(name)

    def operands(self, expr: gast.AST) -> gast.AST:
        """Return an expression whose operands are evaluated here, up to the last in which something is wanted."""
        match expr:
            case gast.Compare(ops=[_, _, *_]):
                raise NotHoisted
            case gast.Dict(keys=keys, values=values):
                found = self.in_order([n for pair in zip(keys, values) for n in pair])
                return standing_for(expr, gast.Dict(found[::2], found[1::2]))
            case gast.Call(func=func, args=args, keywords=given):
                method = isinstance(func, gast.Attribute)
                found = self.in_order([func.value if method else func, *args, *(k.value for k in given)])
                fn = standing_for(func, gast.Attribute(found[0], func.attr, func.ctx)) if method else found[0]
                named = [gast.keyword(k.arg, v) for k, v in zip(given, found[1 + len(args) :])]
                return standing_for(expr, gast.Call(fn, found[1 : 1 + len(args)], named))
            case gast.Starred(value=inner):
                return standing_for(expr, gast.Starred(self.value(inner), expr.ctx))
        fields = dict(gast.iter_fields(expr))
        parts = [n for value in fields.values() for n in (value if isinstance(value, list) else [value]) if isinstance(n, gast.expr)]
        found = iter(self.in_order(parts))
        new = {
            name: [next(found) if isinstance(n, gast.expr) else n for n in value]
            if isinstance(value, list) else next(found) if isinstance(value, gast.expr) else value
            for name, value in fields.items()
        }  # fmt: skip
        return standing_for(expr, type(expr)(**new))

    def in_order(self, parts: list[gast.AST | None]) -> list[gast.AST | None]:
        """Evaluate operands here, up to the last in which something is wanted."""
        last = max((k for k, n in enumerate(parts) if self.has_wanted(n)), default=-1)
        done = []
        for k, n in enumerate(parts):
            if n is None or k > last:
                done.append(n)
            elif k == last:
                done.append(self.value(n))
            elif isinstance(n, gast.Starred):  # its items are taken before the next operand is evaluated
                done.append(gast.Starred(self.held(gast.Tuple([self.value(n)], gast.Load())), gast.Load()))
            else:
                done.append(self.key(n))
        return done

    def key(self, key: gast.AST) -> gast.AST:
        """Evaluate what stands in the brackets of a subscript here; return what stands for it."""
        match key:
            case gast.Slice():
                return gast.Slice(*(n and self.held(self.value(n)) for n in (key.lower, key.upper, key.step)))
            case gast.Tuple(elts=elts) if any(isinstance(n, gast.Slice) for n in elts):
                return gast.Tuple([self.key(n) for n in elts], gast.Load())
        return self.held(self.value(key))

    def augmented(self) -> list[gast.AST]:
        """Return the statements for `target op= value`: the target is read before the value is evaluated, and written after it."""
        node, target = self.node, self.node.target
        match target:
            case gast.Name():
                place: Callable = lambda ctx: variable(target.id, ctx)  # noqa: E731
            case gast.Attribute():
                base = self.held(self.value(target.value))
                place = lambda ctx: gast.Attribute(base, target.attr, ctx)  # noqa: E731
            case _:
                base, key = self.held(self.value(target.value)), self.key(target.slice)
                place = lambda ctx: gast.Subscript(base, key, ctx)  # noqa: E731
        name = Flag("part")
        self.before.append(assignment(name, standing_for(target, place(gast.Load())), node))
        value = self.value(node.value)
        done = [gast.AugAssign(variable(name, gast.Store()), node.op, value), gast.Assign([place(gast.Store())], variable(name), None)]
        return [*self.before, *(standing_for(node, n) for n in done)]

    def tested(self) -> list[gast.AST]:
        """Return the statements for a `while` whose test is evaluated inside of it.

            stopped = False
            while True:
                if not test: stopped = True; break
                body
            if stopped: orelse              # in which `break` is that of the loop around
        """
        node, stopped = self.node, Flag("stopped")
        last = [assignment(stopped, gast.Constant(True, None), node)] if node.orelse else []
        stop = standing_for(node, gast.If(gast.UnaryOp(gast.Not(), node.test), [*last, gast.Break()], []))
        loop = standing_for(node, gast.While(gast.Constant(True, None), [stop, *node.body], []))
        if not node.orelse:
            return [loop]
        behind = standing_for(node, gast.If(variable(stopped), node.orelse, []))
        return [assignment(stopped, gast.Constant(False, None), node), loop, behind]
