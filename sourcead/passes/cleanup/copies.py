"""Copy propagation: a variable that is known to be another value is replaced by that value.

    r = loop (p = a) ...:  ...; yield p                   a for p, and a for r
    r = if True:  A; yield x    else:  B; yield y         A, and x for r
    r = if c:  A; yield x    else:  B; yield x            x for r
    t = tuple(x, y);  v = t[0]                            x for v
    l1 = l0 ++ [x];  l2, v = pop l1                       l0 for l2, x for v
    n = x.ndim        x: (m, k)                           2 for n
    a1 = a0 with all = v        v: the type of a0         v for a1, if v is read elsewhere or a0 is saved

This is legal because values are immutable: a value that is visible where a variable is bound is visible wherever that is read.  A
parameter of a loop is its initial value if each iteration yields it unchanged, by induction over the iterations.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.analysis.unassigned import NOTHING
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Attr, Branch, Build, Call, Const, Function, Index, Let, Loop, Operand, Pop, Slice, Stmt,
    Sub, Update, Var, operand_atoms
)
from sourcead.ir.types import Array, Scalar, TupleT
from sourcead.ir.walk import with_results
from sourcead.passes.equality import equal_types, same
from sourcead.passes.peephole import Facts, peephole

UNASSIGNED = (UNDEFINED, NOTHING)
PLAIN = (int, float, complex, bool, str, type(None))


def propagate_copies(function: Function) -> Function:
    """Return the function with each variable that is known to be another value replaced by that value."""
    return peephole(function, _original, keeps_names=True)


def _original(stmt: Stmt, facts: Facts):
    match stmt.op:
        case Let(Var() as value):
            return value
        case Let(Const() as value) if stmt.targets[0].temp and value not in UNASSIGNED:
            return value
        case Branch():
            return _branch(stmt, stmt.op, facts)
        case Loop():
            return _loop(stmt, stmt.op, facts)
        case Index(base, key):
            return _index(base, key, facts)
        case Pop(base, (), None):
            return _pop(stmt, base, facts)
        case Attr(base, "ndim"):
            return _ndim(base)
        case Call(fn, (sequence,), ()) if fn is len:
            return _length(sequence, facts)
        case Update(Var() as base, path, Var() as value, "set") if isinstance(base.type, Array) and _is_whole(path):
            kept = facts.uses[value] > 1 or any(isinstance(op, Append | Build) for op in facts.readers[base])
            return value if kept and equal_types(base.type, value.type) else None
    return None


def _is_whole(path: tuple) -> bool:
    """Return whether a path is that of a whole array, as of `a[...]`, `a[:]` and `a`."""
    match path:
        case () | (Sub(Slice(None, None, None)),):
            return True
        case (Sub(Const(value)),):
            return value is ...
    return False


# -- branches ---------------------------------------------------------------------------------------------------------


def _branch(stmt: Stmt, op: Branch, facts: Facts):
    truth = _truth(op.cond, facts)
    if truth is not None:
        arm = op.then if truth else op.orelse
        if all(r not in UNASSIGNED or _only_handed_on(t, facts) for t, r in zip(stmt.targets, arm.results)):
            for target, result in zip(stmt.targets, arm.results):
                facts.replace(target, result)
            return list(arm.stmts)
    return _equal_results(stmt, op, facts)


def _truth(cond: Atom, facts: Facts) -> bool | None:
    """Return whether a condition holds, or None if that is unknown."""
    if isinstance(cond, Var):
        return facts.holds.get(cond)
    if cond.live or not isinstance(cond.value, (*PLAIN, tuple, list, dict, np.bool_)):
        return None
    return bool(cond.value)


def _only_handed_on(var: Var, facts: Facts) -> bool:
    """Return whether a variable is read only where `UNDEFINED` may stand; another read of it raises an error."""
    for op in facts.readers.get(var, ()):
        if op is None:
            continue
        if not isinstance(op, Loop) or any(a is var for a in operand_atoms(op.domain)):
            return False
    return True


def _equal_results(stmt: Stmt, op: Branch, facts: Facts):
    """Return the branch without the results that both arms yield alike; what both can read was defined before the branch."""
    keep = []
    for k, (target, a, b) in enumerate(zip(stmt.targets, op.then.results, op.orelse.results)):
        if same(a, b) and (a not in UNASSIGNED or a is NOTHING and _only_handed_on(target, facts)):
            facts.replace(target, a)
        else:
            keep.append(k)
    return None if len(keep) == len(stmt.targets) else [with_results(stmt, keep)]


# -- loops ------------------------------------------------------------------------------------------------------------


def _loop(stmt: Stmt, op: Loop, facts: Facts):
    """Return the loop without the parameters that keep their initial values.

    These are the largest set of parameters that have their initial values after an iteration if they have them before it.
    A loop without iterations yields the initial values too.
    """
    constant = {param: init for param, init in zip(op.params, op.inits) if init not in UNASSIGNED}
    while True:
        refuted = [
            param
            for param, init, result in zip(op.params, op.inits, op.body.results)
            if param in constant and not same(constant.get(result, result), init)
        ]
        if not refuted:
            break
        for param in refuted:
            del constant[param]
    if not constant:
        return None
    for param, init, target in zip(op.params, op.inits, stmt.targets):
        if param in constant:
            facts.replace(param, init)
            facts.replace(target, init)
            facts.late = True  # the body was visited before
    leave = None if op.leave in constant else op.leave  # a constant flag is false, as it is on entry
    stmt = with_results(stmt, [k for k, param in enumerate(op.params) if param not in constant])
    return [replace(stmt, op=replace(stmt.op, leave=leave))]


# -- containers -------------------------------------------------------------------------------------------------------


def _index(base: Atom, key: Operand, facts: Facts) -> Atom | None:
    if not isinstance(key, Const) or key.live:
        return None
    match facts.op(base), base:
        case Build("dict" | "record", items, keys), _:
            return _item(dict(zip(keys, items)), key.value)
        case (Build("tuple" | "list", items), _) | (Let(tuple() as items), _):
            return _item(items, key.value)
        case _, Const(tuple() as items, live=False):
            return _item([Const(item) if isinstance(item, PLAIN) else None for item in items], key.value)
    return None


def _item(items: Any, key: Any) -> Any:
    """Return `items[key]`, or None if it is not one atom or does not exist, in which case the program raises its error."""
    if not isinstance(items, dict) and not isinstance(key, (int, np.integer)):
        return None
    try:
        item = items[key]
    except (KeyError, IndexError, TypeError):
        return None
    return None if isinstance(item, (tuple, Slice)) else item


def _pop(stmt: Stmt, base: Atom, facts: Facts):
    append = facts.op(base)
    if not isinstance(append, Append) or append.path or append.at is not None:
        return None
    rest, last = stmt.targets
    facts.replace(rest, append.base)
    if isinstance(append.value, (Var, Const)):
        facts.replace(last, append.value)
        return []
    return [replace(stmt, targets=(last,), op=Let(append.value))]


# -- lengths and ranks ------------------------------------------------------------------------------------------------


def _ndim(base: Atom) -> Const | None:
    match getattr(base, "type", None):
        case Array(_, dims) if dims is not None:
            return Const(len(dims))
        case Scalar(_, dtype) if dtype is not None and dtype.kind in "biufc":  # Python's numbers have no ndim
            return Const(0)
    return None


def _length(sequence: Operand, facts: Facts) -> Const | None:
    match facts.op(sequence):
        case Build("tuple" | "list" | "dict", items):  # the items of a set may be equal
            return Const(len(items))
    if isinstance(sequence, tuple):
        return Const(len(sequence))
    match getattr(sequence, "type", None):
        case TupleT(items):
            return Const(len(items))
    return None
