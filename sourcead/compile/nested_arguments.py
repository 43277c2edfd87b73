"""The values of `grad(f)` and of pullbacks inside a function that is lowered, and the arguments that they differentiate by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sourcead.errors import WrtError
from sourcead.frontend import core
from sourcead.frontend.core import BoundVal, Cell, FunctionVal, Lowering, TupleVal, Value
from sourcead.frontend.find_source import Opaque, find_source, own_signature, plain_names, unwrap
from sourcead.ir.nodes import Block, Const, Var


@dataclass(frozen=True, eq=False)
class DerivativeVal:
    """A derivative that has not been called yet: the value of `grad(f)`, `jacobian(f)` and the like.

    Attributes:
        kind: the kind of a `Gradient`, or "jacobian", "hessian", or "hvp", which takes the tangent last.
        function: the function that is differentiated.
        wrt: the arguments that it is differentiated by.
        has_aux: whether the function returns auxiliary values besides its result.
        names: the names of its parameters, None if they are not known yet.
    """

    kind: str
    function: Value
    wrt: Any = 0
    has_aux: bool = False
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class PullbackVal:
    """The pullback that `vjp` returns: the reverse sweep as a block, which reads what the forward sweep has computed."""

    param: Var
    body: Block
    single: bool


def constant(lo: Lowering, value: Value, node) -> Any:
    """Return a value that must be known while compiling, such as an option; refuse any other."""
    if isinstance(value, TupleVal) or isinstance(value, Cell) and value.kind == "list":
        return tuple(constant(lo, item, node) for item in value.contents)
    if isinstance(value, Const) and not value.live:
        return value.value
    raise core.unsupported(lo, node, "what a derivative is taken of, or with respect to, is not known before the program runs")


def parameters(lo: Lowering, fn: Value, node) -> list[str]:
    """Return the names of the parameters that a function takes, empty for a built-in without a signature."""
    match fn:
        case FunctionVal(source):
            return [a.id for a in (*source.node.args.posonlyargs, *source.node.args.args, *source.node.args.kwonlyargs)]
        case DerivativeVal(function=function, names=names):
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
