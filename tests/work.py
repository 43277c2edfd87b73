"""How much work a piece of Python does, counted in calls: the same on every machine, however busy."""

import sys
from collections.abc import Callable


def calls_of(run: Callable[[], object]) -> int:
    """The number of calls of Python functions that `run()` makes."""
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
