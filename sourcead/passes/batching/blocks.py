"""Computes a block for several values at once: some variables get a new first axis, and so do results that depend on them.

    y = mul(cos(x), t)        t: (n)                 y = mul(cos(x), t)                 t: (k, n)
    y = matmul(w, t)                                 y = matmul(t, transpose(w))
    s = sum(y)                                       s = sum(y, axis=1)
    r = loop (p = t) ...: ...; yield matmul(u, p)    the same loop                      p: (k, n)

This is legal for ops with a rule here; any other op raises `Unbatchable`.  Ops that read nothing with the new axis stay.  The type of
every op that is written is inferred again, and must have the new axis in front of those that the op had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Attr, Block, Branch, Build, Call, Const, Index, Let, Loop, Operand, Pop, Range, Slice,
    Stmt, Sub, Update, Var, fresh, operand_atoms
)
from sourcead.ir.types import ANY_DTYPE, Array, ListT, Scalar, Type, Undefined
from sourcead.ir.walk import map_op
from sourcead.passes.batching.calls import ALL, BatchedCalls, Unbatchable, behind, rank_of


class Batched(BatchedCalls):
    """Writes a block with some variables batched.

    Attributes:
        build: gets the statements.
        found: the new variables, with a first axis of length `size`, by those of the block; `dim` is that length as a dim.
        plain: the new atoms without such an axis, by the variables of the block.
        empty: the lists of the block that have no items.
    """

    def __init__(self, build: Builder, found: dict[Var, Var], size: Atom, dim):
        self.build, self.found, self.size, self.dim = build, found, size, dim
        self.plain: dict[Var, Atom] = {}
        self.empty: set[Var] = set()

    # -- operands --------------------------------------------------------------------------------------------------------

    def varies(self, atom: Atom) -> bool:
        return atom in self.found

    def is_batched(self, operand: Operand | None) -> bool:
        return any(map(self.varies, operand_atoms(operand)))

    def unbatched(self, atom: Atom) -> Atom:
        if atom in self.build.maybe_number:
            raise Unbatchable
        return self.plain.get(atom, atom) if isinstance(atom, Var) else atom

    def value(self, atom: Atom) -> Atom:
        return self.found[atom] if atom in self.found else self.unbatched(atom)

    def aligned(self, atom: Atom, rank: int) -> Atom:
        """Return an operand in a form that, behind the first axis, is broadcast like an operand of this rank."""
        own = rank_of(atom)
        if atom not in self.found or own == rank:
            return self.value(atom)
        if own > rank:
            raise Unbatchable
        return self.build.index(self.found[atom], (ALL, *[Const(None)] * (rank - own), *[ALL] * own))

    def spread(self, atom: Atom) -> Var:
        """Return a value with the new axis, repeated along the axis if the value does not have it yet."""
        if atom in self.found:
            return self.found[atom]
        t = atom_type(atom)
        if isinstance(t, (ListT, Undefined)):
            if atom in self.empty or atom is UNDEFINED:
                return self.unbatched(atom)
            raise Unbatchable
        if rank_of(atom) == 0:
            return self.build.call(np.full, self.size, self.unbatched(atom), type=self.wider(t), name="each")
        one = self.build.index(self.unbatched(atom), (Const(None), Const(...)))
        return self.build.call(np.repeat, one, self.size, axis=Const(0), type=self.wider(t), name="each")

    def wider(self, t: Type) -> Type:
        """Return the type that a value of type `t` has with the new axis."""
        match t:
            case Scalar("float" | "complex" | "int" | "bool" as kind, dtype):
                plain = {"float": float, "complex": complex, "int": np.int64, "bool": bool}[kind]
                return Array(None if dtype is ANY_DTYPE else dtype or np.dtype(plain), (self.dim,))
            case Array(dtype, dims) if dims is not None:
                return Array(dtype, (self.dim, *dims))
            case ListT(item, items):
                return ListT(self.wider(item), None if items is None else tuple(map(self.wider, items)))
            case Undefined():
                return t
        raise Unbatchable

    # -- statements ------------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        op = stmt.op
        self.build.at(stmt)
        match op:
            case Loop():
                return self.loop(stmt)
            case Branch():
                return self.branch(stmt)
            case Let(value) | Call(type(), (value,)) if not isinstance(value, tuple):
                check_ranks([v.type for v in stmt.targets], (value,))
        if not any(a in self.found for a in op.reads):
            targets = tuple(map(fresh, stmt.targets))
            self.build.add(replace(stmt, targets=targets, op=map_op(op, self.unbatched)))
            self.plain.update(zip(stmt.targets, targets))
            if isinstance(op, Build) and not op.items:
                self.empty.add(stmt.targets[0])
        else:
            self.found.update(zip(stmt.targets, self.touched(stmt)))

    def touched(self, stmt: Stmt) -> tuple[Var, ...]:
        """Write an op that reads batched values, and return its batched results; a shape or dtype is none."""
        op, target = stmt.op, stmt.targets[0] if stmt.targets else None
        match op:
            case Let(value) if isinstance(value, Var):
                return (self.found[value],)
            case Append(base, value, (), None):
                check_ranks((target.type.item,), (value,))
                return (self.emit(target, Append(self.spread(base), self.spread(value))),)
            case Pop(base, (), None):
                new = tuple(fresh(t, type=self.wider(t.type)) for t in stmt.targets)
                self.build.add(Stmt(new, Pop(self.found[base])))
                return new
            case Attr(base, "shape"):
                whole = self.build.attr(self.found[base], "shape")
                self.plain[target] = self.build.index(whole, Slice(Const(1), None, None), name="shape")
                return ()
            case Attr(base, "dtype" as name):
                self.plain[target] = self.build.attr(self.found[base], name)
                return ()
            case Index(base, key) if not self.is_batched(key):
                return (self.emit(target, Index(self.found[base], self.key(key))),)
            case Update():
                return (self.update(stmt),)
            case Call(_, _, _, False):
                return (self.call(target, op),)
        raise Unbatchable

    def emit(self, target: Var, op) -> Var:
        """Return a new variable in place of `target`, bound to an op whose type must be that of `target` behind the new axis."""
        if isinstance(op, (Index, Call)):
            self.check(target, self.build.result_type(op))
        return self.written(target, op)

    def written(self, target: Var, op) -> Var:
        new = fresh(target, type=self.wider(target.type))
        self.build.add(Stmt((new,), op))
        return new

    def check(self, target: Var, inferred: Type) -> None:
        dims = getattr(inferred, "dims", None) or ()
        own = getattr(target.type, "dims", ())
        if len(dims) != rank_of(target) + 1 or dims[0] != self.dim or any(map(differ, dims[1:], own)):
            raise Unbatchable

    def key(self, key: Operand) -> tuple:
        """Return the subscript of the batched array that takes the same part of each value."""
        return behind(key, self.unbatched)

    def update(self, stmt: Stmt) -> Var:
        op: Update = stmt.op
        if any(self.is_batched(s.key) if isinstance(s, Sub) else True for s in op.path) or len(op.path) > 1 or isinstance(op.value, tuple):
            raise Unbatchable
        if not isinstance(atom_type(op.base), Array):
            raise Unbatchable
        base = self.spread(op.base)
        if not op.path:
            part, path = rank_of(op.base), ()
        else:
            scratch = Builder()
            old = scratch.index(op.base, op.path[0].key)
            part, path = rank_of(old), (Sub(self.key(op.path[0].key)),)
            self.check(old, self.build.result_type(Index(base, path[0].key)))
        return self.emit(stmt.targets[0], replace(op, base=base, path=path, value=self.aligned(op.value, part)))

    # -- control flow ----------------------------------------------------------------------------------------------------

    def branch(self, stmt: Stmt) -> None:
        op: Branch = stmt.op
        for arm in (op.then, op.orelse):
            check_ranks([v.type for v in stmt.targets], arm.results)
        if self.varies(op.cond):
            raise Unbatchable
        arms = []
        for arm in (op.then, op.orelse):
            inner = self.inside()
            with self.build.block() as stmts:
                inner.block(arm)
            arms.append((inner, stmts, arm.results))
        wide = [any(inner.varies(results[k]) for inner, _, results in arms) for k in range(len(stmt.targets))]
        blocks = []
        for inner, stmts, results in arms:
            with self.build.block() as more:
                ends = tuple(inner.spread(r) if w else inner.unbatched(r) for r, w in zip(results, wide))
            blocks.append(Block((*stmts, *more), ends))
        self.close(stmt, Branch(self.unbatched(op.cond), *blocks, op.kind), wide)

    def loop(self, stmt: Stmt) -> None:
        op: Loop = stmt.op
        check_ranks([v.type for v in op.params], op.inits)
        check_ranks([v.type for v in op.params], op.body.results)
        wide = [self.varies(init) for init in op.inits]
        empty = {p for p, init in zip(op.params, op.inits) if init in self.empty}
        while True:
            inner = self.inside()
            inner.empty |= empty
            params = tuple(fresh(p, type=self.wider(p.type)) if w else fresh(p) for p, w in zip(op.params, wide))
            for p, new, w in zip(op.params, params, wide):
                (inner.found if w else inner.plain)[p] = new
            index = None if op.index is None else fresh(op.index)
            if index is not None:
                inner.plain[op.index] = index
            with self.build.block() as test:
                if isinstance(op.domain, Block):
                    inner.block(op.domain)
            with self.build.block() as stmts:
                inner.block(op.body)
                now = [w or inner.varies(r) for r, w in zip(op.body.results, wide)]
                stay = {p for p, r, w in zip(op.params, op.body.results, now) if p in empty and (w or r in inner.empty)}
                if now == wide and stay == empty:
                    ends = tuple(inner.spread(r) if w else inner.unbatched(r) for r, w in zip(op.body.results, wide))
                    break
            wide, empty = now, stay
        if op.leave is not None and wide[op.params.index(op.leave)]:
            raise Unbatchable
        match op.domain:
            case Range(start, stop, step):
                if any(map(self.varies, (start, stop, step))):
                    raise Unbatchable
                domain = Range(*map(self.unbatched, (start, stop, step)))
            case Block(results=(cond,)):
                if inner.varies(cond):
                    raise Unbatchable
                domain = Block(tuple(test), (inner.unbatched(cond),))
            case atom:
                if self.varies(atom):
                    raise Unbatchable
                domain = self.unbatched(atom)
        inits = tuple(self.spread(i) if w else self.unbatched(i) for i, w in zip(op.inits, wide))
        leave = None if op.leave is None else params[op.params.index(op.leave)]
        self.close(stmt, Loop(domain, index, params, inits, Block(tuple(stmts), ends), leave), wide)

    def inside(self) -> Batched:
        """Return a writer for a block inside this one, which starts with what this writer knows."""
        inner = Batched(self.build, dict(self.found), self.size, self.dim)
        inner.plain, inner.empty = dict(self.plain), set(self.empty)
        return inner

    def close(self, stmt: Stmt, op, wide: list[bool]) -> None:
        """Append a branch or loop and bind its results."""
        self.build.at(stmt)
        targets = tuple(fresh(t, type=self.wider(t.type)) if w else fresh(t) for t, w in zip(stmt.targets, wide))
        self.build.add(Stmt(targets, op))
        for old, new, w in zip(stmt.targets, targets, wide):
            (self.found if w else self.plain)[old] = new


def check_ranks(types: Sequence[Type], atoms: tuple[Atom, ...]) -> None:
    """Reject a number that stands for an array before the first iteration (`loop_variants.starts_as_number`)."""
    for t, atom in zip(types, atoms):
        if isinstance(t, Array) and isinstance(atom_type(atom), Scalar):
            raise Unbatchable


def differ(a, b) -> bool:
    """Return whether two dims are known numbers that differ."""
    return isinstance(a, int) and isinstance(b, int) and a != b
