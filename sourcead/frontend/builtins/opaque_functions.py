"""Lower calls of functions that the user has declared opaque, and of solvers that have a residual (`language/opaque.py`)."""

import types
from typing import Any

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.errors import SourceADError
from sourcead.frontend import core
from sourcead.frontend.builtins.calls import refuse_functions
from sourcead.frontend.builtins.compositions import inline_composition
from sourcead.frontend.control import outliving
from sourcead.frontend.core import Lowering, TupleVal, Value, changed_by_opaque, roots
from sourcead.ir.nodes import Call, Const
from sourcead.ir.types import UNKNOWN, rank
from sourcead.language.opaque import Solver, opaque


def is_opaque(fn: Any) -> bool:
    """Return whether an object, bound or not, is a function that the user has declared opaque."""
    return isinstance(getattr(fn, "__func__", fn), opaque)


@core.kind_of_callable("declared opaque", is_opaque)
def call_opaque(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of such a function to the call itself, whose result is a constant for derivatives."""
    if isinstance(fn, types.MethodType):
        return call_opaque(lo, fn.__func__, [core.as_value(lo, fn.__self__), *args], kwargs, node)
    if isinstance(fn, Solver) and not core.in_composition(lo):
        from sourcead.primitives.scipy_systems import SOLVED

        if kwargs:
            raise core.unsupported(lo, node, "a solver is given arguments by name, and its residual takes them by position")
        given = [Const(fn), Const(fn.residual), TupleVal(tuple(args)), axes_of_result(lo, fn, args, node)]
        return inline_composition(lo, SOLVED, given, {}, node)
    refuse_functions(lo, fn.function, [*args, *kwargs.values()])
    outliving.leave_in_names(lo)  # which it may read
    changed_by_opaque.note(lo, fn.function)
    operands, named = [lo.operand(a) for a in args], {k: lo.operand(v) for k, v in kwargs.items()}
    call = Call(runtime.unseen, (Const(fn.function), *operands), tuple(named.items()), effect=True)
    return lo.wrap(lo.build.emit(call, UNKNOWN, "value"), shares=[r for a in (*args, *kwargs.values()) for r in roots(a)])


def axes_of_result(lo: Lowering, solver: Solver, args: list[Value], node) -> Const:
    """Return the number of axes of what a solver returns, which its source tells; None if it does not."""
    found = None
    with lo.attempt(SourceADError) as attempt:
        found = rank(atom_type(lo.read(core.call_object(lo, solver.function, args, {}, node))))
        attempt.fail()
    return Const(found)
