"""Looks between the passes: whether each leaves well-formed IR, and IR that computes what it computed before."""

import copy
import inspect

import numpy as np

from sourcead.compile import specialisation
from sourcead.emit import MEMORY
from sourcead.errors import SourceADError
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import Function
from sourcead.ir.verify import IRError, verify
from sourcead.passes import plan
from tests.harness import first_line, quietly, time_limit
from tests.programs import rng_for
from tests.snapshots.texts import KINDS, SECONDS, lowered_as

PLANNED = {*plan.CLEANUP, *plan.BEFORE, *plan.AFTER, *plan.BATCHING, MEMORY}
KEPT = 1e-9  # how far a result may move, relative to the largest number in it: passes reorder sums


class Watch:
    """An observer of the plan that notes what is wrong after a pass."""

    def __init__(self, arguments=None):
        self.arguments, self.problems, self.ran, self.compared = arguments, [], 0, 0
        self.verified: set[int] = set()
        self.seen: list[Function] = []  # keeps them alive, so that their numbers stay their own
        self.results: dict[int, object] = {}

    def __call__(self, row, before, after):
        self.ran += 1
        if self.well_formed(f"before {row.name}", before) and after is not before and self.well_formed(f"after {row.name}", after):
            if self.arguments is not None:
                self.compare(row, before, after)

    def well_formed(self, where, function):
        if id(function) not in self.verified:
            try:
                verify(function)
            except IRError as error:
                self.problems.append(f"{where}: {first_line(error)}"[:600])
                return False
            self.verified.add(id(function))
            self.seen.append(function)
        return True

    def compare(self, row, before, after):
        old, new = self.result_of(before), self.result_of(after)
        if old is None or isinstance(old, Failed):  # a statement that fails may be dead
            return
        if isinstance(new, Failed) and "NoneType" in new and row not in PLANNED:
            return  # the engine gives variables that hold nothing a value of their type, but later
        self.compared += 1
        if not agree(old, new):
            self.problems.append(f"{row.name} changed what {after.name} computes: {old!r} became {new!r}"[:600])

    def result_of(self, function):
        """What a function of the primal arguments computes; None if it raises an error or has other parameters."""
        if id(function) not in self.results:
            self.results[id(function)] = self.evaluated(function)
        return self.results[id(function)]

    def evaluated(self, function):
        args = self.arguments(function)
        if args is None:
            return None
        try:
            with quietly(), time_limit(SECONDS):
                return called(evaluate(function, *args))
        except Exception as error:
            return Failed(f"{type(error).__name__}: {first_line(error)}")


class Failed(str):
    """The error that a function raised."""


def called(result):
    """A result in which pullbacks have been called with a cotangent of ones."""
    if isinstance(result, tuple) and any(callable(r) for r in result):
        value = result[0]
        return tuple(r(ones_like(value)) if callable(r) else r for r in result)
    return result


def ones_like(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(ones_like, value))
    return np.ones_like(value) if isinstance(value, np.ndarray) else 1.0


def agree(a, b):
    """Whether two results are the same but for rounding."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(agree(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return isinstance(b, (tuple, list)) and len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, (np.ndarray, np.generic, float, complex)) and np.asarray(a).dtype.kind in "fc":
        a, b = np.asarray(a), np.asarray(b)
        finite = np.abs(a[np.isfinite(a)])
        close = np.finfo(a.dtype).eps / np.finfo(float).eps * KEPT
        scale = max(float(finite.max()) if finite.size else 0.0, 1.0)
        return a.shape == b.shape and np.allclose(a, b, rtol=close, atol=close * scale, equal_nan=True)
    if hasattr(a, "__dict__") and not callable(a):
        return type(a) is type(b) and agree(vars(a), vars(b))
    return callable(a) or bool(np.all(a == b))


def problems_of(program, kinds=KINDS, evaluated=False):
    """What is wrong after the passes that a program's derivatives run through, how many ran, and how many were evaluated."""
    problems, ran, compared = [], 0, 0
    defaults = defaults_of(program.function)
    for kind in kinds:
        args = program.make_args(rng_for())
        watch = Watch((lambda function, args=args: arguments_of(function, args, defaults)) if evaluated else None)
        specialisation.SHARED.clear()
        with quietly(), plan.observed(watch):
            try:
                with time_limit(4 * SECONDS):
                    lowered_as(kind, program, args)
            except SourceADError:
                pass
        problems += [f"{kind}: {problem}" for problem in watch.problems[:3]]
        ran, compared = ran + watch.ran, compared + watch.compared
    return problems, ran, compared


def defaults_of(function):
    """The default values of a function's parameters; none if its signature cannot be told."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def arguments_of(function, args, defaults):
    """Copies of a program's arguments, its defaults, and tangents of ones for what else a function takes; None if they do not fit."""
    if len(function.params) < len(args):
        return None
    args = copy.deepcopy(args)
    named = {**defaults, **dict(zip((p.name for p in function.params), args))}
    rest = [p.name for p in function.params[len(args) :]]
    if not all(name.removeprefix("d_") in named for name in rest):
        return None
    return [*args, *(named[name] if name in named else ones_like(named[name.removeprefix("d_")]) for name in rest)]
