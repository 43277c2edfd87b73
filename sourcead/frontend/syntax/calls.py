"""Lower calls: the callee and the arguments."""

import gast

from sourcead.frontend import core
from sourcead.frontend.control import inlining
from sourcead.frontend.core import Cell, FunctionVal, Held, Iterable, Lowering, Value
from sourcead.frontend.syntax import comprehensions, expressions
from sourcead.frontend.values import lists, sequences
from sourcead.ir.nodes import Const


@core.lower.register(gast.Call)
def lower_call(lo: Lowering, node: gast.Call) -> Value:
    """Lower `f(*args, **kwargs)`."""
    fn = core.lower(lo, node.func)
    if (whole := starred_list(lo, fn, node)) is not None:
        return whole
    args = node.args
    if isinstance(fn, Const) and fn.value is sum and args and isinstance(args[0], gast.GeneratorExp | gast.ListComp):  # makes no list
        args = [Held(comprehensions.lower_generator(lo, args[0], lo.here)), *args[1:]]
    return core.call(lo, fn, expressions.elements(lo, args), keywords(lo, node), node)


def starred_list(lo: Lowering, fn: Value, node: gast.Call) -> Value | None:
    """Lower `f(*xs)` for a list or array of unknown length if `f` supports it; return None for any other call."""
    if len(node.args) != 1 or not isinstance(node.args[0], gast.Starred):
        return None
    value = sequences.taken(lo, core.lower(lo, node.args[0].value), node)
    if core.has_countable_items(lo, value) and not (isinstance(value, Iterable) and value.items is None):
        return core.call(lo, fn, sequences.static_items(lo, value, node), keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value in (max, min):
        return core.call(lo, fn, [value], keywords(lo, node), node)
    if isinstance(fn, Const) and fn.value is zip and isinstance(value, Cell) and value.kind == "array":
        return lists.transposed(lo, value, node)
    if isinstance(fn, FunctionVal):
        a = fn.source.node.args
        if a.vararg is not None and not a.args and not a.posonlyargs:
            rest = lists.as_list(lo, value, node)
            return inlining.inline(lo, fn, [], keywords(lo, node), node, rest)
    return None


def keywords(lo: Lowering, node: gast.Call) -> dict[str, Value]:
    """Lower the keyword arguments of a call."""
    found: dict[str, Value] = {}
    for k in node.keywords:
        found.update(expressions.spread(lo, k.value, node) if k.arg is None else {k.arg: core.lower(lo, k.value)})
    return found
