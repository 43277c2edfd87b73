"""Lower comprehensions to loops that append to a list, store in a dict, or add for `sum(f(x) for x in xs)`."""

import functools
from collections.abc import Callable
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.builtins import functions
from sourcead.frontend.control import generators, inlining, loops
from sourcead.frontend.control.branches import choose
from sourcead.frontend.control.exits import standing_for, variable
from sourcead.frontend.control.loops import ForLoop
from sourcead.frontend.core import Flag, FunctionVal, Lowering, Scope, Value
from sourcead.frontend.syntax import expressions
from sourcead.frontend.syntax.assignment import assign
from sourcead.frontend.syntax.loops import index_name, seeds
from sourcead.frontend.values import iterables, sequences, sets, walks
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


@core.lower.register(gast.GeneratorExp)
def lower_generator(lo: Lowering, node: gast.GeneratorExp) -> Value:
    """Lower `(f(x) for x in xs if c)` to a generator, `def g(xs): for x in xs: if c: yield f(x)`, which runs when it is iterated over."""
    if not hasattr(node, "as_function"):
        node.as_function = _as_function(node)
    first = iterables.held(lo, core.lower(lo, node.generators[0].iter), node)
    fn = FunctionVal(inlining.LocalSource(lo.scope.source, node.as_function), lo.scope, {})
    return generators.made(lo, fn, {FIRST: first}, walrus_homes(lo, node))


FIRST = Flag("items")


def _as_function(node: gast.GeneratorExp) -> gast.FunctionDef:
    """Build the definition of the generator that a generator expression stands for."""
    body: list = [gast.Expr(gast.Yield(node.elt))]
    for k, g in reversed(list(enumerate(node.generators))):
        for test in reversed(g.ifs):
            body = [gast.If(test, body, [])]
        source = g.iter if k else variable(FIRST)
        body = [gast.For(g.target, source, body, [], None)]
    made = gast.FunctionDef("<genexpr>", gast.arguments([], [], None, [], [], None, []), body, [], None, None)
    for n in gast.walk(made):
        if isinstance(n, gast.stmt) or not hasattr(n, "lineno"):
            standing_for(node, n)
    return made


def walrus_homes(lo: Lowering, node) -> dict:
    """Return {name: variables} of the names that `:=` inside a comprehension assigns, which are those of the function around it."""
    return {n.target.id: lo.scope.home(n.target.id) for n in gast.walk(node) if isinstance(n, gast.NamedExpr)}


@core.lower.register(gast.ListComp)
def comprehension(lo: Lowering, node, take: Callable[[Value], Any] | None = None) -> Value:
    """Lower `[f(x) for x in xs if c]` to a loop that appends each value to a new list, or passes it to `take`."""
    result = lo.new_list([])
    take = take or (lambda value: sequences.append(lo, result, value, node))

    def nest(parts: list, source: Value | None = None) -> None:
        if not parts:
            take(core.lower(lo, node.elt))
            return
        with walks.unchanged(lo, node) as taken:
            each(*parts, source=source, taken=taken)

    def each(g, *rest, source: Value | None, taken: list) -> None:
        with lo.using(walks=taken):
            iterable = core.iterate(lo, source or core.lower(lo, g.iter), node)
        bind = functools.partial(assign, lo, g.target)

        def guarded(tests: list) -> None:
            if not tests:
                return nest(list(rest))
            return choose(lo, core.lower(lo, tests[0]), lambda: guarded(tests[1:]), lambda: None)

        items = iterable.items
        if items is None and lo.apart and (places := loops.known_places(lo, iterable)) is not None:
            items = [iterable.element(Const(k)) for k in places]
        if items is not None:
            for k in range(len(items)):
                bind(items[k] if iterable.items is None else walks.element_now(lo, taken, iterable, k, node))
                guarded(g.ifs)
            return
        body = [gast.Expr(node.elt)]
        loops.run_loop(lo, ForLoop(iterable, bind, lambda: guarded(g.ifs), index_name(g.target), seeds=lambda: seeds(lo, g.target, body)))

    source = core.lower(lo, node.generators[0].iter)
    with lo.in_scope(Scope(lo.scope.source, parent=lo.scope, homes=walrus_homes(lo, node))):
        nest(node.generators, source)
    return result


core.lower.register(gast.Set)(lambda lo, node: sets.made(lo, expressions.lower_list(lo, node), node))


@core.lower.register(gast.SetComp)
def lower_setcomp(lo: Lowering, node: gast.SetComp) -> Value:
    """Lower `{f(x) for x in xs}`."""
    return sets.made(lo, comprehension(lo, standing_for(node, gast.ListComp(node.elt, node.generators))), node)


def summed(lo: Lowering, node, start: Value) -> Value:
    """Lower `sum(f(x) for x in xs)` to a loop that adds without making a list."""
    return loops.fold(lo, start, functools.partial(functions.plus, lo), lambda act, seeds: comprehension(lo, node, act))
