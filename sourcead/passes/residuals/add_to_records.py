"""Cotangents of the records in a list are added to array by array, which can be done in place.

    d_item = add(d_items[i], Layer(w=p, b=q))        d_items[i].w += p
    d_items[i] = d_item                              d_items[i].b += q

Right where the list was made of zeros by this function, so that no cotangent in it is None, and each field is an array.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Block, Build, Call, Const, Function, Index, Loop, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import Array, Scalar, StructT, TupleT, Type
from sourcead.ir.walk import all_reads, map_blocks, walk
from sourcead.passes.equality import operand_key


def add_to_records(function: Function) -> Function:
    """The function with sums of the records in lists done array by array."""
    stmts = list(walk(function.body))
    if not any(isinstance(s.op, Call) and s.op.fn is runtime.add for s in stmts):
        return function
    made = {t: s for s in stmts for t in s.targets}
    params = {p: (s.op, k) for s in stmts if isinstance(s.op, Loop) for k, p in enumerate(s.op.params)}
    uses = Counter(all_reads(function.body))
    changed = False

    def visit(block: Block) -> Block:
        nonlocal changed
        here, replaced = set(block.stmts), {}
        for stmt in block.stmts:
            sum_ = sum_of_records(stmt, made, uses)
            if sum_ is None or not set(sum_.done) <= here or not of_zeros(stmt.op.base, made, params, set()):
                continue
            replaced.update(dict.fromkeys(sum_.done, ()))
            replaced[stmt] = sum_.updates(stmt)
            changed = True
        found = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, visit)
            found += replaced.get(stmt, (stmt,))
        return Block(tuple(found), block.results)

    body = visit(function.body)
    return replace(function, body=body) if changed else function


def of_zeros(atom: Atom, made: dict[Var, Stmt], params: dict[Var, tuple[Loop, int]], seen: set[Atom]) -> bool:
    """Whether a list is a version of one that `zeros_like` made, and nothing was put into it but sums."""
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
    """The sum of a record and an item of a list: what is added to each array, and the statements that it takes the place of."""

    def __init__(self):
        self.parts: list[tuple[tuple[Sub, ...], Atom]] = []
        self.done: list[Stmt] = []

    def updates(self, stmt: Stmt) -> list[Stmt]:
        """The statements that add array by array."""
        found, base = [], stmt.op.base
        for k, (path, value) in enumerate(self.parts):
            target = stmt.targets[0] if k == len(self.parts) - 1 else fresh(stmt.targets[0])
            found.append(replace(stmt, targets=(target,), op=Update(base, (*stmt.op.path, *path), value, "add")))
            base = target
        return found


def sum_of_records(stmt: Stmt, made: dict[Var, Stmt], uses: Counter) -> Sum | None:
    """What `items[i] = add(items[i], record)` does; None of another statement."""
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


def add_parts(found: Sum, t: Type, record: Atom, path: tuple[Sub, ...], made: dict[Var, Stmt], uses: Counter) -> bool:
    """Notes what is added to each array of a record of type `t`; False if that is not known of one of them."""
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
    """Whether values of a type are surely arrays that a cotangent can be added to in place, not numbers."""
    return isinstance(t, Array) and t.dtype is not None and t.dtype.kind in "fc" and bool(t.dims)
