"""The gradient of a lowered function: its forward sweep, its reverse sweep, and what the generated function returns.

    def f(x): ...; return y

    grad            forward sweep; d_y = 1; reverse sweep; return d_x
    value_and_grad  forward sweep; d_y = 1; reverse sweep; return y, d_x
    vjp             forward sweep; def pullback(d_y): reverse sweep; return d_x
                    return y, pullback

The gradient of a parameter has its structure, shape and dtype.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import unbroadcast
from sourcead.ad.inline_helpers import simplified
from sourcead.ad.recursion import as_lowered, wrt_names
from sourcead.ad.residuals.make_available import AUTO, Sweeps, both_sweeps
from sourcead.ad.residuals.notes import Notes
from sourcead.ad.reverse.adjoint_block import without_adjoint_blocks
from sourcead.ad.reverse.rule_table import RULES
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.unassigned import with_nothing
from sourcead.errors import NonScalarError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Atom, Block, Branch, Build, Closure, Const, Function, Loop, Policy, Stmt, Var
from sourcead.ir.recursive_calls import Pair, with_pullbacks
from sourcead.ir.types import (
    FLOAT, Array, DictT, ListT, NoneType, Scalar, Str, StructT, TupleT, Type, Unknown, dims_of, keyed_parts, kind_of
)
from sourcead.ir.walk import walk
from sourcead.passes import plan

SMALL_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))


@dataclass(frozen=True)
class Form:
    """What a generated function returns.

    Attributes:
        kind: "grad", "value_and_grad" or "vjp".
        has_aux: whether the function returns an auxiliary result beside the value that is differentiated.
        single: whether the gradient is returned bare; otherwise as a tuple with one item for each parameter in wrt.
    """

    kind: str
    has_aux: bool = False
    single: bool = True


def differentiate(
    lowered: Lowered, wrt: tuple[str, ...], form: Form, policy: Policy = AUTO, closures: bool = True
) -> tuple[Function, Notes]:
    """Return the function that computes the gradient, not yet simplified, and what its loops save.

    Args:
        lowered: the function.
        wrt: the names of the parameters that it is differentiated by.
        form: what the result returns.
        policy: the checkpoint policy of the loops that have none of their own.
        closures: whether the result may contain closures, because it is not differentiated again.
    """
    primal, hoisted = prepared(lowered, wrt, splits_loops(lowered, policy) and closures)
    block = primal.body
    build = Builder.knowing(lowered.build)
    value, aux, extra = split_result(lowered, form.has_aux)
    block = Block((*block.stmts, *extra), block.results)
    if form.kind != "vjp":
        check_scalar(value, lowered)
        check_each_path(value, block, lowered)
    block, build.unassigned = with_nothing(block)
    block, build.pullbacks = with_pullbacks(block) if closures else (block, None)
    inputs = [lowered.params[name] for name in wrt if name in lowered.params]
    active = active_vars(block, inputs, [value] if isinstance(value, Var) else [])
    active.update(inputs)
    cots = Cotangents(build, active)
    d_y = Var("d_y", atom_type(value), True)
    with build.block():
        if isinstance(value, Var) and value in active:
            cots.add(value, d_y if form.kind == "vjp" else seed(build, value))

        def gradients() -> tuple[Atom, ...]:
            return tuple(parameter_gradient(build, cots, v, v.name in lowered.written) for v in inputs)

        sweep = Reverse(block, active, build, RULES, reverse_as_function).block(block, cots, gradients)
    block, sweep, (value, aux) = without_adjoint_blocks(block, sweep, (value, aux))
    sweeps = both_sweeps(block, sweep, build.maybe_number, policy)
    notes = Notes(tuple(sweeps.notes), replace(primal, body=Block(tuple(sweeps.forward), ())), tuple(hoisted))
    stmts, out = returned(value, aux, sweeps, form, d_y)
    return Function(primal.name, primal.params, Block((*sweeps.forward, *stmts), out), origin=primal.origin), notes


def prepared(lowered: Lowered, wrt: tuple[str, ...], splits: bool) -> tuple[Function, list[str]]:
    """Return the function in the form that is differentiated, and notes on the products that were taken out of its loops.

    `splits`: whether products may be taken out of loops.
    """
    context = plan.Context(build=lowered.build, derived=bool(lowered.derived), splits=splits)
    lowered.function = plan.run(plan.BEFORE, simplified(lowered, wrt), context)
    return lowered.function, context.notes


def splits_loops(lowered: Lowered, policy: Policy) -> bool:
    """Return whether products of all iterations may be computed together, which takes memory: only if the user named no policy."""
    named = any(isinstance(s.op, Loop) and s.op.policy is not None for s in walk(lowered.function.body))
    return policy.name == "auto" and not named


def split_result(lowered: Lowered, has_aux: bool) -> tuple[Atom, Atom | None, list[Stmt]]:
    """Return the value that is differentiated, the auxiliary result, and the statements that unpack them."""
    result = lowered.function.body.results[0]
    if not has_aux:
        return result, None, []
    t = atom_type(result)
    if not isinstance(t, TupleT) or len(t.items) != 2:
        raise NonScalarError(
            f"with has_aux=True, `{lowered.function.name}` must return a pair (value, auxiliary result)", at=lowered.returned
        )
    build = Builder()
    build.origin = lowered.returned
    value, aux = build.index(result, Const(0), name="value"), build.index(result, Const(1), name="aux")
    return value, aux, build.stmts


def returned(value: Atom, aux: Atom | None, sweeps: Sweeps, form: Form, d_y: Var) -> tuple[list[Stmt], tuple[Atom, ...]]:
    """Return the statements after the forward sweep, which are the reverse sweep or define a pullback of it, and what is returned."""
    stmts, grads = list(sweeps.reverse), sweeps.results
    if not form.single and (form.kind != "grad" or aux is not None or len(grads) == 1):
        whole = Var("gradients", TupleT(tuple(map(atom_type, grads))), True)
        stmts.append(Stmt((whole,), Build("tuple", grads)))
        grads = (whole,)
    if form.kind == "vjp":
        pullback = Var("pullback", Unknown())
        stmts, grads = [Stmt((pullback,), Closure((d_y,), Block(tuple(stmts), grads)))], (value, pullback)
    elif form.kind == "value_and_grad" and aux is not None:
        pair = Var("result", Unknown(), True)
        return [*stmts, Stmt((pair,), Build("tuple", (value, aux)))], (pair, *grads)
    elif form.kind == "value_and_grad":
        grads = (value, *grads)
    return stmts, grads if aux is None else (*grads, aux)


def reverse_as_function(pair: Pair) -> Lowered:
    """Return the forward and the reverse sweep of a recursive function as one function, which can be differentiated again."""
    function, _ = differentiate(pair.lowered, wrt_names(pair), Form("vjp", single=False), closures=False)
    *stmts, last = function.body.stmts
    closure: Closure = last.op
    body = Block((*stmts, *closure.body.stmts), closure.body.results)
    return as_lowered(pair, function, {"d_y": closure.params[0]}, body)


# ---- the result, and the gradients of the parameters ----


def function_name(name: str) -> str:
    """Return the name that a function has in messages and generated text."""
    return "function" if name == "<lambda>" else name


def check_scalar(value: Atom, lowered: Lowered) -> None:
    """Refuse a result that is known not to be one real number."""
    t = atom_type(value)
    found = None
    match t:
        case Array(_, dims) if dims:
            found = f"an array with {len(dims)} {'axis' if len(dims) == 1 else 'axes'}"
        case TupleT() | ListT() | DictT():
            found = {"TupleT": "a tuple", "ListT": "a list", "DictT": "a dict"}[type(t).__name__]
        case StructT(cls):
            found = f"an object of class {cls.__name__}"
        case NoneType():
            found = "None"
        case Str():
            found = "a string"
    if kind_of(t) in ("complex", "bool"):
        found = {"complex": "a complex number", "bool": "a truth value"}[kind_of(t)]
    if found:
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns {found}; a gradient is that of one real number",
            at=lowered.returned,
            instead="return a scalar, such as np.sum(...) of it; or use `jacobian` or `vjp`, which take any result",
        )


def check_each_path(value: Atom, block: Block, lowered: Lowered) -> None:
    """Refuse a function that returns a number on one path and None on another."""
    if may_be_none(value, (block,)):
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns None on one of its paths; a gradient is that of one real number",
            at=lowered.function.origin,
            instead="return a number on every path, or raise an error on the one that has none",
        )


def may_be_none(value: Atom, blocks: tuple[Block, ...]) -> bool:
    """Return whether a value in scope in the last of nested blocks is None on some path through the branches that yield it."""
    if isinstance(value, Const):
        return value.value is None
    for depth in range(len(blocks), 0, -1):
        for stmt in blocks[depth - 1].stmts:
            if isinstance(stmt.op, Branch) and value in stmt.targets:
                at = stmt.targets.index(value)
                arms = stmt.op.then, stmt.op.orelse
                return any(may_be_none(arm.results[at], (*blocks[:depth], arm)) for arm in arms)
    return False


def seed(build: Builder, value: Var) -> Atom:
    """Return the cotangent of a scalar result: one, of its type."""
    if isinstance(value.type, Array) and value.type.dims == ():
        return build.call(np.ones_like, value, name="d_y")
    if dims_of(value.type) == ():
        return Const(1.0)
    return build.call(runtime.seed, value, type=value.type, name="d_y")


def parameter_gradient(build: Builder, cots: Cotangents, v: Var, written: bool) -> Atom:
    """Return the gradient of a parameter: its cotangent in the structure, shape and dtype of the parameter.

    `written` tells whether the function writes into the parameter.
    """
    d = cots.get_or_zero(v)
    t, to = atom_type(d), v.type
    if isinstance(to, TupleT) and isinstance(t, ListT):
        return build.call(tuple, d, type=to, name=f"d_{v.name}")
    if not isinstance(to, (Array, Scalar)):
        return build.call(runtime.like_argument, d, v, type=to, name=f"d_{v.name}") if written or narrower(t, to) else d
    if dims_of(t) is None or dims_of(to) is None or len(dims_of(t)) != len(dims_of(to)):
        return build.call(runtime.unbroadcast, d, v, type=to, name=f"d_{v.name}")
    d = unbroadcast(build, d, v)
    narrow = isinstance(to, Array) and to.dtype is not None and to.dtype.kind in "fc" and to.dtype != np.dtype(float)
    if isinstance(to, Array) and to.dims == ():  # NumPy turns arrays without axes into numbers
        dtype = (Const(to.dtype.type),) if narrow else ()
        return build.call(np.asarray, d, *dtype, type=to, name=f"d_{v.name}")
    if narrow and isinstance(atom_type(d), Array) and atom_type(d).dtype is None:
        return build.call(np.ndarray.astype, d, Const(to.dtype.type), type=to, name=f"d_{v.name}")
    if isinstance(to, Scalar) and to.dtype in SMALL_FLOATS and getattr(atom_type(d), "dtype", None) is not to.dtype:
        return build.call(to.dtype.type, d, type=to, name=f"d_{v.name}")
    if isinstance(to, Scalar) and to.kind == "float" and to.dtype is None and getattr(atom_type(d), "dtype", None) in SMALL_FLOATS:
        return build.call(float, d, type=to, name=f"d_{v.name}")
    return d


def narrower(t: Type, to: Type) -> bool:
    """Return whether a cotangent of type `t` has a low-precision number where the argument of type `to` has a Python float."""
    if isinstance(t, Scalar):
        return to == FLOAT and t.dtype in SMALL_FLOATS
    theirs = dict(keyed_parts(t) or ()) if type(t) is type(to) else {}
    return any(narrower(theirs[k], part) for k, part in keyed_parts(to) or () if k in theirs)
