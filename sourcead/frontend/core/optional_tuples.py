"""Lower variables that are either a tuple or None, as the best that a loop has found so far, or an object or None after a branch.

    best = None                                 missing = True
    for i in range(n):                          for i in range(n):
        if best is None or d[i] < best[0]:          if missing or d[i] < first:
            best = (d[i], i)                            first, second, missing = d[i], i, False

Where it is None, its items are undefined, like variables that were not assigned yet.
"""

import operator

from sourcead.analysis.builder import atom_type
from sourcead.frontend.core.cells import Cell, OptionalVal, TupleVal, Value, array_of
from sourcead.frontend.core.classes_of_values import class_of
from sourcead.frontend.core.journal import VALUE
from sourcead.frontend.core.known_values import known
from sourcead.frontend.core.operations import attribute, iterate, method, subscript
from sourcead.frontend.core.sameness import same_keys
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Var
from sourcead.ir.types import BOOL, NoneType

TESTS = {operator.is_: True, operator.eq: True, operator.is_not: False, operator.ne: False}


def is_none(value: Value) -> bool:
    """Tell whether a value is surely None."""
    atom = value.slots.get(VALUE) if isinstance(value, Cell) else value
    return isinstance(atom, (Var, Const)) and atom is not UNDEFINED and isinstance(atom_type(atom), NoneType)


def pair_of(value: Value) -> tuple[Atom, Value] | None:
    """Split a value into whether it is None, and its tuple or object; return None if it is neither None nor one of these."""
    if is_none(value):
        return Const(True), UNDEFINED
    if isinstance(value, OptionalVal):
        return value.missing, value.held
    return (Const(False), value) if isinstance(value, TupleVal) or is_object(value) else None


def is_object(value: Value) -> bool:
    """Return whether a value is an object of a class that is always true, so that `if value` asks whether it is None."""
    cls = class_of(value) if isinstance(value, Cell) and value.kind == "object" else None
    return cls is not None and array_of(value) is None and not hasattr(cls, "__bool__") and not hasattr(cls, "__len__")


def pairs_in_arms(values: list[Value]) -> list[tuple[Atom, Value]] | None:
    """Return `pair_of` each arm's value if some arm may leave None and others a tuple of the same structure; else return None."""
    pairs = [pair_of(v) for v in values]
    if None in pairs:
        return None
    tuples = [inside for _, inside in pairs if inside is not UNDEFINED]
    if not tuples or len(tuples) == len(pairs) and not any(isinstance(v, OptionalVal) for v in values):
        return None
    return pairs if all(same_keys(tuples[0], t) for t in tuples) else None


def compared_with_none(lo, fn, a: Value, b: Value) -> Value | None:
    """Lower `a is None` or another comparison of an optional tuple with None; return None for anything else."""
    if is_none(a):
        a, b = b, a
    if fn not in TESTS or not isinstance(a, OptionalVal) or not is_none(b):
        return None
    return a.missing if TESTS[fn] else lo.wrap(lo.build.call(operator.not_, a.missing, type=BOOL))


REFUSE_NONE = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul,
    operator.neg, operator.pos, operator.lt, operator.le, operator.gt, operator.ge, abs, round, float, int,
})  # fmt: skip


def what_python_takes(fn, values):
    """Return the operands with a tuple or object in place of one that may be None, if Python raises an error for None there.

    It does unless another operand is an object, whose class says what it does with None.
    """
    optional = [v for v in values if isinstance(v, OptionalVal)]
    if len(optional) != 1 or fn not in REFUSE_NONE or any(class_of(v) is not None for v in values):
        return values
    return type(values)(v.held if v is optional[0] else v for v in values)


def where_it_is_known(lo, value: Value) -> Value:
    """Return None, or the tuple or object, for what may be either, in the arm of a branch that has asked which it is."""
    found, missing = known(lo, value.missing) if isinstance(value, OptionalVal) else (False, None)
    return value if not found else Const(None) if missing else value.held


for _operation in (attribute, method, subscript, iterate):  # of the tuple in a value that may be None, where Python raises an error
    _operation.register(OptionalVal)(lambda lo, value, *args, operation=_operation: operation(lo, value.held, *args))
