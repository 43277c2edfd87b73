"""Innermost loops over numbers and single elements of arrays, with what each statement reads and writes."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

from sourcead.analysis.affine import Subscripts, number
from sourcead.analysis.builder import atom_type
from sourcead.analysis.connected import reachable
from sourcead.ir.nodes import (
    Append, Atom, Attr, Branch, Call, Const, Index, Let, Loop, Op, Pop, Range, Stmt, Sub, Update, Var
)
from sourcead.ir.types import INT, Array, ListT, Scalar, rank
from sourcead.ir.walk import reads_inside

ADDING = ("add", "sub")


@dataclass(frozen=True)
class Access:
    """A read or write of an element; `chain` is the loop variant that the array is a version of, or the array from outside the loop."""

    chain: Var
    key: tuple[Atom, ...]
    mode: str | None  # of the update; None for a read
    at: int  # the position of the statement

    def commutes(self, other: Access) -> bool:
        """Return whether the order of two accesses of one element does not matter: two reads, or two additions."""
        return self.mode is None and other.mode is None or self.mode in ADDING and other.mode in ADDING


@dataclass
class Body:
    """A loop over elements and its accesses.

    Attributes:
        stmts: the statements of an iteration.
        defined: variable -> the position of the statement that defines it.
        current: version of an array -> the loop variant that it is a version of.
        accesses: for each statement, what it reads and writes.
        scalars: the loop variants that are numbers, by what an iteration yields for them.
        has_lists: whether an iteration puts numbers on lists or takes them off, which happens in the order of the iterations.
    """

    loop: Loop
    stmts: tuple[Stmt, ...]
    defined: dict[Var, int] = field(default_factory=dict)
    current: dict[Var, Var] = field(default_factory=dict)
    accesses: list[list[Access]] = field(default_factory=list)
    scalars: dict[Var, Atom] = field(default_factory=dict)
    has_lists: bool = False

    def updates(self) -> Iterator[tuple[int, Access]]:
        for k, found in enumerate(self.accesses):
            yield from ((k, a) for a in found if a.mode is not None)

    def slice_of(self, positions: set[int]) -> set[int]:
        """Return the statements with all that they depend on in the iteration, apart from the updates of arrays that they read."""

        def needed(at: int) -> Iterator[int]:
            found = (self.defined.get(v) for v in reads_inside(self.stmts[at].op))
            return (k for k in found if k is not None and not isinstance(self.stmts[k].op, Update))

        return reachable(positions, needed)


def body_of(loop: Loop) -> Body | None:
    """Return the accesses of an innermost loop over numbers and elements, or None if it holds statements of another kind."""
    if not isinstance(loop.domain, Range) or number(loop.domain.step) not in (1, -1) or loop.leave is not None or loop.policy is not None:
        return None
    body = Body(loop, loop.body.stmts)
    now = {p: p for p in loop.params if isinstance(p.type, Array)}  # variant -> its current version
    body.current.update(now)
    for k, stmt in enumerate(loop.body.stmts):
        op = stmt.op
        body.defined.update(dict.fromkeys(stmt.targets, k))
        if isinstance(op, Update):
            chain = body.current.get(op.base)
            key = element(op.path[0].key, op.base) if len(op.path) == 1 and isinstance(op.path[0], Sub) else None
            if chain is None or now[chain] is not op.base or key is None or not is_number(op.value):
                return None
            body.accesses.append([Access(chain, key, op.mode, k)])
            now[chain] = stmt.targets[0]
            body.current[stmt.targets[0]] = chain
            continue
        found = accesses_of(op, stmt.targets, body, now, k)
        if found is None:
            return None
        body.accesses.append(found)
    for p, r in zip(loop.params, loop.body.results):
        if isinstance(p.type, Array):
            if now[p] is not r:
                return None
        elif isinstance(p.type, Scalar):
            body.scalars[p] = r
        elif isinstance(p.type, ListT):
            body.has_lists = True
        else:
            return None
    return body


def accesses_of(op: Op, targets: tuple[Var, ...], body: Body, now: dict[Var, Var], at: int) -> list[Access] | None:
    """Return the elements that a statement reads, or None if it has results other than numbers and lists, or does anything else."""
    match op:
        case Append(_, value, (), None):
            return [] if is_number(value) else None
        case Pop(_, (), None):
            return [] if is_number(targets[1]) else None
    if not all(isinstance(t.type, Scalar) for t in targets):
        return None
    match op:
        case Index(Var() as base, key) if isinstance(base.type, Array):
            found = element(key, base)
            chain = body.current.get(base, base)
            if found is None or now.get(chain, base) is not base:
                return None
            return [Access(chain, found, None, at)]
        case Index() if not any(isinstance(a.type, Array) for a in op.reads):
            return []
        case Attr() | Let() | Call(effect=False):
            if isinstance(op, Call) and isinstance(op.fn, Var) or any(v in body.current for v in op.reads):
                return None
            arrays = any(not isinstance(v.type, Scalar) for v in op.reads)
            return None if arrays and not (isinstance(op, Attr) or op.fn is builtins.len) else []
        case Branch(_, then, orelse):
            found = []
            for block in (then, orelse):
                for stmt in block.stmts:
                    inner = accesses_of(stmt.op, stmt.targets, body, now, at)
                    if inner is None:
                        return None
                    found += inner
                if not all(is_number(r) for r in block.results):
                    return None
            return found
    return None


def element(key: object, base: Atom) -> tuple[Atom, ...] | None:
    """Return the subscripts in a key if they are integers that together name one element, else None."""
    parts = key if isinstance(key, tuple) else (key,)
    kinds = [atom_type(p) if isinstance(p, (Var, Const)) else None for p in parts]
    if rank(atom_type(base)) != len(parts) or not all(isinstance(t, Scalar) and t.kind == "int" for t in kinds):
        return None
    return parts


def is_number(operand: object) -> bool:
    return isinstance(operand, (Var, Const)) and isinstance(atom_type(operand), Scalar)


def one_more(atom: Atom, stmt: Stmt, subscripts: Subscripts, out: list[Stmt]) -> Atom:
    """Return an atom for `atom + 1`, which is `x` if the atom is `x - 1`, and append the statements that it needs to `out`."""
    if number(atom) is not None:
        return Const(number(atom) + 1)
    match subscripts.definitions.get(atom):
        case Call(operator.sub, (x, Const(1)), ()):
            return x
        case Call(operator.sub, (x, Const(int() as c)), ()):
            op = Call(operator.sub, (x, Const(c - 1)))
        case _:
            op = Call(operator.add, (atom, Const(1)))
    v = Var("stop", INT, True)
    out.append(Stmt((v,), op, stmt.origin, stmt.adjoint_of))
    subscripts.definitions[v] = op
    return v
