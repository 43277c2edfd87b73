"""Delays the clearing of a part of a cotangent array, which the adjoint of a write makes, until the cleared array is next needed.

    v = d0[i]                                    v = d0[i]
    d1 = d0 with [i] = 0.0                       z = mul(v, 0.25)
    z = mul(v, 0.25)                             d1 = d0 with [i] = 0.0
    d2 = d1 with [j] += z                        d2 = d1 with [j] += z

    d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           d2 = d0 with [i] = v
    v = d0[i];  d1 = d0 with [i] = 0.0;  d2 = d1 with [i] += v           v = d0[i], and d0 for d2

The adjoint of a write reads a cotangent and clears it; once the clear has moved down, the read can be nested.  The move is legal because
values are immutable; it goes down to the first statement that reads the result, and not across a statement with blocks.  What is added
to a part that was just set to zero is set if the subscript names no element twice and nothing else reads the cleared array.
"""

from dataclasses import replace

from sourcead.analysis.loop_indices import names_elements_once
from sourcead.ir.nodes import Atom, Block, Const, Function, Index, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, ListT, Scalar
from sourcead.ir.walk import count_reads, definitions, map_blocks, reads_inside, substitute, walk, with_body, with_stmts
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
