"""Dict comprehensions: `{k: f(v) for k, v in items if c}` where the keys and conditions are known."""

from __future__ import annotations

from typing import Any

import gast

from sourcead.frontend import expressions, iteration
from sourcead.frontend.context import Lowering
from sourcead.frontend.values import MISSING, Value


def lower_dictcomp(lo: Lowering, node: gast.DictComp) -> Value:
    """The dict of a comprehension whose keys are known before the program runs."""
    from sourcead.frontend.statements import assign

    items: dict[Any, Value] = {}

    def nest(generators) -> None:
        if not generators:
            found, key = expressions.known(lo, expressions.lower(lo, node.key))
            if not found:
                raise expressions.unsupported(
                    lo, node, "a dict key that is not known before the program runs", "use a list, or constant keys"
                )
            items[key] = expressions.lower(lo, node.value)
            return
        g, *rest = generators
        iterable = iteration.iterate(lo, expressions.lower(lo, g.iter), node)
        if iterable.items is None:
            raise expressions.unsupported(
                lo,
                node,
                "a dict whose number of keys is not known before the program runs",
                "use a list, or constant keys",
            )
        for item in iterable.items:
            assign(lo, g.target, item)
            verdicts = [expressions.truth(lo, expressions.lower(lo, test)) for test in g.ifs]
            if None in verdicts:
                raise expressions.unsupported(lo, node, "a dict whose keys depend on a condition that is not known before the program runs")
            if all(verdicts):
                nest(rest)

    shadowed = {n.id for g in node.generators for n in gast.walk(g.target) if isinstance(n, gast.Name)}
    before = {name: lo.scope.names.get(name, MISSING) for name in shadowed}
    nest(node.generators)
    for name, value in before.items():
        lo.set(lo.scope.names, name, value)
    return lo.new_dict(items)
