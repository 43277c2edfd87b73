"""Residuals that are numbers, which loops save in arrays in place of lists.

    zs = []                          zs = np.empty(0)
                                     zs_top = 0
                                     zs = reserved(zs, zs_top, len(range(n)))
    for i in range(n):               for i in range(n):
        zs.append(z)                     zs[zs_top] = z
                                         zs_top += 1
    for i in ...:                    for i in ...:
                                         zs_top -= 1
        z = zs.pop()                     z = zs[zs_top]

Room is reserved before each innermost loop, for as many numbers as it can save, so that an iteration only stores or loads a number. Lists
whose growth no counted loop bounds stay lists, and so do lists of arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.backends.numba.functions import reserved
from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Build, Call, Const, Function, Index, Let, Loop, Op, Operand, Pop, Range, Stmt, Sub,
    Update, Var, fresh
)
from sourcead.ir.types import INT, Array, Scalar, Sym
from sourcead.ir.walk import map_op, op_blocks, op_reads

_DTYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64), "bool": np.dtype(np.bool_)}


def stacks_as_arrays(function: Function) -> Function:
    """Return the function with arrays in place of stacks of numbers; must run after `assign_memory`."""
    stacks = Stacks(dtype_of)
    stacks.block(function.body, None)
    found = stacks.kept()
    return replace(function, body=StackRewriter(stacks, found).block(function.body)) if found else function


class Stacks:
    """The versions of each list of residuals, and the dtypes of the values that are pushed on it.

    Args:
        dtype_of: returns the dtype of an array for such values as its argument; None if they are not kept in arrays.
        bounded: whether room is reserved ahead; then a list stays a list if a loop that is not counted pushes on it.
    """

    def __init__(self, dtype_of: Callable[[Operand], np.dtype | None], bounded: bool = True):
        self.dtype_of, self.bounded = dtype_of, bounded
        self.parent: dict[Var, Var] = {}
        self.built: set[Var] = set()
        self.spoiled: set[Var] = set()
        self.dtypes: dict[Var, set] = {}  # by the version of the list that is pushed on

    def of(self, v: Var) -> Var:
        while v in self.parent:
            v = self.parent[v]
        return v

    def unite(self, a: Atom, b: Atom) -> None:
        for x, y in ((a, b), (b, a)):
            if not isinstance(x, Var) and isinstance(y, Var):
                self.spoiled.add(y)
        if isinstance(a, Var) and isinstance(b, Var) and (a := self.of(a)) is not (b := self.of(b)):
            self.parent[a] = b

    def block(self, block: Block, loop: Loop | None) -> None:
        for stmt in block.stmts:
            self.statement(stmt, loop)
        for s in block.stmts:
            if isinstance(s.op, Branch):
                for arm in (s.op.then, s.op.orelse):
                    for t, r in zip(s.targets, arm.results):
                        self.unite(t, r)

    def statement(self, stmt: Stmt, loop: Loop | None) -> None:
        op = stmt.op
        match op:
            case Build("list", ()) if op.residual:
                self.built.add(stmt.targets[0])
            case Append(base, value, (), None):
                self.unite(stmt.targets[0], base)
                self.dtypes.setdefault(base, set()).add(self.dtype_of(value))
                if self.bounded and (loop is None or not isinstance(loop.domain, Range) or loop.leave is not None):
                    self.spoiled.add(base)
                if isinstance(value, Var):
                    self.spoiled.add(value)
            case Pop(base, (), None):
                self.unite(stmt.targets[0], base)
                self.spoiled.add(stmt.targets[1])
            case Let(Var() as value):
                self.unite(stmt.targets[0], value)
            case Loop():
                for p, i, r, t in zip(op.params, op.inits, op.body.results, stmt.targets):
                    self.unite(p, i)
                    self.unite(p, r)
                    self.unite(p, t)
                if isinstance(op.domain, Block):
                    self.block(op.domain, op)
                    self.spoiled.update(r for r in op.domain.results if isinstance(r, Var))
                self.block(op.body, op)
            case _:
                self.spoiled.update(op_reads(op))
                for inner in op_blocks(op):
                    self.block(inner, loop)

    def kept(self) -> dict[Var, np.dtype]:
        """Return {list that becomes an array: dtype}."""
        spoiled = {self.of(v) for v in self.spoiled}
        dtypes: dict[Var, set] = {}
        for v, found in self.dtypes.items():
            dtypes.setdefault(self.of(v), set()).update(found)
        builds = [self.of(v) for v in self.built]
        return {
            v: next(iter(dtypes[v]))
            for v in builds
            if v not in spoiled and builds.count(v) == 1 and len(dtypes.get(v, ())) == 1 and None not in dtypes[v]
        }


def dtype_of(value) -> np.dtype | None:
    """Return the dtype of an array that can hold a value; None if the value is no number and no truth value."""
    t = atom_type(value) if isinstance(value, (Var, Const)) else None
    if not isinstance(t, Scalar):
        return None
    return _DTYPES.get(t.kind) if t.dtype is None or t.dtype.kind == "O" else t.dtype


class StackRewriter:
    """Replaces each version of a list by an array and the number of its elements in use."""

    def __init__(self, stacks: Stacks, found: dict[Var, np.dtype]):
        self.stacks, self.found = stacks, found
        self.now: dict[Var, tuple[Var, Atom]] = {}

    def dtype(self, atom: Atom) -> np.dtype | None:
        return self.found.get(self.stacks.of(atom)) if isinstance(atom, Var) else None

    def pair(self, v: Var) -> tuple[Var, Var]:
        """Return new variables for a version of a list: the array and the number of elements."""
        dtype = self.dtype(v)
        self.now[v] = Var(v.name, Array(dtype, (Sym(),)), v.temp), Var(f"{v.name}_top", INT, True)
        return self.now[v]

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            stmts += self.statement(stmt)
        return Block(tuple(stmts), self.spread(block.results))

    def spread(self, atoms: tuple) -> tuple:
        out: list = []
        for a in atoms:
            out += self.now[a] if self.dtype(a) is not None else [a]
        return tuple(out)

    def targets(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        out: list[Var] = []
        for v in variables:
            out += self.pair(v) if self.dtype(v) is not None else [v]
        return tuple(out)

    def statement(self, stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        match op:
            case Build() if self.dtype(stmt.targets[0]) is not None:
                dtype = self.dtype(stmt.targets[0])
                array, top = self.pair(stmt.targets[0])
                options = () if dtype == np.float64 else (("dtype", Const(dtype)),)
                return [self.like(stmt, array, Call(np.empty, (Const(0),), options)), self.like(stmt, top, Let(Const(0)))]
            case Append(base, value) if self.dtype(base) is not None:
                before, at = self.now[base]
                array, top = self.pair(stmt.targets[0])
                write = Update(before, (Sub(at),), value)
                return [self.like(stmt, array, write), self.like(stmt, top, Call(operator.add, (at, Const(1))))]
            case Pop(base) if self.dtype(base) is not None:
                array, at = self.now[base]
                top = Var(f"{stmt.targets[0].name}_top", INT, True)
                self.now[stmt.targets[0]] = array, top
                down = self.like(stmt, top, Call(operator.sub, (at, Const(1))))
                return [down, self.like(stmt, stmt.targets[1], Index(array, top))]
            case Let(Var() as value) if self.dtype(value) is not None:
                self.now[stmt.targets[0]] = self.now[value]
                return []
            case Loop():
                return self.loop(stmt)
            case _ if op_blocks(op):
                return [replace(stmt, op=map_op(op, lambda a: a, self.block), targets=self.targets(stmt.targets))]
        return [stmt]

    def like(self, stmt: Stmt, target: Var, op: Op) -> Stmt:
        return Stmt((target,), op, stmt.origin, stmt.adjoint_of)

    def loop(self, stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        before = []
        if isinstance(op.domain, Range):
            for p, init in zip(op.params, op.inits):
                count = self.pushes(op.body, p) if self.dtype(p) is not None else 0
                if count:
                    before += self.room(stmt, init, op.domain, count)
        inits = self.spread(op.inits)
        params = self.targets(op.params)
        domain = self.block(op.domain) if isinstance(op.domain, Block) else op.domain
        made = replace(op, domain=domain, params=params, inits=inits, body=self.block(op.body))
        return [*before, replace(stmt, op=made, targets=self.targets(stmt.targets))]

    def room(self, stmt: Stmt, init: Var, domain: Range, count: int) -> list[Stmt]:
        """Return statements that make room in an array for all that the iterations of a loop may push on it."""
        array, top = self.now[init]
        iterations, n, wider = Var("iterations", INT, True), Var("n", INT, True), fresh(array)
        bounds = (domain.start, domain.stop, domain.step)
        as_range = Var("iterations", temp=True)
        out = [self.like(stmt, as_range, Call(range, bounds)), self.like(stmt, iterations, Call(len, (as_range,)))]
        if count > 1:
            out.append(self.like(stmt, n, Call(operator.mul, (iterations, Const(count)))))
        out.append(self.like(stmt, wider, Call(reserved, (array, top, n if count > 1 else iterations))))
        self.now[init] = wider, top
        return out

    def pushes(self, block: Block, p: Var) -> int:
        """Return the most numbers that one iteration, without inner loops, pushes on the list of which `p` is a version."""
        count = 0
        for stmt in block.stmts:
            match stmt.op:
                case Append(base) if isinstance(base, Var) and self.stacks.of(base) is self.stacks.of(p):
                    count += 1
                case Branch(_, then, orelse):
                    count += max(self.pushes(then, p), self.pushes(orelse, p))
        return count
