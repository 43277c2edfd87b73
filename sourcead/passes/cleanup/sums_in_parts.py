"""Adds to a part of an array where the program sets it to itself plus something.

    x = a0[key];  y = add(x, u);  z = sub(y, v)             a1 = a0 with [key] += u
    a2 = a0 with [key] = z                         ->       a2 = a1 with [key] -= v

The adjoint of an addition leaves the cotangent of the part as it is, that of an assignment copies and clears it.  This is legal, and
equal to the bit, if nothing else reads the sums, if they have the shape and dtype of the part, and if the key names no element twice.
"""

import operator
from dataclasses import replace

from sourcead.analysis.loop_indices import names_elements_once
from sourcead.ir.nodes import Atom, Call, Function, Index, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import Array, kind_of
from sourcead.ir.walk import has
from sourcead.passes.cleanup.constant_folding import same_operand_type
from sourcead.passes.equality import same
from sourcead.passes.peephole import Facts, peephole

TERMS = 3  # a longer sum is read more easily where it is


def add_to_parts(function: Function) -> Function:
    """Return the function with `a[key] += v` for `a[key] = a[key] + v`."""
    return peephole(function, _rule) if has(function.body, Update) else function


def _rule(stmt: Stmt, facts: Facts) -> list[Stmt] | None:
    match stmt.op:
        case Update(Var(type=Array()) as base, (Sub(key),), Var() as value, "set") if names_elements_once(key):
            terms = _terms(value, base, key, facts)
        case _:
            return None
    updates = []
    for k, (mode, term) in enumerate(terms or ()):
        target = stmt.targets[0] if k == len(terms) - 1 else fresh(stmt.targets[0])
        updates.append(replace(stmt, targets=(target,), op=replace(stmt.op, base=base, value=term, mode=mode)))
        base = target
    return updates or None


def _terms(value: Var, base: Var, key, facts: Facts) -> list[tuple[str, Atom]] | None:
    """Return what is added to, or subtracted from, a part of an array in a sum; None if the value is no such sum."""
    found: list[tuple[str, Atom]] = []
    part = value
    while len(found) < TERMS and facts.uses[part] == 1 and kind_of(part.type) in ("float", "complex"):
        call = facts.op(part)
        if not isinstance(call, Call) or call.fn not in (operator.add, operator.sub) or call.effect:
            return None
        for first, second in (call.args, call.args[::-1]) if call.fn is operator.add else (call.args,):
            if not isinstance(first, Var) or not same_operand_type(first, value):
                continue
            match facts.op(first):
                case Index(of, at) if of is base and same(at, key):
                    return [("add" if call.fn is operator.add else "sub", second), *found]
        found.insert(0, ("add" if call.fn is operator.add else "sub", call.args[1]))
        part = call.args[0]
        if not isinstance(part, Var) or not same_operand_type(part, value):
            return None
    return None
