"""Removes the hints that only differentiation reads: what a hint returns is its first argument.

    x = found_by_search(found); y = root_of(x, value, slope)            y = found

This is legal when no derivative of the function is taken any more.
"""

from dataclasses import replace

from sourcead import runtime
from sourcead.ir.nodes import Call, Function, Let, Stmt, Var
from sourcead.ir.types import UNKNOWN
from sourcead.ir.walk import rewrite, walk, with_body

HINTS = (
    runtime.stop_gradient, runtime.found_by_search, runtime.root_of, runtime.first_root_of, runtime.root_of_system,
    runtime.first_root_of_system, runtime.with_derivative_of,
)  # fmt: skip


def remove_hints(function: Function) -> Function:
    """Return the function with the first arguments of hints in the place of their results."""
    if not any(map(is_hint, walk(function.body))):
        return function
    return with_body(function, rewrite(function.body, lambda s: (without_hint(s) if is_hint(s) else s,)))


def is_hint(stmt: Stmt) -> bool:
    return isinstance(stmt.op, Call) and not isinstance(stmt.op.fn, Var) and stmt.op.fn in HINTS


def without_hint(stmt: Stmt) -> Stmt:
    """Return the statement with a name for the first argument of the hint, which is of the type that the hint says."""
    first = stmt.op.args[0]
    if isinstance(first, Var) and first.type == UNKNOWN:
        first.type = stmt.targets[0].type
    return replace(stmt, op=Let(first))
