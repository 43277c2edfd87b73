"""Calls of the user's function beside generated code, and the comparison of values and slopes up to rounding."""

import inspect
import sys
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.compile.keys import is_static
from sourcead.compile.structures import conversion, is_leaf, leaves, map_leaves
from sourcead.ir.nodes import AdjointBlock, Call, Function
from sourcead.ir.records import deep_copy, parts_of
from sourcead.ir.walk import walk
from sourcead.language import combinators

PATIENCE = 5.0  # seconds that the user's function may take where an engine runs code that is slow in Python


class LeftOut(Exception):
    """Raised where a text cannot be verified; the message says why."""


@dataclass(frozen=True, eq=False)
class Primal:
    """The user's function with the arguments of one call, which are copied each time it is called.

    Attributes:
        function: the function.
        signature: its signature.
        values: its arguments by parameter.
        patience: the seconds after which a call is given up; None if it may take any time.
    """

    function: Callable
    signature: inspect.Signature
    values: dict[str, Any]
    patience: float | None = None

    def __call__(self, moved: Callable[[str, Any], Any] = lambda name, value: value) -> Any:
        """Call the function on copies of its arguments, with `moved(parameter, argument)` in place of each argument.

        Raises:
            LeftOut: an argument cannot be copied, the call takes too long, or Numba cannot compile what it calls.
        """
        given = inspect.BoundArguments(self.signature, {name: moved(name, value) for name, value in self.copied().items()})
        try:
            with np.errstate(all="ignore"), combinators.without_warnings(), Limit(self.patience):
                return self.function(*given.args, **given.kwargs)
        except Exception as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            if frame.f_globals.get("__name__", "").startswith("numba."):
                raise LeftOut("it calls a function that Numba cannot compile for these arguments") from error
            raise

    def copied(self) -> dict[str, Any]:
        """Return copies of the arguments; arrays that share memory in the original share none in the copies."""
        try:
            return {**self.values, **deep_copy({name: v for name, v in self.values.items() if not is_static(v)})}
        except Exception as error:
            raise LeftOut(f"its arguments cannot be copied ({error})") from error

    def by(self, generated: Callable, derived: Collection[str]) -> Any:
        """Call generated code with copies of the arguments, those in `derived` converted as for a derivative."""
        values = self.copied()
        given = {name: values[name] for name in inspect.signature(generated).parameters}
        converted = {name: conversion(value, name in derived) for name, value in given.items()}
        with np.errstate(all="ignore"):
            return generated(**{name: value if converted[name] is None else converted[name](value) for name, value in given.items()})


def refuse_effects(function: Function) -> None:
    """Raise `LeftOut` if calling a function once more would draw random numbers or have effects."""
    for stmt in walk(function.body):
        if isinstance(stmt.op, AdjointBlock):
            raise LeftOut("it has a block that runs in the reverse sweep (`with adjoint_of`)")
        if isinstance(stmt.op, Call) and stmt.op.effect and runtime.has_effects(stmt.op.fn):
            raise LeftOut(f"it draws random numbers or has effects: it calls `{getattr(stmt.op.fn, '__name__', stmt.op.fn)}`")


def is_repeatable(function: Function) -> bool:
    """Return whether a function may be called once more."""
    try:
        refuse_effects(function)
    except LeftOut:
        return False
    return True


class Limit:
    """A context in which Python code that runs for more than some seconds is given up."""

    def __init__(self, seconds: float | None):
        self.seconds = seconds

    def __enter__(self) -> None:
        if self.seconds is not None:
            self.before, self.end = sys.gettrace(), time.perf_counter() + self.seconds
            sys.settrace(self._trace)

    def __exit__(self, *error: Any) -> None:
        if self.seconds is not None:
            sys.settrace(self.before)

    def _trace(self, frame, event, arg):
        if time.perf_counter() > self.end:
            sys.settrace(None)
            raise LeftOut(f"one call of the function takes more than {self.seconds:g} s in Python")
        return self._trace


def value_mismatch(primal: Primal, computed: Callable[[], Any]) -> str | None:
    """Return how the value that generated code computes differs from the user's function's, None if they agree.

    Raises:
        LeftOut: the function gives another value in each call.
    """
    expected, found = primal(), computed()
    why = difference(expected, found)
    if why is None:
        return None
    if difference(expected, primal()) is not None:
        raise LeftOut("it returns another value each time it is called")
    nearby = primal(lambda name, value: map_leaves(_nudged, value))
    return None if _distance(expected, nearby) * 1e4 >= _distance(expected, found) else why  # otherwise rounding explains it


def difference(expected: Any, found: Any, where: str = "") -> str | None:
    """Return a sentence on the first part of two values that differs by more than rounding, None if all agree."""
    what = where or "the value"
    if is_leaf(expected) or isinstance(expected, bool | np.bool_):
        if not isinstance(found, np.ndarray | np.generic | int | float | complex):
            return f"{what} is {expected!r}, and {found!r} in the generated code"
        a, b = np.asarray(expected), np.asarray(found)
        if a.shape != b.shape:
            return f"{what} has the shape {a.shape}, and {b.shape} in the generated code"
        if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
            return None
        near = _tolerance(a, b)
        off = ~np.isclose(b, a, rtol=near, atol=near * _size(a), equal_nan=True) & (np.isfinite(a) | np.isfinite(b))
        if not off.any():
            return None
        at = tuple(int(i) for i in np.unravel_index(np.argmax(off), off.shape))
        return f"{what}{list(at) if at else ''} is {a[at]}, and {b[at]} in the generated code"
    mine, theirs = list(parts_of(expected)), list(parts_of(found))
    if len(mine) != len(theirs):
        return f"{what} has {len(mine)} items, and {len(theirs)} in the generated code"
    pairs = zip(mine, theirs)
    return next((why for (at, a), (_, b) in pairs if (why := difference(a, b, where + at)) is not None), None)


def _tolerance(*arrays: np.ndarray) -> float:
    """Return the relative difference that rounding may make between arrays, judged by their coarsest dtype."""
    return min(0.05, 4 * max([float(np.finfo(a.dtype).eps) for a in arrays if a.dtype.kind in "fc"], default=0.0) ** 0.5)


def _size(array: np.ndarray) -> float:
    """Return the greatest absolute value of the finite elements, 0 if there is none."""
    return float(np.abs(array[np.isfinite(array)].astype(complex)).max(initial=0.0))


def _distance(a: Any, b: Any) -> float:
    """Return the greatest distance between the numbers of two values, infinity if they differ in structure."""
    pairs = [(np.asarray(x), np.asarray(y)) for (_, x), (_, y) in zip(leaves(a), leaves(b))]
    if len(pairs) != len(leaves(a)) or any(x.shape != y.shape for x, y in pairs):
        return float("inf")
    with np.errstate(all="ignore"):
        apart = [np.nan_to_num(np.abs(x.astype(complex) - y), nan=np.inf).max(initial=0.0) for x, y in pairs]
    return float(max(apart, default=0.0))


def _nudged(leaf: Any) -> Any:
    """Return a number or array with its floats changed by a few units in the last place, in alternating directions."""
    old = np.asarray(leaf)
    if old.dtype.kind not in "fc":
        return leaf
    sign = np.where(np.arange(old.size).reshape(old.shape) % 2, -1, 1)
    new = (old * (1 + 4 * np.finfo(old.dtype).eps * sign)).astype(old.dtype)
    return new if isinstance(leaf, np.ndarray) else type(leaf)(new[()])


# ---- derivatives ----

STEP = 1e-4  # of the difference quotients


def drawn(leaf: Any, random: np.random.Generator) -> Any:
    """Return a random tangent or cotangent of a number or array, zero if it carries no derivative."""
    dtype, shape = np.asarray(leaf).dtype, np.shape(leaf)
    found = np.zeros(shape)
    if dtype.kind in "fc":
        found = np.asarray(random.standard_normal(shape) + (1j * random.standard_normal(shape) if dtype.kind == "c" else 0), dtype)
    return found if isinstance(leaf, np.ndarray) else found.item()


def product(weights: list, value: Any) -> float:
    """Return the sum over the numbers of a value of Re(weight * number), in double precision."""
    return float(sum(np.sum(np.real(np.multiply(w, widened(np.asarray(leaf))))) for w, (_, leaf) in zip(weights, leaves(value))))


def widened(leaf: Any) -> Any:
    """Return a number or array, converted to double precision if it is inexact."""
    wide = {"f": float, "c": complex}.get(np.asarray(leaf).dtype.kind)
    if wide is None:
        return leaf
    return leaf.astype(wide, copy=False) if isinstance(leaf, np.ndarray) else wide(leaf)


def slope(primal: Primal, direction: dict[str, list], weigh: Callable[[Any], float]) -> float:
    """Return the derivative of `weigh(primal())` along a direction, by central differences.

    Args:
        primal: the function at the point.
        direction: for each parameter that is moved, one array or number for each number or array in its argument.
        weigh: the linear form of the value whose derivative is taken.

    Raises:
        LeftOut: two step sizes give different derivatives.
    """

    def at(h: float) -> float:
        def moved(name: str, value: Any) -> Any:
            if name not in direction:
                return value
            steps = iter(direction[name])
            return map_leaves(lambda leaf: widened(leaf) + h * next(steps), value)

        return weigh(primal(moved))

    far, near = ((at(h) - at(-h)) / (2 * h) for h in (STEP, STEP / 2))
    if not abs(far - near) <= 1e-3 * (abs(near) + 1e-3 * abs(at(0.0)) + 1e-6):
        raise LeftOut("the function is not smooth at the arguments of the first call")
    return (4 * near - far) / 3


def direction_of(value: Any, random: np.random.Generator) -> list:
    """Return a random tangent for each number and array in an argument, zero for those that carry no derivative."""
    found = [leaf if isinstance(leaf, np.ndarray) else leaf + 0.0 for _, leaf in leaves(value)]  # a number in wrt counts as a float
    if any(map(np.iscomplexobj, found)):
        raise LeftOut("an argument is complex")
    return [drawn(leaf, random) for leaf in found]
