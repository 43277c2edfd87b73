"""Lower a loop over a user's generator to the generator's body, with the loop's body in place of each `yield`.

    def squares(xs):                 for x in xs:
        for x in xs:                     e = x * x
            yield x * x                  s = s + e

    for e in squares(xs):
        s = s + e

Each body sees only its own variables. If the loop may be left early, the generator returns after a `yield` at which it was left.
"""

import copy
import functools
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.control import exits, hoisting
from sourcead.frontend.core import Flag, Frame, FunctionVal, Iterable, Lowering, Scope, Slots, Value
from sourcead.frontend.find_source import Source, find_source
from sourcead.ir.nodes import Const

STOP = Flag("stop")
AT = Flag("at")
SENT = Flag("sent")
MAX_RECURSION = 20  # the most calls of a generator inside itself


@core.once_for_each_node
def is_generator(node) -> bool:
    """Return whether a function is a generator."""
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in core.own_nodes(node))


def made(lo: Lowering, fn: FunctionVal, bound: dict[str, Value], homes: dict | None = None) -> Iterable:
    """Return the iterable that a call of a generator returns; `homes` has the variables of other functions that it assigns."""
    suspended = Suspended(fn, Scope(fn.source, parent=fn.scope, names=Slots(bound), homes=dict(homes or {})), dict(bound))

    def drive(act, leave=None):
        if sum(frame.key is fn.source.node for frame in lo.calls) > MAX_RECURSION:
            raise UnsupportedSyntaxError(f"the generator `{fn.source.name}` calls itself too often here", at=lo.here)
        inner = Scope(fn.source, parent=fn.scope, names=Slots(bound), homes=dict(homes or {}))
        state = suspended if suspended.begun else Suspended(fn, inner, suspended.bound)
        return run(lo, state, act, leave)

    endless = any(exits.is_endless(n) for n in core.own_nodes(fn.source.node))
    return Iterable(drive=drive, endless=endless, once=True, suspended=suspended)


class Suspended:
    """A generator that stopped at a `yield`: its variables, its arguments, and the statements that are left of it.

    The loops around the `yield` are among these statements. Which are left is a number in a slot, so that branches and loops merge it.
    """

    def __init__(self, fn: FunctionVal, scope: Scope, bound: dict[str, Value]):
        self.fn, self.scope, self.bound = fn, scope, bound
        self.places: list[tuple[gast.AST, ...]] = [tuple(fn.source.node.body)]
        self.place = Slots({AT: Const(0)})

    @property
    def begun(self) -> bool:
        """Whether an element may have been taken."""
        return not isinstance(self.place[AT], Const) or self.place[AT].value > 0

    def left(self, lo: Lowering) -> tuple[gast.AST, ...]:
        """Return the statements that are left; they must be known while compiling."""
        if not isinstance(self.place[AT], Const):
            why = "how far this generator was walked through depends on the run"
            raise core.refused(lo, why, "compute what it yields in the loop itself")
        return self.places[self.place[AT].value]

    def stop(self, lo: Lowering, left: list[gast.AST]) -> None:
        """Let these statements be left."""
        if tuple(left) not in self.places:
            self.places.append(tuple(left))
        lo.set(self.place, AT, Const(self.places.index(tuple(left))))

    @contextmanager
    def within(self, lo: Lowering) -> Iterator[None]:
        """Lower the body with the variables of the generator."""
        node = self.fn.source.node
        with lo.in_scope(self.scope, None if self.fn.source.name == "<genexpr>" else Frame(node, self.bound)):
            core.lower_statements(lo, [n for n in core.own_nodes(node) if isinstance(n, gast.Nonlocal)])
            yield


def run(lo: Lowering, generator: Suspended, act: Callable, leave: Flag | None) -> Value:
    """Lower what is left of a generator with `act(value)` at each `yield`; if the flag `leave` is true afterwards, the loop was left.

    Return the value that the generator returns, which is that of `yield from`.
    """
    consumer, inner, left = lo.scope, generator.scope, generator.left(lo)
    if leave is not None:
        lo.set(inner.names, STOP, Const(False))
    if generator.begun:
        lo.set(inner.names, SENT, Const(None))

    def consume(value: Value):
        with lo.in_scope(consumer):
            left = act(value)
        if leave is not None:
            lo.set(inner.names, STOP, consumer.names[leave])
        return left

    inner.consume = consume
    with generator.within(lo):
        ended = core.lower_statements(lo, list(left) if leave is None else exits.rewritten(left, functools.partial(_returning, inner)))
    return ended.value if isinstance(ended, exits.Return) else Const(None)


def received(node: gast.Assign) -> gast.Assign:
    """Return the rest of `x = yield value` after the `yield`: x is what was sent."""
    if not hasattr(node, "received"):
        node.received = exits.standing_for(node, gast.Assign(node.targets, exits.variable(SENT), None))
    return node.received


def each_of(node: gast.Expr) -> gast.For:
    """Return the loop that `yield from xs`, a statement, stands for: `for x in xs: yield x`."""
    if not hasattr(node, "each"):
        item = Flag("$item")
        body = [gast.Expr(gast.Yield(exits.variable(item)))]
        node.each = gast.For(exits.variable(item, gast.Store()), node.value.value, body, [], None)
        for n in (node.each, node.each.target, *gast.walk(body[0])):
            exits.standing_for(node, n)
    return node.each


def with_yields_apart(node: gast.AST, scope: Scope) -> list[gast.AST] | None:
    """Return the statements for one that yields inside of an expression, where each `yield` has a statement of its own; else None."""
    if not hasattr(node, "apart"):
        node.apart = hoisting.hoisted(node, lambda n: isinstance(n, gast.Yield), scope)
    return node.apart


def _returning(scope: Scope, node: gast.AST, around: tuple) -> list[gast.AST] | None:
    """Return a statement that yields, and a `return` under the condition that the loop was left there; None for other statements."""
    returning = functools.partial(_returning, scope)
    if (apart := with_yields_apart(node, scope)) is not None:
        return exits.rewritten(apart, returning)
    match node:
        case gast.Expr(value=gast.YieldFrom()):
            return exits.rewritten([each_of(node)], returning)
        case gast.Expr(value=gast.Yield()) | gast.Assign(value=gast.Yield()):
            made, made.value = copy.copy(node), copy.copy(node.value)
            made.value.stops = True
            leave = exits.standing_for(node, gast.Return(None))
            return [made, exits.if_flag(STOP, [leave], [], node)]
    return None


def steps(lo: Lowering, method: types.FunctionType, iterator: Value) -> Iterable:
    """Return the elements that calls of an iterator's `__next__` return until it raises StopIteration, as those of a generator:

        def __next__(self):             while True:
            if self.k == 3:                 if self.k == 3:
                raise StopIteration             return
            self.k += 1                     self.k += 1
            return self.k                   yield self.k
    """
    of_class = getattr(method, "lowered", None)  # of a class that is defined inside the function
    source = find_source(method) if of_class is None else of_class.source
    if not hasattr(source.node, "steps"):
        last = source.node.body[-1]
        end = [] if isinstance(last, (gast.Return, gast.Raise)) else [exits.standing_for(last, gast.Return(None))]
        body = exits.rewritten([*source.node.body, *end], functools.partial(_step, source))
        source.node.steps = copy.copy(source.node)
        source.node.steps.body = [exits.standing_for(source.node, gast.While(gast.Constant(True, None), body, []))]
    stepping = copy.copy(source)
    object.__setattr__(stepping, "node", source.node.steps)
    scope, defaults = (None, {}) if of_class is None else (of_class.scope, of_class.defaults)
    return made(lo, FunctionVal(stepping, scope, defaults), {source.node.args.args[0].id: iterator})


def _step(source: Source, node: gast.AST, around: tuple) -> list[gast.AST] | None:
    """Return what takes the place of a statement of `__next__`; a step must not end inside a loop or `try` of its own."""
    match node:
        case gast.Return(value=value):
            taken = gast.Expr(gast.Yield(value or gast.Constant(None, None)))
            return [exits.standing_for(node, n) for n in (taken, gast.Continue())]
        case gast.Raise() if is_stop(node):
            return [exits.standing_for(node, gast.Return(None))]
        case gast.For() | gast.While() | gast.Try():
            for n in gast.walk(node):
                if isinstance(n, (gast.Return, gast.Raise)):
                    what = "a `__next__` that returns or raises inside of a loop or `try`"
                    raise UnsupportedSyntaxError(what, at=source.origin(n), instead="write the iterator as a generator, with `yield`")
            return [node]
    return None


def is_stop(node: gast.Raise) -> bool:
    """Return whether a statement raises StopIteration."""
    raised = node.exc.func if isinstance(node.exc, gast.Call) else node.exc
    return getattr(raised, "id", None) == "StopIteration"


def refuse_generators(source) -> None:
    """Refuse a function whose result is a generator or coroutine."""
    if isinstance(source.node, gast.AsyncFunctionDef):
        raise UnsupportedSyntaxError(
            f"`{source.name}` is an async function", at=source.origin(source.node), instead="a function without `async`"
        )
    if suspends(source.node):
        what = f"`{source.name}` returns a generator or coroutine, not a number"
        place = next(filter(is_suspension, core.own_nodes(source.node)))
        raise UnsupportedSyntaxError(what, at=source.origin(place), instead="return a list, or a number that is made of all items")


def is_suspension(node: gast.AST) -> bool:
    """Return whether an expression hands control back to the caller."""
    return isinstance(node, (gast.Yield, gast.YieldFrom, gast.Await))


@core.once_for_each_node
def suspends(node: gast.AST) -> bool:
    """Return whether a function hands control back to its caller before it ends."""
    return any(map(is_suspension, core.own_nodes(node)))
