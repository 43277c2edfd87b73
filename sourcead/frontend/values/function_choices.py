"""Functions that are chosen while the program runs, among those known while compiling.

    f = fs[i % 2];  f(x)          if i % 2 == 0: fs[0](x)  else: fs[1](x)
    f = g if c else h;  f(x)      if which == 0: g(x)  else: h(x)

What is carried is which one it is; a call is a branch over them.
"""

from __future__ import annotations

import operator
from typing import Any

from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import branches as control, calls, expressions
from sourcead.frontend.values.cells import BoundVal, ChoiceVal, FunctionVal, Value
from sourcead.ir.nodes import Call, Const, Effect, Stmt
from sourcead.ir.types import BOOL, INT


def is_function(value: Any) -> bool:
    """Whether a value is a function known while compiling, or one of several."""
    if isinstance(value, Const):
        return not value.live and callable(value.value)
    return isinstance(value, (FunctionVal, BoundVal, ChoiceVal))


def by_index(lo: Lowering, items: list[Value], key: Value) -> Value:
    """`functions[key]` for an index that is not known."""
    which, n = lo.read(key), len(items)
    match lo.build.made_by.get(which):
        case Call(operator.mod, (_, Const(value))) if value == n:
            pass
        case _:
            inside = lo.build.index(lo.build.call(range, Const(n)), which)  # raises what the subscript would
            which = lo.build.call(int, inside, type=INT, name="which")
    return ChoiceVal(which, dict(enumerate(items[:-1])), items[-1])


def by_key(lo: Lowering, items: dict[Any, Value], key: Value, otherwise: Value | None) -> Value:
    """`functions[key]` for a dict and a key that is not known."""
    return ChoiceVal(lo.read(key), dict(items), otherwise)


def call(lo: Lowering, fn: ChoiceVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of the function that was chosen."""
    options = list(fn.options.items())

    def try_from(k: int) -> Any:
        if k == len(options):
            if fn.otherwise is not None:
                return calls.call(lo, fn.otherwise, args, dict(kwargs), node)
            lo.build.add(Stmt((), Effect("raise", (lo.build.call(KeyError, fn.which),))))
            return control.RAISED
        name, function = options[k]
        same = lo.build.call(operator.eq, fn.which, Const(name), type=BOOL)
        return control.branch(lo, same, [lambda: calls.call(lo, function, args, dict(kwargs), node), lambda: try_from(k + 1)])

    result = try_from(0)
    if result is control.RAISED:
        raise expressions.unsupported(lo, node, "every function that may be called here raises")
    return result


def outlives(lo: Lowering, fn: Value) -> bool:
    """Whether a function that was made in an arm of a branch needs nothing that is out of sight after it."""
    match fn:
        case FunctionVal(_, scope, defaults):
            around = lo.scope
            while around is not None and around is not scope:
                around = around.parent
            return around is scope and all(isinstance(v, Const) for v in defaults.values())
        case BoundVal(function, args, kwargs):
            inner = outlives(lo, function) if isinstance(function, (FunctionVal, BoundVal)) else True
            return inner and all(isinstance(v, Const) for v in (*args, *kwargs.values()))
    return isinstance(fn, Const)
