"""Lower comprehensions to loops that append to a list, store in a dict, or add for `sum(f(x) for x in xs)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.builtins import functions
from sourcead.frontend.control import loops
from sourcead.frontend.control.branches import choose
from sourcead.frontend.control.exits import standing_for
from sourcead.frontend.control.loops import ForLoop
from sourcead.frontend.core import MISSING, Flag, Lowering, Value
from sourcead.frontend.syntax import expressions
from sourcead.frontend.syntax.assignment import assign
from sourcead.frontend.syntax.loops import index_name, seeds
from sourcead.frontend.values import sequences, sets
from sourcead.ir.nodes import Const


@core.lower.register(gast.DictComp)
def lower_dictcomp(lo: Lowering, node: gast.DictComp) -> Value:
    """Lower a dict comprehension."""
    made = lo.new_dict({})

    def take(pair: Value) -> None:
        key, value = pair.items
        core.store(lo, made, key, value, node)

    pairs = gast.ListComp(gast.Tuple([node.key, node.value], gast.Load()), node.generators)
    comprehension(lo, standing_for(node, pairs), take)
    return made


@core.lower.register(gast.ListComp, gast.GeneratorExp)
def comprehension(lo: Lowering, node, take: Callable[[Value], Any] | None = None) -> Value:
    """Lower `[f(x) for x in xs if c]` to a loop that appends each value to a new list, or passes it to `take`."""
    result = lo.new_list([])
    take = take or (lambda value: sequences.append(lo, result, value, node))

    def nest(generators: list) -> None:
        if not generators:
            take(core.lower(lo, node.elt))
            return
        g, *rest = generators
        iterable = core.iterate(lo, core.lower(lo, g.iter), node)
        bind = functools.partial(assign, lo, g.target)

        def guarded(tests: list) -> None:
            if not tests:
                return nest(rest)
            return choose(lo, core.lower(lo, tests[0]), lambda: guarded(tests[1:]), lambda: None)

        items = iterable.items
        if items is None and lo.apart and (places := loops.known_places(lo, iterable)) is not None:
            items = [iterable.element(Const(k)) for k in places]
        if items is not None:
            for item in items:
                bind(item)
                guarded(g.ifs)
            return
        body = [gast.Expr(node.elt)]
        loops.run_loop(lo, ForLoop(iterable, bind, lambda: guarded(g.ifs), index_name(g.target), seeds=lambda: seeds(lo, g.target, body)))

    shadowed = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    before = {name: lo.scope.home(name).get(name, MISSING) for name in shadowed}
    nest(node.generators)
    for name, value in before.items():
        lo.set(lo.scope.home(name), name, value)
    return result


@core.lower.register(gast.Set)
def lower_set(lo: Lowering, node: gast.Set) -> Value:
    """Lower `{a, b}`."""
    return sets.made(lo, expressions.lower_list(lo, node), node)


@core.lower.register(gast.SetComp)
def lower_setcomp(lo: Lowering, node: gast.SetComp) -> Value:
    """Lower `{f(x) for x in xs}`."""
    return sets.made(lo, comprehension(lo, standing_for(node, gast.ListComp(node.elt, node.generators))), node)


def summed(lo: Lowering, node, start: Value) -> Value:
    """Lower `sum(f(x) for x in xs)` to a loop that adds without making a list."""
    return loops.fold(lo, start, functools.partial(functions.plus, lo), lambda act, seeds: comprehension(lo, node, act))


def search(lo: Lowering, call: gast.Call) -> Value:
    """Lower `next((f(x) for x in xs if c), default)` to a loop that is left at the first match."""
    if not hasattr(call, "as_search"):
        call.as_search = _search_loop(call)
    loop, name = call.as_search
    shadowed = {n.id for n in gast.walk(loop.target) if isinstance(n, gast.Name)} | {name}
    before = {n: lo.scope.home(n).get(n, MISSING) for n in shadowed}
    core.lower_statements(lo, [loop])
    result = core.resolve(lo, name)
    for n, value in before.items():
        lo.set(lo.scope.home(n), n, value)
    return result


def _search_loop(call: gast.Call):
    """Build the loop of a search and the name of the variable that it assigns."""
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
            standing_for(call, n)
    return loop, name
