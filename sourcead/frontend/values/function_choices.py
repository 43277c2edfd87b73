"""Lower the choice of a function at run time among functions that are known while compiling.

    f = fs[i % 2];  f(x)          if i % 2 == 0: fs[0](x)  else: fs[1](x)
    f = g if c else h;  f(x)      if which == 0: g(x)  else: h(x)

The generated code carries the index of the chosen function; a call becomes a branch over the candidates.
"""

from __future__ import annotations

import operator
from typing import Any

from sourcead.frontend import core
from sourcead.frontend.control import branches
from sourcead.frontend.control.branches import RAISED
from sourcead.frontend.core import ChoiceVal, Lowering, Value
from sourcead.ir.nodes import Call, Const, Effect, Stmt
from sourcead.ir.types import BOOL, INT


def by_index(lo: Lowering, items: list[Value], key: Value) -> Value:
    """Lower `functions[key]` for an index that is not known while compiling."""
    which, n = lo.read(key), len(items)
    match lo.build.made_by.get(which):
        case Call(operator.mod, (_, Const(value))) if value == n:
            pass
        case _:
            inside = lo.build.index(lo.build.call(range, Const(n)), which)  # raises the same error as the subscript
            which = lo.build.call(int, inside, type=INT, name="which")
    return ChoiceVal(which, dict(enumerate(items[:-1])), items[-1])


def by_key(lo: Lowering, items: dict[Any, Value], key: Value, otherwise: Value | None) -> Value:
    """Lower `functions[key]` for a dict and a key that is not known while compiling."""
    return ChoiceVal(lo.read(key), dict(items), otherwise)


@core.call.register(ChoiceVal)
def call(lo: Lowering, fn: ChoiceVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of the chosen function as a branch over all candidates."""
    options = list(fn.options.items())

    def try_from(k: int) -> Any:
        if k == len(options):
            if fn.otherwise is not None:
                return core.call(lo, fn.otherwise, args, dict(kwargs), node)
            lo.build.add(Stmt((), Effect("raise", (lo.build.call(KeyError, fn.which),))))
            return RAISED
        name, function = options[k]
        same = lo.build.call(operator.eq, fn.which, Const(name), type=BOOL)
        return branches.branch(lo, same, [lambda: core.call(lo, function, args, dict(kwargs), node), lambda: try_from(k + 1)])

    result = try_from(0)
    if result is RAISED:
        raise core.unsupported(lo, node, "every function that may be called here raises")
    return result
