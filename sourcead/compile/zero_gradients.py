"""Warn of a gradient that is zero for every argument, since nothing that has a derivative leads from the arguments to the result.

    return np.mean(np.argmax(x @ w, axis=1) == labels)      the derivative of `w` ends at `np.argmax`

What is active (`analysis/activity.py`) decides that: a part of the arguments that counts is enough for no warning, and so is a function
one of whose branches has a derivative. `stop_gradient` in the function says that zero is meant.
"""

import warnings
from typing import Any

from sourcead.ad.gradient import Form
from sourcead.analysis.activity import active_vars, passes, passing_atoms
from sourcead.analysis.connected import reachable
from sourcead.errors import SourceADError, ZeroGradientWarning
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import Atom, Build, Call, Origin, Var, operand_atoms
from sourcead.ir.types import Unknown, carries_derivative, kind_of
from sourcead.ir.walk import walk
from sourcead.language.tracebacks import level_outside
from sourcead.places.spelling import spelled
from sourcead.runtime import stop_gradient


def warn_of_zero(lowered: Lowered, form: Form, wrt: tuple[str, ...]) -> None:
    """Warn if the result of a function that was lowered depends on no argument in `wrt` by what has a derivative."""
    body = lowered.function.body
    value, inputs = result_of(lowered), [lowered.params[name] for name in wrt if name in lowered.params]
    unknown = any(isinstance(x.type, Unknown) for x in inputs)  # before a call
    if form.kind not in ("grad", "value_and_grad") or lowered.derived or unknown or not inputs:
        return
    if isinstance(value, Var) and active_vars(body, inputs, [value]):
        return
    if any(isinstance(stmt.op, Call) and stmt.op.fn is stop_gradient for stmt in walk(body)):
        return
    who, named = f"`{lowered.function.name}`", " and ".join(f"`{name}`" for name in wrt)
    if isinstance(value, Var) and kind_of(value.type) == "int":
        why, at = f"{who} returns an integer, which carries no derivative: its gradient is zero", lowered.returned
        instead = "return the number that is rounded or counted here"
    elif (found := where_it_ends(lowered, inputs)) is not None:
        fn, at = found
        step = "a comparison" if getattr(fn, "__module__", None) == "_operator" else f"`{spelled(fn)}`"
        why = f"{who} depends on {named} only by what has no derivative, here {step}: its gradient is zero"
        instead = "what is smooth in its place, as the cross-entropy for an accuracy; or `stop_gradient(...)` of it, if zero is meant"
    else:
        why, at, instead = f"{who} does not depend on {named}: its gradient is zero", lowered.returned, None
    warnings.warn(str(SourceADError(why, at, instead)), ZeroGradientWarning, stacklevel=level_outside())


def result_of(lowered: Lowered) -> Atom:
    """Return the number that a function returns, the first of a pair where the second one is an auxiliary result."""
    (value,) = lowered.function.body.results
    made = next((stmt.op for stmt in lowered.function.body.stmts if value in stmt.targets), None)
    return made.items[0] if isinstance(made, Build) and made.kind == "tuple" and made.items else value


def where_it_ends(lowered: Lowered, inputs: list[Var]) -> tuple[Any, Origin] | None:
    """Return the first function without a derivative that is given what has one, and its place in the user's program."""
    targets: dict[Atom, list[Var]] = {}
    for stmt in walk(lowered.function.body):
        for target, source in passes(stmt):
            if carries_derivative(target.type):
                targets.setdefault(source, []).append(target)
    varied = reachable(inputs, lambda v: targets.get(v, ()))
    for stmt in walk(lowered.function.body):
        if isinstance(stmt.op, Call) and stmt.origin is not None and not passing_atoms(stmt.op):
            operands = [atom for operand in (*stmt.op.args, *(v for _, v in stmt.op.kwargs)) for atom in operand_atoms(operand)]
            if any(atom in varied and carries_derivative(atom.type) for atom in operands):
                return stmt.op.fn, stmt.origin.part or stmt.origin
    return None
