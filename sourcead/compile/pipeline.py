"""Generate the text of a derivative from a Python function and the types of its arguments.

    lower -> differentiate -> the engine's `prepare` and `emit`
"""

import itertools
import logging
import math
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sourcead.ad.apply_form import applied
from sourcead.ad.forward.pushforward import pushforward, tangent_names
from sourcead.ad.gradient import Form, differentiate, splits_loops
from sourcead.ad.residuals.notes import Notes
from sourcead.ad.result_and_gradients import function_name
from sourcead.analysis.builder import Builder
from sourcead.backends.base import Derivative, Engine, Program
from sourcead.backends.numpy import NUMPY
from sourcead.backends.python_overhead import as_compilation
from sourcead.compile import (  # noqa: F401 (registers the lowering of calls of derivatives with the frontend)
    nested_derivatives as nested
)
from sourcead.compile.comparison import is_repeatable
from sourcead.compile.live_data import is_read
from sourcead.compile.zero_gradients import warn_of_zero
from sourcead.emit.text.globals import is_literal
from sourcead.errors import ArgumentError, BackendError, SourceADError
from sourcead.frontend.builtins.checkpoint import policy_in_ir
from sourcead.frontend.core.errors import RETURN_IT
from sourcead.frontend.find_source import Source, find_source
from sourcead.frontend.lower import Lowered, lower_function
from sourcead.ir.nodes import AdjointBlock, Block, Function, Let, Loop, Policy, Stmt, fresh
from sourcead.ir.recursive_calls import name_pairs
from sourcead.ir.sizes_of_call import AtCall, for_call
from sourcead.ir.types import INT, Sym, Type, as_float, tangent_type
from sourcead.ir.walk import rewrite, walk
from sourcead.language.tracebacks import level_outside
from sourcead.passes import plan
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.entries import Same, Wide, wide_type
from sourcead.passes.batching.members import Members
from sourcead.passes.plan import simplify
from sourcead.places.spelling import of_constant

log = logging.getLogger("sourcead")


@dataclass(frozen=True)
class Kind:
    """A kind of derivative.

    Attributes:
        title: the beginning of the generated function's docstring.
        noun: what a call returns.
        forward: whether it is computed in forward mode, so that the generated function takes tangents.
        compiles: whether engines other than NumPy run it.
    """

    title: str
    noun: str
    forward: bool = False
    compiles: bool = False


KINDS = {
    "grad": Kind("Gradient", "gradient", compiles=True),
    "value_and_grad": Kind("Value and gradient", "value and gradient", compiles=True),
    "vjp": Kind("Value and pullback", "pullback"),
    "jvp": Kind("Value and tangent", "value and tangent", forward=True, compiles=True),
    "tangent": Kind("Tangent", "tangent", forward=True, compiles=True),
    "vmap": Kind("All members", "results of all members", compiles=True),
    "columns": Kind("Tangents, one for each direction,", "tangents", forward=True),
}


@dataclass(frozen=True)
class Options:
    """Options of `grad` and the other transformations, as the user gave them, and `probing` (`handled_exceptions.py`)."""

    has_aux: bool = False
    checkpoint: Any = "auto"
    backend: Any = None
    verify: Any = None
    readable: bool = False
    probing: bool = False

    def __post_init__(self):
        for name in ("has_aux", "readable"):
            if (value := getattr(self, name)) not in (True, False):
                raise ArgumentError(f"{name} is {value!r}, which is neither True nor False", instead=f"{name}=True")


@dataclass(frozen=True, eq=False)
class Request:
    """A function and a description of the derivative that is to be generated.

    Attributes:
        function: the user's function, or one that calls it.
        types: the types of its arguments.
        statics: the values of the arguments that are known while compiling.
        wrt: the names of the parameters that the derivative is taken with respect to.
        form: the kind of derivative, and what the generated function returns.
        checkpoint: the checkpoint policy of loops.
        readable: whether each result has memory of its own, for readers of the text.
        probing: whether calls that may raise what the function handles are tried first.
        engine: the engine that runs the text.
        place: the file and line of the user's function, for errors and docstrings.
        sizes: the sizes of the arguments of the call, on which the text may rely (`AtCall`).
        multiplies: whether the text may raise FloatingPointError, upon which it is generated anew without it (`compile/again.py`).
    """

    function: Callable
    types: dict[str, Type]
    statics: dict[str, Any]
    wrt: tuple[str, ...]
    form: Form
    checkpoint: Any
    readable: bool
    engine: Engine
    place: str
    probing: bool = False
    multiplies: bool = False
    sizes: dict[Sym, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Built:
    """A generated function as text, and the facts that its caller needs.

    Attributes:
        plain: the program for NumPy.
        notes: what loops save, which can be shown for the arguments of a call.
        written: parameters whose arrays the user's function writes.
        compared: parameters of which it asks by `is` whether they are one object.
        live: (holder, key, name in the namespace) of global data that is read again before each call; the name is None of data of which
            only the type decided what the text is.
        guards: (holder, key, object) of functions that were inlined: if the holder has another object there, the text is invalid.
        program: the program for the engine of the request; None if that is NumPy or if it refuses the program.
        refusal: the error with which the engine refuses the program.
        request: the request that it answers.
        unverified: the lowered function until the text was compared with the user's function (`verification.py`), then nothing.
        handles: whether the function handles exceptions, and may be called once more to see which it raises (`handled_exceptions.py`).
        at_call: what it relies on because it holds for the sizes of the arguments of the call.
    """

    plain: Program
    notes: Notes
    written: frozenset[str]
    compared: frozenset[str]
    live: tuple
    guards: tuple
    request: Request | None = None
    program: Program | None = None
    refusal: BackendError | None = None
    unverified: list[Lowered] = field(default_factory=list)
    handles: bool = False
    at_call: AtCall = field(default_factory=AtCall)


@as_compilation
def build(request: Request) -> Built:
    """Generate the text of a derivative."""
    with for_call(request.sizes) as at_call:
        return replace(_built(request), at_call=at_call)


def _built(request: Request) -> Built:
    lowered, derivative = derive(request, keeps=True)
    warn_of_lost_changes(lowered)
    taken = request.probing or not lowered.handles  # else the way without exceptions, which need not be the one that is taken
    if taken and request.form.kind != "vmap":
        warn_of_zero(lowered, request.form, request.wrt)
    tell_of_long_text(lowered)
    try:
        plain = NUMPY.emit(NUMPY.prepare(derivative))
    except SourceADError:
        if not lowered.pairs:
            raise
        lowered, derivative = derive(request)  # two functions may read different data of one name
        plain = NUMPY.emit(NUMPY.prepare(derivative))
    program = refusal = None
    if request.engine is not NUMPY:
        try:
            prepared = request.engine.prepare(replace(derivative, global_data=frozenset(plain.namespace)))
            program = request.engine.emit(prepared)
        except BackendError as error:
            refusal = error
    return Built(
        plain=plain,
        notes=derivative.notes,
        written=frozenset(lowered.written),
        compared=lowered.compared,
        live=tuple((*at, text if is_read(plain.namespace, text, lowered) else None) for text, at in lowered.live.items()),
        guards=tuple(lowered.guards),
        request=request,
        program=program,
        refusal=refusal,
        unverified=[lowered],
        handles=lowered.handles and is_repeatable(lowered.function),
    )


def warn_of_lost_changes(lowered: Lowered) -> None:
    """Warn of what the user's function does to its arguments, and a derivative of it does not."""
    if lowered.lost:
        named = ", ".join(f"`{text}`" for text in lowered.lost)
        who = lowered.function.name
        why = f"`{who}` changes {named}; a derivative uses the new value, and leaves arguments as they were"
        told = SourceADError(why, next(iter(lowered.lost.values())), RETURN_IT)
        warnings.warn(str(told), UserWarning, stacklevel=level_outside())


LONG_TEXT = 1000  # statements
FEW = 20  # a line that makes less than this part of a text is not what makes it long


def tell_of_long_text(lowered: Lowered) -> None:
    """Write to the log that a text takes long to generate, and which of the user's lines makes most of it, if one makes much of it."""
    lines = Counter(s.origin for s in walk(lowered.function.body) if s.origin is not None)
    if lines.total() <= LONG_TEXT:
        return
    at, count = lines.most_common(1)[0]
    many = f"the text of `{lowered.function.name}` has {lines.total():,} statements"
    if count * FEW < lines.total():
        return log.warning("%s: it takes long to generate, once for each kind of arguments", many)
    many = f"{many}, {count:,} of them for this line"
    why = "loops over dicts and tuples and functions that are called often are written out, which takes long"
    log.warning("%s", SourceADError(f"{many}: {why}", at, "a loop over an array or a list of alike items, if that is an argument"))


def derive(request: Request, keeps: bool = False) -> tuple[Lowered, Derivative]:
    """Return the lowered form of the user's function, and its derivative in the IR; with `keeps`, calls may stay calls."""
    source, types = find_source(request.function), unknown_types(request.types, request.statics, request.wrt)
    title = KINDS[request.form.kind].title
    name = f"{function_name(source.name)}_{request.form.kind}"
    of, wrt = f"{function_name(source.name)} ({request.place})", ", ".join(request.wrt)
    doc = f"{title} of {of} with respect to {wrt}{held(request, source)}."
    if request.form.kind == "vmap":
        doc = f"{of} for all members of a batch{held(request, source)}."
    doc = doc.encode(errors="replace").decode().replace("\n", "\\n")  # names of files may be no text

    def derived(closures: bool = True, keeps: bool = False) -> tuple[Lowered, Function, Notes, bool]:
        ways = {"keeps": keeps, "translating": request.probing, "probing": request.probing, "in_loops": request.engine is not NUMPY}
        lowered = lower_function(source, types, request.statics, **ways)
        lowered.arrays, lowered.multiplies = request.engine is NUMPY, request.multiplies
        name_pairs(lowered.function.body, name)
        try:
            return differentiated(lowered, closures)
        except SourceADError:
            if not (keeps and lowered.pairs):
                raise
        return derived(closures)  # a call that was kept may be in the way

    def differentiated(lowered: Lowered, closures: bool) -> tuple[Lowered, Function, Notes, bool]:
        if KINDS[request.form.kind].forward:
            directions = tangent_names(source.signature.parameters, request.wrt)
            made = pushforward(lowered, directions, request.form.kind == "jvp", closures)
            if request.form.kind == "columns":
                made = at_once(plan.run(plan.BATCHING, made), directions)
            return lowered, replace(made, name=name, doc=doc), Notes(), False
        if request.form.kind == "vmap":
            made = replace(without_steering(simplify(lowered.function)), name=name, doc=doc)
            return lowered, made, Notes(), False
        policy = policy_in_ir(request.checkpoint)
        splits = splits_loops(lowered, policy)
        made, notes = differentiate(lowered, request.wrt, request.form, policy, closures)
        return lowered, replace(made, name=name, doc=doc, defaults=literal_defaults(source, list(types))), notes, splits

    def without_closures() -> Function:
        return derived(closures=False)[1] if lowered.pairs else function

    lowered, function, notes, splits = noted(*derived(keeps=keeps and request.engine is NUMPY and request.form.kind != "columns"))
    return lowered, Derivative(name, request.place, function, notes, splits, without_closures, readable=request.readable)


def noted(lowered: Lowered, function: Function, notes: Notes, splits: bool) -> tuple[Lowered, Function, Notes, bool]:
    """Return what is given, with the notes on loops over the members of what `vmap` returned."""
    return lowered, function, replace(notes, before=(*lowered.member_notes, *notes.before)), splits


def without_steering(function: Function) -> Function:
    """Return a function without what concerns derivatives only: blocks for the reverse sweep, checkpoint policies."""

    def change(stmt: Stmt) -> Iterable[Stmt]:
        match stmt.op:
            case AdjointBlock(values):
                return [replace(stmt, targets=(t,), op=Let(v)) for t, v in zip(stmt.targets, values)]
            case Loop(policy=Policy()):
                return [replace(stmt, op=replace(stmt.op, policy=None))]
        return [stmt]

    return replace(function, body=rewrite(function.body, change))


def lower(request: Request) -> Function:
    """Return the user's function in the IR, for the arguments of a request."""
    types = unknown_types(request.types, request.statics, request.wrt)
    with for_call(request.sizes):
        return lower_function(find_source(request.function), types, request.statics).function


def held(request: Request, source: Source) -> str:
    """Return which arguments a text was made for that it does not take, such as options that are strings; without a default of None."""
    fixed = {name: value for name, value in request.statics.items() if value is not None or source.defaults.get(name, ...) is not None}
    return ", for " + ", ".join(f"{name}={of_constant(value)}" for name, value in fixed.items()) if fixed else ""


def unknown_types(types: dict[str, Type], statics: Collection[str], wrt: Collection[str]) -> dict[str, Type]:
    """Return the types of the arguments that are not known while compiling, where integers in wrt are floats."""
    return {name: as_float(t) if name in wrt else t for name, t in types.items() if name not in statics}


def at_once(function: Function, directions: dict[str, str]) -> Function:
    """Return a function that computes a tangent for several directions at once, along a new first axis, from one for one direction.

    Raises:
        Unbatchable: an operation cannot be computed for several directions at once.
    """
    names, dim = set(directions.values()), Sym(1)
    build = Builder()
    params, found = [], {}
    for p in function.params:
        new = fresh(p)
        if p.name in names:
            if p.type != tangent_type(p.type):
                raise Unbatchable
            new = fresh(p, type=wide_type(p.type, dim))
            found[p] = new
        params.append(new)
    size, loops = build.call(len, next(iter(found.values())), type=INT, name="n"), {}
    writer = Members(build, size, dim, loops, applied)
    for p, new in zip(function.params, params):
        writer.bind(p, Wide(new) if p in found else Same(new))
    writer.block(function.body)
    writer.ended(function.body)
    (result,) = function.body.results
    result = writer.spread(result)
    if loops:
        raise Unbatchable
    return replace(function, params=tuple(params), body=Block(tuple(build.stmts), (result,)))


def literal_defaults(source: Source, names: list[str]) -> tuple:
    """Return the defaults of the last parameters, from the end up to the first that cannot be written as a literal."""
    values = (source.defaults.get(name, ...) for name in reversed(names))
    values = (v if type(v) in (int, float, bool, str, type(None)) else ... for v in values)
    literals = itertools.takewhile(lambda v: is_literal(v) or v in (math.inf, -math.inf), values)
    return tuple(literals)[::-1]
