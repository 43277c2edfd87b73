"""Lower `with` blocks.

    with np.errstate(...): A            A, marked as inside (`Stmt.within`)
    with nullcontext(v) as x: A         x = v; A
    with suppress(E): A                 try: A  except E: pass
    with manager as x: A                x = manager.__enter__(); try: A  except E as e: if not manager.__exit__(E, e, None): raise
                                        else or on the way out: manager.__exit__(None, None, None)
    with generated(v) as x: A           for x in generated(v): A, for a function that `contextlib.contextmanager` was applied to

The adjoints of statements inside `np.errstate`, `np.printoptions` or `warnings.catch_warnings` are marked too, as they may divide by the
same zero; the code generator puts statements with equal marks under one `with`.
"""

import contextlib
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from sourcead.errors import NoSourceError
from sourcead.frontend import core
from sourcead.frontend.control.exits import assignment, standing_for, variable
from sourcead.frontend.core import BoundVal, Flag, Held, Iterable, Lowering, Value
from sourcead.frontend.find_source import find_source
from sourcead.frontend.syntax import adjoint_blocks
from sourcead.frontend.syntax.adjoint_blocks import Steered
from sourcead.frontend.syntax.expressions import named_object
from sourcead.ir.nodes import Call, Const

NEUTRAL = (np.errstate, np.printoptions, warnings.catch_warnings)
STOPS = ("raise", "call")  # the actions of `errstate` that alter the control flow
ALTERS = "what this context manager does to the values inside cannot be seen", "use it around the call of the gradient"


class Act(gast.Pass):
    """Call `act()` at a place in a list of statements; what it returns is how control leaves."""

    def __init__(self, act: Callable[[], Any]):
        self.act = act


core.statement(Act)(lambda lo, node: node.act())


def reraise(error: Exception) -> None:
    """Raise an exception that was made or raised before."""
    raise error


@core.replaced_statement(gast.With)
def inside_with(lo: Lowering, node: gast.With) -> list[gast.AST]:
    """Return the statements by which a `with` is replaced."""
    items, body = node.items, node.body
    steers = [adjoint_blocks.is_steering(lo, item) for item in items]
    if len(set(steers)) == 2:  # the managers up to the first of the other kind stay outside, the others move inside
        at = steers.index(not steers[0])
        items, body = items[:at], [standing_for(node, gast.With(items[at:], body, None))]
    if steers[0]:
        return [standing_for(node, Steered(items, body))]
    first, *others = items
    if others:
        body = [standing_for(node, gast.With(others, body, None))]
    made, target = first.context_expr, first.optional_vars
    fn = named_object(lo, getattr(made, "func", None))
    if fn in NEUTRAL:
        outside, manager = lo.build.within, neutral(lo, fn, made)
        record = dict(manager.kwargs).get("record", Const(False))
        if target is not None and (fn is np.printoptions or manager.args or record.value):  # the others hand out None
            raise core.unsupported(lo, target, "the object that this context manager hands out is used as a value")
        lo.build.within = (*outside, manager)
        return [*bind(target, Const(None), node), *body, standing_for(node, Act(lambda: setattr(lo.build, "within", outside)))]
    if fn is contextlib.suppress:
        classes = gast.Tuple(made.args, gast.Load())
        return [standing_for(node, gast.Try(body, [gast.ExceptHandler(classes, None, [gast.Pass()])], [], []))]
    if fn is contextlib.nullcontext:
        given = [*made.args, *(k.value for k in made.keywords), gast.Constant(None, None)][0]
        return [*bind(target, core.lower(lo, given), node), *body]
    manager = core.lower(lo, made)
    if isinstance(manager, BoundVal) and manager.function is ENTERED:
        return around_generator(lo, manager.args[0], target, body, node)
    return around_object(lo, manager, target, body, node)


def bind(target: gast.AST | None, value: Value, node) -> list[gast.AST]:
    """Build `target = value`."""
    return [] if target is None else [standing_for(node, gast.Assign([target], Held(value), None))]


def neutral(lo: Lowering, fn: Any, made: gast.Call) -> Call:
    """Return the call of a context manager that does not alter values."""
    args = tuple(constant(lo, a) for a in made.args)
    kwargs = tuple((k.arg, constant(lo, k.value)) for k in made.keywords)
    if fn is np.errstate and any(a.value in STOPS for a in (*args, *(v for _, v in kwargs))):
        raise core.unsupported(lo, made, "`np.errstate` that raises or calls alters the data flow", 'use "ignore" or "warn"')
    return Call(fn, args, kwargs)


def constant(lo: Lowering, node) -> Const:
    """Lower an option that must be known while compiling."""
    reason = "an option of a context manager that is not known before the program runs"
    return Const(core.certain(lo, core.lower(lo, node), node, reason))


# -- objects with `__enter__` and `__exit__` --------------------------------------------------------------------------------


def around_object(lo: Lowering, manager: Value, target, body: list[gast.AST], node: gast.With) -> list[gast.AST]:
    """Return the statements for a `with` on an object of the user's class."""
    leave = core.special_method(manager, "__exit__")
    if leave is None or core.special_method(manager, "__enter__") is None:
        raise core.unsupported(lo, node.items[0].context_expr, *ALTERS)
    value = core.call_special(lo, manager, "__enter__", [], node)
    end = Act(lambda: core.call_special(lo, manager, "__exit__", [Const(None)] * 3, node) and None)
    inside = [*bind(target, value, node), *body]
    if is_transparent(leave):
        return [standing_for(node, gast.Try(inside, [], [], [standing_for(node, end)]))]
    error, told = Flag("exception"), Flag("told")  # whether `__exit__` was told of an exception
    given = [gast.Call(Held(Const(type)), [variable(error)], []), variable(error), gast.Constant(None, None)]
    passes = gast.UnaryOp(gast.Not(), gast.Call(Held(BoundVal(Const(leave), (manager,))), given, []))
    again = standing_for(node, gast.If(passes, [standing_for(node, gast.Raise(None, None))], []))
    handled = [assignment(told, Held(Const(True)), node), again]
    inner = standing_for(node, gast.Try(inside, [gast.ExceptHandler(None, error, handled)], [], []))
    unless_told = standing_for(node, gast.If(gast.UnaryOp(gast.Not(), variable(told)), [standing_for(node, end)], []))
    return [assignment(told, Held(Const(False)), node), standing_for(node, gast.Try([inner], [], [], [unless_told]))]


def is_transparent(leave: types.FunctionType) -> bool:
    """Tell whether a function `__exit__` does the same after an exception as without one, and lets the exception pass."""
    try:
        node = leave.lowered.source.node if hasattr(leave, "lowered") else find_source(leave).node
    except NoSourceError:
        return False
    own = list(core.own_nodes(node))
    first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
    names = {n.id for n in [*node.args.posonlyargs, *node.args.args, node.args.vararg, node.args.kwarg] if n is not None and n is not first}
    reads = any(isinstance(n, gast.Name) and n.id in names and isinstance(n.ctx, gast.Load) for n in gast.walk(node))
    returns = [n.value for n in own if isinstance(n, gast.Return)]
    return not reads and all(v is None or isinstance(v, gast.Constant) and not v.value for v in returns)


# -- generators -------------------------------------------------------------------------------------------------------------


def generated() -> None:
    """Stand for the calls of functions that `contextlib.contextmanager` was applied to inside the function being lowered."""


ENTERED = Const("context manager")  # applied to a generator, it is the context manager of that generator


@core.builtin(contextlib.contextmanager)
def applied(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower the decorator: what it returns makes a context manager of a generator."""
    return BoundVal(Const(generated), tuple(args))


@core.builtin(generated)
def call_generated(lo: Lowering, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a decorated function, the first argument."""
    return BoundVal(ENTERED, (core.call(lo, args[0], args[1:], kwargs, node),))


def generator_behind(fn: Any) -> types.FunctionType | None:
    """Return the generator function that `contextlib.contextmanager` was applied to, None for any other function."""
    inner = getattr(fn, "__wrapped__", None)
    made = isinstance(fn, types.FunctionType) and fn.__code__.co_filename == contextlib.__file__
    return inner if made and inspect.isgeneratorfunction(inner) else None


@core.kind_of_callable("context manager", lambda fn: generator_behind(fn) is not None)
def call_decorated(lo: Lowering, fn: Any, args: list[Value], kwargs: dict[str, Value], node) -> Value:
    """Lower a call of a function that was decorated before the function being lowered was called."""
    return call_generated(lo, [Const(generator_behind(fn)), *args], kwargs, node)


def around_generator(lo: Lowering, generator: Iterable, target, body: list[gast.AST], node) -> list[gast.AST]:
    """Return the statements for a `with` on a generator: its code around the `yield` runs around the body."""
    made = node.items[0].context_expr
    if lo.catching:
        raise core.unsupported(lo, made, "what this generator does after an exception is not known here", "use `try`")
    steps = core.iterate(lo, generator, made)
    if steps.drive is None:
        raise core.unsupported(lo, made, *ALTERS)

    def run(lower_body: Callable[[], Any]) -> Any:
        depth, times, left = lo.depth, [], []

        def act(element: Value) -> None:
            times.append(lo.depth)
            core.lower_statements(lo, bind(target, element, node))
            left.append(lower_body())

        steps.drive(act)
        if times != [depth]:
            raise core.unsupported(lo, made, "how often this generator yields is not known before the program runs", "yield once")
        return left[0] if left else Const(0)  # an exception that the generator handles ends the body

    return [standing_for(node, Surrounded(run, body))]


class Surrounded(gast.With):
    """Statements that other code surrounds: `run(lower_body)` lowers both, and returns what `lower_body()` returned."""

    def __init__(self, run: Callable[[Callable[[], Any]], Any], body: list[gast.AST]):
        super().__init__([], body, None)
        self.run = run


def stopped(lo: Lowering, item) -> tuple[type, ...]:
    """Return the exception classes that the manager of a `with` may treat in its own way."""
    fn = named_object(lo, getattr(item.context_expr, "func", None))
    if fn in NEUTRAL or fn is contextlib.nullcontext:
        return ()
    if isinstance(fn, type) and isinstance(leave := getattr(fn, "__exit__", None), types.FunctionType) and is_transparent(leave):
        return ()
    return (BaseException,)
