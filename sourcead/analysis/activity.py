"""Activity analysis, which finds the values that carry a derivative that matters.

A value is *varied* if it depends on the inputs that are differentiated, *useful* if the result depends on it, both
through operations that pass derivatives on.  Only values that are varied and useful get cotangents.  A maximum that is subtracted
so that nothing overflows is not useful: all that depends on it cancels (`cancelled_shifts.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sourcead.analysis.cancelled_shifts import cancelled_shifts
from sourcead.analysis.connected import reachable
from sourcead.ir.nodes import (
    AdjointBlock, Append, Atom, Block, Branch, Build, Call, Index, Let, Loop, Op, Pop, Stmt, Update, Var, operand_atoms
)
from sourcead.ir.types import SetT, carries_derivative
from sourcead.ir.walk import handed_on, walk
from sourcead.primitives.table import record_of
from sourcead.runtime import stop_gradient


def active_vars(block: Block, inputs: Iterable[Var], outputs: Iterable[Var]) -> set[Var]:
    """Return the variables of a block that are varied by `inputs` and useful for `outputs`."""
    targets: dict[Atom, list[Var]] = defaultdict(list)
    sources: dict[Var, list[Var]] = defaultdict(list)
    varied = list(inputs)
    cancelled = cancelled_shifts(block)
    for stmt in walk(block):
        for target, source in passes(stmt):
            if isinstance(source, Var) and source not in cancelled:
                sources[target].append(source)
                if carries_derivative(target.type):
                    targets[source].append(target)
        if isinstance(stmt.op, AdjointBlock):  # the block may read the cotangent even if nothing varied is in it
            varied += [t for t in stmt.targets if carries_derivative(t.type)]
    return reachable(varied, lambda v: targets.get(v, ())) & reachable(outputs, lambda v: sources.get(v, ()))


def passes(stmt: Stmt) -> Iterator[tuple[Var, Atom]]:
    """Yield pairs of a variable and of a value whose derivative a statement passes on to the variable."""
    match stmt.op:
        case Branch():
            yield from ((target, source) for target, *arms in handed_on(stmt) for source in arms)
        case Loop():
            for target, param, *values in handed_on(stmt):
                yield from ((v, source) for v in (target, param) for source in values)
        case AdjointBlock(values):
            yield from zip(stmt.targets, values)
        case op:
            yield from ((target, source) for source in passing_atoms(op) for target in stmt.targets)


def passing_atoms(op: Op) -> list[Var]:
    """Return the operands of an op (without blocks) through which derivatives may pass."""
    match op:
        case Call(fn, args, kwargs):
            operands = [*args, *(v for _, v in kwargs), *((fn,) if isinstance(fn, Var) else ())]
            silent = fn is stop_gradient or not isinstance(fn, Var) and record_of(fn).no_derivative
            if silent and not any(isinstance(a, Var) and isinstance(a.type, SetT) for o in operands for a in operand_atoms(o)):
                return []  # of sets, `|` is a union, which passes derivatives on
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
