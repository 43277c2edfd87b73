"""Lower comprehensions to loops that append to a list or store in a dict, and generator expressions."""

from collections.abc import Callable
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.control import generators, inlining
from sourcead.frontend.control.exits import standing_for, variable
from sourcead.frontend.core import Flag, FunctionVal, Lowering, Scope, Slots, Value
from sourcead.frontend.values import iterables, sequences, sets
from sourcead.ir.nodes import Origin


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
def lower_generator(lo: Lowering, node, place: Origin | None = None) -> Value:
    """Lower `(f(x) for x in xs if c)` to a generator, which runs when it is iterated over."""
    first = iterables.held(lo, core.lower(lo, node.generators[0].iter), node)
    return generators.made(lo, FunctionVal(as_function(lo, node, place), lo.scope, {}), {FIRST: first}, walrus_homes(lo, node))


FIRST = Flag("items")


def as_function(lo: Lowering, node, place: Origin | None = None) -> inlining.LocalSource:
    """Return the generator `def g(xs): for x in xs: if c: yield f(x)`, at a place, that `f(x) for x in xs if c` stands for."""
    if not hasattr(node, "as_function"):
        body: list = [gast.Expr(gast.Yield(node.elt))]
        for k, g in reversed(list(enumerate(node.generators))):
            for test in reversed(g.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(g.target, g.iter if k else variable(FIRST), body, [], None)]
        node.as_function = gast.FunctionDef("<genexpr>", gast.arguments([], [], None, [], [], None, []), body, [], None, None)
        for n in gast.walk(node.as_function):
            if isinstance(n, gast.stmt) or not hasattr(n, "lineno"):
                standing_for(node, n)
    return inlining.LocalSource(lo.scope.source, node.as_function, {getattr(node, "stands_for", node): place})


def walrus_homes(lo: Lowering, node) -> dict:
    """Return {name: variables} of the names that `:=` inside a comprehension assigns, which are those of the function around it."""
    return {n.target.id: lo.scope.home(n.target.id) for n in gast.walk(node) if isinstance(n, gast.NamedExpr)}


@core.lower.register(gast.ListComp)
def comprehension(lo: Lowering, node, take: Callable[[Value], Any] | None = None) -> Value:
    """Lower `[f(x) for x in xs if c]` to the loop of a generator that appends each value to a new list, or passes it to `take`."""
    result, names = lo.new_list([]), Slots({FIRST: core.lower(lo, node.generators[0].iter)})
    scope = Scope(as_function(lo, node, lo.here), parent=lo.scope, names=names, homes=walrus_homes(lo, node))
    scope.consume = take or (lambda value: sequences.append(lo, result, value, node))
    with lo.in_scope(scope):
        core.lower_statements(lo, scope.source.node.body)
    return result


core.lower.register(gast.SetComp)(lambda lo, node: sets.made(lo, comprehension(lo, node), node))
