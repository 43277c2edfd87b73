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

This is legal if nothing reads what is cleared after the loop, the loop uses the array only at subscripts `i + c` along one axis, none of
them negative, and the clear is the last use of the greatest of them (the least, if the index rises): the loop moves on and never comes
back.  The same holds in a nest of loops for subscripts `i + b, j + c`, which are compared in this order.
"""

from collections.abc import Iterator
from dataclasses import replace

from sourcead.analysis.affine import number
from sourcead.analysis.array_versions import queried
from sourcead.analysis.loop_indices import names_elements_once, offset
from sourcead.ir.nodes import Atom, Block, Const, Function, Index, Loop, Range, Slice, Stmt, Sub, Update, Var
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
    made = definitions(function.body)
    readers: dict[Atom, list[Stmt | None]] = {}  # None stands for the results of a block
    for stmt in walk(function.body):
        for v in stmt.op.reads:
            readers.setdefault(v, []).append(stmt)
    for block in (function.body, *(b for s in walk(function.body) for b in s.op.blocks)):
        for r in block.results:
            readers.setdefault(r, []).append(None)

    def change(stmt: Stmt) -> list[Stmt]:
        for k in range(len(stmt.targets) if isinstance(stmt.op, Loop) else 0):
            if dead := dead_clears(stmt, k, made, readers):
                body = rewrite(stmt.op.body, lambda s, dead=dead: [] if s in dead else [s])
                body = substitute(body, {s.targets[0]: s.op.base for s in dead})
                stmt = replace(stmt, op=replace(stmt.op, body=body))
        return [stmt]

    return with_body(function, rewrite(function.body, change))


def dead_clears(stmt: Stmt, k: int, made: dict[Var, Stmt], readers: dict[Atom, list[Stmt | None]]) -> list[Stmt]:
    """Return the dead clears of the k-th variant of a loop, an array of which no part that is cleared is read after the loop."""
    nest, variant, array = [stmt.op], stmt.op.params[k], stmt.targets[k]
    while (inner := inner_loop(nest[-1], variant)) is not None:
        nest.append(inner.op)
        variant = inner.op.params[inner.op.inits.index(variant)]
    found = uses_in(nest[-1], variant)
    least = [least_index(loop) for loop in nest]
    if not found or None in least or not any(is_clearing(s) for _, s, _ in found):
        return []
    axes, offsets = [], [() for _ in found]
    for loop in nest:
        for axis in range(min(len(key) for _, _, key in found)):
            by = [offset(key[axis], loop.index, made) for _, _, key in found]
            if axis not in axes and None not in by:
                axes.append(axis)
                offsets = [(*of, c) for of, c in zip(offsets, by)]
                break
        else:
            return []
    firsts = [min(of) + first for of, first in zip(zip(*offsets), least)]
    if min(firsts) < 0:
        return []

    def order(of: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(c if number(loop.domain.step) == -1 else -c for c, loop in zip(of, nest))

    behind = max(offsets, key=order)  # no later iteration uses the array there
    last = max(at for (at, _, _), own in zip(found, offsets) if own == behind)
    cleared = [c + first for c, first in zip(behind, least)]
    if not all(misses(s, v, dict(zip(axes, cleared))) for s, v in read_later(array, readers)):
        return []
    return list(dict.fromkeys(s for (at, s, _), own in zip(found, offsets) if own == behind and at == last and is_clearing(s)))


def inner_loop(loop: Loop, variant: Var) -> Stmt | None:
    """Return the loop in the body of a loop to which a variant is handed on, and which alone makes its value for the next iteration."""
    result = loop.body.results[loop.params.index(variant)]
    reading = [s for s in loop.body.stmts if variant in reads_inside(s.op) and queried(s.op) is not variant]
    if len(reading) != 1 or not isinstance(reading[0].op, Loop) or variant in loop.body.results:
        return None
    (inner,) = reading
    own = [t for t, init in zip(inner.targets, inner.op.inits) if init is variant]
    others = any(result in reads_inside(s.op) for s in loop.body.stmts) or loop.body.results.count(result) != 1
    inside = any(variant in b.reads for b in inner.op.blocks) or inner.op.leave is not None
    return None if own != [result] or others or inside else inner


def least_index(loop: Loop) -> int | None:
    """Return the least value that the index of a loop may have, None if that is not known or the index does not count by one."""
    if not isinstance(loop.domain, Range) or loop.policy is not None or loop.leave is not None:
        return None
    start, stop, step = map(number, (loop.domain.start, loop.domain.stop, loop.domain.step))
    return start if step == 1 else stop + 1 if step == -1 and stop is not None else None


def uses_in(loop: Loop, variant: Var) -> list[tuple[int, Stmt, tuple]]:
    """Return the statements of the body of a loop that use an array, with their places and subscripts; none if it is used in other ways."""
    versions, uses = {variant}, []
    for at, stmt in enumerate(loop.body.stmts):
        for v in stmt.op.reads:
            if v in versions:
                uses.append((at, stmt))
                if isinstance(stmt.op, Update) and stmt.op.base is v and stmt.op.value is not v:
                    versions.add(stmt.targets[0])
        if any(v in versions for b in stmt.op.blocks for v in all_reads(b)):
            return []
    k = loop.params.index(variant)
    if loop.body.results[k] not in versions or any(r in versions for j, r in enumerate(loop.body.results) if j != k):
        return []
    found = [(at, s, key_of(s, versions)) for at, s in uses if queried(s.op) is None]
    return [] if any(key is None for _, _, key in found) else found


def read_later(array: Var, readers: dict[Atom, list[Stmt | None]]) -> Iterator[tuple[Stmt | None, Var]]:
    """Yield the statements that read an array or a later version of it, with the version; None for a block that yields it."""
    for stmt in readers.get(array, ()):
        yield stmt, array
        if stmt is not None and isinstance(stmt.op, Update) and stmt.op.base is array:
            yield from read_later(stmt.targets[0], readers)


def misses(stmt: Stmt | None, array: Var, cleared: dict[int, int]) -> bool:
    """Return whether a statement uses only elements of an array that were not cleared; `cleared` has the least number along some axes."""
    if stmt is None:
        return False
    key = () if queried(stmt.op) is not None else key_of(stmt, {array})
    if key is None:
        return False
    numbers = {axis: number(k) for axis, k in enumerate(key) if isinstance(k, Const)}
    return queried(stmt.op) is not None or any(0 <= numbers[a] < least for a, least in cleared.items() if numbers.get(a) is not None)


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
