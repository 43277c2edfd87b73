"""Sets of variables as numbers: what an element of a result depends on, with an algebra in which linear functions of NumPy are unions.

    s + t = s - t = the union of s and t        2.5 * s = s        0.0 * s = 0, the empty set

So `np.cumsum(a)` of an array of such sets (dtype object) is the array of the sets that `np.cumsum` of a tangent depends on, and the
same holds for every function that is linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

FEW = 64  # the most elements of a union that is made at once; larger ones are made when they are asked for


class VariableSet:
    """A set of variables, each of which is a number, that is not empty; the empty set is the number 0.

    Attributes:
        members: the variables, or None if the set is the union of two sets that has not been made.
        parts: these two sets.
    """

    __slots__ = ("members", "parts")

    def __init__(self, members: frozenset[int] | None, parts: tuple[VariableSet, VariableSet] | None = None):
        self.members, self.parts = members, parts

    def __repr__(self):
        return f"VariableSet({sorted(self)})"

    def __iter__(self) -> Iterator[int]:
        return iter(members_of(self))

    def __add__(self, other: Any) -> VariableSet:
        if not isinstance(other, VariableSet) or other is self:
            return NotImplemented if isinstance(other, np.ndarray) else self
        a, b = self.members, other.members
        if a is None or b is None:
            return VariableSet(None, (self, other))
        if a >= b:
            return self
        if a <= b:
            return other
        return VariableSet(a | b) if len(a) + len(b) <= FEW else VariableSet(None, (self, other))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, VariableSet | np.ndarray):
            return self + other if isinstance(other, VariableSet) else NotImplemented
        return self if other else 0

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> VariableSet:
        return self + other if isinstance(other, VariableSet) else NotImplemented if isinstance(other, np.ndarray) else self

    def conjugate(self) -> VariableSet:
        return self

    __neg__ = __pos__ = __abs__ = conjugate
    real = imag = property(conjugate)


def members_of(found: VariableSet) -> frozenset[int]:
    """Return the variables of a set; a union that had not been made is made, and kept."""
    if found.members is None:
        members: set[int] = set()
        seen, waiting = set(), [found]
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if one.members is None:
                waiting += one.parts
            else:
                members |= one.members
        found.members, found.parts = frozenset(members), None
    return found.members


def united(sets: Iterable[Any]) -> Any:
    """Return the union of sets and zeros."""
    total: Any = 0
    for one in sets:
        total = total + one
    return total


def variables(shape: tuple[int, ...], first: int) -> Any:
    """Return a set of its own for each element of an array, or for a number: the variables from number `first` on."""
    if not shape:
        return VariableSet(frozenset((first,)))
    found = np.empty(shape, object)
    found.reshape(-1)[:] = [VariableSet(frozenset((first + k,))) for k in range(found.size)]
    return found
