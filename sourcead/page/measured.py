"""A call, line by line: how often each line runs, how long it takes, and the memory that is held meanwhile.

Python tells each line before it runs (`sys.settrace`), which takes time; that time is measured on lines that do nothing, and taken off.
Memory is what Python and NumPy allocate after the call began (`tracemalloc`).
"""

import sys
import time
import tracemalloc
from array import array
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from types import FrameType
from typing import Any

POINTS = 400  # of a curve: twice as many before neighbours are joined
MOST_LINES = 100_000  # of a text whose lines are counted
Line = tuple[str, int]


@dataclass
class Measured:
    """What was measured.

    Attributes:
        runs, seconds: how often each line ran, and the time that it took, without that of other lines that are listed.
        curve: the most bytes that were held in each stretch of the run.
        stretch: how many lines run in a stretch.
        turn: how many lines ran before the reverse sweep began.
    """

    runs: dict[Line, int] = field(default_factory=dict)
    seconds: dict[Line, float] = field(default_factory=dict)
    curve: list[int] = field(default_factory=list)
    stretch: int = 1
    turn: int | None = None

    @property
    def lines(self) -> int:
        """How many lines ran."""
        return sum(self.runs.values())

    @property
    def peak(self) -> int:
        """The most bytes that were held at a time."""
        return max(self.curve, default=0)


def measured(call: Callable[[], Any], watches: Callable[[str], bool], memory: bool, reverse: Collection[int] = ()) -> Measured:
    """Run a call and return what was measured of the lines of some files.

    Args:
        call: the call.
        watches: returns whether the lines of the file of a name are measured.
        memory: whether to measure memory, which changes times, or times.
        reverse: the lines of the reverse sweep.
    """
    before, begun = sys.gettrace(), memory and not tracemalloc.is_tracing()
    if begun:
        tracemalloc.start()
    tracer = _Memory(reverse) if memory else _Times()
    try:
        sys.settrace(lambda frame, event, arg: tracer.enter(frame) if watches(frame.f_code.co_filename) else None)
        call()
    finally:
        sys.settrace(before)
        if begun:
            tracemalloc.stop()
    return tracer.found()


class _Times:
    """Notes the time when each line begins and when a frame is left; the line of the caller goes on then."""

    def __init__(self):
        self.runs: dict[Line, int] = {}
        self.seconds: dict[Line, float] = {}
        self.at: list[Line] = []  # the lines that run, of the frames that are open
        self.last = 0.0

    def enter(self, frame: FrameType) -> Callable:
        self.spend()
        self.at.append((frame.f_code.co_filename, frame.f_lineno))
        return self.note

    def note(self, frame: FrameType, event: str, arg: Any) -> Callable:
        if event == "line":
            self.spend()
            self.at[-1] = line = (frame.f_code.co_filename, frame.f_lineno)
            self.runs[line] = self.runs.get(line, 0) + 1
        elif event == "return":
            self.spend()
            self.at.pop()
        self.last = time.perf_counter()
        return self.note

    def spend(self) -> None:
        now = time.perf_counter()
        if self.at:
            self.seconds[self.at[-1]] = self.seconds.get(self.at[-1], 0.0) + now - self.last
        self.last = time.perf_counter()

    def found(self) -> Measured:
        return Measured(self.runs, self.seconds)


class _Memory:
    """Notes what one file's functions hold, from the first call on, in arrays that are there before, so that notes take no memory."""

    def __init__(self, reverse: Collection[int]):
        self.reverse, self.turn, self.file = reverse, None, ""
        self.counts, self.curve = array("q", bytes(8 * MOST_LINES)), array("q", bytes(16 * POINTS))
        self.place, self.stretch, self.start, self.depth = 0, 1, None, 0

    def enter(self, frame: FrameType) -> Callable:
        if self.start is None:
            self.file, self.start = frame.f_code.co_filename, tracemalloc.get_traced_memory()[0]
        if not self.depth:
            tracemalloc.reset_peak()
        self.depth += 1
        return self.note

    def note(self, frame: FrameType, event: str, arg: Any) -> Callable:
        if event in ("line", "return"):
            at = self.place // self.stretch
            if at == len(self.curve):
                for k in range(POINTS):
                    self.curve[k] = max(self.curve[2 * k], self.curve[2 * k + 1])
                for k in range(POINTS, 2 * POINTS):
                    self.curve[k] = 0
                at, self.stretch = POINTS, 2 * self.stretch
            self.curve[at] = max(self.curve[at], tracemalloc.get_traced_memory()[1] - self.start)  # while the line before ran
            tracemalloc.reset_peak()
            if event == "return":
                self.depth -= 1
                return self.note
            self.place += 1
            self.counts[min(frame.f_lineno, MOST_LINES - 1)] += 1
            if self.turn is None and frame.f_lineno in self.reverse:
                self.turn = self.place
        return self.note

    def found(self) -> Measured:
        runs = {(self.file, line): count for line, count in enumerate(self.counts) if count}
        return Measured(runs, {}, list(self.curve[: self.place // self.stretch + 1]), self.stretch, self.turn)


@cache
def overhead() -> float:
    """Return the seconds that measuring adds to a line."""
    lines, file = 2000, "<sourcead nothing>"
    names: dict[str, Any] = {}
    exec(compile("def f():\n" + "    pass\n" * lines, file, "exec"), names)
    return min(sum(measured(names["f"], file.__eq__, memory=False).seconds.values()) for _ in range(3)) / lines


def net(found: Measured, line: Line) -> float:
    """Return the seconds that a line took, without those of measuring."""
    return max(found.seconds.get(line, 0.0) - found.runs.get(line, 0) * overhead(), 0.0)
