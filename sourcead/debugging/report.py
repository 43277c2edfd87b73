"""What is said of a run in which a NaN or an infinity arose."""

import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sourcead.debugging.watch import Event, Read, fault_of
from sourcead.ir.nodes import Stmt
from sourcead.page.relation import Relation
from sourcead.places.origin import Origin, quoted_line, shown_place

_brief = reprlib.Repr()
_brief.maxother = 60
MOST_SHOWN = 5  # of the events that did not reach the result
Index = tuple[int, ...]


@dataclass(frozen=True)
class Arisen:
    """A NaN or an infinity, and where it arose.

    Attributes:
        what: "NaN" or "infinity".
        sweep: "forward" or "reverse"; "" for an argument.
        at: the statement of your function that it belongs to, with `file`, `line` and `text`; None if there is none.
        line: the line of the generated text; 0 for an argument.
        expression: the expression of the generated text; for an argument its name.
        iteration: (name, value) of each loop around it, outermost first.
        index: where in the array the first such value is; () for a number.
        operands: for each operand, its text, its value there, and where it comes from.
        cause: the infinity that a NaN came from, as in inf - inf or 0 * inf; None if there is none.
        times: how often the same happened at this place.
    """

    what: str
    sweep: str
    at: Origin | None
    line: int
    expression: str
    iteration: tuple[tuple[str, Any], ...] = ()
    index: Index = ()
    operands: tuple[tuple[str, str, str], ...] = ()
    cause: "Arisen | None" = None
    times: int = 1

    @property
    def first(self) -> "Arisen":
        """What it began with: its cause, if it has one."""
        return self if self.cause is None else self.cause.first

    def __str__(self):
        sort = "a NaN" if self.what == "NaN" else "an infinity"
        if not self.sweep:
            return f"{sort} is in the argument `{self.expression}`{_place(self.index)}"
        loops = ", ".join(f"{name} = {value}" for name, value in self.iteration)
        lines = [f"{sort} arose in the {self.sweep} sweep{', at ' + loops if loops else ''}{_place(self.index)}"]
        if self.at is not None:
            of = "the adjoint of " if self.sweep == "reverse" else ""
            lines += [f"  in {of}{shown_place(self.at)}", *("  " + line for line in quoted_line(self.at))]
        lines += [f"  line {self.line} of the generated text", f"      {self.expression}"]
        width = max((len(text) + len(value) for text, value, _ in self.operands), default=0)
        lines += [f"      {text} = {value}{' ' * (width - len(text) - len(value))}  {told}".rstrip() for text, value, told in self.operands]
        return "\n".join(lines)


@dataclass(frozen=True)
class DebugReport:
    """What `debug` returns.

    Attributes:
        result: what the derivative returns.
        finite: whether all of the result is finite.
        first: the NaN or the infinity that those in the result came from; None if the result is finite.
        found: all that arose, in the order in which they did.
        text: the generated text, whose lines are named.
    """

    result: Any = field(repr=False)
    finite: bool
    first: Arisen | None
    found: tuple[Arisen, ...]
    text: str = field(repr=False)
    traced: bool = field(default=True, repr=False)  # whether the first is known to be that from which the result is not finite

    def __str__(self):
        if self.finite and not self.found:
            return "All is finite: no NaN and no infinity arose."
        if self.finite:
            shown = [f"  {i + 1}. {_indented(arisen)}" for i, arisen in enumerate(self.found[:MOST_SHOWN])]
            return "\n".join(["The result is finite. What arose on the way did not reach it:", *shown])
        if self.first is None:
            return "The result is not finite, and no statement was found where that arose: it may come from constants."
        chain, arisen = [], self.first
        while arisen is not None:
            chain.append(arisen)
            arisen = arisen.cause
        head = "The result is not finite." if self.traced else "The result is not finite; what arose first may be the reason:"
        lines = [head, "First " + str(chain[-1])]
        lines += [f"From it {arisen}" for arisen in reversed(chain[:-1])]
        others = len(self.found) - len(chain)
        return "\n\n".join(lines) + (f"\n\n{others} more arose; `.found` has them." if others > 0 else "")

    __repr__ = __str__


class Telling:
    """Says of events what they mean to the user's function."""

    def __init__(self, relation: Relation):
        self.relation = relation
        self.lines = relation.program.text.split("\n")
        self.known: dict[int, Arisen] = {}

    def arisen(self, event: Event) -> Arisen:
        """Return what is told of an event."""
        if id(event) not in self.known:
            self.known[id(event)] = self._arisen(event)
        return self.known[id(event)]

    def _arisen(self, event: Event) -> Arisen:
        index = _first_index(event.value, event.what)
        if event.site is None:
            return Arisen(event.what, "", None, 0, event.name, index=index)
        line = event.site.span[0]
        stmt = self._statement(event.site.span)
        reverse = line in self.relation.reverse or stmt is not None and self.relation.role(stmt, line) == "adjoint"
        at = stmt and ((reverse and stmt.adjoint_of) or stmt.origin or stmt.adjoint_of)
        shape = np.shape(event.value) if not isinstance(event.value, tuple) else ()
        named = [operand for operand in event.operands if any(map(str.isalpha, operand.text))]
        operands = tuple((o.text, _shown(o.value, index, shape), self._source(o) if reverse else "") for o in named)
        cause = event.cause and self.arisen(event.cause)
        sweep = "reverse" if reverse else "forward"
        place = at and at.users, line, event.site.text
        return Arisen(event.what, sweep, *place, tuple(event.iteration), index, operands, cause, event.times)

    def _statement(self, span: tuple[int, int, int, int]) -> Stmt | None:
        """Return the statement of the IR that an expression was printed from: that of the smallest span around it, or its line's."""
        first, last, begin, end = span
        around = [
            (s, stmt)
            for s, stmt in self.relation.statements.items()
            if not isinstance(s, int) and (s[0], s[2]) <= (first, begin) and (last, end) <= (s[1], s[3])
        ]
        if around:
            return min(around, key=lambda found: (found[0][1] - found[0][0], found[0][3] - found[0][2]))[1]
        return self.relation.statements.get(first)

    def _source(self, operand: Read) -> str:
        """Return where an operand comes from: a residual and the line that saved it, or the line of the forward sweep that computed it."""
        if operand.line is None:
            return ""
        assigned = self.lines[operand.line - 1].strip()
        name = operand.text.partition("[")[0].partition(".")[0]
        _, _, value = assigned.partition(" = ")
        holder = value.partition(".pop(")[0] if ".pop(" in value else value.partition("[")[0] if "[" in value else ""
        saved = [n for n, text in enumerate(self.lines, 1) if n not in self.relation.reverse and _saves(text.strip(), holder)]
        if holder.isidentifier() and saved:
            return f"a residual, saved in line {saved[0]}: {self.lines[saved[0] - 1].strip()}"
        if operand.line not in self.relation.reverse and not assigned.startswith("def "):
            return f"of the forward sweep, line {operand.line}: {assigned}" if name else ""
        return ""


def _saves(line: str, holder: str) -> bool:
    return bool(holder) and (line.startswith(f"{holder}.append(") or line.startswith(f"{holder}[") and " = " in line)


def report(result: Any, events: list[Event], of_result: Callable[[Any], Event | None], leaves: list, telling: Telling) -> DebugReport:
    """Return the report on a run.

    Args:
        result: what the derivative returned.
        events: what arose, in order.
        of_result: returns the event that a part of the result comes from.
        leaves: the numbers and arrays of the result.
        telling: says what events mean.
    """
    faulty = [leaf for leaf in leaves if fault_of(leaf)]
    known = [event for leaf in faulty if (event := of_result(leaf)) is not None]
    first = min(known, key=lambda event: event.first.order, default=events[0] if events else None)
    found = tuple(map(telling.arisen, events))
    told = telling.arisen(first) if faulty and first is not None else None
    return DebugReport(result, not faulty, told, found, telling.relation.program.text, bool(known))


def _first_index(value: Any, what: str) -> Index:
    """Return the index of the first NaN or infinity of an array."""
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return ()
    bad = np.isnan(value) if what == "NaN" else ~np.isfinite(value)
    return tuple(map(int, np.argwhere(bad)[0]))


def _shown(value: Any, index: Index, shape: tuple[int, ...]) -> str:
    """Return an operand's value: of an array that meets the result element by element that of the element, else its dtype and shape."""
    if isinstance(value, np.ndarray):
        try:
            return _number(np.broadcast_to(value, shape)[index]) if value.ndim <= len(shape) and index else _summary(value)
        except ValueError:
            return _summary(value)
    return _number(value) if isinstance(value, np.number | float | complex) else _brief.repr(value)


def _summary(value: np.ndarray) -> str:
    if value.ndim == 0:
        return _number(value[()])
    if value.size == 0 or value.dtype.kind not in "fiu":
        return f"{value.dtype} {value.shape}"
    with np.errstate(all="ignore"):
        return f"{value.dtype} {value.shape}, from {_number(np.min(value))} to {_number(np.max(value))}"


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating | float) else str(value)


def _indented(arisen: Arisen) -> str:
    return str(arisen).replace("\n", "\n     ")


def _place(index: Index) -> str:
    return f", at element [{', '.join(map(str, index))}]" if index else ""
