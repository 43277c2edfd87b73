"""The stacks of a function: lists that are only built, appended to, popped, and passed on by loops and branches.

    build    hs0 = list()
    push     hs1 = loop (p = hs0) for i in range(n): p1 = p ++ [h];  yield p1
    pop      hs2 = loop (q = hs1) for i in reversed(range(n)): q1, h = pop q;  yield q1

The reverse sweep keeps its residuals on such lists (`ad/residuals/plan.py`), and marks them in their `Build`.  The passes that keep
residuals in another form ask here which lists these are, and where: `passes/residuals/flatten_stacks.py`, which makes one stack of
stacks of stacks, `passes/loops/fission.py`, and `stacks.py` of Numba's code generator, which make arrays of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sourcead.analysis.connected import UnionFind
from sourcead.ir.nodes import Append, Atom, Build, Call, Const, Function, Let, Operand, Pop, Stmt, Var
from sourcead.ir.types import ListT
from sourcead.ir.walk import Place, handed_on, places


@dataclass(eq=False)
class Stack:
    """One list of a function.

    Attributes:
        versions: the variables that hold the list.
        builds, pushes, pops: the places where it is made for residuals, is put an element on its end, and is taken one off.
        elements: what is pushed and popped there.
        inner: the stack that all elements are versions of, if this is a list of lists; `inside` says whether it is such an inner one.
        plain: whether nothing else is done with the list, and its elements are versions of one list or no lists.
    """

    versions: set[Var] = field(default_factory=set)
    builds: list[Place] = field(default_factory=list)
    pushes: list[Place] = field(default_factory=list)
    pops: list[Place] = field(default_factory=list)
    elements: list[Operand] = field(default_factory=list)
    inner: Stack | None = None
    inside: bool = False
    plain: bool = True

    @property
    def is_simple(self) -> bool:
        """Return whether one loop fills the list, another empties it, and nothing else passes it on: it has the seven versions above."""
        return self.plain and len(self.builds) == len(self.pushes) == len(self.pops) == 1 and len(self.versions) == 7


def residual_stacks(function: Function, copies: bool = False) -> dict[Var, Stack]:
    """Return the lists of residuals of a function by the variables that hold them, in the order of their places.

    With `copies`, the copy of a list, which a pullback empties in its place, counts as a version of it.
    """
    found = list(places(function.body))
    lists = _versions(found, copies)
    stacks: dict[Var, Stack] = {}

    def of(v: Var) -> Stack:
        return stacks.setdefault(lists.find(v), Stack())

    def spoil(*atoms: Atom) -> None:
        for v in atoms:
            if v in lists.parent:
                of(v).plain = False

    for place in found:
        stmt, groups = place.stmt, list(handed_on(place.stmt))
        passed: set[Operand] = {a for group in groups for a in group}
        match stmt.op:
            case Build("list", (), residual=True):
                of(stmt.targets[0]).builds.append(place)
            case Append(Var() as base, value, (), None):
                of(base).pushes.append(place)
                of(base).elements.append(value)
                passed = {base, value}
            case Pop(Var() as base, (), None):
                of(base).pops.append(place)
                of(base).elements.append(stmt.targets[1])
                passed = {base}
            case Let(base):
                passed = {base}
            case Call(list.copy, (base,)) if copies:
                passed = {base}
        spoil(*(v for v in stmt.op.reads if v not in passed))
        spoil(*(a for group in groups if any(isinstance(b, Const) for b in group) for a in group))
    spoil(*function.body.results)
    for v in lists.parent:
        of(v).versions.add(v)
    for stack in stacks.values():
        inner = [of(v) if v in lists.parent else None for v in stack.elements]
        stack.inner = next((i for i in inner if i is not None and i is not stack), None)
        stack.plain &= all(i is stack.inner for i in inner)
        for i in filter(None, inner):
            i.inside = True
    return {v: stack for stack in stacks.values() if stack.builds for v in stack.versions}


def _versions(found: list[Place], copies: bool) -> UnionFind:
    """Return the sets of variables that hold the same list; lists on one stack count as one list."""
    lists = UnionFind()
    for place in found:
        stmt = place.stmt
        for group in handed_on(stmt):
            if isinstance(group[0].type, ListT):
                lists.unite(*(a for a in group if isinstance(a, Var)))
        match stmt.op:
            case Append(Var() as base) | Pop(Var() as base) | Let(Var(type=ListT()) as base):
                lists.unite(stmt.targets[0], base)
            case Call(list.copy, (Var() as base,)) if copies:
                lists.unite(stmt.targets[0], base)
    while True:
        united, element = False, {}
        for place in found:
            match place.stmt:
                case Stmt(_, Append(Var() as base, value)) | Stmt((_, value), Pop(Var() as base)) if value in lists.parent:
                    other = element.setdefault(lists.find(base), value)
                    united |= lists.find(other) is not lists.find(value)
                    lists.unite(other, value)
        if not united:
            return lists
