"""Loops over elements in a form that runs fast as machine code; the text for NumPy keeps the user's order.

Innermost loops are split and reversed so that vector instructions can run them:

    for i in range(n - 2, 0, -1):               for i in range(1, n - 1):
        t = d_a[i] * c                              d_b[i + 1] += d_a[i] * c
        d_b[i + 1] += t                         for i in range(1, n - 1):
        d_b[i] += t                                 d_b[i] += d_a[i] * c
        d_b[i - 1] += t                         for i in range(1, n - 1):
        d_a[i] = 0.0                                d_b[i - 1] += d_a[i] * c
                                                    d_a[i] = 0.0

This is loop distribution (R. Allen, K. Kennedy: Automatic translation of Fortran programs to vector form, 1987, section 5): statements of
which one reads what another has written stay in one loop or in that order; additions to the same elements may be split, and are split if
they meet in different iterations.  A loop whose iterations do not depend on each other runs upward.  Sums may be added up in another order
as a result.  Cheap expressions are computed again in each loop that needs them.
"""

import operator
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.ad.residuals.costs import is_cheap
from sourcead.analysis.affine import After, Meeting, Subscripts, number
from sourcead.analysis.connected import reachable
from sourcead.analysis.element_loops import ADDING, Access, Body, body_of, one_more
from sourcead.backends.numba.codegen.loops.gathers import Addition, Gather, Places
from sourcead.backends.numba.codegen.loops.slice_loops import slices_as_loops
from sourcead.ir.nodes import (
    Atom, Attr, Block, Branch, Call, Const, Effect, Function, Index, Let, Loop, Op, Range, Stmt, Update, Var, fresh
)
from sourcead.ir.types import BOOL, INT, UNKNOWN
from sourcead.ir.walk import copied, reads_inside, substitute
from sourcead.passes.loops.scalar_replacement import with_registers

BUDGET = 24  # the most additions that splitting a loop may repeat
DIVISION, CALL = 4, 40  # the approximate cost of a division and of a function such as exp, in additions
CHECK = (UNKNOWN, INT, BOOL, UNKNOWN)
COMPARISONS = 8  # the most comparisons of rows before a loop for which LLVM uses vector instructions
MOST = 6  # the most loops that one loop may become


@dataclass
class Root:
    """An effect of a loop: an update of an array, or the steps of a sum. `needs`: the statements that it depends on."""

    at: int
    stmts: set[int]
    needs: set[int] = field(default_factory=set)
    variant: Var | None = None  # the loop variant that a sum changes
    row: Hashable = None  # what tells the row of an array that it adds to from others
    lag: int = 0  # after how many iterations it adds to an element of the row, counted from the first addition to it


def with_fast_loops(function: Function) -> Function:
    """Return the function with array elements in variables and with loops split and reversed; must run before `assign_memory`."""
    function = slices_as_loops(function)
    subscripts = Subscripts(function.body)

    def ordered(loop: Stmt) -> list[Stmt]:
        body = body_of(loop.op)
        return [loop] if body is None else _Order(loop, body, subscripts).loops()

    return with_registers(function, lambda: subscripts, ordered)


class _Order:
    """The loops that replace a loop, to run one after the other, upward where that is allowed."""

    def __init__(self, stmt: Stmt, body: Body, subscripts: Subscripts):
        self.stmt, self.loop, self.body, self.subscripts = stmt, stmt.op, body, subscripts
        self.step = number(self.loop.domain.step)
        self.roots: list[Root] = []
        self.split = False  # whether additions that meet in different iterations are separated
        self.recurrent = body.has_lists  # or if a number is carried from one iteration to the next and is not a mere sum
        for at, _ in body.updates():
            self.roots.append(Root(at, {at}))
        for p, result in body.scalars.items():
            steps = self.sum_of(p, result)
            if steps is None:
                self.recurrent = True
            elif steps:
                self.roots.append(Root(max(steps), steps, variant=p))
        self.roots.sort(key=lambda r: r.at)
        for root in self.roots:
            root.needs = body.slice_of(root.stmts)
        self.widths: dict[Hashable, int] = {}  # the greatest lag in each row
        self.find_rows()

    def find_rows(self) -> None:
        """Find the additions to neighbouring elements of one row, and how far apart in time they meet."""
        rows: dict[Hashable, list[tuple[int, Root]]] = {}
        for root in self.roots:
            access = None if root.variant else self.body.accesses[root.at][0]
            slope = self.subscripts.slope(access.key, self.loop.index) if access and access.mode in ADDING else 0
            if slope:
                root.row = access.chain, *self.subscripts.row(access.key)
                rows.setdefault(root.row, []).append((-slope * self.subscripts.affine(access.key[-1]).constant, root))
        for row, found in rows.items():
            first = min(lag for lag, _ in found)
            self.widths[row] = max(lag for lag, _ in found) - first
            for lag, root in found:
                root.lag = lag - first

    def sum_of(self, p: Var, result: Atom) -> set[int] | None:
        """Return the statements that add to a loop variant; None if it is not a mere sum or something else reads it on the way."""
        steps: set[int] = set()
        while result is not p:
            at = self.addition_at(result)
            if at is None or self.readers(result) != 1:
                return None
            steps.add(at)
            op = self.body.stmts[at].op
            left, right = op.args
            leads = self.leads_to(left, p)
            if not leads and not (op.fn is operator.add and self.leads_to(right, p)):
                return None
            result = left if leads else right
        return steps if not steps or self.readers(p) == 1 else None

    def leads_to(self, v: Atom, p: Var) -> bool:
        while v is not p:
            if (at := self.addition_at(v)) is None:
                return False
            v = self.body.stmts[at].op.args[0]
        return True

    def addition_at(self, v: Atom) -> int | None:
        """Return the position of the addition or subtraction that computes a variable; None if another op does."""
        at = self.body.defined.get(v)
        op = None if at is None else self.body.stmts[at].op
        return at if isinstance(op, Call) and op.fn in (operator.add, operator.sub) and len(op.args) == 2 else None

    def readers(self, v: Atom) -> int:
        found = sum(w is v for s in self.body.stmts for w in reads_inside(s.op))
        return found + sum(r is v for r in self.loop.body.results)

    # ---- dependences ----

    def accesses(self, root: Root) -> list[Access]:
        return [a for k in root.needs for a in self.body.accesses[k]]

    def meet(self, a: Access, b: Access) -> Meeting | After:
        found = self.subscripts.meeting(a.key, b.key, self.loop.index)
        return After(found.steps * self.step) if isinstance(found, After) else found

    def orders(self, x: Access, y: Access) -> tuple[bool, bool]:
        """Return whether x must come before y in some iterations, and whether y must come before x in some."""
        if x.chain is not y.chain or x.commutes(y):
            return False, False
        match self.meet(x, y):
            case Meeting.NEVER:
                return False, False
            case After(0):
                return x.at < y.at, y.at < x.at
            case After(steps):
                return steps > 0, steps < 0
        return True, True

    def is_apart(self, a: Root, b: Root) -> bool:
        """Return whether a loop with both roots cannot use vector instructions, while a loop for each can."""
        if (a.variant is None) != (b.variant is None) or self.widths.get(a.row, 0) != self.widths.get(b.row, 0):
            return True
        return a.lag != b.lag and any(True in self.orders(x, y) for x in self.accesses(a) for y in self.accesses(b))

    def groups(self) -> list[list[Root]]:
        """Return the roots in groups, one for each resulting loop."""
        roots = self.roots
        if self.recurrent or not any(self.widths.values()):
            return [roots]
        before = {(i, k) for i, a in enumerate(roots) for k, b in enumerate(roots) if i != k and self.must_precede(a, b)}
        together = joined(len(roots), before)
        place: dict[int, int] = {}
        for members in together:
            if not self.can_turn([roots[i] for i in members]):
                return [roots]  # an iteration depends on another
            at = max((place[i] for i, k in before if k in members and i not in members), default=0)
            while not self.fits([roots[i] for i in place if place[i] == at], [roots[k] for k in members]):
                at += 1
            place.update(dict.fromkeys(members, at))
        found = [[r for i, r in enumerate(roots) if place[i] == at] for at in sorted(set(place.values()))]
        again = sum(map(self.cost, found)) - sum(cost(s.op) for s in self.body.stmts if not isinstance(s.op, Update))
        self.split = len(found) <= MOST and again <= BUDGET
        return found if self.split else [roots]

    def fits(self, group: list[Root], more: list[Root]) -> bool:
        """Return whether a loop with both groups of roots can use vector instructions if a loop for each can."""
        return not group or not any(self.is_apart(a, b) for a in group for b in more) and self.comparisons(group + more) <= COMPARISONS

    def comparisons(self, group: list[Root]) -> int:
        """Return how many pairs of rows LLVM compares before a loop, to see that what is written is not read or written elsewhere."""
        rows: dict[tuple, bool] = {}  # whether one is written
        for access in (a for root in group for a in self.accesses(root)):
            row = access.chain, self.subscripts.row(access.key)
            rows[row] = rows.get(row, False) or access.mode is not None
        written = sum(rows.values())
        return written * (written - 1) // 2 + written * (len(rows) - written)

    def must_precede(self, a: Root, b: Root) -> bool:
        return any(self.orders(x, y)[0] for x in self.accesses(a) for y in self.accesses(b))

    def cost(self, group: list[Root]) -> int:
        steps = {(k, r.lag) for r in group for k in r.needs}
        return sum(cost(op) for k, _ in steps if not isinstance(op := self.body.stmts[k].op, Update))

    def can_turn(self, group: list[Root]) -> bool:
        """Return whether the iterations of a loop may run in reverse order."""
        if self.recurrent:
            return False
        found = [a for r in group for a in self.accesses(r)]
        return not any(
            x.chain is y.chain and not x.commutes(y) and self.meet(x, y) not in (Meeting.NEVER, After(0)) for x in found for y in found
        )

    # ---- writing ----

    def loops(self) -> list[Stmt]:
        groups = self.groups()
        changed = {self.chain(r) for r in self.roots}
        if not changed or changed != set(self.loop.params):
            return [self.stmt]
        if len(groups) == 1 and not self.gathers(groups[0]) and (self.step > 0 or not self.can_turn(groups[0])):
            return [self.stmt]
        out: list[Stmt] = []
        upward = None
        if self.step < 0 and any(map(self.can_turn, groups)):
            first, stop = (one_more(a, self.stmt, self.subscripts, out) for a in (self.loop.domain.stop, self.loop.domain.start))
            upward = Range(first, stop, Const(1))
        now: dict[Var, Atom] = dict(zip(self.loop.params, self.loop.inits))
        if self.split and self.stmt.adjoint_of is not None:
            out += self.checks(upward or self.loop.domain)
        for k, group in enumerate(groups):
            later = {self.chain(r) for g in groups[k + 1 :] for r in g}
            domain = upward if upward is not None and self.can_turn(group) else self.loop.domain
            before, loop = dict(now), self.made(group, now, domain, later)
            if self.gathers(group):
                first = min(r.lag for r in group)
                additions = [Addition(r.at, frozenset(r.needs), self.chain(r), r.row, r.lag - first) for r in group]
                out += Gather(self.stmt, self.body, additions, domain).branch(before, loop)
            else:
                out.append(loop)
        return out

    def checks(self, domain: Range) -> list[Stmt]:
        """Return statements that raise the error of a subscript beyond the end of a row before the loop does.

        The adjoint of a statement reads and writes nothing beyond: LLVM removes the checks in loops where it sees this.  What is accessed
        under a condition is left out.
        """
        if self.step < 0 and domain is self.loop.domain:
            return []
        furthest: dict[tuple[Var, int], int] = {}
        always = (a for s, found in zip(self.body.stmts, self.body.accesses) if not isinstance(s.op, Branch) for a in found)
        for access in always:
            last = self.subscripts.affine(access.key[-1])
            if last is not None and last.terms == frozenset({(self.loop.index, 1)}):
                array = self.loop.inits[self.loop.params.index(access.chain)] if access.chain in self.loop.params else access.chain
                row = array, len(access.key) - 1
                furthest[row] = max(furthest.get(row, last.constant), last.constant)
        places, tests = Places(domain.stop, self.stmt), []
        for (array, axis), distance in furthest.items():
            shape, size, beyond, error = (Var(name, t, True) for name, t in zip(("shape", "size", "beyond", "error"), CHECK))
            last = (distance - 1, operator.ge) if distance else (0, operator.gt)
            raised = places.like((error,), Call(IndexError, (Const("index is out of bounds"),))), places.like((), Effect("raise", (error,)))
            tests += [
                places.like((shape,), Attr(array, "shape")),
                places.like((size,), Index(shape, Const(axis))),
                places.like((beyond,), Call(last[1], (places.at(last[0]), size))),
                places.like((), Branch(beyond, Block(raised), Block(()))),
            ]
        some = Var("some", BOOL, True)
        runs = places.like((some,), Call(operator.lt, (domain.start, domain.stop)))
        return [runs, places.like((), Branch(some, Block((*places.stmts, *tests)), Block(())))] if tests else []

    def gathers(self, group: list[Root]) -> bool:
        """Return whether a group consists of additions that meet in different iterations, none of which reads what another writes."""
        if not self.split or len({r.lag for r in group}) == 1:
            return False
        found = [a for r in group for a in self.accesses(r)]
        return all(r.row for r in group) and not any(True in self.orders(x, y) for x in found for y in found)

    def chain(self, root: Root) -> Var:
        """Return the loop variant that a root changes."""
        return root.variant or self.body.current[self.body.stmts[root.at].targets[0]]

    def made(self, group: list[Root], now: dict[Var, Atom], domain: Range, later: set[Var]) -> Stmt:
        """Return the loop of a group. `now` maps loop variants to their values before the loop, and is updated to those after it."""
        variants = [p for p in self.loop.params if any(self.chain(r) is p for r in group)]
        own = {r.at for r in group}
        needed = sorted(set().union(*(r.needs for r in group)))
        kept = tuple(self.body.stmts[at] for at in needed)
        results = tuple(self.loop.body.results[self.loop.params.index(p)] for p in variants)
        others = {  # the versions of arrays that other loops make
            s.targets[0]: s.op.base for at, s in enumerate(self.body.stmts) if isinstance(s.op, Update) and at not in own
        }
        block = substitute(Block(kept, results), {**others, **{p: a for p, a in now.items() if p not in variants}})
        index, params = fresh(self.loop.index), tuple(map(fresh, variants))
        block = copied(block, {self.loop.index: index, **dict(zip(variants, params))})
        targets = tuple(self.stmt.targets[self.loop.params.index(p)] for p in variants)
        targets = tuple(fresh(t) if p in later else t for p, t in zip(variants, targets))
        op = Loop(domain, index, params, tuple(now[p] for p in variants), block)
        now.update(zip(variants, targets))
        return replace(self.stmt, targets=targets, op=op)


def joined(n: int, before: set[tuple[int, int]]) -> list[list[int]]:
    """Return the strongly connected components of the numbers below n under `before`, in topological order."""
    reach = {i: reachable([i], lambda at: [k for i, k in before if i == at]) for i in range(n)}
    out: list[list[int]] = []
    left = list(range(n))
    while left:
        i = next(i for i in left if not any(i in reach[k] and k not in reach[i] for k in left))
        members = [k for k in left if k in reach[i] and i in reach[k]]
        out.append(members)
        left = [k for k in left if k not in members]
    return out


def cost(op: Op) -> int:
    """Return the approximate cost of an op, in additions."""
    match op:
        case Let() | Attr() | Index():
            return 1
        case Branch(_, then, orelse):
            return 1 + sum(cost(s.op) for b in (then, orelse) for s in b.stmts)
        case Call(operator.truediv | np.divide):
            return DIVISION
    return 1 if is_cheap(op) else CALL
