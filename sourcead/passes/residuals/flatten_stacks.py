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

from dataclasses import replace

from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.ir.nodes import Append, Branch, Function, Loop, Pop, Stmt, Var, fresh
from sourcead.ir.types import Array, Scalar, TupleT
from sourcead.ir.walk import Place, map_atoms, reads_inside, rewrite, walk


def flatten_stacks(function: Function) -> Function:
    """Return the function with lists of lists of residuals joined to one list, innermost first."""
    if not any(map(_puts_a_list, walk(function.body))):
        return function
    while joined := _all_joined(list(dict.fromkeys(residual_stacks(function).values()))):
        names = {v: new for renamed, _ in joined for v, new in renamed.items()}
        gone = {stmt for _, removed in joined for stmt in removed}
        kept = rewrite(function.body, lambda s, gone=gone: () if s in gone else (s,))

        def named(v, names=names):
            return names.get(v, v)

        function = replace(function, body=map_atoms(kept, named, named))
    return function


def _puts_a_list(stmt: Stmt) -> bool:
    """Return whether a statement may put a list on a list, or take one off."""
    value = stmt.op.value if isinstance(stmt.op, Append) else stmt.targets[1] if isinstance(stmt.op, Pop) else None
    return isinstance(value, Var) and not isinstance(value.type, (Array, Scalar, TupleT))


def _all_joined(stacks: list[Stack]) -> list[tuple[dict[Var, Var], set[Stmt]]]:
    """Return how stacks are joined with their elements, each stack in one pair at most: what is joined of one pair is not of another."""
    pairs, taken = [], set()
    for stack in stacks:
        joined = None if {stack, stack.inner} & taken else _joining(stack)
        if joined is not None:
            pairs.append(joined)
            taken |= {stack, stack.inner}
    return pairs


def _joining(outer: Stack) -> tuple[dict[Var, Var], set[Stmt]] | None:
    """Return the new variables for old ones and the statements to remove that join a stack with its elements, or None if illegal."""
    inner = outer.inner
    if inner is None or not (outer.plain and inner.plain and inner.builds):
        return None
    if len(inner.builds) != len(outer.pushes) or not outer.pops:
        return None
    same: dict[Var, Var] = {}
    gone: set[Stmt] = set()
    builds = {place.block: place.stmt for place in inner.builds}
    for place in outer.pushes:
        build, append = builds.get(place.block), place.stmt
        if build is None or any(append.op.base in s.targets for s in place.block.stmts):
            return None
        same[build.targets[0]] = append.op.base
        same[append.targets[0]] = append.op.value
        gone |= {build, append}
    for place in outer.pops:
        last, pop = _emptied(place, inner), place.stmt
        if last is None:
            return None
        same[pop.targets[1]] = pop.op.base
        same[pop.targets[0]] = last
        gone.add(pop)
    model = inner.builds[0].stmt.targets[0]
    names: dict[Var, Var] = {}

    def renamed(v: Var) -> Var:
        while v in same:
            v = same[v]
        if v not in names:
            names[v] = v if v in inner.versions else fresh(v, name=model.name, type=model.type, temp=model.temp)
        return names[v]

    return {v: renamed(v) for v in (*outer.versions, *inner.versions)}, gone


def _emptied(popped: Place, inner: Stack) -> Var | None:
    """Return the last, empty version of a popped stack, or None if the block does not show that the stack is emptied."""
    block, (rest, first) = popped.block, popped.stmt.targets
    last = first
    for stmt in block.stmts[block.stmts.index(popped.stmt) + 1 :]:
        reads = set(reads_inside(stmt.op))
        if rest in reads:
            return None
        if last in reads:
            following = [t for t in stmt.targets if t in inner.versions]
            if isinstance(stmt.op, Loop):
                following = [t for t, init in zip(stmt.targets, stmt.op.inits) if init is last]
            if len(following) != 1 or not isinstance(stmt.op, (Loop, Branch, Pop)):
                return None
            last = following[0]
    return None if last is first or last in block.results else last
