"""Lower `operator.itemgetter`, `attrgetter` and `methodcaller` like the lambdas that they are equivalent to."""

from __future__ import annotations

import operator
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.core import BoundVal, Lowering, TupleVal, Value
from sourcead.ir.nodes import Const

GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def item_of(key, x):
    return x[key]


def items_of(keys, x):
    return tuple(x[key] for key in keys)


def attribute_of(name, x):
    return getattr(x, name)


def attributes_of(names, x):
    return tuple(getattr(x, name) for name in names)


def called_on(method, args, kwargs, x):
    return getattr(x, method)(*args, **kwargs)


def of_one_or_many(one, many):
    """Make the handler of a getter of one item (`one`) or of a tuple of several (`many`)."""

    def handler(lo: Lowering, args: list[Value], kwargs, node) -> Value:
        return BoundVal(Const(one), tuple(args)) if len(args) == 1 else BoundVal(Const(many), (TupleVal(tuple(args)),))

    return handler


@core.builtin(operator.methodcaller)
def builtin_methodcaller(lo: Lowering, args: list[Value], kwargs, node) -> Value:
    """Lower `operator.methodcaller("reshape", -1)`."""
    return BoundVal(Const(called_on), (args[0], TupleVal(tuple(args[1:])), lo.new_dict(kwargs)))


@core.kind_of_callable("getter", lambda fn: isinstance(fn, GETTERS))
def call_getter(lo: Lowering, fn: Any, args: list[Value], kwargs, node) -> Value:
    """Lower a call of a getter that was made outside the function being lowered."""
    make, given, *rest = fn.__reduce__()
    if not isinstance(make, type):  # a `methodcaller` with keywords reduces to a partial
        make, kwargs = make.func, {**{k: Const(v) for k, v in make.keywords.items()}, **kwargs}
        return core.call(lo, builtin_methodcaller(lo, [Const(v) for v in given], kwargs, node), args, {}, node)
    return core.call(lo, core.BUILTINS[make](lo, [Const(v) for v in given], {}, node), args, kwargs, node)


core.builtin(operator.itemgetter)(of_one_or_many(item_of, items_of))
core.builtin(operator.attrgetter)(of_one_or_many(attribute_of, attributes_of))
