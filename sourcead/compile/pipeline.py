"""From a Python function and the types of its arguments to the text of its gradient.

    lower -> differentiate -> simplify -> memory -> emit
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents import Cotangents, unbroadcast, zeros
from sourcead.ad.forward.pushforward import pushforward
from sourcead.ad.inline_helpers import simplified
from sourcead.ad.residuals.notes import Notes
from sourcead.ad.residuals.settle import AUTO, settle
from sourcead.ad.reverse.adjoint_block import without_steering
from sourcead.ad.reverse.sweep_writer import Reverse
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.unassigned import with_nothing, without_nothing
from sourcead.backends.numba.codegen.prepare import in_parts
from sourcead.backends.interpreter import in_one_chunk, without_collection
from sourcead.compile.signature import tangent_names
from sourcead.emit import Emitted, assign_memory, emit
from sourcead.errors import BackendError, NonScalarError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.builtins.checkpoint import policy_in_ir
from sourcead.frontend.lower import Lowered, lower_function
from sourcead.frontend.source import find_source
from sourcead.ir.nodes import Atom, Block, Branch, Build, Call, Closure, Const, Function, Loop, Policy, Stmt, Var, fresh
from sourcead.ir.pairs import Pair, with_pullbacks
from sourcead.ir.types import (
    INT, Array, DictT, ListT, NoneType, Scalar, Str, StructT, Sym, TupleT, Type, Unknown, as_float, dims_of, kind_of,
    tangent_type
)
from sourcead.ir.walk import walk
from sourcead.passes import simplify
from sourcead.passes.batching.blocks import Batched, Unbatchable
from sourcead.passes.cleanup.einsum_products import multiply_matrices
from sourcead.passes.cleanup.factor_sums import add_up_first
from sourcead.passes.cleanup.shapes_of_versions import ask_current_versions
from sourcead.passes.cleanup.writes_through_reshape import settle_reshapes
from sourcead.passes.loops.accumulate_in_variables import accumulate_in_variables
from sourcead.passes.loops.fission import sum_after_loops
from sourcead.passes.loops.hoisting import multiply_before_loops, write_rows
from sourcead.passes.loops.interchange import exchange_loops
from sourcead.passes.loops.share_arrays import share_arrays
from sourcead.passes.residuals.add_to_records import add_to_parts
from sourcead.passes.residuals.copy_live_versions import keep_apart
from sourcead.passes.residuals.flatten_stacks import flatten_stacks
from sourcead.passes.residuals.remove_dead_clears import leave_uncleared
from sourcead.passes.residuals.remove_overwritten_zeros import fill_lists
from sourcead.passes.residuals.sink_clears import clear_late

SUFFIX = {"grad": "grad", "value_and_grad": "value_and_grad", "vjp": "vjp", "jvp": "jvp", "tangent": "tangent", "columns": "columns"}
FORWARD = ("jvp", "tangent", "columns")
WITHOUT_NUMBA = 'leave backend="numba" away, or take backend="auto"'


@dataclass(frozen=True, eq=False)
class Built:
    """A generated function as text, and what its caller must know.

    Attributes:
        text, name: the source and the name of the function in it.
        namespace: the globals that the text uses.
        ir: what the text was emitted from.
        notes: what loops save, to be shown for the arguments of a call.
        written_params: parameters whose arrays the user's function writes.
        live: (holder, key, name in the namespace) of data that is read again at each call.
        guards: (holder, key, object) of code that must still be what it was.
        numba: with that backend, the `Emitted` text that it compiles and the `Boundary` around it, or why there is none.
    """

    text: str
    name: str
    namespace: dict[str, Any]
    ir: Function
    notes: Notes
    written_params: frozenset[str]
    live: tuple
    guards: tuple
    numba: Any = None


@in_one_chunk
@without_collection()
def build(
    f, types: dict[str, Type], wrt: tuple[str, ...], *, kind: str = "grad", has_aux: bool = False, single: bool = True,
    checkpoint: Any = "auto", backend: Any = "numpy", statics: dict[str, Any] | None = None, place: str | None = None,
) -> Built:  # fmt: skip
    """The generated gradient of `f`, which stands at `place`, for arguments of these types."""
    statics = statics or {}
    source = find_source(f)
    types = {name: as_float(t) if name in wrt else t for name, t in types.items() if name not in statics}
    name = f"{function_name(source.name)}_{SUFFIX[kind]}"
    doc = docstring(source, wrt, kind, place or f"{os.path.basename(source.file)}:{source.line}")

    def derived(closures: bool = True) -> tuple[Lowered, Function, Notes, bool]:
        """The derivative, not yet simplified; what its loops save; and whether products are taken out of these."""
        lowered = lower_function(source, types, statics)
        if kind in FORWARD:
            directions = tangent_names(source.signature.parameters, wrt)
            made = pushforward(lowered, directions, kind == "jvp", closures)
            if kind == "columns":
                made = at_once(simplify(flatten_stacks(made)), directions)
            return lowered, replace(made, name=name, doc=doc), Notes(), False
        policy = policy_in_ir(checkpoint)
        splits = splits_loops(lowered, policy)
        made, notes = differentiate(lowered, wrt, kind, has_aux, single, policy, closures)
        return lowered, replace(made, name=name, doc=doc, defaults=literal_defaults(source, list(types))), notes, splits

    def compiled() -> Any:
        try:
            raw_ = derived(closures=False)[1] if lowered.pairs else raw
            return in_parts(raw_, partial(finished, lists=False), emitted, notes.compiled)
        except BackendError as error:
            return error
        except SourceADError as error:
            return BackendError(f"Numba cannot compile the gradient: {error.reason}", at=error.at, instead=WITHOUT_NUMBA)

    lowered, raw, notes, splits = derived()
    function = finished(raw, notes.after if splits else None)
    emitted = with_pairs(emit(function), function)
    return Built(
        text=emitted.text,
        name=name,
        namespace=emitted.namespace,
        ir=function,
        notes=notes,
        written_params=frozenset(lowered.written),
        live=tuple((where, key, text) for text, (where, key) in lowered.live.items() if text in emitted.namespace),
        guards=lowered.guards,
        numba=compiled() if backend != "numpy" else None,
    )


def at_once(function: Function, directions: dict[str, str]) -> Function:
    """The function that computes a tangent, for several directions at once, along a new first axis.

    Raises:
        Unbatchable: an op has no form for several values at once.
    """
    names, dim = set(directions.values()), Sym(1)
    build = Builder()
    params, found = [], {}
    for p in function.params:
        new = fresh(p)
        if p.name in names:
            if p.type != tangent_type(p.type):
                raise Unbatchable
            new = fresh(p, type=Batched(build, {}, Const(0), dim).wider(p.type))
            found[p] = new
        params.append(new)
    size = build.call(len, next(iter(found.values())), type=INT, name="n")
    batched = Batched(build, found, size, dim)
    batched.plain = {p: new for p, new in zip(function.params, params) if p not in found}
    batched.block(function.body)
    (result,) = function.body.results
    result = batched.spread(result)
    return replace(function, params=tuple(params), body=Block(tuple(build.stmts), (result,)))


def splits_loops(lowered: Lowered, policy: Policy) -> bool:
    """Whether products of all iterations may be put together, which takes memory: not where the user asked to save memory."""
    named = any(isinstance(s.op, Loop) and s.op.policy is not None for s in walk(lowered.function.body))
    return policy.name == "auto" and not named


def literal_defaults(source, names: list[str]) -> tuple:
    """The defaults of the last parameters, as far as they can be written down."""
    found = source.defaults
    last: list = []
    for name in reversed(names):
        value = found.get(name, ...)
        if value is ... or type(value) not in (int, float, bool, str, type(None)) or value != value:
            break
        last.append(value)
    return tuple(reversed(last))


def with_pairs(emitted: Emitted, function: Function) -> Emitted:
    """The text after that of the recursive functions that it calls."""
    texts, namespace = [], dict(emitted.namespace)
    pairs = pairs_called(function.body)
    for pair in pairs:  # which grows
        lowered = pair.lowered
        wrt = tuple(name for k, name in enumerate(lowered.params) if k in pair.wrt)
        if pair.kind == "jvp":
            made = pushforward(lowered, tangent_names(lowered.params, wrt), True)
        else:
            made, _ = differentiate(lowered, wrt, "vjp", False, len(wrt) == 1)
        made = finished(replace(made, name=pair.name, doc=None))
        pairs += [p for p in pairs_called(made.body) if p not in pairs]
        helper = emit(made)
        texts.append(helper.text)
        for name, value in helper.namespace.items():
            if namespace.setdefault(name, value) is not value:
                raise UnsupportedSyntaxError(
                    f"two different objects called `{name}` are used in recursive functions", at=lowered.function.origin
                )
    names = {p.name for p in pairs}
    namespace = {name: value for name, value in namespace.items() if name not in names}
    return Emitted("\n\n".join([*texts, emitted.text]), namespace)


def pairs_called(block: Block) -> list[Pair]:
    """The recursive functions that a block calls."""
    return list(dict.fromkeys(s.op.fn for s in walk(block) if isinstance(s.op, Call) and isinstance(s.op.fn, Pair)))


def finished(
    function: Function, notes: list[str] | None = None, lists: bool = True, for_engine: Callable[[Function], Function] = lambda f: f
) -> Function:
    """The function simplified, with the copies that writing in place needs.

    If `notes` are given, sums of products are taken out of the loops of its reverse sweep, and the notes say so.
    `lists`: whether a list may hold None where it is filled later.  `for_engine` is the last thing that is done to the function while
    values are immutable.
    """
    function = write_rows(function)
    fill = partial(fill_lists, lists=lists)
    if notes is not None:
        function = sum_after_loops(clear_late(fill(simplify(function))), notes)
    function = simplify(multiply_matrices(add_up_first(simplify(flatten_stacks(function)))))
    settled = without_nothing(function)
    if settled is not function:
        function = simplify(settled)
    function = settle_reshapes(clear_late(ask_current_versions(add_to_parts(leave_uncleared(fill(function))))))
    return assign_memory(for_engine(function))


def function_name(name: str) -> str:
    return "function" if name == "<lambda>" else name


def docstring(source, wrt: tuple[str, ...], kind: str, place: str) -> str:
    """What the generated function says of itself."""
    what = {
        "grad": "Gradient", "value_and_grad": "Value and gradient", "vjp": "Value and pullback", "jvp": "Value and tangent",
        "tangent": "Tangent", "columns": "Tangents, one for each direction,",
    }[kind]  # fmt: skip
    return f"{what} of {function_name(source.name)} ({place}) with respect to {', '.join(wrt)}."


def differentiate(
    lowered: Lowered, wrt: tuple[str, ...], kind: str, has_aux: bool, single: bool, policy: Policy = AUTO, closures: bool = True
) -> tuple[Function, Notes]:
    """The function that computes the gradient, its values all available, not yet simplified, and what its loops save.

    `closures`: whether it is not differentiated again.
    """
    primal = lowered.function = simplified(lowered, wrt)
    if lowered.derived:
        primal = lowered.function = keep_apart(primal)
    hoisted: list[str] = []
    if splits_loops(lowered, policy) and closures:
        primal = exchange_loops(primal, hoisted, lowered.build)
        primal, products = multiply_before_loops(primal, hoisted, lowered.build)
        primal = share_arrays(primal, lowered.build, products)
        primal = lowered.function = simplify(primal) if hoisted else primal
    primal = lowered.function = accumulate_in_variables(primal)
    block = primal.body
    build = Builder.knowing(lowered.build)
    value, aux, extra = split_result(lowered, has_aux)
    block = Block((*block.stmts, *extra), block.results)
    if kind != "vjp":
        check_scalar(value, lowered)
        check_each_path(value, block, lowered)
    block, build.unassigned = with_nothing(block)
    block, build.pullbacks = with_pullbacks(block) if closures else (block, None)
    inputs = [lowered.params[name] for name in wrt if name in lowered.params]
    active = active_vars(block, inputs, [value] if isinstance(value, Var) else [])
    active.update(inputs)
    cots = Cotangents(build, active)
    d_y = Var("d_y", cotangent_type(atom_type(value)), True)
    with build.block():
        if isinstance(value, Var) and value in active:
            cots.add(value, seed(build, value, d_y, kind))

        def gradients() -> tuple[Atom, ...]:
            return tuple(gradient(build, cots, v, v.name in lowered.written) for v in inputs)

        sweep = Reverse(active, build, block).block(block, cots, gradients)
    block, sweep, (value, aux) = without_steering(block, sweep, (value, aux))
    forward, reverse, results, notes = settle(block, sweep, build.maybe_number, policy)
    told = Notes(tuple(notes), replace(primal, body=Block(tuple(forward), ())), tuple(hoisted))
    stmts = list(forward)
    if kind == "vjp":
        closure = Var("pullback", Unknown())
        packed, grads = pack(results, single)
        body = Block((*reverse, *packed), grads)
        stmts.append(Stmt((closure,), Closure((d_y,), body)))
        out: tuple[Atom, ...] = (value, closure)
        if aux is not None:
            out = (value, closure, aux)
    else:
        stmts += reverse
        packed, grads = pack(results, single)
        if kind == "grad" and aux is None:
            out = results
            if not single and len(results) == 1:
                stmts += packed
                out = grads
        else:
            stmts += packed
            head = value
            if kind == "value_and_grad" and aux is not None:
                pair = Var("result", Unknown(), True)
                stmts.append(Stmt((pair,), Build("tuple", (value, aux))))
                head = pair
            out = (head, *grads) if kind == "value_and_grad" else (*grads, aux)
    return Function(primal.name, primal.params, Block(tuple(stmts), out), origin=primal.origin), told


def pack(results: tuple[Atom, ...], single: bool) -> tuple[list[Stmt], tuple[Atom, ...]]:
    """The gradients as one atom: bare, or a tuple."""
    if single:
        return [], results
    whole = Var("gradients", TupleT(tuple(map(atom_type, results))), True)
    return [Stmt((whole,), Build("tuple", results))], (whole,)


def split_result(lowered: Lowered, has_aux: bool) -> tuple[Atom, Atom | None, list[Stmt]]:
    """The value that is differentiated, and the auxiliary result."""
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


def check_scalar(value: Atom, lowered: Lowered) -> None:
    """Refuses a result that is known not to be one real number."""
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
    """Refuses a function that returns a number on one path and None on another."""
    if may_be_none(value, (block,)):
        raise NonScalarError(
            f"`{function_name(lowered.function.name)}` returns None on one of its paths; a gradient is that of one real number",
            at=lowered.function.origin,
            instead="return a number on every path, or raise an error on the one that has none",
        )


def may_be_none(value: Atom, blocks: tuple[Block, ...]) -> bool:
    """Whether a value in scope in the last of nested blocks is None on some path through the branches that yield it."""
    if isinstance(value, Const):
        return value.value is None
    for depth in range(len(blocks), 0, -1):
        for stmt in blocks[depth - 1].stmts:
            if isinstance(stmt.op, Branch) and value in stmt.targets:
                at = stmt.targets.index(value)
                arms = stmt.op.then, stmt.op.orelse
                return any(may_be_none(arm.results[at], (*blocks[:depth], arm)) for arm in arms)
    return False


def cotangent_type(t: Type) -> Type:
    return t


def seed(build: Builder, value: Var, d_y: Var, kind: str) -> Atom:
    """The cotangent of the result."""
    if kind == "vjp":
        return d_y
    if isinstance(value.type, Array) and value.type.dims == ():
        return build.call(np.ones_like, value, name="d_y")
    if dims_of(value.type) == ():
        return Const(1.0)
    return build.call(runtime.seed, value, type=value.type, name="d_y")


def gradient(build: Builder, cots: Cotangents, v: Var, written: bool) -> Atom:
    """The gradient of a parameter: the cotangent, in the parameter's structure, shape and dtype."""
    d = cots.get(v)
    to = v.type
    if d is None:
        d = zeros(build, v)
    t = atom_type(d)
    if isinstance(to, TupleT) and isinstance(t, ListT):
        return build.call(tuple, d, type=to, name=f"d_{v.name}")
    if not isinstance(to, (Array, Scalar)):
        return build.call(runtime.like_argument, d, v, type=to, name=f"d_{v.name}") if written or narrower(t, to) else d
    if dims_of(t) is None or dims_of(to) is None or len(dims_of(t)) != len(dims_of(to)):
        return build.call(runtime.unbroadcast, d, v, type=to, name=f"d_{v.name}")
    d = unbroadcast(build, d, v)
    narrow = isinstance(to, Array) and to.dtype is not None and to.dtype.kind in "fc" and to.dtype != np.dtype(float)
    if isinstance(to, Array) and to.dims == ():  # NumPy makes numbers of arrays without axes
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
    """Whether a cotangent of type `t` has a number of few bits where the argument of type `to` has a Python float."""
    match t, to:
        case Scalar(_, dtype), Scalar("float", None):
            return dtype in SMALL_FLOATS
        case (DictT(x), DictT(y)) | (StructT(_, x), StructT(_, y)):
            return any(narrower(dict(x)[k], u) for k, u in y if k in dict(x))
        case TupleT(x), TupleT(y):
            return any(map(narrower, x, y))
        case ListT(_, x), ListT(_, y) if x is not None and y is not None:
            return any(map(narrower, x, y))
    return False


SMALL_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.complex64))
