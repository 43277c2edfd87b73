"""Joins the residuals of nested loops on one stack, in place of a list of lists.

    as0 = list()                                     bs0 = list()
    as1 = loop (a = as0) for i ...:                  bs1 = loop (b = bs0) for i ...:
        bs0 = list()                                     b1 = loop (c = b) for j ...:
        bs1 = loop (b = bs0) for j ...:                      c1 = c ++ [x];  yield c1
            b1 = b ++ [x];  yield b1                     yield b1
        a1 = a ++ [bs1];  yield a1
    as2 = loop (a = as1) for i ...:                  bs2 = loop (b = bs1) for i ...:
        a1, bs2 = pop a                                  b1 = loop (c = b) for j ...:
        bs3 = loop (b = bs2) for j ...:                      c1, x = pop c;  yield c1
            b1, x = pop b;  yield b1                     yield b1
        yield a1

This is legal if both lists are only built, appended to, popped and passed on by loops and branches, the inner list is built where it is
put on the outer one, and the reverse of each iteration takes the inner list off and empties it: then the elements of one run of the inner
loop lie above those of the run before.  Only lists of residuals are joined (`Build.residual`), because the reverse sweep empties those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sourcead.ir.nodes import Append, Atom, Block, Branch, Build, Function, Loop, Pop, Stmt, Var, fresh
from sourcead.ir.types import ListT
from sourcead.ir.walk import op_blocks, op_reads, reads_inside, rewrite
from sourcead.passes.peephole import renamed


def flatten_stacks(function: Function) -> Function:
    """Return the function with lists of lists of residuals joined to one list, innermost first."""
    while True:
        joined = next(filter(None, map(_joining, _stacks(function))), None)
        if joined is None:
            return function
        names, gone = joined
        kept = rewrite(function.body, lambda s, gone=gone: () if s in gone else (s,))
        function = replace(function, body=renamed(kept, lambda v, names=names: names.get(v, v)))


def _unite_elements(stmts, parent, find, unite) -> None:
    """Unite the lists that are put on one stack and those that are taken off it."""
    while True:
        element: dict[Var, Var] = {}
        changed = False
        for _, stmt in stmts:
            match stmt.op:
                case Append(Var() as base, Var() as value) if value in parent:
                    pass
                case Pop(Var() as base) if stmt.targets[1] in parent:
                    value = stmt.targets[1]
                case _:
                    continue
            other = element.setdefault(find(base), value)
            if find(other) is not find(value):
                unite(other, value)
                changed = True
        if not changed:
            return


@dataclass(eq=False)
class _Stack:
    """All versions of one list, and the statements that build it, append to it and pop from it, each with its block."""

    versions: set[Var] = field(default_factory=set)
    builds: list[tuple[Block, Stmt]] = field(default_factory=list)
    appends: list[tuple[Block, Stmt]] = field(default_factory=list)
    pops: list[tuple[Block, Stmt]] = field(default_factory=list)
    inner: _Stack | None = None  # the stack that all its elements are versions of
    plain: bool = True  # whether it is only built, appended to, popped and passed on


def _walk(block: Block) -> Iterator[tuple[Block, Stmt]]:
    """Yield each statement with the block that it stands in, inner ones first."""
    for stmt in block.stmts:
        for inner in op_blocks(stmt.op):
            yield from _walk(inner)
        yield block, stmt


def _stacks(function: Function) -> list[_Stack]:
    """Return the lists of residuals in a function, those of inner loops first."""
    parent: dict[Var, Var] = {}

    def find(v: Var) -> Var:
        while parent.setdefault(v, v) is not v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    def unite(*atoms: Atom) -> None:
        first, *others = [a for a in atoms if isinstance(a, Var)] or [None]
        for other in others:
            parent[find(other)] = find(first)

    stmts = list(_walk(function.body))
    for _, stmt in stmts:
        match stmt.op:
            case Append(base):
                unite(stmt.targets[0], base)
            case Pop(base):
                unite(stmt.targets[0], base)
            case Loop(_, _, params, inits, body):
                for group in zip(params, inits, body.results, stmt.targets):
                    if isinstance(group[0].type, ListT):
                        unite(*group)
            case Branch(_, then, orelse):
                for group in zip(stmt.targets, then.results, orelse.results):
                    if isinstance(group[0].type, ListT):
                        unite(*group)
    _unite_elements(stmts, parent, find, unite)
    stacks: dict[Var, _Stack] = defaultdict(_Stack)
    elements: list[tuple[Var, Atom]] = []
    for block, stmt in stmts:
        passed: set[Atom] = set()
        match stmt.op:
            case Build("list", (), residual=True):
                stacks[find(stmt.targets[0])].builds.append((block, stmt))
            case Append(base, value) if isinstance(base, Var):
                stacks[find(base)].appends.append((block, stmt))
                elements.append((base, value))
                passed = {base, value}
            case Pop(base) if isinstance(base, Var):
                stacks[find(base)].pops.append((block, stmt))
                elements.append((base, stmt.targets[1]))
                passed = {base}
            case Loop(_, _, _, inits):
                passed = set(inits)
        for v in op_reads(stmt.op):
            if v not in passed and v in parent:
                stacks[find(v)].plain = False
    for v in function.body.results:
        if v in parent:
            stacks[find(v)].plain = False
    for v in parent:
        stacks[find(v)].versions.add(v)
    for base, value in elements:
        stack = stacks[find(base)]
        inner = stacks[find(value)] if isinstance(value, Var) and value in parent else None
        if stack.inner is None and inner is not None and inner is not stack:
            stack.inner = inner
        if stack.inner is not inner:
            stack.plain = False
    return [s for s in stacks.values() if s.builds]


def _joining(outer: _Stack) -> tuple[dict[Var, Var], set[Stmt]] | None:
    """Return the new variables for old ones and the statements to remove that join a stack with its elements, or None if illegal."""
    inner = outer.inner
    if inner is None or not (outer.plain and inner.plain and inner.builds):
        return None
    if len(inner.builds) != len(outer.appends) or not outer.pops:
        return None
    same: dict[Var, Var] = {}
    gone: set[Stmt] = set()
    builds = dict(inner.builds)
    for block, append in outer.appends:
        build = builds.get(block)
        if build is None or any(append.op.base in s.targets for s in block.stmts):
            return None
        same[build.targets[0]] = append.op.base
        same[append.targets[0]] = append.op.value
        gone |= {build, append}
    for block, pop in outer.pops:
        last = _emptied(block, pop, inner)
        if last is None:
            return None
        same[pop.targets[1]] = pop.op.base
        same[pop.targets[0]] = last
        gone.add(pop)
    model = next(iter(builds.values())).targets[0]
    names: dict[Var, Var] = {}

    def renamed(v: Var) -> Var:
        while v in same:
            v = same[v]
        if v not in names:
            names[v] = v if v in inner.versions else fresh(v, name=model.name, type=model.type, temp=model.temp)
        return names[v]

    return {v: renamed(v) for v in (*outer.versions, *inner.versions)}, gone


def _emptied(block: Block, pop: Stmt, inner: _Stack) -> Var | None:
    """Return the last, empty version of a popped stack, or None if the block does not show that the stack is emptied."""
    last = pop.targets[1]
    at = block.stmts.index(pop)
    for stmt in block.stmts[at + 1 :]:
        reads = set(reads_inside(stmt.op))
        if pop.targets[0] in reads:
            return None
        if last in reads:
            following = [t for t in stmt.targets if t in inner.versions]
            if isinstance(stmt.op, Loop):
                following = [t for t, init in zip(stmt.targets, stmt.op.inits) if init is last]
            if len(following) != 1 or not isinstance(stmt.op, (Loop, Branch, Pop)):
                return None
            last = following[0]
    return None if last is pop.targets[1] or last in block.results else last
