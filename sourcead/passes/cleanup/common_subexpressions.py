"""Common subexpression elimination: a pure operation on the same operands is done once.

    y = sin(x);  z = sin(x)                      y = sin(x);  z = y

This is legal if the operation is pure and its earlier result is visible: in the same block or in one around it.  Calls are not merged if
they make an array that is written, or is likely to be, because a copy would have to be made in its place.

Queries of an array (`x.shape`, `len(x)`) are known to be equal but stay: they cost nothing, and a person would write them again
rather than give them a name.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from sourcead.ir.nodes import Attr, Build, Call, Const, Function, Index, Op, Stmt, Update, Var, fresh
from sourcead.ir.types import kind_of
from sourcead.passes.equality import operand_key
from sourcead.passes.peephole import Facts, peephole
from sourcead.primitives.table import record_of


def is_pure(op: Op) -> bool:
    """Return whether an op only computes its result from its operands, and makes no array that is meant to be written."""
    match op:
        case Attr() | Index() | Build("tuple"):
            return True
        case Call(fn, _, kwargs, False):
            known = record_of(fn)
            return known.pure and not known.buffer and not any(k == "out" for k, _ in kwargs)
    return False


def merge_common(function: Function) -> Function:
    """Return the function without pure operations whose result is already in scope."""
    available: dict[Hashable, tuple[Var, int]] = {}
    equal: dict[Var, Var] = {}  # statements that stay but whose result is known to be that of another

    def canonical(var: Var) -> Var:
        return equal.get(var, var)

    def rule(stmt: Stmt, facts: Facts):
        if len(stmt.targets) != 1 or not is_pure(stmt.op):
            return None
        target = stmt.targets[0]
        key = _key(stmt.op, canonical)
        found, scope = available.get(key, (None, None))
        if found is None or scope not in facts.open:
            available[key] = target, facts.scope
            return None
        if target.temp and found.temp and _is_free(stmt.op, facts):
            equal[target] = found
            return None
        if any(_is_written(v, facts) for v in (target, found)):
            return None
        if target.temp and facts.is_only_first(found):
            facts.renamed[found] = fresh(found, name=target.name, temp=True)
            facts.late = facts.changed = True
        return found

    return peephole(function, rule)


def _is_written(var: Var, facts: Facts) -> bool:
    """Return whether a variable is a constant array, such as `np.eye(n)`, that is written: to share it would take a copy."""
    op = facts.definitions[var].op if var in facts.definitions else None
    constant = isinstance(op, Call) and record_of(op.fn).constant
    return constant and any(isinstance(reader, Update) and reader.base is var for reader in facts.readers.get(var, []))


def _key(op: Op, canonical) -> Hashable:
    """Return a key that two ops share only if they compute the same value."""
    if not isinstance(op, Call):
        named = getattr(op, "name", None)  # of an attribute; the containers are all tuples
        return type(op), named, *(operand_key(getattr(op, child), canonical) for child in op.children)
    keys = [canonical(a) if isinstance(a, Var) else operand_key(a, canonical) for a in op.args]
    if len(keys) == 2 and record_of(op.fn).commutes and all(map(_is_number, op.args)):
        keys.sort(key=hash)
    owner = getattr(op.fn, "__self__", None)
    called = (id(owner), op.fn.__name__) if isinstance(owner, np.ufunc) else id(op.fn)
    return called, *keys, frozenset([(name, operand_key(v, canonical)) for name, v in op.kwargs])


def _is_number(operand: Any) -> bool:
    """Return whether addition and multiplication of an operand commute, which they do for numbers but not for lists and strings."""
    if isinstance(operand, Var):
        return kind_of(operand.type) is not None
    return isinstance(operand, Const) and isinstance(operand.value, (bool, int, float, complex, np.generic))


def _is_free(op: Op, facts: Facts) -> bool:
    """Return whether an op is a query of an array."""
    match op:
        case Attr():
            return True
        case Call(fn):
            return fn is len or fn is np.shape or fn is np.ndim or fn is np.size
        case Index(base, Const()):
            inner = facts.op(base)
            return isinstance(inner, Attr) and inner.name == "shape"
    return False
