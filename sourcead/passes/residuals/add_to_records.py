"""Adds a cotangent to a record in a list array by array, which can be done in place.

    r = l0[i]                                        l1 = l0 with [i]['w'] += p
    s = add(r, Layer(w=p, b=q))                      l2 = l1 with [i]['b'] += q
    l2 = l0 with [i] = s

This is legal if this function made the list of zeros and put nothing but sums into it, so that no cotangent in it is None and its arrays
share memory with nothing, if nothing else reads the sum and its parts, and if each field is known to be an array.
"""

from __future__ import annotations

from dataclasses import replace

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Build, Call, Const, Function, Index, Loop, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import Array, Scalar, StructT, TupleT, Type
from sourcead.ir.walk import count_reads, definitions, op_blocks, rewrite, walk
from sourcead.passes.equality import operand_key
from sourcead.passes.peephole import with_body


def add_to_records(function: Function) -> Function:
    """Return the function with sums of records in lists computed array by array."""
    stmts = list(walk(function.body))
    if not any(isinstance(s.op, Call) and s.op.fn is runtime.add for s in stmts):
        return function
    made, uses = definitions(function.body), count_reads(function.body)
    params = {p: (s.op, k) for s in stmts if isinstance(s.op, Loop) for k, p in enumerate(s.op.params)}
    blocks = {s: block for block in (function.body, *(b for s in stmts for b in op_blocks(s.op))) for s in block.stmts}
    replaced: dict[Stmt, list[Stmt]] = {}
    for stmt in stmts:
        found = sum_of_records(stmt, made, uses)
        beside = found is not None and all(blocks[s] is blocks[stmt] for s in found.done)
        if beside and of_zeros(stmt.op.base, made, params, set()):
            replaced.update({s: [] for s in found.done})
            replaced[stmt] = found.updates(stmt)
    return with_body(function, rewrite(function.body, lambda s: replaced.get(s, (s,))))


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
        case Update(base, _, value, mode):
            op = made[value].op if value in made else None
            new = isinstance(op, Call) and op.fn in (runtime.add, runtime.zeros_like)  # shares memory with nothing
            return (mode == "add" or new) and of_zeros(base, made, params, seen)
    return False


class Sum:
    """The sum of a record and an item of a list.

    `parts` has the path to each array of the record and what is added to it, `done` the statements that the new updates replace.
    """

    def __init__(self):
        self.parts: list[tuple[tuple[Sub, ...], Atom]] = []
        self.done: list[Stmt] = []

    def updates(self, stmt: Stmt) -> list[Stmt]:
        """Return the statements that add array by array."""
        found, base = [], stmt.op.base
        for k, (path, value) in enumerate(self.parts):
            target = stmt.targets[0] if k == len(self.parts) - 1 else fresh(stmt.targets[0])
            found.append(replace(stmt, targets=(target,), op=Update(base, (*stmt.op.path, *path), value, "add")))
            base = target
        return found


def sum_of_records(stmt: Stmt, made: dict[Var, Stmt], uses: dict[Var, int]) -> Sum | None:
    """Return the sum that `items[i] = add(items[i], record)` computes, or None for other statements."""
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
            found = Sum()
            found.done += [read, added]
            one = isinstance(key, Atom) and isinstance(atom_type(key), Scalar)
            return found if one and add_parts(found, item.type, record, (), made, uses) and found.parts else None
    return None


def add_parts(found: Sum, t: Type, record: Atom, path: tuple[Sub, ...], made: dict[Var, Stmt], uses: dict[Var, int]) -> bool:
    """Note what is added to each array of a record of type `t`, and return whether that is known for all of them."""
    build = made[record].op if record in made and uses[record] == 1 else None
    if not isinstance(build, Build) or build.kind not in ("tuple", "record") or not isinstance(t, (TupleT, StructT)):
        return False
    fields = t.fields if isinstance(t, StructT) else tuple(enumerate(t.items))
    if tuple(k for k, _ in fields) != (build.keys or tuple(range(len(build.items)))):
        return False
    found.done.append(made[record])
    for (key, field), value in zip(fields, build.items):
        step = (*path, Sub(Const(key)))
        if isinstance(field, (TupleT, StructT)):
            if not add_parts(found, field, value, step, made, uses):
                return False
        elif is_cotangent(field) and is_cotangent(atom_type(value)) and atom_type(value).dtype == field.dtype:
            found.parts.append((step, value))
        else:
            return False
    return True


def is_cotangent(t: Type) -> bool:
    """Return whether values of a type are known to be arrays, to which a cotangent can be added in place."""
    return isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "fc" and bool(t.dims)
