"""Lower what follows an expression once for each of the values that it may have, where these differ in kind.

    best = max(shapes, key=area).name        place = best_place([area(shape) for shape in shapes])
                                             if place == 0: part = shapes[0]
                                             else: part = shapes[1]
                                             best = part.name

Each such expression gets an assignment of its own, whose `if` takes the statements after it into its arms (`lower_if`). This is how a
function is lowered that is refused otherwise (`Lowering.choice_differs`), since the text is longer.
"""

import gast

from sourcead.frontend import core
from sourcead.frontend.control.exits import standing_for
from sourcead.frontend.control.hoisting import hoisted
from sourcead.frontend.core import Held, Lowering, OneOf
from sourcead.frontend.syntax.expressions import named_object
from sourcead.ir.nodes import Const

CHOOSE = (max, min, sorted)


@core.with_choices_apart.register(gast.Assign, gast.AugAssign, gast.Expr, gast.Return, gast.If, gast.For, gast.Assert)
def with_choices_apart(lo: Lowering, node: gast.AST) -> list[gast.AST] | None:
    """Return the statements for one in which each choice has an assignment of its own; None if none has one yet."""

    def chooses(n: gast.AST) -> bool:
        if isinstance(n, gast.Call):
            return isinstance(n.func, gast.Name) and named_object(lo, n.func) in CHOOSE
        return isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Load) and not isinstance(n.slice, gast.Slice)

    with lo.at(node):
        if not core.chooses_here(lo):
            return None
    if not hasattr(node, "choices_apart"):  # the same variables each time that the statement is lowered
        node.choices_apart = hoisted(node, chooses, lo.scope)
    return node.choices_apart


def for_each_option(node: gast.Assign, value: OneOf) -> gast.AST:
    """Return the `if` that assigns the option that the run decides."""
    *tested, (last, otherwise) = value.options.items()
    rest = [standing_for(node, gast.Assign(node.targets, Held(otherwise), None))]
    if value.missing is not None:
        tested.append((last, otherwise))
        error = gast.Call(Held(Const(value.missing)), [Held(value.which)], [])
        rest = [standing_for(node, gast.Raise(error, None))]
    for key, option in reversed(tested):
        same = gast.Compare(Held(value.which), [gast.Eq()], [Held(Const(key))])
        rest = [standing_for(node, gast.If(same, [standing_for(node, gast.Assign(node.targets, Held(option), None))], rest))]
    return rest[0]
