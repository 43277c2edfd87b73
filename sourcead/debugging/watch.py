"""Finds where the first NaN and the first infinity arose in a run, and which of them are in its result.

A value that is not finite *arises* at a site none of whose operands accounts for it: a NaN without a NaN among the operands, an infinity of
finite operands.  From there it is followed by the objects that hold it: what is computed of one that has it, or is written into one, has it
from there as well.
"""

import math
import sys
import types
import weakref
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from sourcead.debugging.instrumented import Operand, Site
from sourcead.ir.records import parts_of

MOST_SCALARS = 100_000  # numbers of which it is remembered where they come from
MOST_EVENTS = 1000


@dataclass(frozen=True)
class Read:
    """An operand: its text, its value, and the line that assigned the name that it begins with, None if none did."""

    text: str
    value: Any
    line: int | None


@dataclass
class Event:
    """A value that is not finite arose.

    Attributes:
        site: where; None for an argument that is not finite.
        what: "NaN" or "infinity".
        name: the argument.
        value: the value; of an array, a copy.
        operands: what it was computed of.
        iteration: (name, value) of each loop around the site.
        cause: the event from which an operand has an infinity, if one has.
        times: how often the same happened at this site.
        order: how many arose before.
    """

    site: Site | None
    what: str
    value: Any
    name: str = ""
    operands: list[Read] = field(default_factory=list)
    iteration: list[tuple[str, Any]] = field(default_factory=list)
    cause: "Event | None" = None
    times: int = 1
    order: int = 0

    @property
    def first(self) -> "Event":
        """The event that it began with."""
        return self if self.cause is None else self.cause.first


class Watch:
    """What instrumented text calls. Every method takes the number of a site, and none changes what the text does."""

    def __init__(self, sites: list[Site]):
        self.sites = sites
        self.events: list[Event] = []
        self._at: dict[tuple[int, str], Event] = {}
        self._arguments = 0
        self._last: dict[int, Any] = {}
        self._before: dict[int, list] = {}
        self._turns: dict[int, int] = {}
        self._lines: dict[str, int] = {}
        self._arrays: dict[int, tuple[weakref.ref, Event]] = {}
        self._scalars: dict[int, tuple[Any, Event]] = {}

    # -- called by the text -----------------------------------------------------------------------------------------------

    def value(self, number: int, value: Any) -> Any:
        """Look at the value of a site, and return it."""
        self._last[number] = value
        if (what := fault_of(value)) is not None:
            self._found(number, what, value, sys._getframe(1), self._before.pop(number, []))
        return value

    def out(self, number: int, value: Any) -> Any:
        """Keep a copy of what the site will write, and return what it is."""
        self._before[number] = [Read("what it writes", _copied(value), None)]
        return value

    def before(self, number: int, values: tuple) -> None:
        """Keep copies of what a statement will write."""
        self._before[number] = [Read("what it writes", _copied(v), None) for v in values]

    def after(self, number: int, values: tuple) -> None:
        """Look at what a statement wrote."""
        known = self._before.pop(number, [])
        for value, old in zip(values, known):
            self._last[number] = value
            what = fault_of(value)
            if what is None:
                continue
            if fault_of(old.value) == what:  # it was there before
                self._follow(value, [old.value, *self._values(self.sites[number], sys._getframe(1))])
            else:
                self._found(number, what, value, sys._getframe(1), known)

    def stored(self, number: int, holder: Any) -> None:
        """Note that a site's value was written into an object."""
        event = self.event_of(self._last.get(number))
        if event is not None and self.event_of(holder) is None:
            self._remember(holder, event)

    def named(self, line: int, names: tuple[str, ...]) -> None:
        """Note in which line names were assigned."""
        for name in names:
            self._lines[name] = line

    def begin(self, line: int) -> None:
        """Note that a loop begins."""
        self._turns[line] = -1

    def turn(self, line: int) -> None:
        """Note that a loop begins an iteration, the first of which is 0."""
        self._turns[line] += 1

    # -- events -----------------------------------------------------------------------------------------------------------

    def argument(self, name: str, value: Any) -> None:
        """Note an argument, if it is not finite."""
        if (what := fault_of(value)) is not None:
            self.events.append(event := Event(None, what, _copied(value), name, order=self._arguments))
            self._arguments += 1
            self._remember(value, event)

    def event_of(self, value: Any) -> Event | None:
        """Return the event from which a value, or a part of it, is not finite; None if it is finite or that is not known."""
        if isinstance(value, np.ndarray):
            ref, event = self._arrays.get(id(value), (None, None))
            if ref is not None and ref() is value:
                return event
            return self.event_of(value.base) if isinstance(value.base, np.ndarray) else None
        if isinstance(value, float | complex | np.number):
            kept, event = self._scalars.get(id(value), (None, None))
            return event if kept is value else None
        return next((e for _, part in parts_of(value) if fault_inside(part) and (e := self.event_of(part))), None)

    def _found(self, number: int, what: str, value: Any, frame: FrameType, known: list[Read]) -> None:
        """Take a value that is not finite as one that arose here, or as one that comes from an operand."""
        if self.event_of(value) is not None:  # a call returns what has it already
            return
        site = self.sites[number]
        operands = [*known, *self._operands(site, frame)]
        faults = {fault for operand in operands if (fault := fault_inside(operand.value))}
        if what in faults or "NaN" in faults or (what == "infinity" and faults) or site.of_strings:
            self._follow(value, [operand.value for operand in operands])
            return
        event = self._at.get((number, what))
        if event is None:
            cause = self._earliest([operand.value for operand in operands])
            operands += [r for name in site.names if (r := self._read(name, frame)) is not None and is_leaf(r.value)]
            order = len(self._at) + self._arguments
            event = Event(site, what, _copied(value), "", operands, self._iteration(site, frame), cause, order=order)
            self._at[number, what] = event
            if len(self.events) < MOST_EVENTS:
                self.events.append(event)
        else:
            event.times += 1
        self._remember(value, event)

    def _follow(self, value: Any, origins: list[Any]) -> None:
        event = self._earliest(origins)
        if event is not None and self.event_of(value) is None:
            self._remember(value, event)

    def _earliest(self, values: list[Any]) -> Event | None:
        """Return the event that began first among those from which values are not finite."""
        return min(filter(None, map(self.event_of, values)), key=lambda event: event.first.order, default=None)

    def _remember(self, value: Any, event: Event) -> None:
        if isinstance(value, np.ndarray):
            self._arrays[id(value)] = weakref.ref(value), event
        elif isinstance(value, float | complex | np.number):
            if len(self._scalars) < MOST_SCALARS:
                self._scalars[id(value)] = value, event
        elif isinstance(value, tuple):
            for part in value:
                if fault_of(part):
                    self._remember(part, event)

    def _values(self, site: Site, frame: FrameType) -> list[Any]:
        return [operand.value for operand in self._operands(site, frame)]

    def _operands(self, site: Site, frame: FrameType) -> list[Read]:
        """Return the operands of a site whose values are known; what is read again was not changed since."""
        return [read for operand in site.operands if (read := self._read(operand, frame)) is not None]

    def _read(self, operand: Operand, frame: FrameType) -> Read | None:
        if operand.site is not None:
            value = self._last.get(operand.site)
        elif operand.code is None:
            return None
        else:
            try:
                value = eval(operand.code, frame.f_globals, frame.f_locals)
            except Exception:  # a name of the enclosing frame of a comprehension
                return None
        if isinstance(value, str | bool | types.ModuleType | types.FunctionType | type):
            return None
        name = operand.text.partition("[")[0].partition(".")[0]
        return Read(operand.text, value, self._lines.get(name))

    def _iteration(self, site: Site, frame: FrameType) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for line, names in site.loops:
            here = [(name, frame.f_locals[name]) for name in names if name in frame.f_locals and name != "_"]
            here = [(name, int(value)) for name, value in here if isinstance(value, int | np.integer)]
            turn = [("iteration", self._turns[line])] if line in self._turns else []
            found += here or turn
        return found


def fault_of(value: Any) -> str | None:
    """Return "NaN" or "infinity" if a number, an array or one in a tuple is not finite, else None.

    Example:
        >>> fault_of(np.array([1.0, np.inf])), fault_of(float("nan")), fault_of(2.0)
        ('infinity', 'NaN', None)
    """
    if isinstance(value, float):
        return None if math.isfinite(value) else "NaN" if math.isnan(value) else "infinity"
    if isinstance(value, np.ndarray | np.number | complex):
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fc" or np.isfinite(value).all():
            return None
        return "NaN" if np.isnan(value).any() else "infinity"
    if isinstance(value, tuple):
        faults = [fault_of(part) for part in value]
        return "NaN" if "NaN" in faults else "infinity" if "infinity" in faults else None
    return None


def fault_inside(value: Any) -> str | None:
    """Return the same of all numbers and arrays in a structure."""
    if isinstance(value, np.ndarray | np.number | float | complex | tuple):
        return fault_of(value)
    faults = {fault_inside(part) for _, part in parts_of(value)}
    return "NaN" if "NaN" in faults else "infinity" if "infinity" in faults else None


def is_leaf(value: Any) -> bool:
    """Return whether a value is a number or an array."""
    return isinstance(value, np.ndarray | np.number | float | complex | int)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
