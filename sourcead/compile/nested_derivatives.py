"""Derivatives taken inside a function that is lowered: `grad(f)(x)`, `value, pullback = vjp(f, x)`, `jvp(f, (x,), (t_x,))`.

`f` is lowered in place with new variables for its arguments, which gives a block of statements over these variables and over all that
`f` reads of the function around it. The block is differentiated like a function, and the statements of its derivative take the place
of the call. Derivatives of derivatives need nothing more: `grad(grad(f))` is the gradient of a function that calls `grad(f)`.

`language/transformations.py` lists the public functions that are recognised.
"""

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.ad.forward.pushforward import pushforward
from sourcead.ad.gradient import Form, differentiate
from sourcead.analysis.builder import atom_type
from sourcead.compile.nested_calls import (
    ActiveCall, PullbackVal, Taken, constant, direction, parameters, placed, places, taken, wrapped
)
from sourcead.compile.nested_members import made_mapped
from sourcead.errors import WrtError
from sourcead.frontend import core
from sourcead.frontend.control.inlining import call_source
from sourcead.frontend.core import BoundVal, Lowering, TupleVal, Value
from sourcead.frontend.find_source import Opaque, find_source
from sourcead.frontend.values import sequences
from sourcead.ir.nodes import Closure, Const, Let, Stmt, Var
from sourcead.ir.types import Opaque as OpaqueT, Scalar
from sourcead.ir.walk import copied
from sourcead.language.transformations import KINDS, Described
from sourcead.places.spelling import counted


def takes_derivatives(fn: Any) -> bool:
    """Return whether `fn` is a public function that takes derivatives, such as `grad`, or an object (bound or not) that one returned."""
    try:
        return isinstance(getattr(fn, "__func__", fn), Opaque) or fn in KINDS
    except TypeError:  # not hashable
        return False


@core.kind_of_callable("derivative", takes_derivatives)
def call_transformation(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of `grad`, `vjp` or another public function, or of an object that one of them returned."""
    if isinstance(fn, types.MethodType):
        return call_transformation(lo, fn.__func__, [core.as_value(lo, fn.__self__), *args], kwargs, node)
    known = tuple([v.value for v in args[:1] if isinstance(v, Const)])
    described = fn.described(known) if isinstance(fn, Opaque) else None
    if described is not None:
        return core.call(lo, bound_derivative(lo, described), args, kwargs, node)
    kind = KINDS.get(fn)
    if kind == "vjp call" and args:
        return lower_vjp(lo, args, kwargs, node)
    if kind == "jvp call" and len(args) == 3 and not kwargs:
        return lower_jvp(lo, *args, node)
    if kind == "vmap" and args:
        return made_mapped(lo, args, kwargs, node)
    if kind == "function call":
        return lower_function(lo, *args, node)
    if kind is None or kind.endswith(" call"):
        raise core.unsupported(
            lo, node, f"`{getattr(fn, '__name__', fn)}` inside a function that is differentiated",
            "`vjp` or `jvp` of the unit vectors in a loop",
        )  # fmt: skip
    return made(lo, kind, args, kwargs, node)


def bound_derivative(lo: Lowering, described: Described) -> BoundVal:
    """Return the value that stands for a derivative which was made outside of the function being lowered."""
    value = replace(described, function=core.as_value(lo, described.function), bound_args=(), bound_kwargs={})
    args = tuple(core.as_value(lo, v) for v in described.bound_args)
    return BoundVal(value, args, {k: core.as_value(lo, v) for k, v in described.bound_kwargs.items()})


def made(lo: Lowering, kind: str, args: list[Value], kwargs: dict[str, Value], node) -> Described:
    """Lower a call such as `grad(f, wrt, has_aux=...)` to a derivative that has not been called yet."""
    options = dict(kwargs)
    if len(args) > 1:
        options["wrt"] = args[1]
    wrt, has_aux = constant(lo, options.pop("wrt", Const(0)), node), constant(lo, options.pop("has_aux", Const(False)), node)
    for name, value in options.items():
        if name == "mode" and kind == "jacobian" and constant(lo, value, node) in ("auto", "forward"):
            continue
        if name in ("backend", "readable"):  # those of the function around apply
            continue
        if name != "checkpoint" or constant(lo, value, node) != "auto":
            raise core.unsupported(lo, node, f"the option `{name}` of a derivative that is taken inside a function")
    if not args or len(args) > 2:
        raise core.unsupported(lo, node, "a derivative without its function, as a decorator", "`grad(f)`")
    return Described(kind, args[0], wrt, has_aux)


@core.call.register(Described)
def lower_derivative(lo: Lowering, value: Described, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of the value of `grad(f)`, `pushforward(f)`, `jacobian(f)` and the like."""
    if value.kind == "hvp":
        gradient = Described("grad", value.function, value.wrt)
        ts = args[-1].items if isinstance(value.wrt, tuple) and isinstance(args[-1], TupleVal) else args[-1:]
        at = places(lo, value, value.wrt, args[:-1], kwargs, node)
        return push(lo, ActiveCall(gradient, at, args[:-1], kwargs, node), list(ts), False)
    at = places(lo, value, value.wrt, args, kwargs, node)
    if value.kind in ("jvp", "tangent"):
        names = dict(enumerate(parameters(lo, value, node)))
        ts, named = [], dict(kwargs)
        for k, place in enumerate(at):
            name = f"t_{place if isinstance(place, str) else names.get(place, place)}"
            ts.append(named.pop(name) if name in named else args[len(args) - len(at) + k])
        given = args if len(named) < len(kwargs) else args[: len(args) - len(at)]
        return push(lo, ActiveCall(value.function, at, given, named, node), ts, value.kind == "jvp")
    if value.kind in ("jacobian", "hessian"):
        return lower_columns(lo, value, at, args, kwargs, node)
    call = taken(lo, ActiveCall(value.function, at, args, kwargs, node))
    single = not isinstance(value.wrt, tuple)
    if value.kind == "vjp":
        return pulled(lo, call, single)
    function, _ = differentiate(call.lowered, tuple(call.lowered.params), Form(value.kind, value.has_aux, single), closures=False)
    placed(lo, function.body.stmts)
    return wrapped(lo, function.body.results)


def lower_columns(lo: Lowering, value: Described, at: list, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `jacobian(f)(x)` or `hessian(f)(x)` to a loop over the unit tangents, which computes one column in each iteration."""

    def block(fn: Value, place) -> Value:
        x = kwargs[place] if isinstance(place, str) else args[place]
        column = BoundVal(Described("tangent", fn, place), tuple(args), dict(kwargs))
        if isinstance(atom_type(lo.read(x)), Scalar):
            return core.call(lo, column, [Const(1.0)], {}, node)
        return call_source(lo, find_source(by_columns), [column, x], {}, node)

    def row(fn: Value) -> Value:
        blocks = tuple(block(fn, place) for place in at)
        return TupleVal(blocks) if isinstance(value.wrt, tuple) else blocks[0]

    if value.kind == "jacobian":
        return row(value.function)
    rows = tuple(row(Described("grad", value.function, place)) for place in at)
    return TupleVal(rows) if isinstance(value.wrt, tuple) else rows[0]


def by_columns(column: Callable, x: Any) -> Any:
    """Return the Jacobian with the columns `column(t)` for the unit tangents `t` of `x`; this function is lowered, not called."""
    columns = []
    for unit in np.eye(x.size, dtype=x.dtype):
        columns.append(column(np.reshape(unit, x.shape)))
    return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + x.shape)


def push(lo: Lowering, active: ActiveCall, tangents: list[Value], value_too: bool) -> Value:
    """Lower the tangent of a call in forward mode, after the call's value if `value_too` is true."""
    if len(tangents) != len(active.at):
        raise WrtError(f"{counted(len(active.at), 'tangent')} must be given, and {len(tangents)} are", at=lo.here)
    call = taken(lo, active)
    function = pushforward(call.lowered, {k: f"t_{x.name}" for k, x in call.lowered.params.items()}, value_too, closures=False)
    params = function.params[len(function.params) - len(tangents) :]
    for x, param, t in zip(call.inputs, params, tangents):
        lo.build.add(Stmt((param,), Let(direction(lo, x, t))))
        param.temp = True
    placed(lo, function.body.stmts)
    return wrapped(lo, function.body.results)


def lower_jvp(lo: Lowering, fn: Value, args: Value, tangents: Value, node) -> Value:
    """Lower `jvp(f, args, tangents)`."""
    values, ts = sequences.static_items(lo, args, node), sequences.static_items(lo, tangents, node)
    if len(values) != len(ts):
        raise WrtError(f"jvp is given {counted(len(values), 'argument')} and {counted(len(ts), 'tangent')}", at=lo.here)
    at = [k for k, t in enumerate(ts) if not (isinstance(t, Const) and t.value is None)]
    return push(lo, ActiveCall(fn, at, values, {}, node), [ts[k] for k in at], True)


def lower_function(lo: Lowering, fn: Value, args: Value, node) -> Value:
    """Lower `python_function(f, args)` to a nested function of the text, whose results are constants for derivatives."""
    values = sequences.static_items(lo, args, node)
    call = taken(lo, ActiveCall(fn, list(range(len(values))), values, {}, node))
    if call.lowered.written:
        raise core.unsupported(lo, node, "a function that a solver calls writes its arguments", "write into a copy")
    params = tuple(Var(x.name, x.type, True) for x in call.inputs)
    function = Var(call.lowered.function.name, OpaqueT(types.FunctionType), True)
    body = copied(call.lowered.function.body, dict(zip(call.inputs, params)))
    lo.build.add(Stmt((function,), Closure(params, body, constant=True)))
    return function


def lower_vjp(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower `vjp(f, *args, wrt=...)`."""
    fn, *values = args
    wrt = constant(lo, kwargs.get("wrt", Const(None)), node)
    if wrt is None:
        wrt = 0 if len(values) == 1 else tuple(range(len(values)))
    return lower_derivative(lo, Described("vjp", fn, wrt), values, {}, node)


def pulled(lo: Lowering, call: Taken, single: bool) -> Value:
    """Lower the forward sweep of a call; return the call's value and its pullback."""
    function, _ = differentiate(call.lowered, tuple(call.lowered.params), Form("vjp", single=single), closures=False)
    (closure,) = (s for s in function.body.stmts if s.targets and s.targets[0] is function.body.results[1])
    placed(lo, (s for s in function.body.stmts if s is not closure))
    op: Closure = closure.op
    y = function.body.results[0]
    return TupleVal((lo.wrap(y), PullbackVal(y, op.params[0], op.body, single)))


@core.call.register(PullbackVal)
def lower_pullback(lo: Lowering, value: PullbackVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call `pullback(d_y)` by a copy of the reverse sweep."""
    if len(args) != 1 or kwargs:
        raise core.unsupported(lo, node, "a pullback takes one cotangent")
    param = Var(value.param.name, value.param.type, True)
    d = direction(lo, value.param, args[0], value.y)
    lo.build.add(Stmt((param,), Let(d)))
    body = copied(value.body, {value.param: param})
    placed(lo, body.stmts)
    return wrapped(lo, body.results)
