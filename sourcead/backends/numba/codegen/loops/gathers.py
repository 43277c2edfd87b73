"""Additions to neighbouring elements of a row, gathered element by element.

    for i in range(low, high):                  for i in range(low + 1, high - 1):
        d_b[i + 1] += c[i] * d_a[i]                 d_b[i] += c[i - 1] * d_a[i - 1] + d_a[i] - d_a[i + 1]
        d_b[i] += d_a[i]
        d_b[i - 1] -= d_a[i]

Each iteration of the second loop adds to one element what several iterations of the first add to it, so that vector instructions read
what others have written only in other loops.  The few additions at the ends that it leaves out are written beside it, and all of this
stands in a branch: a row that is too short has the first loop.  It is legal if none of the additions reads what another has written,
since the order of additions does not matter.

This is the alignment of statements of a loop (R. Allen, K. Kennedy: Optimizing compilers for modern architectures, 2001, section 6.2.3),
and what turns the adjoint of a stencil into a stencil (J. Hückelheim et al.: Automatic differentiation for adjoint stencil loops, 2019).
"""

import operator
from collections.abc import Hashable
from dataclasses import dataclass, replace

from sourcead.analysis.affine import number
from sourcead.analysis.builder import atom_type
from sourcead.analysis.element_loops import Body
from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Loop, Range, Stmt, Sub, Update, Var, fresh
from sourcead.ir.types import BOOL, INT
from sourcead.ir.walk import copied, reads_inside, substitute


@dataclass(frozen=True)
class Addition:
    """The addition of the statement `at` to an element of `chain`, with the statements that it needs.

    In iteration `i + lag` it adds to the element that others of its row, with lag 0, add to in iteration i.
    """

    at: int
    needs: frozenset[int]
    chain: Var
    row: Hashable
    lag: int


class Gather:
    """Gathers the additions of a loop whose index runs upward through a range."""

    def __init__(self, stmt: Stmt, body: Body, additions: list[Addition], domain: Range):
        self.stmt, self.body, self.additions = stmt, body, additions
        self.start, self.stop = domain.start, domain.stop
        self.width = max(a.lag for a in additions)
        self.chains = [p for p in stmt.op.params if any(a.chain is p for a in additions)]
        self.versions = {s.targets[0]: s.op.base for s in body.stmts if isinstance(s.op, Update)}

    def branch(self, now: dict[Var, Atom], otherwise: Stmt) -> list[Stmt]:
        """Return the branch that gathers, or else runs the statement `otherwise`, and what computes its condition.

        Args:
            now: the loop variants with their values before the loop.
            otherwise: the loop, for rows that are too short.
        """
        now = dict(now)
        starts, stops, stmts = Places(self.start, self.stmt), Places(self.stop, self.stmt), []
        ends = [(starts, k, lambda a, k=k: a.lag > k) for k in range(self.width)]
        ends += [(stops, -1 - k, lambda a, k=k: a.lag < self.width - k) for k in range(self.width)]
        domain = Range(starts.at(self.width), stops.at(0), Const(1))
        for places, k, is_left_out in ends:
            additions = [a for a in self.additions if is_left_out(a)]
            stmts += self.added(additions, places, dict.fromkeys(additions, k), now)
        stmts.append(self.loop(domain, now))
        stmts = [*starts.stmts, *stops.stmts, *stmts]
        some, least = Var("some", BOOL, True), Places(self.start, self.stmt)
        condition = least.like((some,), Call(operator.ge, (self.stop, least.at(self.width))))
        then = copied(Block(tuple(stmts), tuple(now[p] for p in self.chains)), {})
        targets, otherwise = otherwise.targets, replace(otherwise, targets=tuple(map(fresh, otherwise.targets)))
        op = Branch(some, then, Block((otherwise,), otherwise.targets))
        return [*least.stmts, condition, replace(self.stmt, targets=targets, op=op)]

    def loop(self, domain: Range, now: dict[Var, Atom]) -> Stmt:
        """Return the loop, and enter the values that it leaves."""
        index, params = fresh(self.stmt.op.index), {p: fresh(p) for p in self.chains}
        inside, places = {**now, **params}, Places(index, self.stmt)
        added = self.added(self.additions, places, {a: a.lag - self.width for a in self.additions}, inside)
        body = Block((*places.stmts, *added), tuple(inside[p] for p in self.chains))
        op = Loop(domain, index, tuple(params.values()), tuple(now[p] for p in self.chains), body)
        now.update({p: fresh(p) for p in self.chains})
        return replace(self.stmt, targets=tuple(now[p] for p in self.chains), op=op)

    def added(self, additions: list[Addition], places: "Places", steps: dict[Addition, int], now: dict[Var, Atom]) -> list[Stmt]:
        """Return statements that make additions as in the iterations `place + step`, those to one element as one.

        Args:
            now: the loop variants with their current values, which are updated.
        """
        out: list[Stmt] = []
        found: dict[Addition, tuple[Atom, ...]] = {}  # the value that is added, and the subscripts
        for step in dict.fromkeys(steps[a] for a in additions):
            here = [a for a in additions if steps[a] == step]
            stmts, results = self.iteration(here, places, step, now)
            out += stmts
            found.update(zip(here, results))
        cells: dict[Hashable, list[Addition]] = {}
        for a in additions:
            cells.setdefault((a.row, steps[a] - a.lag), []).append(a)
        for together in cells.values():
            first = self.body.stmts[together[0].at]
            value, *key = found[together[0]]
            for other in together[1:]:
                same = self.body.stmts[other.at].op.mode == first.op.mode
                total = Var("total", atom_type(value), True)
                out.append(places.like((total,), Call(operator.add if same else operator.sub, (value, found[other][0]))))
                value = total
            chain = together[0].chain
            sum_ = fresh(first.targets[0])
            key = tuple(key) if len(key) > 1 else key[0]
            out.append(replace(first, targets=(sum_,), op=Update(now[chain], (Sub(key),), value, first.op.mode)))
            now[chain] = sum_
        return out

    def iteration(self, additions: list[Addition], places: "Places", step: int, now: dict[Var, Atom]):
        """Return what the iteration `place + step` computes for some additions: statements, and each value with its subscripts."""
        needed = sorted(set().union(*(a.needs for a in additions)))
        stmts = [self.body.stmts[k] for k in needed if not isinstance(self.body.stmts[k].op, Update)]
        wanted = []
        for a in additions:
            op = self.body.stmts[a.at].op
            key = op.path[0].key
            wanted.append((op.value, *(key if isinstance(key, tuple) else (key,))))
        offsets = {self.stmt.op.index: 0}  # integers that are the index plus a number
        for s in stmts:
            match s.op:
                case Call(operator.add | operator.sub as fn, (Var() as v, Const(int() as c)), ()) if v in offsets:
                    offsets[s.targets[0]] = offsets[v] + (c if fn is operator.add else -c)
                case Call(operator.add, (Const(int() as c), Var() as v), ()) if v in offsets:
                    offsets[s.targets[0]] = offsets[v] + c
        left = tuple(s for s in stmts if s.targets[0] not in offsets)
        read = {v for s in left for v in reads_inside(s.op)} | {v for values in wanted for v in values}
        known = {v: places.at(c + step) for v, c in offsets.items() if v in read}
        block = substitute(Block(left, tuple(x for values in wanted for x in values)), self.versions)
        block = copied(block, {**now, **known})
        results, out = iter(block.results), []
        for values in wanted:
            out.append(tuple(next(results) for _ in values))
        return list(block.stmts), out


class Places:
    """An integer plus or minus numbers, as atoms; `stmts` computes them."""

    def __init__(self, base: Atom, stmt: Stmt):
        self.base, self.stmt = base, stmt
        self.stmts: list[Stmt] = []
        self.made: dict[int, Atom] = {0: base}

    def at(self, distance: int) -> Atom:
        """Return an atom for `base + distance`."""
        if distance not in self.made:
            if number(self.base) is not None:
                self.made[distance] = Const(number(self.base) + distance)
            else:
                fn, by = (operator.add, distance) if distance > 0 else (operator.sub, -distance)
                v = self.made[distance] = Var("at", INT, True)
                self.stmts.append(self.like((v,), Call(fn, (self.base, Const(by)))))
        return self.made[distance]

    def like(self, targets: tuple[Var, ...], op) -> Stmt:
        return Stmt(targets, op, self.stmt.origin, self.stmt.adjoint_of)
