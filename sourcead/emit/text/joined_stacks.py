"""Saves the residuals that one place of a loop appends to several lists as tuples on one list.

    i = f(x);  is.append(i)                          i = f(x)
    o = g(i);  os.append(o)                          o = g(i);  saved.append((i, o))
    ...                                              ...
    o = os.pop();  y = h(o);  i = is.pop()           i, o = saved.pop();  y = h(o)

This is legal because nothing else is done with a list of residuals: each iteration appends one value to each of these lists, another
takes one off each of them, and what is on a list is not written.  So the values may be appended when the last of them is there, and taken
off when the first is read.  A loop variant that has its next value by then gets another name until it is saved, and one that is read after
the value of the iteration before is taken off has another name meanwhile.  Where both would be needed, it stays on a list of its own.
"""

from collections.abc import Iterator
from dataclasses import replace

from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.ir.nodes import Block, Branch, Call, Function, Let, Loop, Operand, Stmt, Var, fresh
from sourcead.ir.types import ListT, TupleT
from sourcead.ir.walk import handed_on, map_atoms, map_blocks, reads_inside, walk, with_results, with_stmts


def join_stacks(function: Function) -> Function:
    """Return the function with lists of residuals that are filled and emptied in the same places joined to lists of tuples."""
    changed: dict[Stmt, Stmt | None] = {}
    names: dict[Var, Var] = {}
    gone: set[Var] = set()
    for group in _groups(function):
        statements, renamed, left_out = _joined(group)
        changed |= statements
        names |= renamed
        gone |= left_out
    if not changed:
        return function
    body = _rewritten(function.body, changed, gone)
    return replace(function, body=map_atoms(body, lambda a: names.get(a, a), lambda v: names.get(v, v)))


def _groups(function: Function) -> Iterator[list[Stack]]:
    """Yield groups of at least two stacks that can be joined."""
    stacks = residual_stacks(function, copies=True)
    ways: dict[Stack, list[Stmt]] = {}  # the branches and loops that hand a stack on
    for stmt in walk(function.body):
        for target in {stacks[group[0]]: None for group in handed_on(stmt) if group[0] in stacks}:
            ways.setdefault(target, []).append(stmt)
    places: dict[tuple, list[Stack]] = {}
    for stack in dict.fromkeys(stacks.values()):
        one_each = len(stack.builds) == len(stack.pushes) == len(stack.pops) == 1
        if stack.plain and one_each and stack.inner is None and not stack.inside:
            blocks = (each[0].block for each in (stack.builds, stack.pushes, stack.pops))
            places.setdefault((*map(id, blocks), *map(id, ways.get(stack, ()))), []).append(stack)
    for alike in places.values():
        while len(alike) > 1:
            group, alike = _together(alike)
            if len(group) > 1:
                yield group


def _together(stacks: list[Stack]) -> tuple[list[Stack], list[Stack]]:
    """Return the stacks whose values can be saved when the last of them is there, and the others."""
    group, others = list(stacks), []
    while True:
        push, pop = max(map(_pushed, group)), min(map(_popped, group))
        apart = [s for s in group if _moves_on(s, push) and _is_read_before(s, pop)]
        if not apart:
            return group, others
        group = [s for s in group if s not in apart] or [apart.pop(0)]
        others += apart


def _pushed(stack: Stack) -> int:
    return stack.pushes[0].block.stmts.index(stack.pushes[0].stmt)


def _popped(stack: Stack) -> int:
    return stack.pops[0].block.stmts.index(stack.pops[0].stmt)


def _moves_on(stack: Stack, at: int) -> bool:
    """Return whether the value is a loop variant that has its next value before a position of the block that saves it."""
    place = stack.pushes[0]
    made = {t for s in place.block.stmts[_pushed(stack) : at] for t in s.targets}
    variants = ((p, q) for loop in place.loops for p, q in zip(loop.op.params, loop.op.body.results))
    return any(p is place.stmt.op.value and q in made for p, q in variants)


def _is_read_before(stack: Stack, at: int) -> bool:
    """Return whether the value becomes that of a loop variant which is read after a position of the block that takes the value off."""
    place = stack.pops[0]
    read = {v for s in place.block.stmts[at : _popped(stack)] for v in reads_inside(s.op)}
    variants = ((p, q) for loop in place.loops for p, q in zip(loop.op.params, loop.op.body.results))
    return any(q is place.stmt.targets[1] and p in read for p, q in variants)


def _joined(group: list[Stack]) -> tuple[dict[Stmt, Stmt | None], dict[Var, Var], set[Var]]:
    """Return what joins a group: new statements for old ones, new variables for those of the list that stays, and those of the others."""
    group = sorted(group, key=_pushed)
    stays, first = group[-1], min(group, key=_popped)
    kept: dict[Stmt, Stmt] = {}  # what gives a loop variant another name
    places: dict[Operand, Var] = {}  # each value once, with the variable that it is taken off as
    names: dict[Var, Var] = {}
    for stack in group:
        taken, push = stack.pops[0].stmt.targets[1], stack.pushes[0].stmt
        value = push.op.value
        if value not in places and _moves_on(stack, _pushed(stays)):
            before = fresh(value, temp=True)
            kept[push], value = replace(push, targets=(before,), op=Let(value), saves=False), before
        if (same := places.setdefault(value, taken)) is not taken:
            names[taken] = same
    (value, *others), taken = places, tuple(places.values())
    t = ListT(TupleT(tuple(v.type for v in taken)) if others else taken[0].type)
    push, pop = stays.pushes[0].stmt, stays.pops[0].stmt
    changed: dict[Stmt, Stmt | None] = {place.stmt: None for s in group for place in (*s.builds, *s.pushes, *s.pops) if s is not stays}
    changed |= {pop: None, **kept}
    changed[push] = replace(push, op=replace(push.op, value=(value, *others) if others else value))
    changed[first.pops[0].stmt] = replace(first.pops[0].stmt, targets=(pop.targets[0], *taken), op=pop.op)
    names |= {v: fresh(v, name="saved", type=t, temp=True) for v in stays.versions}
    return changed, names, {v for s in group if s is not stays for v in s.versions}


def _rewritten(block: Block, changed: dict[Stmt, Stmt | None], gone: set[Var]) -> Block:
    """Return the block with other statements in place of some, and without the variables that are gone."""

    def change(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt.op, Loop | Branch):
            held = stmt.op.params if isinstance(stmt.op, Loop) else stmt.targets
            return [with_results(stmt, [k for k, v in enumerate(held) if v not in gone])]
        return [] if isinstance(stmt.op, Let | Call) and not gone.isdisjoint(stmt.targets) else [stmt]

    def visit(b: Block) -> Block:
        stmts = [new for s in b.stmts if (new := changed.get(s, s)) is not None]
        return with_stmts(b, [new for s in stmts for new in change(map_blocks(s, visit))])

    return visit(block)
