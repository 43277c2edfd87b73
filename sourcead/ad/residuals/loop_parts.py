"""The pieces that settling a loop works on: its body as parts, and where a value of it is defined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sourcead.ad.residuals.costs import size
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep
from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import Atom, Attr, Block, Call, Const, Index, Loop, Op, Slice, Stmt, Sub, Var
from sourcead.ir.types import is_array
from sourcead.ir.walk import map_op, map_operand, op_blocks

METADATA = ("shape", "size", "ndim", "dtype")


@dataclass(eq=False)
class SettledLoop:
    """A loop with its reverse: statements before it, the loop, its reverse, and the arrays that the reverse restores."""

    before: list[Stmt]
    forward: Stmt
    reverse: list[Stmt]
    restored: dict[Var, Var]  # chain -> its version on entry, put back
    entry: dict[Var, Atom]  # chain -> the variable of that version


@dataclass(eq=False)
class Part:
    """A block of a loop's body, not inside a nested loop: the body itself or an arm of a branch in it."""

    block: Block
    head: tuple[Stmt, ...]  # what its reverse does first, belonging to no statement
    groups: dict[Stmt, tuple[Stmt, ...]]  # the adjoint of each statement
    tail: tuple[Stmt, ...]
    results: tuple[Atom, ...]
    parent: Part | None = None
    at: int = 0  # position of the branch in the parent
    arms: dict[Stmt, tuple[Part, Part]] = field(default_factory=dict)
    loops: dict[Stmt, SettledLoop] = field(default_factory=dict)
    olds: dict[Stmt, Var] = field(default_factory=dict)  # what an update that is undone overwrites
    old_reads: dict[Stmt, list[Stmt]] = field(default_factory=dict)  # statements that read it
    versions: list[dict[Var, Var]] | None = None  # see LoopPlan.versions

    @cached_property
    def position(self) -> dict[Stmt, int]:
        """The number of each statement."""
        return {s: k for k, s in enumerate(self.block.stmts)}

    @cached_property
    def part_reads(self) -> dict[Atom, list[Stmt]]:
        """The statements that read a part of each variable, in order."""
        found: dict[Atom, list[Stmt]] = {}
        for s in self.block.stmts:
            if isinstance(s.op, Index):
                found.setdefault(s.op.base, []).append(s)
        return found


@dataclass(eq=False)
class Definition:
    """Where a variable of the forward body is defined: in which part, by which statement (None for a variant)."""

    part: Part
    at: int
    stmt: Stmt | None


def reverse_ops(sweep: Sweep) -> dict[Stmt, Stmt]:
    """For each loop and branch that has a reverse in the sweep, the statement of its reverse."""
    return {s.op.forward: s for s in sweep.stmts() if isinstance(s.op, (ReverseLoop, ReverseBranch))}


def defined_inside(stmt: Stmt) -> dict[Var, Stmt | None]:
    """The variables defined inside a statement's blocks, with their statements (None for variants and indices)."""
    found: dict[Var, Stmt | None] = {}

    def visit(op: Op) -> None:
        if isinstance(op, Loop):
            found.update(dict.fromkeys(op.params))
        for block in op_blocks(op):
            for s in block.stmts:
                found.update(dict.fromkeys(s.targets, s))
                visit(s.op)

    visit(stmt.op)
    return found


def is_metadata_read(v: Var, reader: Stmt | None) -> bool:
    """Whether a statement reads only shape or dtype of a variable."""
    if reader is None:
        return False
    match reader.op:
        case Attr(base, name):
            return base is v and name in METADATA
        case Call(fn, (x,), ()) if fn in (np.zeros_like, len):
            return x is v and is_array(v.type)
    return False


def makes_zeros(stmt: Stmt) -> bool:
    """Whether a statement makes an array of zeros like another."""
    return isinstance(stmt.op, Call) and stmt.op.fn is np.zeros_like and len(stmt.op.args) == 1 and not stmt.op.kwargs


def written_size(update: Stmt) -> float:
    """About how many numbers an update overwrites."""
    return size(part_type(update))


def part_type(update: Stmt):
    """The type of the part that an update overwrites."""
    build = Builder()
    return atom_type(read_part(build, update.op.base, update.op.path))


def read_part(build: Builder, base: Atom, path: tuple) -> Atom:
    """Emits the read of the part of an array at a path."""
    for step in path:
        if isinstance(step, Sub):
            base = build.index(base, step.key)
        else:
            base = build.call(step.fn, base, *step.args, **dict(step.kwargs))
    return base


def substituted(stmt: Stmt, env: dict[Var, Atom]) -> Stmt:
    """The statement with variables replaced throughout."""
    if not env:
        return stmt

    def f(atom):
        return env.get(atom, atom)

    def visit(block: Block) -> Block:
        return Block(
            tuple(replace(s, op=map_op(s.op, f, visit)) for s in block.stmts), tuple(map_operand(r, f) for r in block.results)
        )

    return replace(stmt, op=map_op(stmt.op, f, visit))


def inside(part: Part | None, ancestor: Part) -> bool:
    """Whether a part is nested in another."""
    while part is not None:
        if part is ancestor:
            return True
        part = part.parent
    return False


def inputs_first(v: Atom, inputs: Callable[[Atom], Iterable[Atom]]) -> Iterator[Atom]:
    """What a value is computed from, each after its own inputs, and the value itself last.

    Not recursive: a body may be a chain of thousands of values.
    """
    seen = {v}
    todo = [(v, iter(inputs(v)))]
    while todo:
        at, rest = todo[-1]
        following = next((a for a in rest if a not in seen), None)
        if following is None:
            todo.pop()
            yield at
        else:
            seen.add(following)
            todo.append((following, iter(inputs(following))))


def same_operand(a, b) -> bool:
    """Whether two operands surely have the same value."""
    match a, b:
        case tuple(), tuple():
            return len(a) == len(b) and all(map(same_operand, a, b))
        case Slice(l1, u1, s1), Slice(l2, u2, s2):
            return same_operand(l1, l2) and same_operand(u1, u2) and same_operand(s1, s2)
        case Const(v, None, False), Const(w, None, False):
            return type(v) is type(w) and v == w
    return a is b
