"""A name for every variable that has one in the text.

Variables of one class (`ranges.Classes`) share a name.  A class gets the name it wishes if no class that is alive at the
same time has it; the user's names are given out before those of temps.
"""

from __future__ import annotations

import builtins
import keyword
import re
from bisect import insort

from sourcead.emit.ranges import Classes, Interval, overlaps
from sourcead.ir.nodes import Block, Function, Loop, Op, Var, op_blocks


def assign_names(function: Function, nested: dict[Var, Op], reserved: set[str]) -> dict[Var, str]:
    """The names of the variables that are not nested. `reserved`: the globals and builtins that the text uses."""
    classes = Classes(function, nested)
    carried = _carried(function.body)
    wishes = {root: _wish(root, members, classes, carried) for root, members in classes.members.items()}
    taken: dict[str, list[Interval]] = {}
    names: dict[Var, str] = {}
    params = {classes.find(p): p.name for p in function.params}

    def rank(root: Var):
        return root not in params, classes.user_name[root] is None, classes.intervals[root][0]

    for root in sorted(classes.members, key=rank):
        name = params.get(root)
        if name is None:
            name = next(
                n
                for n in _alternatives(wishes[root])
                if n not in reserved and not overlaps(taken.get(n, []), classes.intervals[root])
            )
        for interval in classes.intervals[root]:
            insort(taken.setdefault(name, []), interval)
        names.update(dict.fromkeys(classes.members[root], name))
    return names


def _wish(root: Var, members: list[Var], classes: Classes, carried: set[Var]) -> str:
    """The user's name if there is one, else that of what a loop carries, else that of the first."""
    name = classes.user_name[root]
    if name is None:
        name = min(members, key=lambda v: (v not in carried, v.id)).name
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


def _alternatives(wish: str):
    yield wish
    k = 1
    while True:
        yield f"{wish.rstrip('_')}_{k}"
        k += 1
