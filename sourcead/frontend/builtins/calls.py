"""TODO"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import NoRuleError
from sourcead.frontend import core
from sourcead.frontend.builtins import combinators as lowering, compositions, stop_gradient
from sourcead.frontend.builtins.checkpoint import CLASSES, lower_checkpoint, lower_policy
from sourcead.frontend.core import Lowering, Value, roots
from sourcead.ir.nodes import Atom, Call, map_operand
from sourcead.ir.types import GENERATORS, UNKNOWN, Foreign, is_array
from sourcead.language import combinators
from sourcead.language.checkpoints import checkpoint
from sourcead.primitives.compositions import number_kind, refuse

SPEAKERS = ("warnings", "logging")  # modules that talk to the user and return nothing


SEES_EVERYTHING = frozenset({eval, exec, locals, globals, vars, dir, getattr, setattr, delattr, open, input, iter, next, id, compile})


def opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of what has neither source nor rule: fine as long as no derivative can pass through it."""
    if isinstance(fn, types.BuiltinFunctionType | type) and fn in SEES_EVERYTHING:
        raise core.unsupported(
            lo, node, f"what `{fn.__name__}` reads or changes cannot be seen in the source", "write out what it does"
        )
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    for operand in [*operands, *named.values()]:
        if core.passes_derivative(operand) and lo.steering is None:
            raise NoRuleError.of(fn, lo.origin(node))
    if lo.steering is not None:  # nothing is differentiated; what the call keeps must not be the memory of a cotangent
        operands = [map_operand(o, lambda a: own_memory(lo, a)) for o in operands]
        named = {k: map_operand(o, lambda a: own_memory(lo, a)) for k, o in named.items()}
    const = fn
    effect = not (isinstance(fn, type) and issubclass(fn, BaseException))
    t = Foreign(fn) if fn in GENERATORS else UNKNOWN
    var = lo.build.emit(Call(const, tuple(operands), tuple(named.items()), effect=effect), t, "value")
    return lo.wrap(var, shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def own_memory(lo: Lowering, atom: Atom) -> Atom:
    """An array's copy; any other value itself."""
    return lo.build.call(np.ndarray.copy, atom) if is_array(atom_type(atom)) else atom


def lower_combinator(name: str):
    def handler(lo, args, kwargs, node):
        return getattr(lowering, f"lower_{name}")(lo, args, kwargs, node)

    return handler


def policy_handler(cls, lo, args, kwargs, node):
    return lower_policy(lo, cls, args, kwargs, node)


COMBINATORS = {
    checkpoint: lower_checkpoint, **{cls: functools.partial(policy_handler, cls) for cls in CLASSES},
    combinators.map: lower_combinator("map"), combinators.reduce: lower_combinator("reduce"),
    combinators.scan: lower_combinator("scan"), combinators.together: lower_combinator("together"),
    refuse: compositions.lower_refuse,
    number_kind: compositions.lower_number_kind, stop_gradient: stop_gradient.lower_stop_gradient,
}  # fmt: skip
