"""The regions of a loop's body, which are the body and the arms of its branches, each with its reverse, and what a region reads.

`reads` alone decides what the reverse of a region reads: the plan of a loop saves the values it yields, and where the reverse of an
arm is written, these values are made available before the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep
from sourcead.analysis.array_versions import queried
from sourcead.ir.nodes import Atom, Block, Call, Index, Loop, Stmt, Var, operand_atoms
from sourcead.ir.types import Array
from sourcead.ir.walk import free_vars, map_atoms, map_op, walk


@dataclass(eq=False)
class LoopPair:
    """A loop with its reverse.

    Attributes:
        before: statements before the loop.
        forward: the loop, which saves what its reverse reads.
        reverse: the statements of its reverse.
        restored: chain -> the version of the array that the reverse has put back, that on entry to the loop.
        entry: chain -> the variable of that version in the forward sweep.
    """

    before: list[Stmt]
    forward: Stmt
    reverse: list[Stmt]
    restored: dict[Var, Var]
    entry: dict[Var, Atom]


@dataclass(eq=False)
class Region:
    """A block of a loop's body that is not inside a nested loop: the body itself or an arm of a branch in it.

    Attributes:
        block: the block.
        head: what its reverse does first, which belongs to no statement.
        groups: the adjoint of each statement.
        tail, results: what its reverse does last, and what it yields.
        parent, at: the region around it, and the position of the branch there.
        arms: the regions of each branch.
        loops: each nested loop with its reverse.
        olds: what each update that is undone overwrites.
        old_reads: the statements that read it.
    """

    block: Block
    head: tuple[Stmt, ...]
    groups: dict[Stmt, tuple[Stmt, ...]]
    tail: tuple[Stmt, ...]
    results: tuple[Atom, ...]
    parent: Region | None = None
    at: int = 0
    arms: dict[Stmt, tuple[Region, Region]] = field(default_factory=dict)
    loops: dict[Stmt, LoopPair] = field(default_factory=dict)
    olds: dict[Stmt, Var] = field(default_factory=dict)
    old_reads: dict[Stmt, list[Stmt]] = field(default_factory=dict)

    @cached_property
    def position(self) -> dict[Stmt, int]:
        """Return the position of each statement."""
        return {s: k for k, s in enumerate(self.block.stmts)}

    @cached_property
    def part_reads(self) -> dict[Atom, list[Stmt]]:
        """Return the statements that read a part of each variable, in order."""
        found: dict[Atom, list[Stmt]] = {}
        for s in self.block.stmts:
            if isinstance(s.op, Index):
                found.setdefault(s.op.base, []).append(s)
        return found

    def is_inside(self, ancestor: Region) -> bool:
        """Return whether this region is `ancestor` or nested in it."""
        region: Region | None = self
        while region is not None and region is not ancestor:
            region = region.parent
        return region is ancestor


@dataclass(eq=False)
class Definition:
    """The place where a variable of the forward body is defined: the region, and the statement (None for a loop variant)."""

    region: Region
    at: int
    stmt: Stmt | None


def region_of(block: Block, sweep: Sweep, parent: Region | None, at: int) -> Region:
    """Return a block with its reverse as a region, still without its arms and loops."""
    groups: dict[Stmt, tuple[Stmt, ...]] = {}
    head: list[Stmt] = []
    tail: list[Stmt] = []
    for forward, stmts in sweep.steps:
        if forward is not None:
            groups[forward] = stmts
        else:
            (tail if groups else head).extend(stmts)
    return Region(block, tuple(head), groups, tuple(tail), sweep.results, parent, at)


def reads(region: Region, read_by: Callable[[Stmt], Iterable[Atom]]) -> Iterator[tuple[Atom, Region, int]]:
    """Yield every value that the reverse of a region reads, with the region and the position at which it is read.

    Position `at` is after the reverse of the statements behind `at`.  `read_by` returns what one statement of the sweep reads.
    """
    position = region.position
    ends = [(region.head, len(position)), (region.tail, -1)]
    for stmts, at in ends + [(group, position[s]) for s, group in region.groups.items()]:
        for stmt in stmts:
            if isinstance(stmt.op, ReverseBranch):
                yield stmt.op.forward.op.cond, region, at
                for arm in region.arms[stmt.op.forward]:
                    yield from reads(arm, read_by)
            elif isinstance(stmt.op, ReverseLoop):
                yield from ((v, region, at) for v in free_vars(Block(tuple(region.loops[stmt.op.forward].reverse))))
            else:
                yield from ((v, region, at) for v in read_by(stmt))
    yield from ((result, region, -1) for result in region.results)
    for update, old in region.olds.items():
        at = position[update]
        yield old, region, at
        yield from ((a, region, at + 1) for a in operand_atoms(update.op.path))  # before the array is put back


def defined_inside(stmt: Stmt) -> dict[Var, Stmt | None]:
    """Return the variables defined by a loop and inside it, with their statements (None for variants)."""
    found: dict[Var, Stmt | None] = {}
    for s in walk(Block((stmt,))):
        found.update(dict.fromkeys(s.op.params) if isinstance(s.op, Loop) else ())
        found.update(dict.fromkeys(s.targets if s is not stmt else (), s))
    return found


def is_metadata_read(v: Var, reader: Stmt | None) -> bool:
    """Return whether a statement reads only the shape or dtype of a variable."""
    return reader is not None and queried(reader.op) is v


def makes_zeros(stmt: Stmt) -> bool:
    """Return whether a statement makes an array of zeros like another."""
    return isinstance(stmt.op, Call) and stmt.op.fn is np.zeros_like and len(stmt.op.args) == 1 and not stmt.op.kwargs


def by_shape(variables: Iterable[Atom], numbers: set[Var]) -> dict[tuple, Var]:
    """Return the first array of each shape and dtype, without the variables in `numbers`, which may be numbers."""
    found: dict[tuple, Var] = {}
    for v in variables:
        if isinstance(v, Var) and v not in numbers and (key := shape_key(v)) is not None:
            found.setdefault(key, v)
    return found


def shape_key(v: Var) -> tuple | None:
    """Return a key that is equal for arrays of equal shape and dtype, or None if the rank is not known."""
    return (v.type.dims, str(v.type.dtype)) if isinstance(v.type, Array) and v.type.dims is not None else None


def substituted(stmt: Stmt, env: dict[Var, Atom]) -> Stmt:
    """Return the statement with variables replaced throughout."""

    def f(atom: Atom) -> Atom:
        return env.get(atom, atom)

    return replace(stmt, op=map_op(stmt.op, f, lambda block: map_atoms(block, f))) if env else stmt


def inputs_first(v: Atom, inputs: Callable[[Atom], Iterable[Atom]]) -> Iterator[Atom]:
    """Yield what a value is computed from, each after its own inputs, and the value itself last.

    It is not recursive, because a body may be a chain of thousands of values.
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
