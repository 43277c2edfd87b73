"""Lower calls of Python objects that have no handler: inline their source, or keep the call in the generated code.

The kinds of callables and their order are listed in `core/operations.py`.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.errors import NoSourceError
from sourcead.frontend import core
from sourcead.frontend.control import inlining
from sourcead.frontend.core import Lowering, Value, roots
from sourcead.frontend.find_source import find_source, unwrap
from sourcead.ir.nodes import Atom, Call
from sourcead.ir.type_of import GENERATORS
from sourcead.ir.types import UNKNOWN, Foreign, is_array
from sourcead.ir.walk import map_operand
from sourcead.primitives.table import missing_rule

SPEAKERS = ("warnings", "logging")  # modules whose functions report to the user and return nothing
SEES_EVERYTHING = frozenset({eval, exec, locals, globals, vars, dir, getattr, setattr, delattr, open, input, iter, next, id, compile})


@core.kind_of_callable("partial", lambda fn: isinstance(fn, functools.partial))
def call_partial(lo: Lowering, fn: functools.partial, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a `functools.partial` object that exists before the differentiated function is called."""
    named = {k: core.as_value(lo, v) for k, v in fn.keywords.items()}
    return core.call_object(lo, fn.func, [core.as_value(lo, v) for v in fn.args] + args, {**named, **kwargs}, node)


@core.kind_of_callable("function", lambda fn: isinstance(unwrap(fn)[0], types.FunctionType))
def call_function(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a Python function, a method or an object with `__call__`."""
    plain, bound_args, bound_kwargs = unwrap(fn)
    if core.has_rule(plain):
        return core.call_library(lo, plain, args, kwargs, node)
    try:
        source = find_source(fn)
    except NoSourceError:
        return call_opaque(lo, fn, args, kwargs, node)
    args = [core.as_value(lo, v) for v in bound_args] + args
    kwargs = {**{k: core.as_value(lo, v) for k, v in bound_kwargs.items()}, **kwargs}
    return inlining.call_source(lo, source, args, kwargs, node)


@core.kind_of_callable("speaker", lambda fn: getattr(unwrap(fn)[0], "__module__", None) in SPEAKERS)
@core.kind_of_callable("opaque", lambda fn: True)
def call_opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Emit a call of a function that has neither source nor rule, provided that no derivative can pass through it."""
    if isinstance(fn, types.BuiltinFunctionType | type) and fn in SEES_EVERYTHING:
        raise core.unsupported(
            lo, node, f"what `{fn.__name__}` reads or changes cannot be seen in the source", "write out what it does"
        )
    operands = [lo.operand(a) for a in args]
    named = {k: lo.operand(v) for k, v in kwargs.items()}
    if lo.steering is None and any(map(core.passes_derivative, [*operands, *named.values()])):
        raise missing_rule(fn, lo.origin(node))
    if lo.steering is not None:  # nothing is differentiated here; the call must not keep the memory of a cotangent
        operands = [map_operand(o, lambda a: own_memory(lo, a)) for o in operands]
        named = {k: map_operand(o, lambda a: own_memory(lo, a)) for k, o in named.items()}
    effect = not (isinstance(fn, type) and issubclass(fn, BaseException))
    t = Foreign(fn) if fn in GENERATORS else UNKNOWN
    var = lo.build.emit(Call(fn, tuple(operands), tuple(named.items()), effect=effect), t, "value")
    return lo.wrap(var, shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def own_memory(lo: Lowering, atom: Atom) -> Atom:
    """Copy an array, so that nothing else shares its memory; return any other value itself."""
    return lo.build.call(np.ndarray.copy, atom) if is_array(atom_type(atom)) else atom
