"""The name of every variable that has one in the text.

A class of variables that share a name gets its preferred one (`wishes.py`) if no class that is live at the same time has it, else that name
with a number; the user's names are given out before those of temporaries.
"""

from bisect import insort
from heapq import heappop, heappush

from sourcead.emit.text.live_ranges import Interval, NameClasses, overlaps
from sourcead.emit.text.wishes import wishes_of
from sourcead.ir.nodes import Function, Op, Var
from sourcead.ir.types import Scalar


def assign_names(function: Function, nested: dict[Var, Op], reserved: set[str]) -> dict[Var, str]:
    """Return the names of the variables that are not nested; `reserved` holds the globals and builtins that the text uses."""
    classes = NameClasses(function, nested)
    wishes = wishes_of(function, classes)
    taken: dict[str, list[Interval]] = {}
    numberings: dict[tuple[bool, str], _Numbering] = {}
    names: dict[Var, str] = {}
    params = {classes.find(p): p.name for p in function.params}
    counts = {p.name for p in function.params if isinstance(p.type, Scalar)}  # which a reader takes to stay what the caller gave

    def rank(root: Var):
        return root not in params, classes.user_name[root] is None, classes.intervals[root][0]

    for root in sorted(classes.members, key=rank):
        name = params.get(root)
        if name is None:
            group = classes.user_name[root] is None, wishes[root]
            kept = reserved | counts if group[0] else reserved
            numbering = numberings.setdefault(group, _Numbering(wishes[root], kept, taken))
            name = numbering.first_free(classes.intervals[root])
        for interval in classes.intervals[root]:
            insort(taken.setdefault(name, []), interval)
        names.update(dict.fromkeys(classes.members[root], name))
    return names


class _Numbering:
    """The names `wish`, `wish_1`, `wish_2`, ..., of which each live range, in order of their starts, gets the first that is free.

    Names that are taken at the start of a range, of which there may be thousands, are not tried.

    Attributes:
        next: numbers from here on were never given out.
        free: a heap of numbers that were given back.
        busy: a heap of the ends of ranges and their numbers.
    """

    def __init__(self, wish: str, reserved: set[str], taken: dict[str, list[Interval]]):
        self.wish, self.reserved, self.taken = wish, reserved, taken
        self.next = 0
        self.free: list[int] = []
        self.busy: list[tuple[int, int]] = []

    def name(self, number: int) -> str:
        return f"{self.wish.rstrip('_')}_{number}" if number else self.wish

    def first_free(self, intervals: list[Interval]) -> str:
        """Return the first name that nothing else has at any of these times."""
        start, end = intervals[0]
        while self.busy and self.busy[0][0] < start:
            heappush(self.free, heappop(self.busy)[1])
        passed: list[int] = []
        while True:
            if self.free:
                number = heappop(self.free)
            else:
                number, self.next = self.next, self.next + 1
            name = self.name(number)
            if name in self.reserved:
                continue
            if not overlaps(self.taken.get(name, []), intervals):
                break
            passed.append(number)
        for other in passed:
            heappush(self.free, other)
        heappush(self.busy, (end, number))
        return name
