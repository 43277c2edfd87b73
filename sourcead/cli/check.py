"""Check a derivative: against difference quotients, forward mode against reverse mode, and its time against the function's."""

import contextlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead.api.check import GradientMismatch, check_grads
from sourcead.api.transformations import jvp, vjp
from sourcead.cli.targets import CommandError
from sourcead.compile.comparison import LeftOut, Primal, direction_of, drawn, product, slope
from sourcead.compile.generated import Generated
from sourcead.compile.gradient import Gradient
from sourcead.compile.structures import leaves, map_leaves
from sourcead.errors import NoRuleError
from sourcead.ir.records import deep_copy
from sourcead.language.progress import waiting

EACH = 200  # elements, up to which each is moved; arguments with more are moved along random directions
DIRECTIONS = 5
SECONDS = 1.0  # that the two functions are timed for
TOLERANCE = {"wide": 1e-5, "narrow": 1e-2}  # relative; narrow if an argument has fewer digits than float64


@dataclass(frozen=True)
class Line:
    """A line of the report: what was compared, the outcome, and whether it is as it should be; None if it could not be compared."""

    what: str
    outcome: str
    passed: bool | None = True


def report(function: Callable, wrt: Any, args: tuple) -> list[Line]:
    """Return the lines of the report on the derivatives of a function.

    Args:
        function: the user's function; a derivative stands for the function that it is made of.
        wrt: the parameters to differentiate by, as for `grad`.
        args: the arguments.
    """
    primal = function.primal if isinstance(function, Generated) else function
    gradient = Gradient(primal, wrt)
    with contextlib.suppress(NoRuleError):  # which a line of the report tells
        vjp(primal, *deep_copy(args), wrt=wrt)  # refuses before arguments are moved, which the function may not take
    moved = _moved(gradient, args)
    count = sum(np.size(leaf) for value in moved.values() for _, leaf in leaves(value))
    if count <= EACH:
        lines = _by_element(primal, args, wrt, count)  # which shows a bar
    else:
        with waiting(f"differences along random directions of {count} numbers"):
            lines = _by_direction(primal, args, wrt, gradient, count)
    with waiting("products of tangents and cotangents"):
        lines.append(_dot_products(primal, args, wrt, gradient))
    with waiting("times of the gradient and the function"):
        return [*lines, *_times(primal, args, wrt, gradient)]


def _moved(gradient: Gradient, args: tuple) -> dict[str, Any]:
    """Return {parameter in wrt: its argument}."""
    names = list(gradient.signature.parameters)[len(gradient._bound_args):]
    found = {name: args[names.index(name)] for name in gradient.wrt if name in names[: len(args)]}
    if len(found) < len(gradient.wrt):
        raise CommandError(f"--args gives no value for {', '.join(n for n in gradient.wrt if n not in found)}, which --wrt names")
    return found


def _by_element(primal: Callable, args: tuple, wrt: Any, count: int) -> list[Line]:
    """Compare each element's derivative with central differences, in both modes."""
    lines = []
    for mode in ("reverse", "forward"):
        what = f"central differences, {mode} mode"
        try:
            check_grads(primal, deep_copy(args), wrt, modes=(mode,))
            lines.append(Line(what, f"all {count} elements agree" if count > 1 else "the one element agrees"))
        except GradientMismatch as error:
            lines.append(Line(what, str(error), passed=False))
        except NoRuleError as error:  # a rule of the user's, for one mode alone
            lines.append(Line(what, error.reason, passed=None))
    return lines


def _by_direction(primal: Callable, args: tuple, wrt: Any, gradient: Gradient, count: int) -> list[Line]:
    """Compare derivatives along random directions with difference quotients."""
    value, pullback = vjp(primal, *deep_copy(args), wrt=wrt)
    random = np.random.default_rng(0)
    cotangent = map_leaves(lambda leaf: drawn(leaf, random), value)
    found = pullback(deep_copy(cotangent))
    cotangents = dict(zip(gradient.wrt, (found,) if gradient._single else found))
    given = gradient._takes.bind(*gradient._bound_args, *args)
    given.apply_defaults()
    at, weights = Primal(gradient._function, gradient._takes, dict(given.arguments)), [leaf for _, leaf in leaves(cotangent)]
    worst = 0.0
    for _ in range(DIRECTIONS):
        try:
            direction = {name: direction_of(given.arguments[name], random) for name in gradient.wrt}
            numerical = slope(at, direction, lambda y: product(weights, y))
        except LeftOut as why:
            return [Line("difference quotients", str(why), passed=None)]
        ours = sum(product(direction[name], cotangents[name]) for name in gradient.wrt)
        worst = max(worst, _apart(ours, numerical))
    what = f"differences along {DIRECTIONS} random directions"
    return [Line(what, f"{count} elements, relative difference {worst:.1g}", worst <= _tolerance(given.arguments))]


def _dot_products(primal: Callable, args: tuple, wrt: Any, gradient: Gradient) -> Line:
    """Compare <c, J t>, by forward mode, with <J^T c, t>, by reverse mode, for random t and c."""
    random = np.random.default_rng(1)
    moved, names = _moved(gradient, args), list(gradient.signature.parameters)[len(gradient._bound_args):]
    tangents = {name: map_leaves(lambda leaf: drawn(_inexact(leaf), random), value) for name, value in moved.items()}
    what = "dot products of both modes"
    try:
        value, tangent = jvp(primal, deep_copy(args), [tangents.get(name) for name in names[: len(args)]])
    except NoRuleError as error:
        return Line(what, error.reason, passed=None)
    cotangent = map_leaves(lambda leaf: drawn(leaf, random), value)
    weights = [leaf for _, leaf in leaves(cotangent)]
    _, pullback = vjp(primal, *deep_copy(args), wrt=wrt)
    found = pullback(deep_copy(cotangent))
    forward = product(weights, tangent)
    pairs = zip((found,) if gradient._single else found, (tangents[name] for name in gradient.wrt))
    reverse = sum(product([leaf for _, leaf in leaves(d)], t) for d, t in pairs)
    apart = _apart(forward, reverse)
    shown = f"<c, J t> = {forward:.10g}, <J' c, t> = {reverse:.10g}, relative difference {apart:.1g}"
    return Line(what, shown, apart <= _tolerance(moved))


def _times(primal: Callable, args: tuple, wrt: Any, gradient: Gradient) -> list[Line]:
    """Time the function and its derivative in turns, and return the medians."""
    value = primal(*deep_copy(args))
    if np.ndim(value) == 0 and not isinstance(value, tuple | list | dict | complex | np.complexfloating):
        what, derivative = "gradient", gradient
    else:
        what = "value and pullback"
        cotangent = map_leaves(lambda leaf: drawn(leaf, np.random.default_rng(0)), value)

        def derivative(*args: Any) -> Any:
            return vjp(primal, *args, wrt=wrt)[1](cotangent)

    derivative(*deep_copy(args))
    times: dict[Callable, list[float]] = {primal: [], derivative: []}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[primal]) < 5:
        for call, taken in times.items():
            own = deep_copy(args)  # the function may write into its arguments
            start = time.perf_counter()
            call(*own)
            taken.append(time.perf_counter() - start)
    first, second = (statistics.median(taken) for taken in times.values())
    rows = [("time of the function", _shown(first)), (f"time of its {what}", f"{_shown(second)}, {second / first:.2f} times the function")]
    return [Line(*row) for row in rows]


def _inexact(leaf: Any) -> Any:
    return float(leaf) if isinstance(leaf, int) else leaf


def _apart(a: float, b: float) -> float:
    """Return the difference of two numbers, relative to the larger; 0 if both are equal, infinity if one is no number."""
    if a == b:
        return 0.0
    found = abs(a - b) / max(abs(a), abs(b))
    return found if np.isfinite(found) else float("inf")


def _tolerance(values: dict[str, Any]) -> float:
    """Return the relative difference that rounding may make, judged by the narrowest dtype among arguments."""
    found = [np.asarray(leaf).dtype for value in values.values() for _, leaf in leaves(value)]
    narrow = any(dtype.kind in "fc" and np.finfo(dtype).eps > 1e-10 for dtype in found)
    return TOLERANCE["narrow" if narrow else "wide"]


def _shown(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
