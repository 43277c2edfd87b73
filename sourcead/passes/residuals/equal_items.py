"""Takes the items of a list of equal numbers from the number.

    l0 = list(full(n, d))                            loop for i: ... d for v ...
    loop (l = l0) for i:  l1, v = pop l;  ... v ...;  yield l1

Such is the cotangent of a list whose items were summed.  It is legal where the list is only handed on and popped: each of its items is
the number, however many are left.
"""

from collections import Counter, defaultdict

import numpy as np

from sourcead import runtime
from sourcead.ir.nodes import Atom, Branch, Call, Function, Loop, Op, Pop, Stmt, Var
from sourcead.ir.types import Scalar
from sourcead.ir.walk import count_reads, definitions, handed_on, rewrite, substitute, walk, with_body


def take_equal_items(function: Function) -> Function:
    """Return the function without lists of equal numbers that are popped."""
    made = definitions(function.body)
    number = {v: d for v, stmt in made.items() if (d := _number(stmt.op, made)) is not None}
    if not number:
        return function
    family = _families(function, number)
    if not family:
        return function
    mapping: dict[Var, Atom] = {}

    def change(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt.op, Pop) and stmt.op.base in family:
            rest, item = stmt.targets
            mapping.update({rest: stmt.op.base, item: number[family[rest]]})
            return []
        return [stmt]

    return with_body(function, substitute(rewrite(function.body, change), mapping))


def _number(op: Op, made: dict[Var, Stmt]) -> Atom | None:
    """Return the number that all items of a list are, None for other values."""
    match op:
        case Call(fn, (Var() as array, *_), ()) if fn is list or fn is runtime.like_sequence:
            match made[array].op if array in made else None:
                case Call(np.full, (_, value, *_)) if isinstance(value, Var) and isinstance(value.type, Scalar):
                    return value
                case Call(np.full, (_, value, *_)) if not isinstance(value, Var | tuple) and not value.live:
                    return value if type(value.value) in (int, float) else None
    return None


def _families(function: Function, number: dict[Var, Atom]) -> dict[Var, Var]:
    """Return the lists of equal numbers that are only handed on and popped, each with the list that it comes from."""
    family: dict[Var, Var] = {v: v for v in number}
    size = 0
    while size < len(family):
        size = len(family)
        for stmt in walk(function.body):
            if isinstance(stmt.op, Pop) and stmt.op.base in family and not stmt.op.path and stmt.op.at is None:
                family.setdefault(stmt.targets[0], family[stmt.op.base])
            for group in _groups(stmt):
                for v in (v for v in group if v in family):
                    family.update({other: family[v] for other in group if isinstance(other, Var) and other not in family})
    reads, allowed = count_reads(function.body), Counter()
    refused = set()
    for stmt in walk(function.body):
        if isinstance(stmt.op, Pop) and stmt.op.base in family and not stmt.op.path and stmt.op.at is None:
            allowed[stmt.op.base] += 1
        for group in _groups(stmt):
            found = {family.get(v) if isinstance(v, Var) else None for v in group}
            if len(found) > 1:
                refused |= found
            allowed.update(v for v in _read(stmt, group) if v in family)
    members: dict[Var, list[Var]] = defaultdict(list)
    for v, first in family.items():
        members[first].append(v)
    fine = {first for first, of in members.items() if first not in refused and all(reads.get(v, 0) == allowed[v] for v in of)}
    return {v: first for v, first in family.items() if first in fine}


def _groups(stmt: Stmt) -> list[tuple[Atom, ...]]:
    return list(handed_on(stmt)) if isinstance(stmt.op, Loop | Branch) else []


def _read(stmt: Stmt, group: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Return those of what a branch or loop hands on that it reads: the results of the arms; the values on entry and at the end."""
    return group[2:] if isinstance(stmt.op, Loop) else group[1:]
