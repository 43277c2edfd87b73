"""The function that computes the tangent of another function: y, t_y = f_jvp(x, t_x)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sourcead.ad.forward.statements import Forward
from sourcead.ad.inline_helpers import simplified
from sourcead.ad.recursion import as_lowered, wrt_names
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.unassigned import with_nothing
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Block, Build, Function, Stmt, Var
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import TupleT, tangent_type


def pushforward(lowered: Lowered, directions: dict[str, str], value_too: bool, closures: bool = True) -> Function:
    """Return the function that computes a tangent, not yet simplified.

    Args:
        lowered: the function.
        directions: the parameters that have tangents -> what the tangents are called, parameters of the result.
        value_too: whether it returns `(value, tangent)`, or the tangent alone.
        closures: whether the result may contain closures, because it is not differentiated again.
    """
    primal = lowered.function = simplified(lowered, directions)
    build = Builder.knowing(lowered.build)
    block, build.unassigned = with_nothing(primal.body)
    (value,) = block.results
    inputs = {lowered.params[name]: t for name, t in directions.items() if name in lowered.params}
    active = active_vars(block, inputs, [value] if isinstance(value, Var) else [])
    active.update(inputs)
    forward = Forward(active, build, closures, forward_as_function)
    params = {x: Var(name, tangent_type(x.type)) for x, name in inputs.items()}
    forward.tangents.known.update(params)
    forward.block(block)
    build.origin = build.adjoint_of = None
    build.within = ()
    t = forward.tangents.get_or_zero(value)
    body = Block(tuple(build.stmts), (value, t) if value_too else (t,))
    return replace(primal, params=(*primal.params, *params.values()), body=body)


def tangent_names(parameters: Iterable[str], wrt: Sequence[str]) -> dict[str, str]:
    """Return {parameter in wrt: the name of its tangent}."""
    taken, found = set(parameters), {}
    for name in wrt:
        t = f"t_{name}"
        while t in taken:
            t += "_"
        taken.add(t)
        found[name] = t
    return found


def forward_as_function(pair: Pair) -> Lowered:
    """Return the computation of the value and the tangent of a recursive function as one function, which can be differentiated again."""
    directions = {name: f"t_{name}" for name in wrt_names(pair)}
    function = pushforward(pair.lowered, directions, True, closures=False)
    more = dict(zip(directions.values(), function.params[len(pair.lowered.params) :]))
    whole = Var("results", TupleT(tuple(map(atom_type, function.body.results))), True)
    body = Block((*function.body.stmts, Stmt((whole,), Build("tuple", function.body.results))), (whole,))
    return as_lowered(pair, function, more, body)
