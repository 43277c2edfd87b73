"""From a Python function and the types of its arguments to the text of its gradient.

    lower -> differentiate -> simplify -> memory -> emit
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sourcead.ad.forward.pushforward import pushforward
from sourcead.ad.gradient import Form, differentiate, splits_loops
from sourcead.ad.residuals.notes import Notes
from sourcead.ad.scalar_results import function_name
from sourcead.analysis.builder import Builder
from sourcead.backends.numba.codegen.prepare import in_parts
from sourcead.compile import nested  # noqa: F401 (registers with the frontend what lowers calls of derivatives)
from sourcead.compile.interpreter import in_one_chunk, without_collection
from sourcead.compile.signature import tangent_names
from sourcead.emit import MEMORY, Emitted, emit
from sourcead.errors import BackendError, SourceADError, UnsupportedSyntaxError
from sourcead.frontend.builtins.checkpoint import policy_in_ir
from sourcead.frontend.lower import Lowered, lower_function
from sourcead.frontend.source import find_source
from sourcead.ir.nodes import Block, Call, Const, Function, fresh
from sourcead.ir.pairs import Pair
from sourcead.ir.types import INT, Sym, Type, as_float, tangent_type
from sourcead.ir.walk import walk
from sourcead.passes import plan
from sourcead.passes.batching.blocks import Batched, Unbatchable
from sourcead.primitives.table import adjoint_rule

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
def has_adjoint_rule(function) -> bool:
    """Whether a function is differentiated by a rule, and its body not read."""
    return adjoint_rule(function) is not None


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
                made = at_once(plan.run(plan.BATCHING, made), directions)
            return lowered, replace(made, name=name, doc=doc), Notes(), False
        policy = policy_in_ir(checkpoint)
        splits = splits_loops(lowered, policy)
        made, notes = differentiate(lowered, wrt, Form(kind, has_aux, single), policy, closures)
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
            made, _ = differentiate(lowered, wrt, Form("vjp", single=len(wrt) == 1))
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
    context = plan.Context(notes=[] if notes is None else notes, splits=notes is not None, lists=lists)
    last = (plan.Pass(for_engine, "last while values are immutable"), MEMORY)
    return plan.run((*plan.AFTER, *last), function, context)


def docstring(source, wrt: tuple[str, ...], kind: str, place: str) -> str:
    """What the generated function says of itself."""
    what = {
        "grad": "Gradient", "value_and_grad": "Value and gradient", "vjp": "Value and pullback", "jvp": "Value and tangent",
        "tangent": "Tangent", "columns": "Tangents, one for each direction,",
    }[kind]  # fmt: skip
    return f"{what} of {function_name(source.name)} ({place}) with respect to {', '.join(wrt)}."
