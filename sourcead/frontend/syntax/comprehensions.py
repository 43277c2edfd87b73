"""Comprehensions are loops: that of a list appends, that of a dict stores, `sum(f(x) for x in xs)` adds."""

from __future__ import annotations

import functools

import gast

from sourcead.frontend import core
from sourcead.frontend.builtins import functions
from sourcead.frontend.control import branches, loops
from sourcead.frontend.control.loops import ForLike
from sourcead.frontend.core import MISSING, Flag, Lowering, Value
from sourcead.frontend.syntax import assignment
from sourcead.frontend.values import list_items
from sourcead.ir.nodes import Const


def lower_dictcomp(lo: Lowering, node: gast.DictComp) -> Value:
    """The dict of a comprehension."""
    made = lo.new_dict({})

    def take(pair: Value) -> None:
        key, value = pair.items
        core.store(lo, made, key, value, node)

    pairs = gast.ListComp(gast.Tuple([node.key, node.value], gast.Load()), node.generators)
    pairs.stands_for = node
    comprehension(lo, pairs, take)
    return made


def comprehension(lo: Lowering, node, take=None) -> Value:
    """`[f(x) for x in xs if c]`: the loop that appends to an empty list, or does with each value what `take` does."""
    result = lo.new_list([])
    take = take or (lambda value: list_items.append(lo, result, value, node))

    def nest(generators):
        if not generators:
            take(core.lower(lo, node.elt))
            return None
        g, *rest = generators
        iterable = core.iterate(lo, core.lower(lo, g.iter), node)

        def body():
            tests = list(g.ifs)

            def guarded(tests):
                if not tests:
                    return nest(rest)
                test = core.lower(lo, tests[0])
                verdict = core.truth(lo, test)
                if verdict is None:
                    branches.branch(lo, lo.read(test), [lambda: guarded(tests[1:]), lambda: None])
                elif verdict:
                    guarded(tests[1:])
                return None

            return guarded(tests)

        items = iterable.items
        if items is None and lo.apart and (places := loops.known_places(lo, iterable)) is not None:
            items = [iterable.element(Const(k)) for k in places]
        if items is not None:
            for item in items:
                assignment.assign(lo, g.target, item)
                body()
            return None
        bind = functools.partial(assignment.assign, lo, g.target)
        loops.run_loop(lo, ForLike(g.target, [gast.Expr(node.elt)]), iterable, bind, body)
        return None

    shadowed = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    before = {name: lo.scope.names.get(name, MISSING) for name in shadowed}
    nest(node.generators)
    for name, value in before.items():
        lo.set(lo.scope.names, name, value)
    return result


def summed(lo: Lowering, node, start: Value) -> Value:
    """`sum(f(x) for x in xs)`: the loop that adds, without a list."""
    names = lo.scope.names
    outer = names.get("$total", MISSING)
    lo.set(names, "$total", start)
    comprehension(lo, node, lambda value: lo.set(names, "$total", functions.plus(lo, names["$total"], value)))
    result = names["$total"]
    lo.set(names, "$total", outer)
    return result


def lower_yield(lo: Lowering, node) -> Value | None:
    """`yield value` as a statement."""
    consume = getattr(lo.scope, "consume", None)
    if consume is None:
        raise core.unsupported(lo, node, f"`{lo.scope.source.name}` is a generator", "return a list")
    return consume(Const(None) if node.value is None else core.lower(lo, node.value))


def search(lo: Lowering, call: gast.Call) -> Value:
    """`next((f(x) for x in xs if c), default)`: the loop that is left at the first one."""
    if not hasattr(call, "as_search"):
        call.as_search = _search_loop(call)
    loop, name = call.as_search
    names = lo.scope.names
    shadowed = {n.id for n in gast.walk(loop.target) if isinstance(n, gast.Name)} | {name}
    before = {n: names.get(n, MISSING) for n in shadowed}
    core.lower_statements(lo, [loop])
    result = core.resolve(lo, name)
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
