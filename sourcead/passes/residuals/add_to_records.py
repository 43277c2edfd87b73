"""Adds a cotangent to a record array by array, which can be done in place.

    s = add(r, Layer(w=p, b=q))                      r1 = r with ['w'] += p;  s = r1 with ['b'] += q

    r = l0[i]                                        l1 = l0 with [i]['w'] += p
    s = add(r, Layer(w=p, b=q))                      l2 = l1 with [i]['b'] += q
    l2 = l0 with [i] = s

This is legal if this function made the record, or the list that holds it, of zeros and put nothing but sums into it, so that no cotangent
in it is None and its arrays share memory with nothing, if nothing else reads the sum and its parts, and if each field is known to be an
array.  Arrays of zeros of the same shape are not added.
"""

from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Function, Index, Loop, Op, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import Array, DictT, Scalar, StructT, TupleT, Type, keyed_parts
from sourcead.ir.walk import count_reads, definitions, rewrite, walk, with_body
from sourcead.passes.equality import operand_key

RECORDS = (TupleT, StructT, DictT)
Parts = list[tuple[tuple[Sub, ...], Atom]]  # the arrays of a record, each with its path


def add_to_records(function: Function) -> Function:
    """Return the function with sums of records in lists computed array by array."""
    stmts = list(walk(function.body))
    if not any(isinstance(s.op, Call) and s.op.fn is runtime.add for s in stmts):
        return function
    made, uses = definitions(function.body), count_reads(function.body)
    params = {p: (s.op, k) for s in stmts if isinstance(s.op, Loop) for k, p in enumerate(s.op.params)}
    blocks = {s: block for block in (function.body, *(b for s in stmts for b in s.op.blocks)) for s in block.stmts}
    replaced: dict[Stmt, list[Stmt]] = {}
    for stmt in stmts:
        done, parts = sum_of_records(stmt, made, uses) or ([], [])
        if parts and all(blocks[s] is blocks[stmt] for s in done) and of_zeros(stmt.op.base, made, params, set()):
            replaced.update({s: [] for s in done})
            replaced[stmt] = updates(stmt, stmt.op.base, stmt.op.path, without_zeros(parts, made))
    for stmt in stmts:
        match stmt.op:
            case Call(fn, (Var() as base, Var() as record), ()) if fn is runtime.add and stmt not in replaced and uses[base] == 1:
                done, parts = arrays_of(base.type, record, (), made, uses) or ([], [])
                if parts and all(blocks[s] is blocks[stmt] for s in done) and of_zeros(base, made, params, set()):
                    replaced.update({s: [] for s in done})
                    replaced[stmt] = updates(stmt, base, (), without_zeros(parts, made))
    return with_body(function, rewrite(function.body, lambda s: replaced.get(s, (s,))))


def without_zeros(parts: Parts, made: dict[Var, Stmt]) -> Parts:
    """Return the parts that are not made as zeros, or one of them if all are."""
    found = [(path, value) for path, value in parts if not is_zeros(made[value].op if value in made else None)]
    return found or parts[:1]


def is_zeros(op: Op | None) -> bool:
    return isinstance(op, Call) and op.fn in (np.zeros, np.zeros_like, runtime.zeros_like)


def of_zeros(atom: Atom, made: dict[Var, Stmt], params: dict[Var, tuple[Loop, int]], seen: set[Atom]) -> bool:
    """Return whether a list is a version of one that `zeros_like` made, into which nothing but sums were put."""
    if atom in seen:
        return True
    seen.add(atom)
    loop, k = params.get(atom, (None, 0))
    if loop is None and atom in made and isinstance(made[atom].op, Loop):
        loop, k = made[atom].op, made[atom].targets.index(atom)
    if loop is not None:
        return all(of_zeros(a, made, params, seen) for a in (loop.inits[k], loop.body.results[k]))
    match made[atom].op if atom in made else None:
        case Call(fn) if fn is runtime.zeros_like:
            return True
        case Call(fn, (a, _), ()) if fn is runtime.add:
            return of_zeros(a, made, params, seen)
        case Update(base, _, value, mode):
            op = made[value].op if value in made else None
            new = isinstance(op, Call) and op.fn in (runtime.add, runtime.zeros_like)  # shares memory with nothing
            return (mode == "add" or new) and of_zeros(base, made, params, seen)
    return False


def updates(stmt: Stmt, base: Var, at: tuple, parts: Parts) -> list[Stmt]:
    """Return the statements that add array by array to the record at a path of a variable, in place of a statement."""
    found = []
    for k, (path, value) in enumerate(parts):
        target = stmt.targets[0] if k == len(parts) - 1 else fresh(stmt.targets[0])
        found.append(replace(stmt, targets=(target,), op=Update(base, (*at, *path), value, "add")))
        base = target
    return found


def sum_of_records(stmt: Stmt, made: dict[Var, Stmt], uses: dict[Var, int]) -> tuple[list[Stmt], Parts] | None:
    """Return the statements that compute r in `items[i] = add(items[i], r)`, and the arrays of r; None for other statements."""
    match stmt.op:
        case Update(Var() as base, (Sub(key),), Var() as total, "set") if uses[total] == 1 and total in made:
            added = made[total]
        case _:
            return None
    match added.op:
        case Call(fn, (Var() as item, Var() as record), ()) if fn is runtime.add and uses[item] == 1 and item in made:
            read = made[item]
        case _:
            return None
    match read.op:
        case Index(b, k) if b is base and operand_key(k) == operand_key(key):
            one = isinstance(key, Atom) and isinstance(atom_type(key), Scalar)
            found = arrays_of(item.type, record, (), made, uses) if one else None
            return found and ([read, added, *found[0]], found[1])
    return None


def arrays_of(
    t: Type, record: Atom, path: tuple[Sub, ...], made: dict[Var, Stmt], uses: dict[Var, int]
) -> tuple[list[Stmt], Parts] | None:
    """Return the statements that build a record of type `t`, and its arrays, or None if one of them is unknown."""
    build = made[record].op if record in made and uses[record] == 1 else None
    if not isinstance(build, Build) or build.kind not in ("tuple", "record", "dict") or not isinstance(t, RECORDS):
        return None
    fields = keyed_parts(t)
    if tuple(k for k, _ in fields) != (build.keys or tuple(range(len(build.items)))):
        return None
    done, parts = [made[record]], []
    for (key, field), value in zip(fields, build.items):
        step = (*path, Sub(Const(key)))
        if isinstance(field, RECORDS):
            inner = arrays_of(field, value, step, made, uses)
        else:
            same = is_cotangent(field) and is_cotangent(atom_type(value)) and atom_type(value).dtype == field.dtype
            inner = ([], [(step, value)]) if same else None
        if inner is None:
            return None
        done, parts = done + inner[0], parts + inner[1]
    return done, parts


def is_cotangent(t: Type) -> bool:
    """Return whether values of a type are known to be arrays, to which a cotangent can be added in place."""
    return isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "fc" and bool(t.dims)
