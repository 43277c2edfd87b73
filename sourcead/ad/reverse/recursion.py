"""Derivatives of recursive functions as recursive functions, so that they can be differentiated again.

    y, t_y = f_tangent(a, t_a)          a function of a and t_a that calls itself
    d_a = f_cotangents(a, d_y)          one of a and d_y, whose forward sweep calls f where it needs the values

Where a derivative is not differentiated again, the reverse sweep calls the pullbacks that the forward sweep left behind, and
nothing is computed twice; `f_cotangents` computes the values of a call again, once for each level of the recursion above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import UnsupportedSyntaxError
from sourcead.ir.nodes import Block, Build, Call, Closure, Effect, Function, Stmt, Var, fresh
from sourcead.ir.pairs import Pair
from sourcead.ir.types import TupleT, Type, tangent_type
from sourcead.ir.walk import copied, has_effect, op_blocks
from sourcead.primitives.constants import CHECKS

if TYPE_CHECKING:
    from sourcead.frontend.lower import Lowered


def cotangents_of(pair: Pair) -> Pair:
    """The recursive function that computes the cotangents of the arguments in wrt, a tuple, from the arguments and d_y."""
    if pair.cotangents is None:
        refuse_effects(pair)
        params = list(pair.lowered.params.values())
        result = TupleT(tuple(atom_type(params[k]) for k in pair.wrt))
        pair.cotangents = Pair(named(pair, "cotangents"), result, wrt=(*pair.wrt, len(params)))
        pair.cotangents.lowered = reverse_as_function(pair)
    return pair.cotangents


def tangent_of(pair: Pair) -> Pair:
    """The recursive function that computes the value and its tangent, a tuple, from the arguments and their tangents."""
    if pair.tangent is None:
        refuse_effects(pair)
        count = len(pair.lowered.params)
        result = TupleT((pair.result, tangent_type(pair.result)))
        pair.tangent = Pair(named(pair, "tangent"), result, wrt=(*pair.wrt, *range(count, count + len(pair.wrt))))
        pair.tangent.lowered = forward_as_function(pair)
    return pair.tangent


def refuse_effects(pair: Pair) -> None:
    if pair.effect and does_more_than_check(pair.lowered.function.body):
        raise UnsupportedSyntaxError(
            "this function calls itself and does more than compute; its second derivative would do that again",
            at=pair.lowered.function.origin, instead="leave out what it prints, or write it as a loop",
        )  # fmt: skip


def does_more_than_check(block: Block) -> bool:
    """Whether a block has effects other than checks of shapes and calls of itself, which may happen again."""
    for stmt in block.stmts:
        if isinstance(stmt.op, Call) and (isinstance(stmt.op.fn, Pair) or stmt.op.fn in CHECKS):
            continue
        inside = op_blocks(stmt.op)
        plain = isinstance(stmt.op, Effect) or not inside
        if has_effect(stmt.op) if plain else any(map(does_more_than_check, inside)):
            return True
    return False


def named(pair: Pair, what: str) -> str:
    return f"{pair.name.removesuffix('_vjp')}_{what}_vjp"


def wrt_names(pair: Pair) -> tuple[str, ...]:
    return tuple(name for k, name in enumerate(pair.lowered.params) if k in pair.wrt)


def reverse_as_function(pair: Pair) -> Lowered:
    """The forward and the reverse sweep of a recursive function as one function."""
    from sourcead.compile.pipeline import differentiate

    function, _ = differentiate(pair.lowered, wrt_names(pair), "vjp", False, False, closures=False)
    *stmts, last = function.body.stmts
    closure: Closure = last.op
    body = Block((*stmts, *closure.body.stmts), closure.body.results)
    return as_lowered(pair, function, {"d_y": closure.params[0]}, body)


def forward_as_function(pair: Pair) -> Lowered:
    """The function that computes the value and the tangent of a recursive function."""
    from sourcead.ad.forward.pushforward import pushforward

    directions = {name: f"t_{name}" for name in wrt_names(pair)}
    function = pushforward(pair.lowered, directions, True, closures=False)
    more = dict(zip(directions.values(), function.params[len(pair.lowered.params) :]))
    types: tuple[Type, ...] = tuple(map(atom_type, function.body.results))
    whole = Var("results", TupleT(types), True)
    body = Block((*function.body.stmts, Stmt((whole,), Build("tuple", function.body.results))), (whole,))
    return as_lowered(pair, function, more, body)


def as_lowered(pair: Pair, function: Function, more: dict[str, Var], body: Block) -> Lowered:
    """A derivative as a function like those that the frontend lowers."""
    from sourcead.frontend.lower import Lowered

    old = pair.lowered
    named_params = dict(old.params)
    for name, v in more.items():
        while name in named_params:  # of a derivative of a derivative
            name += "_"
        named_params[name] = v
    params = {name: fresh(v, name=name) for name, v in named_params.items()}
    body = copied(body, {v: params[name] for name, v in named_params.items()})
    new = Function(function.name, tuple(params.values()), body, origin=function.origin)
    return Lowered(new, params, {}, old.live, old.guards, old.returned, Builder.knowing(old.build), old.pairs, True)
