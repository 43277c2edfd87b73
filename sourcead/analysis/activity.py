"""Activity analysis, which finds the values that carry a derivative that matters.

A value is *varied* if it depends on the inputs that are differentiated, *useful* if the result depends on it, both
through operations that pass derivatives on.  Only values that are varied and useful get cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from sourcead.ir.nodes import (
    AdjointBlock, Append, Block, Branch, Build, Call, Const, Index, Let, Loop, Op, Pop, Update, Var, operand_atoms
)
from sourcead.ir.types import carries_derivative
from sourcead.primitives.table import no_derivative, record_of
from sourcead.runtime import stop_gradient


def active_vars(block: Block, inputs: Iterable[Var], outputs: Iterable[Var]) -> set[Var]:
    """Return the variables of a block that are varied by `inputs` and useful for `outputs`."""
    varied = _fixpoint(set(inputs), lambda known: _forward(block, known))
    return varied & _fixpoint(set(outputs), lambda known: _backward(block, known, varied))


def _fixpoint(known: set[Var], sweep: Callable[[set[Var]], None]) -> set[Var]:
    """Repeat a sweep that adds to a set until it adds nothing."""
    while True:
        size = len(known)
        sweep(known)
        if len(known) == size:
            return known


def passing_atoms(op: Op) -> list[Var]:
    """Return the operands of an op (without blocks) through which derivatives may pass."""
    match op:
        case Call(fn, args, kwargs):
            if fn is stop_gradient or not isinstance(fn, Var) and no_derivative(fn) or makes_integers(op):
                return []
            operands = [*args, *(v for _, v in kwargs), *((fn,) if isinstance(fn, Var) else ())]
        case Let(value):
            operands = [value]
        case Index(base) | Pop(base):
            operands = [base]
        case Update(base, _, value) | Append(base, value):
            operands = [base, value]
        case Build(_, items):
            operands = list(items)
        case _:
            operands = []
    return [a for o in operands for a in operand_atoms(o) if isinstance(a, Var) and carries_derivative(a.type)]


def makes_integers(call: Call) -> bool:
    """Return whether the dtype given to a NumPy function makes its result integers or truth values, which carry no derivative."""
    place = record_of(call.fn).dtype_at
    given = dict(call.kwargs).get("dtype") if place is None or len(call.args) <= place else call.args[place]
    if not isinstance(given, Const) or given.live or given.value is None or not from_numpy(call.fn):
        return False
    try:
        return np.dtype(given.value).kind in "iub"
    except TypeError:
        return False


def from_numpy(fn) -> bool:
    """Return whether a function belongs to NumPy."""
    owner = getattr(fn, "__objclass__", fn)
    return isinstance(fn, np.ufunc) or (getattr(owner, "__module__", None) or "").split(".")[0] == "numpy"


def _forward(block: Block, varied: set[Var]) -> None:
    """Add to `varied` the variables of a block that depend on a varied one."""
    def mark(targets: Iterable[Var], sources: Iterable) -> None:
        for target, source in zip(targets, sources):
            if source in varied and carries_derivative(target.type):
                varied.add(target)

    for stmt in block.stmts:
        match stmt.op:
            case Branch(_, then, orelse):
                for arm in (then, orelse):
                    _forward(arm, varied)
                    mark(stmt.targets, arm.results)
            case Loop(_, _, params, inits, body):
                mark(params, inits)
                mark(stmt.targets, inits)
                _forward(body, varied)
                mark(params, body.results)
                mark(stmt.targets, body.results)
            case AdjointBlock():  # the block may read the cotangent even if nothing varied is in it
                varied.update(t for t in stmt.targets if carries_derivative(t.type))
            case op:
                if any(a in varied for a in passing_atoms(op)):
                    varied.update(t for t in stmt.targets if carries_derivative(t.type))


def _backward(block: Block, useful: set[Var], varied: set[Var]) -> None:
    """Add to `useful` the variables of a block that a useful one depends on."""
    def mark(targets: Iterable[Var], sources: Iterable) -> None:
        for target, source in zip(targets, sources):
            if target in useful and isinstance(source, Var):
                useful.add(source)

    for stmt in reversed(block.stmts):
        match stmt.op:
            case Branch(_, then, orelse):
                for arm in (then, orelse):
                    mark(stmt.targets, arm.results)
                    _backward(arm, useful, varied)
            case Loop(_, _, params, inits, body):
                mark(stmt.targets, body.results)
                mark(params, body.results)
                _backward(body, useful, varied)
                mark(params, inits)
                mark(stmt.targets, inits)
            case AdjointBlock(values):
                mark(stmt.targets, values)
            case op:
                if any(t in useful for t in stmt.targets):
                    useful.update(passing_atoms(op))
