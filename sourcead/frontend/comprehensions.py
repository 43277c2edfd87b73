"""Dict comprehensions: `{k: f(v) for k, v in items if c}` is the loop that stores."""

from __future__ import annotations

import gast

from sourcead.frontend.context import Lowering
from sourcead.frontend.values import Value


def lower_dictcomp(lo: Lowering, node: gast.DictComp) -> Value:
    """The dict of a comprehension."""
    from sourcead.frontend import statements

    made = lo.new_dict({})

    def take(pair: Value) -> None:
        key, value = pair.items
        statements.store(lo, made, key, value, node)

    pairs = gast.ListComp(gast.Tuple([node.key, node.value], gast.Load()), node.generators)
    pairs.stands_for = node
    statements.comprehension(lo, pairs, take)
    return made
