"""Lower `next`, which takes the elements of an iterator one by one.

    def powers(x):           next(it) is x,      y = y * x           next(it) is y,   y = y * x
        y = x                and left are:       while True:         and left are:    while True:
        while True:                                  yield y                              yield y
            yield y                                  y = y * x                            y = y * x
            y = y * x

A generator is lowered statement by statement up to the next `yield`; a loop around that is left after the rest of its body, over the
elements that are left. Where it depends on the run which `yield` is the next, `next` is a loop that ends after one iteration, and the
generator cannot be used afterwards.
"""

import copy
import functools
import operator
from collections.abc import Callable

import gast

from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend import core
from sourcead.frontend.builtins import in_python
from sourcead.frontend.builtins.arguments import NONE, ONE, lowers
from sourcead.frontend.control import branches, exits, generators
from sourcead.frontend.core import ENDED, LEFT, TAKEN, TRUE, Flag, Iterable, Lowering, Value
from sourcead.frontend.values import counting, iterables
from sourcead.ir.nodes import Atom, Const
from sourcead.ir.types import BOOL, Sym

REST = Flag("rest")
Ended = Callable[[bool], Value | None]
MAX_STEPS = 1000  # the most statements that are lowered to find one element


class UnknownElement(UnsupportedSyntaxError):
    """It is not known while compiling which element is the next one."""


@lowers(next)
def builtin_next(lo: Lowering, node, it: Value, *default: Value) -> Value:
    """Lower `next(it, default)`."""
    ended = functools.partial(no_more, lo, node, default)
    if core.special_method(it, "__next__") is not None:
        return core.call_object(lo, in_python.next_of_object, [it, *default], {}, node)
    if not isinstance(it, Iterable) or not it.once:
        lo.read(it)  # refuses what depends on a branch, with the reason
        raise core.unsupported(lo, node, "`next` of what is not an iterator", "make one: `iter(...)`")
    if lo.unrolling and counting.takes_of_others(it) and (found := counting.countable(lo, it, node)) is not None:
        return numbered(lo, it, found, ended, node)
    begun = it.suspended is not None and it.suspended.begun
    with lo.attempt(UnknownElement, when=lambda error: not begun or lo.unrolling):
        return taken(lo, it, ended, node, bool(default))
    if lo.unrolling and (found := counting.countable(lo, it, node)) is not None:
        return numbered(lo, it, found, ended, node)
    return core.call_object(lo, in_python.first_of, [it, *default], {}, node)


def no_more(lo: Lowering, node, default: tuple[Value, ...], surely: bool) -> Value:
    """Return what `next` returns after the last element, or raise StopIteration."""
    if default:
        return default[0]
    if surely:
        raise core.surely(lo, core.unsupported(lo, node, "`next` of an iterator that has no more elements"), StopIteration)
    return branches.raised_here(lo, StopIteration)


@core.method.register(Iterable)
def method(lo: Lowering, it: Iterable, name: str, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `it.__next__()`, `it.__iter__()` and `generator.send(value)`: the `yield` at which it stopped has this value."""
    if name in ("__next__", "__iter__") and it.once and not args:
        return builtin_next(lo, node, it) if name == "__next__" else it
    if name == "close" and it.suspended is not None and not args and LEFT not in it.state and not cleans_up(it.suspended):
        it.suspended.stop(lo, [])
        lo.set(it.state, ENDED, TRUE)
        return NONE
    if name != "send" or it.suspended is None or len(args) != 1:
        return core.method.default(lo, it, name, args, kwargs, node)
    if LEFT in it.state or not it.suspended.begun and not core.is_none(args[0]):
        raise core.unsupported(lo, node, "`send` to a generator that did not stop at a `yield` here", "call `next` once before")
    ended = functools.partial(no_more, lo, node, ())
    if core.truth(lo, it.state[ENDED]):
        return ended(True)
    with lo.using(listing=True):
        return resumed(lo, it.suspended, ended, node, False, args[0])


def cleans_up(generator: generators.Suspended) -> bool:
    """Tell whether a generator may do something when it is closed at a `yield`."""
    return any(isinstance(n, (gast.Try, gast.With, gast.YieldFrom)) for n in core.own_nodes(generator.fn.source.node))


def unknown(lo: Lowering, node, why: str, instead: str = "loop over it") -> UnknownElement:
    """Return the error for an element that is not known while compiling."""
    return UnknownElement(why, at=lo.origin(node), instead=instead)


def taken(lo: Lowering, it: Iterable, ended: Ended, node, goes_on: bool) -> Value:
    """Return the next element of an iterator, or what `ended(surely)` returns, after which the program goes on or not."""
    if core.truth(lo, it.state[ENDED]):
        return ended(True)
    with lo.using(listing=True):  # what is taken may be written, so it must be known which item it is
        is_countable = iterables.is_countable(lo, it)
        found = iterables.elements(lo, it, node) if is_countable and (LEFT in it.state or it.begin is not None) else it
    if not is_countable or found.drive is not None and found.suspended is None:
        raise unknown(lo, node, "this iterator was walked through before", "make it anew, or make a list of it: `list(...)`")
    if found.suspended is not None:
        return resumed(lo, found.suspended, ended, node, goes_on)
    return numbered(lo, it, found, ended, node)


def numbered(lo: Lowering, it: Iterable, found: Iterable, ended: Ended, node) -> Value:
    """Return the next element of an iterator whose elements are read by their number, or what `ended(surely)` returns."""
    k = it.state[TAKEN]
    lo.set(it.state, TAKEN, lo.read(core.operate(lo, operator.add, k, ONE)) if not isinstance(k, Const) else Const(k.value + 1))
    if found.items is not None and not isinstance(k, Const):
        found = iterables.by_unknown_number(lo, found, node)
    if found.endless:
        return found.nth(k)
    count = found.count if found.items is None else len(found.items)
    if isinstance(k, Const) and count is not None:
        if k.value >= count:
            lo.set(it.state, ENDED, TRUE)  # whatever a list gets later
            return ended(True)
        return found.nth(k) if found.items is None else found.items[k.value]
    length = found.length()
    if isinstance(k, Const) and k.value < least(lo, length):
        return found.nth(k)
    within = lo.build.call(operator.lt, k, length, type=BOOL)
    return branches.branch(lo, within, [lambda: found.nth(k), lambda: ended(False)], "ifexp")


def least(lo: Lowering, length: Atom) -> int:
    """Return the least number that a length may be."""
    found = length.value if isinstance(length, Const) else lo.build.size_dim.get(length, 0)
    return found.least if isinstance(found, Sym) else found


# -- generators -------------------------------------------------------------------------------------------------------------


def resumed(
    lo: Lowering, generator: generators.Suspended, ended: Ended, node, goes_on: bool, sent: Value = NONE
) -> Value:  # fmt: skip
    """Return what a generator yields next, or what `ended(surely)` returns, after which the program goes on or not."""
    if generator.begun:
        lo.set(generator.scope.names, generators.SENT, sent)

    def unsure(after: list[gast.AST]) -> Value | None:
        if goes_on or any(map(moves, after)):
            raise unknown(lo, node, "whether a generator has more elements depends on the run")
        return ended(False)

    left = list(generator.left(lo))
    with generator.within(lo):
        for _ in range(MAX_STEPS):
            if not left:
                break
            if (found := step(lo, left, unsure, node)) is not None:
                generator.stop(lo, left)
                return found
        else:
            raise unknown(lo, node, "this generator goes on for too long before it yields")
    generator.stop(lo, [])
    return ended(True)


def step(lo: Lowering, left: list[gast.AST], unsure: Callable, node) -> Value | None:
    """Lower the first of the statements that are left, and replace it by what is left of it; return what it yields."""
    stmt = left.pop(0)
    if (apart := generators.with_yields_apart(stmt, lo.scope)) is not None:
        left[:0] = apart
        return None
    match stmt:
        case gast.Expr(value=gast.Yield(value=value)) | gast.Assign(value=gast.Yield(value=value)):
            if isinstance(stmt, gast.Assign):
                left.insert(0, generators.received(stmt))
            return Const(None) if value is None else core.lower(lo, value)
        case gast.Expr(value=gast.YieldFrom()):
            left.insert(0, generators.each_of(stmt))
        case gast.Return():
            core.lower_statements(lo, [stmt])
            left.clear()
        case gast.Break() | gast.Continue():
            while not hasattr(left[0], "again"):
                left.pop(0)
            if isinstance(stmt, gast.Break):
                left.pop(0)
        case gast.If() if any(map(moves, [*stmt.body, *stmt.orelse])):
            left[:0] = stmt.body if decided(lo, stmt) else stmt.orelse
        case gast.While() if moves(stmt):
            left[:0] = [*stmt.body, again(stmt)] if decided(lo, stmt) else stmt.orelse
        case gast.For() if moves(stmt):
            into_loop(lo, stmt, left, unsure, node)
        case _ if moves(stmt):
            raise unknown(lo, stmt, "`next` of a generator that stops inside of this statement")
        case _:
            core.lower_statements(lo, [stmt])
    return None


def moves(stmt: gast.AST) -> bool:
    """Tell whether a generator may stop inside a statement, or leave it."""
    nodes = [stmt, *core.own_nodes(stmt)]
    return any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Return, gast.Break, gast.Continue)) for n in nodes)


def decided(lo: Lowering, stmt: gast.If | gast.While) -> bool:
    """Return whether the condition of a statement holds, which must be known while compiling."""
    with lo.at(stmt):
        verdict = core.truth(lo, core.condition(lo, core.lower(lo, stmt.test)))
        if verdict is None:
            raise unknown(lo, stmt, "which `yield` of a generator is the next depends on the run")
    return verdict


def again(stmt: gast.For | gast.While) -> gast.AST:
    """Return the loop that is left of a loop after one iteration; the elements of a `for` loop are those left of the iterator `REST`."""
    if hasattr(stmt, "again"):
        return stmt
    if not hasattr(stmt, "rest"):
        stmt.rest = exits.standing_for(stmt, copy.copy(stmt))
        stmt.rest.again = True
        if isinstance(stmt, gast.For):
            stmt.rest.iter = exits.variable(Flag(REST))
    return stmt.rest


def into_loop(lo: Lowering, stmt: gast.For, left: list[gast.AST], unsure: Callable, node) -> None:
    """Begin an iteration of a `for` loop, or what follows it."""
    loop, after = again(stmt), [*stmt.orelse, *left]
    with lo.at(stmt):
        if stmt is not loop:
            lo.set(lo.scope.names, loop.iter.id, core.call_object(lo, iter, [core.lower(lo, stmt.iter)], {}, stmt))
        it = lo.scope.names[loop.iter.id]
        if not isinstance(it, Iterable):
            raise unknown(lo, stmt, "how far this generator was walked through depends on the run")
        found = taken(lo, it, lambda surely: None if surely else unsure(after), node, goes_on=False)
    if found is not None:
        after = [exits.standing_for(stmt, gast.Assign([stmt.target], core.Held(found), None)), *stmt.body, loop, *left]
    left[:] = after
