"""A name for every variable that has one in the text.

Variables of one class (`ranges.Classes`) share a name.  A class gets the name it wishes if no class that is alive at the
same time has it; the user's names are given out before those of temps.
"""

from __future__ import annotations

import builtins
import keyword
import re
from bisect import insort
from heapq import heappop, heappush

from sourcead.emit.text.live_ranges import Classes, Interval, overlaps
from sourcead.ir.nodes import Block, Function, Loop, Op, Var
from sourcead.ir.walk import op_blocks


def assign_names(function: Function, nested: dict[Var, Op], reserved: set[str]) -> dict[Var, str]:
    """The names of the variables that are not nested. `reserved`: the globals and builtins that the text uses."""
    classes = Classes(function, nested)
    carried = _carried(function.body)
    wishes = {root: _wish(root, members, classes, carried) for root, members in classes.members.items()}
    taken: dict[str, list[Interval]] = {}
    numberings: dict[tuple[bool, str], _Numbering] = {}
    names: dict[Var, str] = {}
    params = {classes.find(p): p.name for p in function.params}

    def rank(root: Var):
        return root not in params, classes.user_name[root] is None, classes.intervals[root][0]

    for root in sorted(classes.members, key=rank):
        name = params.get(root)
        if name is None:
            group = classes.user_name[root] is None, wishes[root]
            numbering = numberings.setdefault(group, _Numbering(wishes[root], reserved, taken))
            name = numbering.first_free(classes.intervals[root])
        for interval in classes.intervals[root]:
            insort(taken.setdefault(name, []), interval)
        names.update(dict.fromkeys(classes.members[root], name))
    return names


def _wish(root: Var, members: list[Var], classes: Classes, carried: set[Var]) -> str:
    """The user's name if there is one, else that of what a loop carries, of a cotangent, or of the first."""
    name = classes.user_name[root]
    if name is None:
        name = min(members, key=lambda v: (v not in carried, not v.name.startswith("d_"), v.id)).name
    name = re.sub(r"\W", "_", name) or "t"
    if name[0].isdigit():
        name = f"_{name}"
    hides_builtin = classes.user_name[root] is None and hasattr(builtins, name)
    return name + "_" if keyword.iskeyword(name) or hides_builtin else name


def _carried(block: Block) -> set[Var]:
    """The parameters of loops."""
    found: set[Var] = set()
    for stmt in block.stmts:
        if isinstance(stmt.op, Loop):
            found.update(stmt.op.params)
        for inner in op_blocks(stmt.op):
            found |= _carried(inner)
    return found


class _Numbering:
    """The names `wish`, `wish_1`, `wish_2`, ..., of which live ranges get the first that is free, in order of their start.

    Those that are taken at the start of a range need not be looked at: there may be thousands.
    """

    def __init__(self, wish: str, reserved: set[str], taken: dict[str, list[Interval]]):
        self.wish, self.reserved, self.taken = wish, reserved, taken
        self.next = 0  # numbers from here on were never given out
        self.free: list[int] = []  # a heap of numbers, as are the next
        self.busy: list[tuple[int, int]] = []  # until when, and the number

    def name(self, number: int) -> str:
        return f"{self.wish.rstrip('_')}_{number}" if number else self.wish

    def first_free(self, intervals: list[Interval]) -> str:
        """The first name that nothing else has at any of these times."""
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
