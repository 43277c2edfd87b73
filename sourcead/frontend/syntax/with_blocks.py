"""`with` blocks that do not alter the data flow: `np.errstate`, `np.printoptions`, `warnings.catch_warnings`.

The statements of the body say that they are inside (`Stmt.within`), and so do their adjoints, which may divide by the same
zero; the text puts statements that say the same under one `with`.  For every other purpose the block is not there.
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
STOPS = ("raise", "call")  # what errstate can be told to do that alters the flow


class WithBegins(gast.Pass):
    """The beginning of a `with` block, in a list of statements: `managers` are its context managers."""


class WithEnds(gast.Pass):
    """The end of a `with` block, in a list of statements."""


@core.replaced_statement(gast.With)
def between_marks(lo: Lowering, node: gast.With) -> list[gast.AST]:
    """The statements of a `with` block, between marks."""
    items, body = node.items, node.body
    steers = [adjoint_blocks.is_steering(lo, item) for item in items]
    if len(set(steers)) == 2:  # one kind outside, the others inside
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
    """The context manager of a `with`, if it is one that leaves values alone."""
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
    """An option that must be known while compiling."""
    found, value = core.known(lo, core.lower(lo, node))
    if not found:
        raise core.unsupported(lo, node, "an option of a context manager that is not known before the program runs")
    return Const(value)


@core.statement(WithBegins)
def enter(lo: Lowering, node: WithBegins) -> None:
    """Marks the statements from here on as inside of the block."""
    lo.build.within = (*lo.build.within, *node.managers)


@core.statement(WithEnds)
def leave(lo: Lowering, node: WithEnds) -> None:
    """Marks the statements from here on as outside of the block."""
    lo.build.within = lo.build.within[: len(lo.build.within) - node.count]
