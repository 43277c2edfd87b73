"""Clears of parts of cotangent arrays, which the adjoints of writes make: delayed until they matter, and removed where they never do.

`sink_clears` delays the clearing of a part of an array until the cleared array is next needed.

    v = d0[i]                                    v = d0[i]
    d1 = d0 with [i] = 0.0                       z = mul(v, 0.25)
    z = mul(v, 0.25)                             d1 = d0 with [i] = 0.0
    d2 = d1 with [j] += z                        d2 = d1 with [j] += z

    d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           d2 = d0 with [i] = v
    v = d0[i];  d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           v = d0[i], and d0 for d2

The adjoint of a write reads a cotangent and clears it; once the clear has moved down, the read can be nested.  The move is legal because
values are immutable; it goes down to the first statement that reads the result, and not across a statement with blocks.  What is added
to a part that was just set to zero is set if the subscript names no element twice and nothing else reads the cleared array.

`remove_dead_clears` removes the clearing of a part of an array that nothing reads again.

    loop (d = d0) for i in range(n - 1, -1, -1):          loop (d = d0) for i in range(n - 1, -1, -1):
        v = d[i + 1]                                          v = d[i + 1]
        d1 = d with [i + 1] = 0.0
        d2 = d1 with [i] += mul(2, v)                         d2 = d with [i] += mul(2, v)
        yield d2                                              yield d2

This is legal if nothing reads the array after the loop, the loop uses it only at subscripts `i + c` along one axis, none of them negative,
and the clear is the last use of the greatest of them (the least, if the index rises): the loop moves on and never comes back.
"""

from dataclasses import replace

from sourcead.analysis.affine import number
from sourcead.analysis.array_versions import queried
from sourcead.analysis.loop_indices import Counting, names_elements_once, offset
from sourcead.ir.nodes import Atom, Block, Const, Function, Index, Loop, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, ListT, Scalar
from sourcead.ir.walk import (
    all_reads, count_reads, definitions, map_blocks, reads_inside, rewrite, substitute, walk, with_body, with_stmts
)
from sourcead.passes.equality import operand_key


def sink_clears(function: Function) -> Function:
    """Return the function with writes of constants moved down to where the array is next read."""
    if not any(is_clearing(s) for s in walk(function.body)):
        return function
    uses, made = count_reads(function.body), definitions(function.body)
    unchanged: dict[Var, Atom] = {}  # version -> the one that it is equal to

    def visit(block: Block) -> Block:
        waiting: list[Stmt] = []
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmt = map_blocks(stmt, visit)
            reads = set(reads_inside(stmt.op))
            for earlier in [w for w in waiting if w.targets[0] in reads]:
                waiting.remove(earlier)
                if sets_what_was_cleared(stmt, earlier, uses):
                    stmt = replace(stmt, op=replace(stmt.op, base=earlier.op.base, mode="set"))
                    if is_part(stmt.op, made):
                        unchanged[stmt.targets[0]] = stmt.op.base
                else:
                    stmts.append(earlier)
            if is_clearing(stmt):
                waiting.append(stmt)
                continue
            if stmt.op.blocks:
                stmts += waiting
                waiting.clear()
            if unchanged.keys().isdisjoint(stmt.targets):
                stmts.append(stmt)
        return with_stmts(block, stmts + waiting)

    return with_body(function, substitute(visit(function.body), unchanged))


def is_part(update: Update, made: dict[Var, Stmt]) -> bool:
    """Return whether the value of an update was read from the very part that it writes."""
    value = update.value
    for step in reversed(update.path):
        op = made[value].op if value in made else None
        if not isinstance(op, Index) or operand_key(op.key) != operand_key(step.key):
            return False
        value = op.base
    return value is update.base


def sets_what_was_cleared(stmt: Stmt, earlier: Stmt, uses: dict[Var, int]) -> bool:
    """Return whether a statement adds to exactly the part that an earlier one set to zero, and nothing else reads the cleared array."""
    op, cleared = stmt.op, earlier.op
    if not (isinstance(op, Update) and op.mode == "add" and op.base is earlier.targets[0] and uses[op.base] == 1):
        return False
    if len(op.path) != len(cleared.path) or type(cleared.value.value) is not float or cleared.value.value != 0:
        return False
    steps = list(zip(op.path, cleared.path))
    same = all(isinstance(a, Sub) and isinstance(b, Sub) and operand_key(a.key) == operand_key(b.key) for a, b in steps)
    if not same or not all(names_elements_once(step.key) for step in op.path):
        return False
    t = op.base.type
    if isinstance(t, Array):
        return len(op.path) == 1 and t.dtype is not None
    for step in op.path:  # to a number in lists, which takes no shape from the zero
        t = t.item if isinstance(t, ListT) and not isinstance(step.key, Slice) else None
    return isinstance(t, Scalar)


def is_clearing(stmt: Stmt) -> bool:
    """Return whether a statement of the reverse sweep sets a part of an array to a constant."""
    return stmt.adjoint_of is not None and isinstance(stmt.op, Update) and stmt.op.mode == "set" and isinstance(stmt.op.value, Const)


def remove_dead_clears(function: Function) -> Function:
    """Return the function without writes of zeros in its reverse sweep that nothing reads."""
    if not any(is_clearing(s) for s in walk(function.body)):
        return function
    uses, made = count_reads(function.body), definitions(function.body)
    counting = Counting(made)

    def change(stmt: Stmt) -> list[Stmt]:
        counted = counting.of(stmt.op) if isinstance(stmt.op, Loop) else None
        written = set() if counted is None else {s.op.base for s in stmt.op.body.stmts if isinstance(s.op, Update)}
        for k, target in enumerate(stmt.targets if counted is not None else ()):
            read = uses.get(target) or stmt.op.params[k] not in written
            dead = [] if read else dead_clears(stmt.op, k, counted.first, made)
            if dead:
                kept = Block(tuple(s for s in stmt.op.body.stmts if s not in dead), stmt.op.body.results)
                stmt = replace(stmt, op=replace(stmt.op, body=substitute(kept, {s.targets[0]: s.op.base for s in dead})))
        return [stmt]

    return with_body(function, rewrite(function.body, change))


def dead_clears(loop: Loop, k: int, first: int, made: dict[Var, Stmt]) -> list[Stmt]:
    """Return the dead clears of the k-th variant of a loop, an array that is not read after the loop.

    `first` is the least value of the loop's index: no subscript may be negative, because that would count from the end.
    """
    versions, uses = {loop.params[k]}, []
    for at, stmt in enumerate(loop.body.stmts):
        for v in stmt.op.reads:
            if v in versions:
                uses.append((at, stmt))
                if isinstance(stmt.op, Update) and stmt.op.base is v and stmt.op.value is not v:
                    versions.add(stmt.targets[0])
        if any(v in versions for b in stmt.op.blocks for v in all_reads(b)):
            return []
    if loop.body.results[k] not in versions or any(r in versions for j, r in enumerate(loop.body.results) if j != k):
        return []
    uses = [(at, s) for at, s in uses if queried(s.op) is None]
    keys = [key_of(s, versions) for _, s in uses]
    if None in keys:
        return []
    for axis in range(min(map(len, keys), default=0)):
        offsets = [offset(key[axis], loop.index, made) for key in keys]
        if None in offsets or min(offsets) + first < 0:
            continue
        behind = (max if number(loop.domain.step) == -1 else min)(offsets)  # no later iteration uses the array there
        last = max(at for (at, _), own in zip(uses, offsets) if own == behind)
        found = (s for (at, s), own in zip(uses, offsets) if own == behind and at == last and is_clearing(s))
        return list(dict.fromkeys(found))
    return []


def key_of(stmt: Stmt, versions: set[Var]) -> tuple | None:
    """Return the subscript by which a statement uses an array, one item for each axis, or None if it uses the array in another way."""
    match stmt.op:
        case Index(base, key):
            pass
        case Update(base, (Sub(key),), value) if value not in versions:
            pass
        case _:
            return None
    plain = base in versions and names_elements_once(key)
    return (key if isinstance(key, tuple) else (key,)) if plain else None
