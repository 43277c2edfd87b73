"""Lower `with` blocks that do not alter the data flow: `np.errstate`, `np.printoptions`, `warnings.catch_warnings`.

The statements of the body are marked as inside (`Stmt.within`), and so are their adjoints, which may divide by the same
zero; the code generator puts statements with equal marks under one `with`.  Nothing else depends on the block.
"""

from __future__ import annotations

import contextlib
import warnings

import gast
import numpy as np

from sourcead.frontend import core
from sourcead.frontend.core import Lowering
from sourcead.frontend.syntax import adjoint_blocks
from sourcead.frontend.syntax.adjoint_blocks import Steered
from sourcead.ir.nodes import Call, Const

NEUTRAL = (np.errstate, np.printoptions, warnings.catch_warnings, contextlib.nullcontext)
STOPS = ("raise", "call")  # the actions of `errstate` that alter the control flow


class WithBegins(gast.Pass):
    """Mark the beginning of a `with` block in a list of statements; `managers` holds its context managers."""


class WithEnds(gast.Pass):
    """Mark the end of a `with` block in a list of statements."""


@core.replaced_statement(gast.With)
def between_marks(lo: Lowering, node: gast.With) -> list[gast.AST]:
    """Return the statements of a `with` block between marks for its beginning and end."""
    items, body = node.items, node.body
    steers = [adjoint_blocks.is_steering(lo, item) for item in items]
    if len(set(steers)) == 2:  # the managers up to the first of the other kind stay outside, the others move inside
        inner = gast.With(items[steers.index(not steers[0]) :], body, None)
        inner.stands_for = getattr(node, "stands_for", node)
        items, body = items[: steers.index(not steers[0])], [inner]
    if steers[0]:
        steered = Steered()
        steered.items, steered.body, steered.stands_for = items, body, getattr(node, "stands_for", node)
        return [steered]
    begins, ends = WithBegins(), WithEnds()
    begins.managers = tuple(neutral(lo, item) for item in items)
    begins.managers = tuple(c for c in begins.managers if c.fn is not contextlib.nullcontext)
    ends.count = len(begins.managers)
    begins.stands_for = ends.stands_for = getattr(node, "stands_for", node)
    return [begins, *body, ends]


def neutral(lo: Lowering, item) -> Call:
    """Return the call of the context manager of a `with`; refuse a manager that might alter values."""
    made = item.context_expr
    fn = None
    if isinstance(made, gast.Call):
        found, fn = core.known(lo, core.lower(lo, made.func))
        fn = fn if found else None
    if fn not in NEUTRAL:
        raise core.unsupported(
            lo, made, "what this context manager does to the values inside cannot be seen", "use it around the call of the gradient"
        )
    if item.optional_vars is not None:
        raise core.unsupported(lo, item.optional_vars, "the object that this context manager hands out is used as a value")
    args = tuple(constant(lo, a) for a in made.args)
    kwargs = tuple((k.arg, constant(lo, k.value)) for k in made.keywords)
    if fn is np.errstate and any(a.value in STOPS for a in (*args, *(v for _, v in kwargs))):
        raise core.unsupported(lo, made, "`np.errstate` that raises or calls alters the data flow", 'use "ignore" or "warn"')
    if fn is contextlib.nullcontext:
        args = ()
    return Call(fn, args, kwargs)


def constant(lo: Lowering, node) -> Const:
    """Lower an option that must be known while compiling."""
    found, value = core.known(lo, core.lower(lo, node))
    if not found:
        raise core.unsupported(lo, node, "an option of a context manager that is not known before the program runs")
    return Const(value)


@core.statement(WithBegins)
def enter(lo: Lowering, node: WithBegins) -> None:
    """Mark the statements from here on as inside the block."""
    lo.build.within = (*lo.build.within, *node.managers)


@core.statement(WithEnds)
def leave(lo: Lowering, node: WithEnds) -> None:
    """Mark the statements from here on as outside the block."""
    lo.build.within = lo.build.within[: len(lo.build.within) - node.count]
