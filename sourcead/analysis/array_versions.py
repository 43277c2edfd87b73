"""Chains, which are the sets of values that are versions of one array.

`a1 = Update(a0, ...)` makes a1 the successor of a0 in the same buffer.  A loop that carries an array through updates, and a
branch that updates it in one arm, pass the buffer on.  All versions of a buffer form a *chain*.  If a version has two successors
(equal arrays that were merged into one value), the first continues its chain and the other starts a new one.

All versions have one shape and dtype; `queried` tells the ops that read no more than these.
"""

from collections.abc import Iterator
from dataclasses import replace

from sourcead.analysis.connected import UnionFind
from sourcead.ir.nodes import Attr, Block, Branch, Call, Loop, Op, Stmt, Update, Var
from sourcead.ir.types import Array, MapT
from sourcead.ir.walk import walk
from sourcead.primitives.table import record_of

ATTRIBUTES = ("shape", "size", "ndim", "dtype")


class Chains:
    """The chains of a function: `find(var)` returns the chain of a variable, or None if it is never updated."""

    def __init__(self, block: Block):
        self.versions = UnionFind()
        self.carried: dict[Stmt, dict[Var, int]] = {}
        self._visit(block, set())
        self.carried = {stmt: {self.find(p): k for p, k in found.items()} for stmt, found in self.carried.items()}

    def find(self, var: object) -> Var | None:
        return self.versions.find(var) if var in self.versions.parent else None

    def carried_by(self, loop: Stmt) -> dict[Var, int]:
        """Return the chains that a loop carries, each with the position of its loop variant."""
        return self.carried.get(loop, {})

    def _join(self, *values: object) -> None:
        self.versions.unite(*(v for v in values if isinstance(v, Var)))

    def _same(self, a: object, b: object) -> bool:
        return self.find(a) is not None and self.find(a) is self.find(b)

    def _visit(self, block: Block, followed: set) -> None:
        """Join the versions of each array in a block; `followed` holds the versions that already have a successor."""

        def follow(version: object, *successors: object) -> None:
            if version in followed:
                self._join(*successors)
            else:
                followed.add(version)
                self._join(version, *successors)

        for stmt in block.stmts:
            match stmt.op:
                case Branch(_, then, orelse):
                    ends = [set(followed), set(followed)]
                    for arm, end in zip((then, orelse), ends):
                        self._visit(arm, end)
                    followed |= ends[0] | ends[1]
                    for out, a, b in zip(stmt.targets, then.results, orelse.results):
                        if self._same(a, b):
                            self._join(a, out)
                case op:
                    for inner in op.blocks:
                        self._visit(inner, followed)
            match stmt.op:
                case Update(base) if not isinstance(stmt.targets[0].type, MapT):  # the old value of a dict is saved, not restored
                    follow(base, stmt.targets[0])
                case Loop(_, _, params, inits, body):
                    found = {}
                    for k, (p, init, q, out) in enumerate(zip(params, inits, body.results, stmt.targets)):
                        if self._same(p, q):
                            follow(init, p, out)
                            found[p] = k
                    if found:
                        self.carried[stmt] = found


def updates_in(stmt: Stmt) -> Iterator[Stmt]:
    """Yield the updates in a statement and in the blocks inside it."""
    yield from (s for s in walk(Block((stmt,))) if isinstance(s.op, Update))


def queried(op: Op) -> Var | None:
    """Return the array whose shape or dtype an op queries, or None for other ops."""
    match op:
        case Attr(Var(type=Array()) as array, name) if name in ATTRIBUTES:
            return array
        case Call(fn, (Var(type=Array()) as array,), ()) if record_of(fn).metadata:
            return array
    return None


def query_of(op: Attr | Call, array: Var) -> Op:
    """Return the op that makes the same query of another array."""
    return replace(op, base=array) if isinstance(op, Attr) else replace(op, args=(array,))
