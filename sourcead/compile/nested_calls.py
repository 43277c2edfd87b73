"""What a derivative inside a function differentiates: its arguments, and a call as a block; and the value of a pullback.

A call is lowered to a block over new variables for its arguments and all that it reads of the function around.
"""

import operator
import types
from dataclasses import dataclass, field, replace
from typing import Any

from sourcead.analysis.builder import atom_type
from sourcead.analysis.overwrites import parts_stay
from sourcead.errors import UnsupportedSyntaxError, WrtError
from sourcead.frontend import core
from sourcead.frontend.control.functions import Lowered, last_return, layout_checks
from sourcead.frontend.core import (
    POISON, BoundVal, Cell, FunctionVal, Lowering, TupleVal, Value, cells_of, next_birth, roots
)
from sourcead.frontend.find_source import Opaque, Source, find_source, own_signature, plain_names, unwrap
from sourcead.ir.nodes import Atom, Block, Const, Effect, Function, Let, Stmt, Var
from sourcead.ir.types import Array, Scalar, as_float, carries_derivative, dims_of, tangent_type
from sourcead.ir.walk import free_vars
from sourcead.language.transformations import Described

Place = int | str  # the position or the name of an argument of a call


@dataclass(frozen=True, eq=False)
class PullbackVal:
    """The pullback that `vjp` returns: the reverse sweep as a block, which reads what the forward sweep has computed.

    Attributes:
        param: the cotangent that it takes, of the shape of the value `y`.
        body: the block.
        single: whether it returns one cotangent rather than a tuple.
    """

    y: Atom
    param: Var
    body: Block
    single: bool


def constant(lo: Lowering, value: Value, node) -> Any:
    """Return a value that must be known while compiling, such as an option; refuse any other."""
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        return tuple(constant(lo, item, node) for item in value.contents)
    return core.certain(lo, value, node, "what a derivative is taken of, or with respect to, is not known before the program runs")


def parameters(lo: Lowering, fn: Value, node) -> list[str]:
    """Return the names of the parameters that a function takes, empty for a built-in without a signature."""
    match fn:
        case FunctionVal(source):
            return [a.id for a in (*source.node.args.posonlyargs, *source.node.args.args, *source.node.args.kwonlyargs)]
        case Described(function=function, names=names):
            return parameters(lo, function, node) if names is None else list(names)
        case BoundVal(function, args, kwargs):
            return [n for n in parameters(lo, function, node)[len(args) :] if n not in kwargs]
        case Const(function, _, False) if isinstance(function, Opaque):
            return plain_names(function.signature)[len(function._bound_args) :] if hasattr(function, "signature") else []
        case Const(function, _, False):
            plain, bound_args, bound_kwargs = unwrap(function)
            try:
                names = plain_names(own_signature(find_source(plain).function))
            except Exception:  # a built-in function, whose arguments have positions only
                return []
            return [n for n in names[len(bound_args) :] if n not in bound_kwargs]
    raise core.unsupported(lo, node, "the function that is differentiated here is not known before the program runs")


def places(lo: Lowering, fn: Value, wrt: Any, args: list[Value], kwargs: dict[str, Value], node) -> list[int | str]:
    """Return the position or the keyword of each argument in wrt among the arguments of a call."""
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


@dataclass(eq=False)
class Taken:
    """A call lowered to a block over new variables, of which `inputs` stand for the arguments in wrt."""

    lowered: Lowered
    inputs: list[Var]


@dataclass(frozen=True, eq=False)
class ActiveCall:
    """A call that is differentiated.

    Attributes:
        fn: the function that is called.
        at: the places of the arguments that the call is differentiated by.
        args, kwargs: the arguments of the call.
        node: the call in the source.
        standing: the variables that stand for some of the arguments, where others than new ones of their types do.
    """

    fn: Value
    at: list[Place]
    args: list[Value]
    kwargs: dict[str, Value]
    node: Any
    standing: dict[Place, Var] = field(default_factory=dict)


def taken(lo: Lowering, call: ActiveCall) -> Taken:
    """Lower a call to a block in which new variables replace the arguments that it is differentiated by.

    A derivative does not change its arguments: those that the function writes are replaced as well.
    """
    every: dict[Place, Value] = {**dict(enumerate(call.args)), **call.kwargs}
    replaced, written = list(call.at), frozenset()
    while True:
        with lo.attempt() as attempt:
            block, inputs, found, changes_others = _lower_call(lo, call, every, replaced, written)
            if changes_others or not found <= written:
                attempt.fail()
        if not attempt.failed:
            break
        if changes_others:
            more = [p for p, v in every.items() if p not in replaced and cells_of(v)]
            if not more:
                raise UnsupportedSyntaxError(
                    "the function that is differentiated here changes something outside of it", at=lo.here,
                    instead="let it return what it computes",
                )  # fmt: skip
            replaced += more
        written |= found
    lo.note_written(cell for place in written for cell in roots(every[place]))
    lowered = block_as_lowered(lo, block, [inputs[p] for p in call.at], {inputs[p].name for p in written}, called(call.fn))
    if lo.rows_stay and not parts_stay(lowered.function):  # asked here, since the derivative lacks the writes that it does not need
        raise UnsupportedSyntaxError("a list holds rows of an array that is written", at=lo.here, instead="append copies of the rows")
    return Taken(lowered, [inputs[p] for p in call.at])


def _lower_call(lo: Lowering, call: ActiveCall, every: dict[Place, Value], replaced: list[Place], written: frozenset):
    """Return the block of a call, its inputs by place, the places of those that it writes, and whether it changes anything else."""
    mark, birth = lo.journal.mark(), next_birth()
    names = dict(enumerate(parameters(lo, call.fn, call.node)))
    inputs = dict(call.standing)
    for p in replaced:
        if p not in inputs:
            inputs[p] = standing_for(lo, every[p], p if isinstance(p, str) else names.get(p, "x"), p in call.at)
    given = dict(every)
    with lo.build.block() as stmts:
        for place, x in inputs.items():
            given[place] = lo.unpack(x)
            lo.params.update(dict.fromkeys(cells_of(given[place]), mark_of(x)))
        unpacked = len(stmts)
        for place in written:  # no other variable may refer to this array
            for cell in roots(every[place]):
                lo.set(cell.slots, POISON, f"`{cell.name}` is also the argument `{inputs[place].name}`, which is written")
        positional = [v for p, v in given.items() if not isinstance(p, str)]
        result = core.call(lo, call.fn, positional, {p: v for p, v in given.items() if isinstance(p, str)}, call.node)
        atom = lo.read(result)
    stmts[unpacked:unpacked] = layout_checks(lo, [*inputs.values(), *(t for s in stmts[:unpacked] for t in s.targets)], lo.here)
    changed = lo.journal.changed(mark, birth)  # to poison an object is no write, nor is it to derive a view again
    for place in changed:
        if place in lo.changed_globals:
            raise lo.changed_globals[place]
    outside = any(key is not POISON and (slots.cell is None or slots.cell.base is None) for slots, key in changed)
    lo.journal.rollback(mark)
    touched = {*lo.written, *lo.compared}
    found = frozenset(p for p, x in inputs.items() if mark_of(x) in touched)
    for x in inputs.values():
        lo.written.pop(mark_of(x), None)
        lo.compared.discard(mark_of(x))
    return Block(tuple(stmts), (atom,)), inputs, found, outside


def mark_of(x: Var) -> str:
    """Return the name by which `Lowering.written` knows a variable that stands for an argument."""
    return f"{x.name} {x.id}"


def standing_for(lo: Lowering, value: Value, name: str, in_wrt: bool) -> Var:
    """Return a new variable that stands for an argument; an integer in wrt becomes a float."""
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


def called(fn: Value) -> Source | None:
    """Return the source of the function that is called, None if it is no plain function."""
    match fn:
        case FunctionVal(source):
            return source
        case Const(types.FunctionType() as function, _, False):
            return find_source(function)
    return None


def block_as_lowered(lo: Lowering, block: Block, inputs: list[Var], written: set[str], source: Source | None = None):
    """Return a block, a call of `source`, as a lowered function whose parameters are `inputs` and all other variables that it reads."""
    name, returned = ("function", lo.here) if source is None else (source.name, source.origin(last_return(source.node)))
    free = [v for v in free_vars(block) if v not in inputs]
    function = Function(name, (*inputs, *free), block, origin=lo.here)
    params = {str(k): x for k, x in enumerate(inputs)}
    return Lowered(function, params, dict.fromkeys(written), lo.live, (), returned, lo.build, (), lo.derived)


def placed(lo: Lowering, stmts) -> None:
    """Append the statements of a derivative, without their marks as a reverse sweep, which hold only inside the derivative."""
    lo.derived = True
    lo.build.stmts.extend(replace(s, adjoint_of=None) if s.adjoint_of is not None else s for s in stmts)


def wrapped(lo: Lowering, results: tuple[Atom, ...]) -> Value:
    """Return the results of a derivative as a value, a tuple if there are several."""
    values = tuple(map(lo.wrap, results))
    return values[0] if len(values) == 1 else TupleVal(values)


def direction(lo: Lowering, x: Var, value: Value, like: Atom | None = None) -> Atom:
    """Return the atom of a tangent or cotangent of `x`, and emit a check of its shape where the types do not determine it.

    The shape is that of `like`, if that is given in place of a variable `x` that has no value.
    """
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
        same = lo.build.call(operator.eq, lo.build.attr(t, "shape"), lo.build.attr(x if like is None else like, "shape"))
        lo.build.add(Stmt((), Effect("assert", (same, Const(f"the tangent of {x.name} must have the shape of {x.name}")))))
    return t
