"""`backend="auto"`: the faster of NumPy and Numba, for each kind of arguments and each order of magnitude of their size.

A derivative with this backend calls one of two others of the same function, its `rivals`, one for each engine.  Each call runs one of
them, so that effects happen once.

    call    1        2        3, 5, 7, 9    4, 6, 8, 10    11, 12, ...
    runs    NumPy    Numba    NumPy         Numba          the one whose calls 3 to 10 have the lesser median of times

The first call of each is not timed: it compiles, and compares the result with that of the function.  A difference that is clear earlier
decides earlier.  NumPy alone is called where Numba cannot compile the text, where it would draw other random numbers, and where there is
nothing to gain: the text has no loops, and its products of matrices take the time (`reason_against`).
"""

from __future__ import annotations

import contextlib
import math
import statistics
import threading
import time
import types
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.backends.options import Numba
from sourcead.compile.arguments import Arguments
from sourcead.compile.generated import Lowered
from sourcead.compile.specialisation import TEXTS, remember
from sourcead.errors import BackendError
from sourcead.ir.nodes import Call, Function, Loop
from sourcead.ir.walk import has, walk
from sourcead.language.tracebacks import level_outside
from sourcead.passes.loops.hoisting import PRODUCTS

NUMPY, NUMBA = "NumPy", "Numba"
MOST = 4  # the most calls of each engine that are timed
CLEAR = {2: 3.0, 3: 2.0}  # the ratio of times that decides after fewer calls
LONG = 1.0  # seconds: no second call of one that takes as long


class Choice:
    """The choice for one kind of arguments.

    Args:
        clock: returns the time in seconds.

    Attributes:
        decided: the engine that was chosen; None as long as both are timed.
        why: the reason, for notes.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter):
        self.clock, self.lock = clock, threading.Lock()
        self.begun = {NUMPY: 0, NUMBA: 0}
        self.times: dict[str, list[float]] = {NUMPY: [], NUMBA: []}
        self.decided: str | None = None
        self.why = "both engines are timed: NumPy runs the first call, Numba the second"

    def run(self, calls: dict[str, Callable], args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call one of the two engines, and time it if that may still change the choice."""
        with self.lock:
            name = self.decided or (NUMPY if self.begun[NUMPY] <= self.begun[NUMBA] else NUMBA)
            self.begun[name] += 1
            first, timed = self.begun[name] == 1, self.decided is None
        if not timed:
            return calls[name](*args, **kwargs)
        begin = self.clock()
        result = calls[name](*args, **kwargs)  # what raises an error is not counted
        if not first:
            self.record(name, self.clock() - begin)
        return result

    def record(self, name: str, seconds: float) -> None:
        """Enter the time of a call, and decide if enough is known."""
        with self.lock:
            self.times[name].append(seconds)
            count = min(map(len, self.times.values()))
            if self.decided is not None or not count:
                return
            medians = {n: statistics.median_low(found) for n, found in self.times.items()}  # others that run may slow calls down
            faster, slower = sorted(medians, key=lambda n: (medians[n], n == NUMBA))
            clear = CLEAR.get(count, CLEAR[2] if medians[slower] > LONG else math.inf)
            if count >= MOST or medians[slower] > clear * medians[faster]:
                shown = f"{amount_of_time(medians[faster])} per call, {slower} {amount_of_time(medians[slower])}"
                self.decided, self.why = faster, f"{faster} runs it, which takes {shown}"

    def settle(self, name: str, why: str) -> None:
        """Choose an engine for a reason other than times."""
        with self.lock:
            self.decided, self.why = name, why


class Entries(dict):
    """The functions that a derivative calls, by exact key; some are also entries of the table of the derivative that has chosen this one.

    So the chosen one costs nothing more, and what it enters later, because a text was verified or compiled again, is called, too.
    """

    def __init__(self):
        super().__init__()
        self.tables: dict[Any, dict] = {}

    def __setitem__(self, key: Any, call: Callable) -> None:
        super().__setitem__(key, call)
        if key in self.tables:
            self.tables[key][key] = call

    def share(self, key: Any, table: dict) -> None:
        """Make an entry also one of another table, from now on."""
        self.tables[key] = table
        if key in self:
            table[key] = self[key]


class Chooses:
    """The part of a derivative with `backend="auto"` that finds the faster engine."""

    __slots__ = ()
    wrt: tuple[str, ...]
    _backend: Any
    _single: bool
    _lock: Any
    _table: dict
    _bound: Callable
    _described: Callable
    _rivals: dict[str, Any]
    _choices: dict[Any, Choice]
    _compiled_for: Any
    _made_of: tuple

    def _rival(self, name: str) -> Any:
        """Return the derivative of the same function by one engine."""
        with self._lock:
            if name not in self._rivals:
                primal, _, kind, options = self._made_of
                wrt = self.wrt[0] if self._single else self.wrt
                self._rivals[name] = type(self)(primal, wrt, kind, replace(options, backend=Numba() if name == NUMBA else "numpy"))
            return self._rivals[name]

    def _by_numpy(self) -> Any:
        """Return the derivative that has the text to be shown: with another backend, this one."""
        return self._rival(NUMPY) if self._backend == "auto" else self

    def _faster(self, arguments: Arguments, values: tuple, key: tuple) -> Callable:
        """Return the function to call for arguments of a new exact key."""
        at = arguments.key, magnitude(values)
        choice = self._choices.get(at)
        if choice is None:
            choice = Choice()
            self._prejudge(choice, arguments)
            remember(self._choices, at, choice, TEXTS)
        rivals = {name: self._rival(name) for name in (NUMPY, NUMBA)}
        calls = {name: rival._find for name, rival in rivals.items()}

        def faster(*args, **kwargs):
            try:
                result = choice.run(calls, args, kwargs)
            except BackendError as error:
                if choice.decided == NUMPY:
                    raise
                tell(error)
                choice.settle(NUMPY, f"NumPy runs it: {error.reason}")
                result = calls[NUMPY](*args, **kwargs)
            if choice.decided is not None:
                with self._lock:
                    rivals[choice.decided]._table.share(key, self._table)
            return result

        self._compiled_for[faster] = rivals[NUMPY]._compiled(arguments)
        return faster

    def _specialisation(self, call: Callable) -> Any:
        """Return what an entry of the table was generated as, by this derivative or by one of its rivals."""
        return next(found for made in (self, *self._rivals.values()) if (found := made._compiled_for.get(call)) is not None)

    def _prejudge(self, choice: Choice, arguments: Arguments) -> None:
        """Choose NumPy at once where Numba cannot run the text, or has nothing to gain."""
        why = reason_against(self._rival(NUMPY)._compiled(arguments).built.plain.ir)
        if why is not None:
            return choice.settle(NUMPY, f"NumPy runs it: {why}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is to be said was said for NumPy
                refusal = self._rival(NUMBA)._compiled(arguments).built.refusal
        except BackendError as error:
            refusal = error
        if refusal is not None:
            tell(refusal)
            choice.settle(NUMPY, f"NumPy runs it: {refusal.reason}")

    def _with_choice(self, lowered: Lowered, args: tuple, kwargs: dict[str, Any]) -> Lowered:
        """Return what `lower` found for some arguments, or without any for those of the last call, with the choice for them."""
        if self._backend != "auto":
            return lowered
        choice, text = next(reversed(self._choices.values()), None), None
        if args or kwargs:
            values = self._bound(args, kwargs)
            arguments = self._described(values)
            choice = self._choices.get((arguments.key, magnitude(tuple(values.values()))))
            text = self._compiled_text(arguments)
        note = f'backend="auto": {"no call yet" if choice is None else choice.why}'
        return replace(lowered, notes=(*lowered.notes, note), compiled_text=text)

    def _compiled_text(self, arguments: Arguments) -> str | None:
        """Return the text that Numba compiles, or may compile; None if it is not asked or cannot."""
        if reason_against(self._rival(NUMPY)._compiled(arguments).built.plain.ir) is not None:
            return None
        with contextlib.suppress(BackendError):
            program = self._rival(NUMBA)._compiled(arguments).built.program
            return None if program is None else program.text
        return None


def tell(error: BackendError) -> None:
    """Warn that NumPy runs a text because Numba cannot."""
    told = BackendError(f"NumPy runs what Numba cannot: {error.reason}", error.at, 'backend="numpy", which gives no warning')
    warnings.warn(str(told), RuntimeWarning, stacklevel=level_outside())


def reason_against(function: Function) -> str | None:
    """Return why Numba would not be faster or have the same results, None if it may be faster."""
    made = [s.op for s in walk(function.body) if isinstance(s.op, Call)]
    if any(draws(op.fn) for op in made):
        return "it draws random numbers, and those of Numba are others"
    if has(function.body, Loop):
        return None
    if any(op.fn in PRODUCTS or str(getattr(op.fn, "__module__", "")).startswith(("numpy.linalg", "scipy")) for op in made):
        return "it has no loops, and products of matrices or other functions of whole arrays take the time"
    return None


def draws(fn: Any) -> bool:
    """Return whether a function is one of `random` or `np.random` that draws from the generator that all share."""
    owner = getattr(fn, "__self__", None)
    return type(owner).__name__ in ("RandomState", "Random") or isinstance(owner, types.ModuleType) and owner.__name__ == "numpy.random"


def magnitude(values: Any) -> int:
    """Return the order of magnitude of the number of elements in some arguments.

    >>> magnitude((np.zeros(10), 2.0)), magnitude((np.zeros((100, 20)), [1.0, 2.0]))
    (1, 3)
    """
    return int(math.log10(max(elements(values), 1)))


def elements(value: Any) -> int:
    """Return the number of elements in a value, those of what it holds included."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) in (list, tuple):
        return len(value) if len(value) > 1000 else sum(map(elements, value))
    return 1


def amount_of_time(seconds: float) -> str:
    """Return a time in a suitable unit.

    >>> amount_of_time(2.5e-5), amount_of_time(0.0125), amount_of_time(3)
    ('25 µs', '12.5 ms', '3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
