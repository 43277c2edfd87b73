"""Derivatives of recursive functions as recursive functions, so that they can be differentiated again.

    y, t_y = f_tangent(a, t_a)          a function of a and t_a that calls itself
    d_a = f_cotangents(a, d_y)          a function of a and d_y, whose forward sweep calls f where it needs the values

If a derivative is not differentiated again, the reverse sweep calls the pullbacks that the forward sweep returned, and
nothing is computed twice; `f_cotangents` computes the values of a call again, once for each level of the recursion above it.
"""

from collections.abc import Callable

from sourcead.analysis.builder import Builder
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Block, Call, Effect, Function, Op, Var, fresh
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import TupleT, tangent_type
from sourcead.ir.walk import copied, has_effect, walk
from sourcead.primitives.table import record_of


def derivative_of(pair: Pair, what: str, as_function: Callable[[Pair], Lowered]) -> Pair:
    """Return the recursive function that computes a derivative of a recursive function.

    Args:
        pair: the function.
        what: "cotangents": those of the arguments in wrt, as a tuple, from the arguments and d_y;
            "tangent": the value and its tangent, as a tuple, from the arguments and their tangents.
        as_function: returns the computation of both sweeps, or of the value and the tangent, as one function.
    """
    if what not in pair.derivatives:
        refuse_effects(pair)
        params = list(pair.lowered.params.values())
        in_wrt = [params[k].type for k in pair.wrt]
        result = (pair.result, tangent_type(pair.result)) if what == "tangent" else in_wrt
        more = len(in_wrt) if what == "tangent" else 1
        wrt = (*pair.wrt, *range(len(params), len(params) + more))
        made = pair.derivatives[what] = Pair(f"{pair.name.removesuffix('_vjp')}_{what}_vjp", TupleT(tuple(result)), wrt=wrt)
        made.lowered = as_function(pair)
    return pair.derivatives[what]


def refuse_effects(pair: Pair) -> None:
    """Refuse a recursive function with effects, which would happen again in its second derivative."""
    if pair.effect and does_more_than_check(pair.lowered.function.body):
        raise UnsupportedSyntaxError(
            "this function calls itself and does more than compute; its second derivative would do that again",
            at=pair.lowered.function.origin, instead="leave out what it prints, or write it as a loop",
        )  # fmt: skip


def does_more_than_check(block: Block) -> bool:
    """Return whether a block has effects that must not happen again: others than checks, exceptions and calls of itself."""

    def may_happen_again(op: Op) -> bool:
        if isinstance(op, Effect):
            return op.kind == "raise"
        return isinstance(op, Call) and (isinstance(op.fn, Pair) or record_of(op.fn).checks)

    return not all(may_happen_again(s.op) for s in walk(block) if has_effect(s.op) and not s.op.blocks)


def wrt_names(pair: Pair) -> tuple[str, ...]:
    """Return the names of the parameters that have cotangents."""
    return tuple(name for k, name in enumerate(pair.lowered.params) if k in pair.wrt)


def as_lowered(pair: Pair, function: Function, more: dict[str, Var], body: Block) -> Lowered:
    """Return a derivative in the form of a lowered function; `more` names the parameters that it has beside those of the function."""
    old = pair.lowered
    named_params = dict(old.params)
    for name, v in more.items():
        while name in named_params:  # a derivative of a derivative has such a parameter already
            name += "_"
        named_params[name] = v
    params = {name: fresh(v, name=name) for name, v in named_params.items()}
    body = copied(body, {v: params[name] for name, v in named_params.items()})
    new = Function(function.name, tuple(params.values()), body, origin=function.origin)
    return Lowered(new, params, {}, old.live, old.guards, old.returned, Builder.knowing(old.build), old.pairs, True)
