"""Tuples that may be None: what a loop has found so far.

    best = None                                 missing = True
    for i in range(n):                          for i in range(n):
        if best is None or d[i] < best[0]:          if missing or d[i] < first:
            best = (d[i], i)                            first, second, missing = d[i], i, False

Where it is None, its items hold nothing, as variables that were not assigned yet.
"""

from __future__ import annotations

import operator

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import Cell, OptionalVal, TupleVal, Value
from sourcead.frontend.core.journal import VALUE
from sourcead.frontend.core.known_values import same_keys
from sourcead.frontend.core.operations import Generic, attribute, iterate, subscript
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Var
from sourcead.ir.types import BOOL, NoneType

TESTS = {operator.is_: True, operator.eq: True, operator.is_not: False, operator.ne: False}


def is_none(value: Value) -> bool:
    """Whether a value is surely None."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    return isinstance(atom, (Var, Const)) and atom is not UNDEFINED and isinstance(atom_type(atom), NoneType)


def pair_of(value: Value) -> tuple[Atom, Value] | None:
    """Whether a value is None, and the tuple that it is if not; None for what is neither."""
    if is_none(value):
        return Const(True), UNDEFINED
    if isinstance(value, OptionalVal):
        return value.missing, value.held
    return (Const(False), value) if isinstance(value, TupleVal) else None


def present(value: Value) -> Value:
    """The tuple in a value that may be None, for a use where Python raises an error for None."""
    return value.held if isinstance(value, OptionalVal) else value


def pairs_in_arms(values: list[Value]) -> list[tuple[Atom, Value]] | None:
    """What the arms of a branch leave, where one leaves None and another a tuple of the same structure; None for anything else."""
    pairs = [pair_of(v) for v in values]
    if None in pairs:
        return None
    tuples = [inside for _, inside in pairs if inside is not UNDEFINED]
    if not tuples or len(tuples) == len(pairs) and not any(isinstance(v, OptionalVal) for v in values):
        return None
    return pairs if all(same_keys(tuples[0], t) for t in tuples) else None


def compared_with_none(lo, fn, a: Value, b: Value) -> Value | None:
    """`a is None`, or another comparison with None; None for anything else."""
    if is_none(a):
        a, b = b, a
    if fn not in TESTS or not isinstance(a, OptionalVal) or not is_none(b):
        return None
    return a.missing if TESTS[fn] else lo.wrap(lo.build.call(operator.not_, a.missing, type=BOOL))


def _of_held(operation: Generic) -> None:
    """Has an operation take the tuple in a value that may be None: for None, Python raises an error there."""
    operation.register(OptionalVal)(lambda lo, value, *args: operation(lo, value.held, *args))


for _operation in (attribute, subscript, iterate):
    _of_held(_operation)
