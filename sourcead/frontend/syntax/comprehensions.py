"""Comprehensions are loops: that of a list appends, that of a dict stores, `sum(f(x) for x in xs)` adds."""

from __future__ import annotations

import functools

import gast

from sourcead.frontend.builtins import functions as builtin_functions
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import assignment, branches as control, expressions, iteration, loops
from sourcead.frontend.syntax.expressions import lower
from sourcead.frontend.values import methods
from sourcead.frontend.values.cells import MISSING, Value
from sourcead.ir.nodes import Const


def lower_dictcomp(lo: Lowering, node: gast.DictComp) -> Value:
    """The dict of a comprehension."""
    made = lo.new_dict({})

    def take(pair: Value) -> None:
        key, value = pair.items
        assignment.store(lo, made, key, value, node)

    pairs = gast.ListComp(gast.Tuple([node.key, node.value], gast.Load()), node.generators)
    pairs.stands_for = node
    comprehension(lo, pairs, take)
    return made


def comprehension(lo: Lowering, node, take=None) -> Value:
    """`[f(x) for x in xs if c]`: the loop that appends to an empty list, or does with each value what `take` does."""
    result = lo.new_list([])
    take = take or (lambda value: methods.append(lo, result, value, node))

    def nest(generators):
        if not generators:
            take(lower(lo, node.elt))
            return None
        g, *rest = generators
        iterable = iteration.iterate(lo, lower(lo, g.iter), node)

        def body():
            tests = list(g.ifs)

            def guarded(tests):
                if not tests:
                    return nest(rest)
                test = lower(lo, tests[0])
                verdict = expressions.truth(lo, test)
                if verdict is None:
                    control.branch(lo, lo.read(test), [lambda: guarded(tests[1:]), lambda: None])
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
        loops.run_loop(lo, loops.ForLike(g.target, [gast.Expr(node.elt)]), iterable, bind, body)
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
    comprehension(lo, node, lambda value: lo.set(names, "$total", builtin_functions.plus(lo, names["$total"], value)))
    result = names["$total"]
    lo.set(names, "$total", outer)
    return result
