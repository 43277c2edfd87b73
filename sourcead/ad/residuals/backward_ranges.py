"""The numbers of a range by their places, and in reverse order."""

from __future__ import annotations

import operator

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder
from sourcead.analysis.loop_indices import is_int
from sourcead.ir.nodes import Atom, Const, Range
from sourcead.ir.types import INT


def number_at(build: Builder, domain: Range, place: Atom) -> Atom:
    """Return the number at a place of a range, counted from 0."""
    if is_int(domain.step, -1):
        return build.call(operator.sub, domain.start, place, type=INT)
    offset = place if is_int(domain.step, 1) else build.call(operator.mul, place, domain.step, type=INT)
    return offset if is_int(domain.start, 0) else build.call(operator.add, domain.start, offset, type=INT)


def reversed_range(build: Builder, domain: Range) -> Range:
    """Return the range of the same numbers, last first."""
    start, stop, step = domain.start, domain.stop, domain.step

    def shifted(atom, by: int):
        if number(atom) is not None:
            return Const(number(atom) + by)
        return build.call(operator.add if by > 0 else operator.sub, atom, Const(abs(by)), type=INT)

    s = number(step)
    if s in (1, -1):
        return Range(shifted(stop, -s), shifted(start, -s), Const(-s))
    length = build.call(len, build.call(range, start, stop, step), type=INT, name="n")
    offset = build.call(operator.mul, shifted(length, -1), step, type=INT)
    last = build.call(operator.add, start, offset, type=INT)
    before = build.call(operator.sub, start, step, type=INT)
    return Range(last, before, build.call(operator.neg, step, type=INT) if s is None else Const(-s))
