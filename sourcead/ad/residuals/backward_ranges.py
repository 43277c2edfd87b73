"""Ranges whose numbers are visited in reverse order."""

from __future__ import annotations

import operator

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import Atom, Const, Range, Var
from sourcead.ir.types import INT


def begun_range(build: Builder, domain: Range, count: Var) -> Range:
    """Return the first `count` numbers of a range."""
    stop = count
    if is_literal(domain.step, -1):
        return Range(domain.start, build.call(operator.sub, domain.start, stop, type=INT), domain.step)
    if not is_literal(domain.step, 1):
        stop = build.call(operator.mul, stop, domain.step, type=INT)
    if not is_literal(domain.start, 0):
        stop = build.call(operator.add, domain.start, stop, type=INT)
    return Range(domain.start, stop, domain.step)


def is_literal(atom: Atom, number: int) -> bool:
    """Return whether an atom is this integer, as a constant."""
    return isinstance(atom, Const) and type(atom.value) is int and atom.value == number and not atom.live


def reversed_range(build: Builder, domain: Range) -> Range:
    """Return the range of the same numbers, last first."""
    start, stop, step = domain.start, domain.stop, domain.step

    def number(atom):
        return atom.value if isinstance(atom, Const) and type(atom.value) is int and not atom.live else None

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
