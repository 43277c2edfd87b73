"""Moves writes of elements into the arms of the branches that choose what is written.

`keep_elements`, before differentiation, does not write an element that stays as it is:

    r = a0[i];  y = if c: yield r else: yield x            a1 = if c: yield a0 else: (b = a0 with [i] = x; yield b)
    a1 = a0 with [i] = y

    x = ...;  r = a0[i];  y = min(r, x)                    x = ...;  r = a0[i];  c = r < x
    a1 = a0 with [i] = y                                   a1 = if c: yield a0 else: (y = min(r, x); b = a0 with [i] = y; yield b)

That is legal if nothing else reads `y`: a number that was read from an element is written there unchanged.  The loop then saves a truth
value in place of a number; where the two numbers are equal, or one is not a number, the function is called, which has its own adjoint.

`add_in_arms`, on adjoints, does not add zeros to elements:

    a1, z = if c: yield a0, 0.0 else: B yielding b, d      a2 = if c: yield a0 else: (B; e = b with [j] += d; yield e)
    a2 = a1 with [j] += z

That is legal behind a branch of the reverse sweep: its forward sweep has read these elements.  The sum is the same but for the sign of a
zero.  It is done where the branch writes arrays anyway, since machine code could else run both arms by vector instructions.
"""

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from sourcead.ir.nodes import (
    Atom, Block, Branch, Call, Function, Index, Let, Stmt, Sub, Update, Var, fresh, operand_atoms
)
from sourcead.ir.types import BOOL, Scalar
from sourcead.ir.walk import count_reads, definitions, has, has_effect, map_blocks, with_body, with_stmts
from sourcead.passes.cleanup.constant_folding import is_const
from sourcead.passes.equality import same

ADDING = ("add", "sub")
WINS = {min: operator.lt, np.minimum: operator.lt, np.fmin: operator.lt, max: operator.gt, np.maximum: operator.gt, np.fmax: operator.gt}


def keep_elements(function: Function) -> Function:
    """Return the function without writes of elements, in an arm of a branch, that stay as they are."""
    if not has(function.body, Update):
        return function
    made, counts = definitions(function.body), count_reads(function.body)

    def visit(block: Block) -> Block:
        stmts = [map_blocks(s, visit) for s in block.stmts]
        at = {t: k for k, s in enumerate(stmts) for t in s.targets}
        changed: dict[int, tuple[Stmt, ...]] = {}
        for k, stmt in enumerate(stmts):
            j = at.get(stmt.op.value) if isinstance(stmt.op, Update) and isinstance(stmt.op.value, Var) else None
            if j is not None and counts[stmt.op.value] == 1 and not any(has_effect(s.op) for s in stmts[j:k]):
                merged = kept_where_equal(stmts[j], stmt, made) or kept_where_extreme(stmts[j], stmt, made, at)
                if merged:
                    changed[k], changed[j] = merged, ()
        return with_stmts(block, [new for k, s in enumerate(stmts) for new in changed.get(k, (s,))])

    return with_body(function, visit(function.body))


def kept_where_equal(choice: Stmt, write: Stmt, made: dict[Var, Stmt]) -> tuple[Stmt, ...]:
    """Return a branch that writes an element in one arm only, or nothing if neither arm of `choice` yields what the element holds."""
    if not isinstance(choice.op, Branch) or len(choice.targets) != 1:
        return ()
    arms = []
    for arm in (choice.op.then, choice.op.orelse):
        (result,) = arm.results
        stays = holds(result, write, made)
        arms.append(Block((), (write.op.base,)) if stays else written(arm.stmts, result, write))
    if sum(not arm.stmts for arm in arms) != 1:
        return ()
    return (replace(write, op=Branch(choice.op.cond, *arms, "if")),)


def kept_where_extreme(choice: Stmt, write: Stmt, made: dict[Var, Stmt], at: dict[Var, int]) -> tuple[Stmt, ...]:
    """Return a comparison and a branch that writes an element unless it is the smaller (greater) of two numbers, or nothing.

    The numbers have other names in the arm, so that they are saved only there.  The other number must be computed in the same block
    (`at`): with one that does not vary, the choice may go either way each time.
    """
    op = choice.op
    if not isinstance(op, Call) or op.fn not in WINS or len(op.args) != 2 or op.kwargs or not all(map(is_number, op.args)):
        return ()
    for element, other in (op.args, op.args[::-1]):
        if holds(element, write, made) and other in at and not holds(other, write, made):
            wins = Var("wins", BOOL, True)
            copies = {v: fresh(v) for v in (element, other)}
            inside = tuple(replace(choice, targets=(new,), op=Let(v)) for v, new in copies.items())
            again = replace(choice, op=replace(op, args=tuple(copies[v] for v in op.args)))
            arms = Block((), (write.op.base,)), written((*inside, again), choice.targets[0], write)
            compared = replace(choice, targets=(wins,), op=Call(WINS[op.fn], (element, other)))
            return compared, replace(write, op=Branch(wins, *arms, "if"))
    return ()


def holds(value: Atom, write: Stmt, made: dict[Var, Stmt]) -> bool:
    """Return whether a value is the number that the element which a statement writes holds before."""
    op = write.op
    if op.mode != "set" or len(op.path) != 1 or not isinstance(op.path[0], Sub) or not isinstance(op.base, Var):
        return False
    read = made[value].op if isinstance(value, Var) and value in made else None
    return isinstance(read, Index) and read.base is op.base and same(read.key, op.path[0].key) and isinstance(value.type, Scalar)


def written(before: tuple[Stmt, ...], value: Atom, write: Stmt) -> Block:
    """Return a block that writes a value as a statement does, and yields the new version of the array."""
    new = fresh(write.targets[0])
    return Block((*before, replace(write, targets=(new,), op=replace(write.op, value=value))), (new,))


def is_number(atom: Atom) -> bool:
    return isinstance(atom, Var) and isinstance(atom.type, Scalar) and atom.type.kind in ("float", "int")


def add_in_arms(function: Function) -> Function:
    """Return the function with additions behind a branch, which add zeros after one of its arms, in the other arm alone."""
    if not has(function.body, Branch):
        return function
    counts = count_reads(function.body)

    def visit(block: Block) -> Block:
        stmts: list[Stmt] = []
        left = [map_blocks(s, visit) for s in block.stmts]
        while left:
            stmt = left.pop(0)
            run = additions_behind(stmt, left)
            stmts.append(with_additions(stmt, run, counts) if run else stmt)
            del left[: len(run)]
        return with_stmts(block, stmts)

    return with_body(function, visit(function.body))


def additions_behind(stmt: Stmt, following: list[Stmt]) -> list[Stmt]:
    """Return the additions directly behind a branch that add what is zero after one of its arms."""
    op = stmt.op
    if not isinstance(op, Branch) or stmt.adjoint_of is None:
        return []
    if not any(isinstance(s.op, Update) for arm in (op.then, op.orelse) for s in arm.stmts):
        return []
    zeros = {t for t, *results in zip(stmt.targets, op.then.results, op.orelse.results) if any(is_const(r, 0.0) for r in results)}
    run: list[Stmt] = []
    for s in following:
        plain = isinstance(s.op, Update) and s.op.mode in ADDING and s.op.value in zeros
        if not plain or any(a in stmt.targets for a in operand_atoms(s.op.path)):
            break
        run.append(s)
    return run


def with_additions(stmt: Stmt, run: list[Stmt], counts: Counter) -> Stmt:
    """Return a branch with the additions behind it in its arms."""
    inside = Counter(a for s in run for a in s.op.reads)
    targets = tuple(t for t in (*stmt.targets, *(s.targets[0] for s in run)) if counts[t] > inside[t])
    arms = []
    for arm in (stmt.op.then, stmt.op.orelse):
        env: dict[Atom, Atom] = dict(zip(stmt.targets, arm.results))
        stmts = list(arm.stmts)
        for s in run:
            base, value = env.get(s.op.base, s.op.base), env[s.op.value]
            env[s.targets[0]] = base
            if not is_const(value, 0.0):
                env[s.targets[0]] = fresh(s.targets[0])
                stmts.append(replace(s, targets=(env[s.targets[0]],), op=replace(s.op, base=base, value=value)))
        arms.append(Block(tuple(stmts), tuple(env.get(t, t) for t in targets)))
    return replace(stmt, targets=targets, op=Branch(stmt.op.cond, *arms, stmt.op.kind))
