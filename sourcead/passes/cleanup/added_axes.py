"""Adds axes of size 1 after operations that work element by element, and not at all where they are removed again.

    y = log(expand_dims(x, k))                        y = expand_dims(log(x), k)
    y = add(expand_dims(a, k), expand_dims(b, k))     y = expand_dims(add(a, b), k)
    y = squeeze(expand_dims(x, k), k)                 y = x

This is always legal: `a` and `b` have as many axes as each other, so that they are broadcast in the same way.
"""

import operator

import numpy as np

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Call, Const, Function, Stmt, Var
from sourcead.ir.types import rank
from sourcead.ir.walk import with_op
from sourcead.passes.peephole import Facts, peephole

ELEMENTWISE = {np.log, operator.neg, operator.add, operator.sub}


def delay_axes(function: Function) -> Function:
    """Return the function with axes of size 1 added as late as possible."""

    def rule(stmt: Stmt, facts: Facts) -> Atom | list[Stmt] | None:
        op = stmt.op
        if not isinstance(op, Call) or op.effect or isinstance(op.fn, Var):
            return None
        if op.fn is np.squeeze:
            axis = dict(op.kwargs).get("axis", op.args[1] if len(op.args) == 2 else None)
            x, added = before_axis(op.args[0], facts)
            same = isinstance(axis, Const) and type(axis.value) is int and x is not None and axis.value % rank(op.args[0].type) == added
            return x if same else None
        if op.kwargs or op.fn not in ELEMENTWISE:
            return None
        found = [before_axis(arg, facts) for arg in op.args]
        axes, ranks = {axis for _, axis in found}, {rank(x.type) for x, _ in found if x is not None}
        if None in axes or len(axes) != 1 or len(ranks) != 1:
            return None
        build = Builder().at(stmt)
        inner = build.call(op.fn, *(x for x, _ in found), name=stmt.targets[0].name)
        return [*build.stmts, with_op(stmt, Call(np.expand_dims, (inner, Const(axes.pop()))))]

    return peephole(function, rule)


def before_axis(x: Atom, facts: Facts) -> tuple[Var | None, int | None]:
    """Return the array to which one axis was added, and where, from 0; None for others."""
    match facts.op(x):
        case Call(np.expand_dims, (Var() as a, Const(int() as axis)), ()) if rank(a.type) is not None:
            return a, axis % (rank(a.type) + 1)
    return None, None
