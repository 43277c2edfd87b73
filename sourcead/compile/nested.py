"""Derivatives taken inside a function that is lowered: `grad(f)(x)`, `value, pullback = vjp(f, x)`, `jvp(f, (x,), (t_x,))`.

`f` is lowered in place, of new variables that stand for its arguments; what it computes is then a block of statements over
these and over whatever `f` reads of the function around it.  The block is differentiated like a function, and takes its place
among the statements.  The derivative of a derivative is this again: `grad(grad(f))` is the gradient of a function that calls
`grad(f)`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.ad.forward.pushforward import pushforward
from sourcead.ad.gradient import Form, differentiate
from sourcead.analysis.builder import atom_type
from sourcead.errors import UnsupportedSyntaxError, WrtError
from sourcead.frontend.core import Lowering
from sourcead.frontend.lower import Lowered
from sourcead.frontend.source import Opaque, find_source, own_signature, unwrap
from sourcead.frontend.syntax import calls, expressions, inlining
from sourcead.frontend.values import sequences
from sourcead.frontend.values.cells import (
    POISON, BoundVal, Cell, FunctionVal, TupleVal, Value, leaves, next_birth, roots
)
from sourcead.ir.nodes import Atom, Block, Call, Closure, Const, Effect, Function, Let, Stmt, Var
from sourcead.ir.types import Array, Scalar, as_float, carries_derivative, dims_of, tangent_type
from sourcead.ir.walk import copied, free_vars

FUNCTIONS: dict[Any, str] = {}  # the functions that take derivatives -> the kind of these


def known_inside(kind: str) -> Callable[[Callable], Callable]:
    """Return a decorator for a function that takes derivatives and may be called in functions that are differentiated."""

    def register(function: Callable) -> Callable:
        FUNCTIONS[function] = kind
        return function

    return register


@dataclass(frozen=True, eq=False)
class Description:
    """What an object that `grad` and similar functions return is the derivative of; its method `description` returns this.

    Attributes:
        kind: as of `DerivativeVal`.
        function: the function that is differentiated.
        wrt: the position or name of a parameter, or a tuple of them.
        has_aux: whether the function returns an auxiliary result beside the value.
        names: the function's parameters, where they are known.
        args, kwargs: arguments that were given before.
    """

    kind: str
    function: Any
    wrt: Any
    has_aux: bool = False
    names: tuple[str, ...] | None = None
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class DerivativeVal:
    """What `grad(f)` and kin return.

    `kind`: as of `Gradient`; "hvp" takes the tangent last. `names`: the function's parameters, where they are known.
    """

    kind: str
    function: Value
    wrt: Any = 0
    has_aux: bool = False
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class PullbackVal:
    """What `vjp` returns beside the value: the reverse sweep, over what the forward sweep has computed."""

    param: Var
    body: Block
    single: bool


def takes_derivatives(fn: Any) -> bool:
    """Return whether a callee is one of sourcead's own functions, or what one of them returned."""
    if isinstance(fn, (Opaque, DerivativeVal, PullbackVal)):
        return True
    return isinstance(fn, Hashable) and fn in FUNCTIONS


def lower_object(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of one of sourcead's own functions, or of what one of them returned."""
    if isinstance(fn, DerivativeVal):
        return lower_derivative(lo, fn, args, kwargs, node)
    if isinstance(fn, PullbackVal):
        return lower_pullback(lo, fn, args, kwargs, node)
    if isinstance(fn, Opaque):
        of = fn.description()
        value = DerivativeVal(of.kind, calls.as_value(lo, of.function), of.wrt, of.has_aux, of.names)
        bound = [calls.as_value(lo, v) for v in of.args]
        named = {k: calls.as_value(lo, v) for k, v in of.kwargs.items()}
        return lower_derivative(lo, value, [*bound, *args], {**named, **kwargs}, node)
    kind = FUNCTIONS[fn]
    if kind == "pullback" and args:
        return lower_vjp(lo, args, kwargs, node)
    if kind == "product" and len(args) == 3 and not kwargs:
        return lower_jvp(lo, *args, node)
    if kind not in ("pullback", "product"):
        return made(lo, kind, args, kwargs, node)
    raise expressions.unsupported(
        lo, node, f"`{getattr(fn, '__name__', fn)}` inside a function that is differentiated",
        "`vjp` or `jvp` of the unit vectors in a loop",
    )  # fmt: skip


def made(lo: Lowering, kind: str, args: list[Value], kwargs: dict[str, Value], node) -> DerivativeVal:
    """`grad(f, wrt, has_aux=...)`."""
    options = dict(kwargs)
    if len(args) > 1:
        options["wrt"] = args[1]
    wrt, has_aux = static(lo, options.pop("wrt", Const(0)), node), static(lo, options.pop("has_aux", Const(False)), node)
    for name, value in options.items():
        if name == "mode" and kind == "jacobian" and static(lo, value, node) in ("auto", "forward"):
            continue
        if name == "backend":  # that of the function around it
            continue
        if name != "checkpoint" or static(lo, value, node) != "auto":
            raise expressions.unsupported(lo, node, f"the option `{name}` of a derivative that is taken inside a function")
    if not args or len(args) > 2:
        raise expressions.unsupported(lo, node, "a derivative without its function, as a decorator", "`grad(f)`")
    return DerivativeVal(kind, args[0], wrt, has_aux)


def static(lo: Lowering, value: Value, node) -> Any:
    """A value that must be known while compiling."""
    if isinstance(value, TupleVal):
        return tuple(static(lo, item, node) for item in value.items)
    if isinstance(value, Cell) and value.kind == "list":
        return tuple(static(lo, item, node) for item in value.items.values())
    if isinstance(value, Const) and not value.live:
        return value.value
    raise expressions.unsupported(lo, node, "what a derivative is taken of, or with respect to, is not known before the program runs")


# ---- which arguments ----


def parameters(lo: Lowering, fn: Value, node) -> list[str]:
    """The names of the parameters that a function takes, as far as they have one."""
    match fn:
        case FunctionVal(source):
            return [a.id for a in (*source.node.args.posonlyargs, *source.node.args.args, *source.node.args.kwonlyargs)]
        case DerivativeVal(function=function, names=names):
            return parameters(lo, function, node) if names is None else list(names)
        case BoundVal(function, args, kwargs):
            inner = function if isinstance(function, (*calls.VALUES, DerivativeVal)) else Const(function)
            return [n for n in parameters(lo, inner, node)[len(args) :] if n not in kwargs]
        case Const(function, _, False) if isinstance(function, Opaque):
            return plain_names(function.signature)[len(function._bound_args) :] if hasattr(function, "signature") else []
        case Const(function, _, False):
            plain, bound_args, bound_kwargs = unwrap(function)
            try:
                names = plain_names(own_signature(find_source(plain).function))
            except Exception:  # built in: its arguments have positions only
                return []
            return [n for n in names[len(bound_args) :] if n not in bound_kwargs]
    raise expressions.unsupported(lo, node, "the function that is differentiated here is not known before the program runs")


def plain_names(signature: inspect.Signature) -> list[str]:
    """The parameters that take one argument each."""
    return [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def places(lo: Lowering, fn: Value, wrt: Any, args: list[Value], kwargs: dict[str, Value], node) -> list[int | str]:
    """Where among the arguments of a call those in wrt stand."""
    found: list[int | str] = []
    names = parameters(lo, fn, node)
    for item in wrt if isinstance(wrt, tuple) else (wrt,):
        place = item
        if isinstance(item, str):
            place = names.index(item) if item in names and names.index(item) < len(args) else item
        elif isinstance(item, int) and not isinstance(item, bool):
            place = item + len(names) if item < 0 else item
            if place >= len(args) and place < len(names):
                place = names[place]
        if not (place in kwargs if isinstance(place, str) else isinstance(place, int) and place < len(args)):
            raise WrtError(f"wrt is {item!r}, and the call gives no such argument", at=lo.here)
        found.append(place)
    return found


# ---- the block that is differentiated ----


@dataclass(eq=False)
class Taken:
    """A call as a block over new variables: `inputs` stand for the arguments in wrt."""

    lowered: Any
    inputs: list[Var]


def taken(lo: Lowering, fn: Value, at: list[int | str], args: list[Value], kwargs: dict[str, Value], node) -> Taken:
    """Lowers a call of `fn`, the arguments at some places replaced by new variables.

    A derivative leaves its arguments as they are: if `fn` writes others, these are replaced too.
    """
    every = {**dict(enumerate(args)), **kwargs}
    replaced, written = list(at), frozenset()
    while True:
        mark, birth = lo.journal.mark(), next_birth()
        names = parameters(lo, fn, node)
        inputs = {p: standing_for(lo, every[p], p if isinstance(p, str) else dict(enumerate(names)).get(p, "x"), p in at) for p in replaced}
        given = dict(every)
        with lo.build.block() as stmts:
            for place, x in inputs.items():
                given[place] = lo.unpack(x)
                for leaf in leaves(given[place]):
                    if isinstance(leaf, Cell):
                        lo.params[leaf] = mark_of(x)
            unpacked = len(stmts)
            for place in written:  # then nothing else may be this array
                for cell in roots(every[place]):
                    lo.journal.set(cell.slots, POISON, f"`{cell.name}` is also the argument `{inputs[place].name}`, which is written")
            positional = [v for p, v in given.items() if not isinstance(p, str)]
            result = calls.call(lo, fn, positional, {p: v for p, v in given.items() if isinstance(p, str)}, node)
            atom = lo.read(result)
        stmts[unpacked:unpacked] = layout_checks(lo, [*inputs.values(), *(t for s in stmts[:unpacked] for t in s.targets)])
        outside = any(is_write(slots, key) for slots, key in lo.journal.changed(mark, birth))
        lo.journal.rollback(mark)
        found = frozenset(p for p, x in inputs.items() if lo.written.pop(mark_of(x), None) is not None)
        if outside:
            more = [p for p, v in every.items() if p not in replaced and any(isinstance(leaf, Cell) for leaf in leaves(v))]
            if not more:
                raise UnsupportedSyntaxError(
                    "the function that is differentiated here changes something outside of it", at=lo.here,
                    instead="let it return what it computes",
                )  # fmt: skip
            replaced += more
        elif found <= written:
            break
        written |= found
    for cell in (cell for place in written for cell in roots(every[place])):
        if cell in lo.params:
            lo.written.setdefault(lo.params[cell], lo.here)
    lowered = block_as_lowered(lo, Block(tuple(stmts), (atom,)), [inputs[p] for p in at], {inputs[p].name for p in written})
    return Taken(lowered, [inputs[p] for p in at])


def layout_checks(lo: Lowering, arguments: list[Var]) -> list[Stmt]:
    """What a function checks of the layout of its arguments on entry (`layouts.py`)."""
    asked = [v for v in arguments if v in lo.layouts]
    lo.layouts.difference_update(asked)
    return [
        Stmt((Var("checked"),), Call(runtime.check_layout, (v, Const(v.name)), effect=True), lo.here) for v in asked
    ]


def mark_of(x: Var) -> str:
    """What `Lowering.written` calls a variable that stands for an argument."""
    return f"{x.name} {x.id}"


def is_write(slots, key) -> bool:
    """Whether a changed slot is more than a view that was derived again, or a mark of ours."""
    cell = slots.cell
    return key is not POISON and not (cell is not None and cell.base is not None)


def standing_for(lo: Lowering, value: Value, name: str, in_wrt: bool) -> Var:
    """A new variable for an argument; in wrt, whole numbers count as floats."""
    atom = lo.read(value)
    found = atom_type(atom)
    t = as_float(found) if in_wrt else found
    if in_wrt and isinstance(t, (Scalar, Array)) and not carries_derivative(t):
        raise WrtError(f"the argument `{name}` in wrt carries no derivative", at=lo.here)
    if isinstance(t, Scalar) and t != found:
        atom = Const(float(atom.value)) if isinstance(atom, Const) and not atom.live else lo.build.call(float, atom)
    x = Var(name, t, True)
    lo.build.add(Stmt((x,), Let(atom)))
    return x


def block_as_lowered(lo: Lowering, block: Block, inputs: list[Var], written: set[str]):
    """The block as a function of whatever it reads."""
    free = [v for v in free_vars(block) if v not in inputs]
    function = Function("function", (*inputs, *free), block, origin=lo.here)
    params = {str(k): x for k, x in enumerate(inputs)}
    return Lowered(function, params, dict.fromkeys(written), lo.live, (), lo.here, lo.build, (), lo.derived)


def placed(lo: Lowering, stmts) -> None:
    """Appends statements of a derivative; that they belong to a reverse sweep is no matter of the function around it."""
    lo.derived = True
    lo.build.stmts.extend(replace(s, adjoint_of=None) if s.adjoint_of is not None else s for s in stmts)


def wrapped(lo: Lowering, results: tuple[Atom, ...]) -> Value:
    values = tuple(map(lo.wrap, results))
    return values[0] if len(values) == 1 else TupleVal(values)


# ---- the derivatives ----


def lower_derivative(lo: Lowering, value: DerivativeVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """A call of `grad(f)` and kin."""
    if value.kind == "hvp":
        gradient = DerivativeVal("grad", value.function, value.wrt)
        ts = args[-1].items if isinstance(value.wrt, tuple) and isinstance(args[-1], TupleVal) else args[-1:]
        at = places(lo, value, value.wrt, args[:-1], kwargs, node)
        return push(lo, gradient, at, args[:-1], kwargs, list(ts), False, node)
    if value.kind in ("jvp", "tangent"):
        names = parameters(lo, value, node)
        at = places(lo, value, value.wrt, args, kwargs, node)
        ts, named = [], dict(kwargs)
        for k, place in enumerate(at):
            name = f"t_{place if isinstance(place, str) else dict(enumerate(names)).get(place, place)}"
            ts.append(named.pop(name) if name in named else args[len(args) - len(at) + k])
        given = args if len(named) < len(kwargs) else args[: len(args) - len(at)]
        return push(lo, value.function, at, given, named, ts, value.kind == "jvp", node)
    at = places(lo, value, value.wrt, args, kwargs, node)
    if value.kind in ("jacobian", "hessian"):
        return lower_columns(lo, value, at, args, kwargs, node)
    call = taken(lo, value.function, at, args, kwargs, node)
    if value.kind == "vjp":
        return pulled(lo, call, not isinstance(value.wrt, tuple))
    single = not isinstance(value.wrt, tuple)
    function, _ = differentiate(call.lowered, tuple(call.lowered.params), Form(value.kind, value.has_aux, single), closures=False)
    placed(lo, function.body.stmts)
    return wrapped(lo, function.body.results)


def lower_columns(lo: Lowering, value: DerivativeVal, at: list, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`jacobian(f)(x)` and `hessian(f)(x)`, column by column: a loop over the unit tangents."""
    def block(fn: Value, place) -> Value:
        x = kwargs[place] if isinstance(place, str) else args[place]
        column = BoundVal(DerivativeVal("tangent", fn, place), tuple(args), dict(kwargs))
        if isinstance(atom_type(lo.read(x)), Scalar):
            return calls.call(lo, column, [Const(1.0)], {}, node)
        return inlining.inline(lo, find_source(by_columns), [column, x], {}, node)

    def row(fn: Value) -> Value:
        blocks = tuple(block(fn, place) for place in at)
        return TupleVal(blocks) if isinstance(value.wrt, tuple) else blocks[0]

    if value.kind == "jacobian":
        return row(value.function)
    rows = tuple(row(DerivativeVal("grad", value.function, place)) for place in at)
    return TupleVal(rows) if isinstance(value.wrt, tuple) else rows[0]


def by_columns(column, x):
    """The Jacobian whose columns are `column(t)` for the unit tangents `t` of `x`; the frontend reads this text, nothing calls it."""
    columns = []
    for unit in np.eye(x.size, dtype=x.dtype):
        columns.append(column(np.reshape(unit, x.shape)))
    return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + x.shape)


def push(
    lo: Lowering, fn: Value, at: list, args: list[Value], kwargs: dict[str, Value], tangents: list[Value], value_too: bool, node
) -> Value:
    """The value (or not) and the tangent of a call."""
    if len(tangents) != len(at):
        raise WrtError(f"{len(at)} arguments have tangents, and {len(tangents)} are given", at=lo.here)
    call = taken(lo, fn, at, args, kwargs, node)
    function = pushforward(call.lowered, {k: f"t_{x.name}" for k, x in call.lowered.params.items()}, value_too, closures=False)
    params = function.params[len(function.params) - len(at) :]
    for x, param, t in zip(call.inputs, params, tangents):
        lo.build.add(Stmt((param,), Let(direction(lo, x, t, node))))
        param.temp = True
    placed(lo, function.body.stmts)
    return wrapped(lo, function.body.results)


def direction(lo: Lowering, x: Var, value: Value, node) -> Atom:
    """A tangent of `x`, after a check that it has the shape of `x` where the types do not tell."""
    t = lo.read(value)
    have, want = atom_type(t), tangent_type(x.type)
    if isinstance(have, Scalar) and isinstance(want, Scalar) or have == want:
        return t
    dims, wanted = dims_of(have), dims_of(want)
    if dims is None or wanted is None or isinstance(have, Scalar) is not isinstance(want, Scalar) or len(dims) != len(wanted):
        raise WrtError(f"the tangent of `{x.name}` does not have the structure and shape of `{x.name}`", at=lo.here)
    if have.dtype is not None and want.dtype is not None and have.dtype != want.dtype:
        raise WrtError(f"the tangent of `{x.name}` has the dtype {have.dtype}, and `{x.name}` {want.dtype}", at=lo.here)
    if not all(n is m or n == m for n, m in zip(dims, wanted)):
        same = lo.build.call(operator.eq, lo.build.attr(t, "shape"), lo.build.attr(x, "shape"))
        lo.build.add(Stmt((), Effect("assert", (same, Const(f"the tangent of {x.name} must have the shape of {x.name}")))))
    return t


def lower_jvp(lo: Lowering, fn: Value, args: Value, tangents: Value, node) -> Value:
    """`jvp(f, args, tangents)`."""
    values, ts = sequences.static_items(lo, args, node), sequences.static_items(lo, tangents, node)
    if len(values) != len(ts):
        raise WrtError(f"jvp is given {len(values)} arguments and {len(ts)} tangents", at=lo.here)
    at = [k for k, t in enumerate(ts) if not (isinstance(t, Const) and t.value is None)]
    return push(lo, fn, at, values, {}, [ts[k] for k in at], True, node)


def lower_vjp(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`vjp(f, *args, wrt=...)`."""
    fn, *values = args
    wrt = static(lo, kwargs.get("wrt", Const(None)), node)
    if wrt is None:
        wrt = 0 if len(values) == 1 else tuple(range(len(values)))
    at = places(lo, fn, wrt, values, {}, node)
    return pulled(lo, taken(lo, fn, at, values, {}, node), not isinstance(wrt, tuple))


def pulled(lo: Lowering, call: Taken, single: bool) -> Value:
    """The value and the pullback."""
    function, _ = differentiate(call.lowered, tuple(call.lowered.params), Form("vjp", single=single), closures=False)
    (closure,) = (s for s in function.body.stmts if s.targets and s.targets[0] is function.body.results[1])
    placed(lo, (s for s in function.body.stmts if s is not closure))
    op: Closure = closure.op
    return TupleVal((lo.wrap(function.body.results[0]), PullbackVal(op.params[0], op.body, single)))


def lower_pullback(lo: Lowering, value: PullbackVal, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """`pullback(d_y)`."""
    if len(args) != 1 or kwargs:
        raise expressions.unsupported(lo, node, "a pullback takes one cotangent")
    param = Var(value.param.name, value.param.type, True)
    d = direction(lo, value.param, args[0], node)
    lo.build.add(Stmt((param,), Let(d)))
    body = copied(value.body, {value.param: param})
    placed(lo, body.stmts)
    return wrapped(lo, body.results)


calls.DERIVATIVES.append((takes_derivatives, lower_object))
