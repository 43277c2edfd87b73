"""A block over several values at once: some of its variables get a new first axis, and every op that reads them follows.

    t_y = np.cos(x) * t_x            t_x of shape (k, n):     np.cos(x) * t_x
    t_y = w @ t_x                                              t_x @ w.T
    t_s = np.sum(t_y)                                          np.sum(t_y, axis=1)
    t_h = loop (t = t_0) ...: u @ t                            the same loop, over t of shape (k, n)

What is not batched stays as it is.  An op without a rule here makes the block `Unbatchable`; nothing is guessed.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.elementwise import is_elementwise
from sourcead.ir.nodes import (
    UNDEFINED,
    Append,
    Atom,
    Attr,
    Block,
    Branch,
    Build,
    Call,
    Const,
    Index,
    Let,
    Loop,
    Operand,
    Pop,
    Range,
    Slice,
    Stmt,
    Sub,
    Update,
    Var,
    fresh,
    map_op,
    map_operand,
    operand_atoms,
)
from sourcead.ir.types import ANY_DTYPE, Array, ListT, Scalar, TupleT, Type, Undefined

ALL = Slice(None, None, None)
MATMULS = (operator.matmul, np.matmul, np.dot)
REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod, np.amax, np.amin)
LIKE = (np.zeros_like, np.ones_like, np.empty_like)
COPIES = (np.copy, np.ndarray.copy, np.ascontiguousarray, np.conj, np.conjugate, np.real, np.imag)


class Unbatchable(Exception):
    """An op of the block has no form over several values at once."""


class Batched:
    """Writes a block with some variables batched.

    Attributes:
        build: where the statements go.
        found: variables of the block -> what stands for them, with a first axis of length `size`.
        plain: variables of the block -> what stands for them, without.
    """

    def __init__(self, build: Builder, found: dict[Var, Var], size: Atom, dim):
        self.build, self.found, self.size, self.dim = build, found, size, dim
        self.plain: dict[Var, Atom] = {}
        self.empty: set[Var] = set()  # lists without items

    # -- operands --------------------------------------------------------------------------------------------------------

    def is_batched(self, operand: Operand | None) -> bool:
        return any(a in self.found for a in operand_atoms(operand))

    def unbatched(self, atom: Atom) -> Atom:
        return self.plain.get(atom, atom) if isinstance(atom, Var) else atom

    def value(self, atom: Atom) -> Atom:
        return self.found[atom] if atom in self.found else self.unbatched(atom)

    def aligned(self, atom: Atom, rank: int) -> Atom:
        """An operand that broadcasts, behind the first axis, like one of this rank."""
        own = rank_of(atom)
        if atom not in self.found or own == rank:
            return self.value(atom)
        return self.build.index(self.found[atom], (ALL, *[Const(None)] * (rank - own), *[ALL] * own))

    def spread(self, atom: Atom) -> Var:
        """A value as it is for every one of the batch."""
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
        """The type of a value with the new axis."""
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

    def bind(self, target: Var, value: Var) -> None:
        """`value` is what stands for `target`."""
        self.found[target] = value

    # -- statements ------------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        op = stmt.op
        self.build.origin, self.build.adjoint_of, self.build.within = stmt.origin, stmt.adjoint_of, stmt.within
        match op:
            case Loop():
                return self.loop(stmt)
            case Branch():
                return self.branch(stmt)
        touched = any(a in self.found for a in op.reads)
        if not touched:
            targets = tuple(map(fresh, stmt.targets))
            self.build.add(replace(stmt, targets=targets, op=map_op(op, self.unbatched)))
            self.plain.update(zip(stmt.targets, targets))
            if isinstance(op, Build) and not op.items:
                self.empty.add(stmt.targets[0])
            return None
        match op:
            case Let(value) if isinstance(value, Var):
                return self.bind(stmt.targets[0], self.found[value])
            case Append(base, value, (), None):
                return self.bind(stmt.targets[0], self.emit(stmt.targets[0], Append(self.spread(base), self.spread(value))))
            case Pop(base, (), None):
                rest, item = stmt.targets
                new = tuple(fresh(t, type=self.wider(t.type)) for t in (rest, item))
                self.build.add(Stmt(new, Pop(self.found[base])))
                self.found.update(zip((rest, item), new))
                return None
            case Attr(base, "shape"):
                whole = self.build.attr(self.found[base], "shape")
                self.plain[stmt.targets[0]] = self.build.index(whole, Slice(Const(1), None, None), name="shape")
                return None
            case Attr(base, "dtype" as name):
                self.plain[stmt.targets[0]] = self.build.attr(self.found[base], name)
                return None
            case Index(base, key) if not self.is_batched(key):
                return self.bind(stmt.targets[0], self.emit(stmt.targets[0], Index(self.found[base], self.key(key, rank_of(base)))))
            case Update():
                return self.bind(stmt.targets[0], self.update(stmt))
            case Call(_, _, _, False):
                return self.bind(stmt.targets[0], self.call(stmt.targets[0], op))
        raise Unbatchable

    def emit(self, target: Var, op) -> Var:
        new = fresh(target, type=self.wider(target.type))
        self.build.add(Stmt((new,), op))
        return new

    def key(self, key: Operand, rank: int) -> tuple:
        """A subscript behind the first axis."""
        parts = key if isinstance(key, tuple) else (key,)
        arrays = [k for k, part in enumerate(parts) if isinstance(part, (Var, Const)) and not is_plain_index(part)]
        if arrays:
            arrays = [k for k, part in enumerate(parts) if not isinstance(part, Slice) and not is_none(part)]
        if arrays and arrays[-1] - arrays[0] + 1 > len(arrays) or len(parts) > rank + sum(is_none(p) for p in parts) + 1:
            raise Unbatchable  # NumPy would put their axis first
        if arrays and any(isinstance(p, Var) and is_plain_index(p) for p in parts):
            raise Unbatchable
        return (ALL, *(map_key(p, self.unbatched) for p in parts))

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
            part = rank_of(scratch.index(op.base, op.path[0].key))
            path = (Sub(self.key(op.path[0].key, rank_of(op.base))),)
        return self.emit(stmt.targets[0], replace(op, base=base, path=path, value=self.aligned(op.value, part)))

    # -- calls -------------------------------------------------------------------------------------------------------------

    def call(self, target: Var, op: Call) -> Var:
        fn, args, kwargs = op.fn, op.args, dict(op.kwargs)
        if isinstance(fn, Var) or any(isinstance(a, tuple) and self.is_batched(a) for a in args):
            raise Unbatchable
        if is_elementwise(fn) and not kwargs:
            rank = max(map(rank_of, args))
            return self.emit(target, replace(op, args=tuple(self.aligned(a, rank) for a in args)))
        if fn in MATMULS and len(args) == 2 and not kwargs:
            return self.product(target, *args)
        if fn is np.outer and len(args) == 2 and not kwargs and rank_of(args[0]) == rank_of(args[1]) == 1:
            a, b = (self.column(args[0]), self.row(args[1]))
            return self.emit(target, Call(np.multiply, (a, b)))
        if fn in REDUCTIONS and not kwargs.keys() - {"axis", "keepdims"} and len(args) == 1:
            return self.reduction(target, op, kwargs)
        if fn in LIKE and len(args) == 1 and not kwargs or fn in COPIES and len(args) == 1 and not kwargs:
            return self.emit(target, replace(op, args=(self.found[args[0]],)))
        if fn is np.ndarray.astype and len(args) == 2 and not kwargs and not self.is_batched(args[1]):
            return self.emit(target, replace(op, args=(self.found[args[0]], map_operand(args[1], self.unbatched))))
        if fn is np.transpose and not kwargs:
            return self.emit(target, Call(np.transpose, (self.found[args[0]], self.axes(args))))
        if fn in (np.broadcast_to, np.reshape) and len(args) == 2 and not kwargs and not self.is_batched(args[1]):
            return self.shaped(target, fn, *args)
        if fn is np.expand_dims and len(args) == 2 and is_int(args[1]) and not kwargs:
            return self.emit(target, Call(fn, (self.found[args[0]], Const(moved(args[1].value, rank_of(args[0]) + 1)))))
        raise Unbatchable

    def product(self, target: Var, a: Atom, b: Atom) -> Var:
        ranks = rank_of(a), rank_of(b)
        if max(ranks) > 2 or min(ranks) < 1:
            raise Unbatchable
        x, y = self.value(a), self.value(b)
        if a in self.found and b in self.found:
            if ranks == (1, 1):
                return self.emit(target, Call(np.sum, (self.build.call(np.multiply, x, y),), (("axis", Const(1)),)))
            if ranks == (2, 1):
                return self.drop(target, self.build.call(np.matmul, x, self.build.index(y, (ALL, ALL, Const(None)))), (ALL, ALL, Const(0)))
            if ranks == (1, 2):
                return self.drop(target, self.build.call(np.matmul, self.build.index(x, (ALL, Const(None), ALL)), y), (ALL, Const(0), ALL))
        elif b in self.found and ranks == (2, 1):
            return self.emit(target, Call(operator.matmul, (y, self.build.call(np.transpose, x))))
        elif b in self.found and ranks == (1, 1):
            x, y = y, x
        return self.emit(target, Call(operator.matmul, (x, y)))

    def drop(self, target: Var, found: Var, key: tuple) -> Var:
        return self.emit(target, Index(found, key))

    def column(self, v: Atom) -> Atom:
        """The left operand of an outer product."""
        return self.build.index(self.value(v), (ALL, ALL, Const(None)) if v in self.found else (ALL, Const(None)))

    def row(self, v: Atom) -> Atom:
        """The right one."""
        return self.build.index(self.found[v], (ALL, Const(None), ALL)) if v in self.found else self.value(v)

    def reduction(self, target: Var, op: Call, kwargs: dict) -> Var:
        (x,), rank = op.args, rank_of(op.args[0])
        axis = kwargs.get("axis", Const(None))
        keeps = kwargs.get("keepdims", Const(False))
        if not isinstance(keeps, Const) or isinstance(axis, Var):
            raise Unbatchable
        if rank == 0:
            return self.found[x]
        match axis:
            case Const(None):
                over: Operand = tuple(Const(k + 1) for k in range(rank)) if rank > 1 else Const(1)
            case Const(int(k)):
                over = Const(moved(k, rank))
            case tuple() if all(map(is_int, axis)):
                over = tuple(Const(moved(k.value, rank)) for k in axis)
            case _:
                raise Unbatchable
        kwargs = {**kwargs, "axis": over}
        return self.emit(target, replace(op, args=(self.found[x],), kwargs=tuple(kwargs.items())))

    def axes(self, args: tuple) -> tuple:
        rank = rank_of(args[0])
        if len(args) == 1:
            return tuple(Const(k) for k in (0, *range(rank, 0, -1)))
        if isinstance(args[1], tuple) and all(map(is_int, args[1])):
            return (Const(0), *(Const(k.value % rank + 1) for k in args[1]))
        raise Unbatchable

    def shaped(self, target: Var, fn, x: Atom, shape: Operand) -> Var:
        """`np.broadcast_to(x, shape)`, `np.reshape(x, shape)`."""
        rank = rank_of(target)
        own = self.aligned(x, rank) if fn is np.broadcast_to else self.found[x]
        if isinstance(shape, tuple):
            lengths: Operand = (self.size, *map(self.unbatched, shape))
        elif isinstance(atom_type(shape), TupleT):
            first = self.build.emit(Build("tuple", (self.size,)), TupleT((atom_type(self.size),)), "lengths")
            t = TupleT((atom_type(self.size), *atom_type(shape).items))
            lengths = self.build.call(operator.add, first, self.unbatched(shape), type=t, name="lengths")
        else:
            lengths = (self.size, self.unbatched(shape))
        return self.emit(target, Call(fn, (own, lengths)))

    # -- control flow ----------------------------------------------------------------------------------------------------

    def branch(self, stmt: Stmt) -> None:
        op: Branch = stmt.op
        if op.cond in self.found:
            raise Unbatchable
        arms = []
        for arm in (op.then, op.orelse):
            inner = self.inside()
            with self.build.block() as stmts:
                inner.block(arm)
            arms.append((inner, stmts, arm.results))
        wide = [any(r in inner.found for inner, _, r in ((i, s, rs[k]) for i, s, rs in arms)) for k in range(len(stmt.targets))]
        blocks = []
        for inner, stmts, results in arms:
            with self.build.block() as more:
                ends = tuple(inner.spread(r) if w else inner.unbatched(r) for r, w in zip(results, wide))
            blocks.append(Block((*stmts, *more), ends))
        self.close(stmt, Branch(self.unbatched(op.cond), *blocks, op.kind), wide)

    def loop(self, stmt: Stmt) -> None:
        op: Loop = stmt.op
        wide = [init in self.found for init in op.inits]
        if op.leave is not None and wide[op.params.index(op.leave)]:
            raise Unbatchable
        while True:
            inner = self.inside()
            params = tuple(fresh(p, type=self.wider(p.type)) if w else fresh(p) for p, w in zip(op.params, wide))
            for p, new, w in zip(op.params, params, wide):
                (inner.found if w else inner.plain)[p] = new
            for p, init in zip(op.params, op.inits):
                if init in self.empty:
                    inner.empty.add(p)
            index = None if op.index is None else fresh(op.index)
            if index is not None:
                inner.plain[op.index] = index
            with self.build.block() as test:
                if isinstance(op.domain, Block):
                    inner.block(op.domain)
            with self.build.block() as stmts:
                inner.block(op.body)
                after = [r in inner.found for r in op.body.results]
                if after == wide or not any(a and not w for a, w in zip(after, wide)):
                    ends = tuple(inner.spread(r) if w else inner.unbatched(r) for r, w in zip(op.body.results, wide))
                    break
            wide = [a or w for a, w in zip(after, wide)]
        match op.domain:
            case Range(start, stop, step):
                if any(a in self.found for a in (start, stop, step)):
                    raise Unbatchable
                domain = Range(*map(self.unbatched, (start, stop, step)))
            case Block(results=(cond,)):
                if cond in inner.found:
                    raise Unbatchable
                domain = Block(tuple(test), (inner.unbatched(cond),))
            case atom:
                if atom in self.found:
                    raise Unbatchable
                domain = self.unbatched(atom)
        inits = tuple(self.spread(i) if w else self.unbatched(i) for i, w in zip(op.inits, wide))
        leave = None if op.leave is None else params[op.params.index(op.leave)]
        self.close(stmt, Loop(domain, index, params, inits, Block(tuple(stmts), ends), leave), wide)

    def inside(self) -> Batched:
        """The same for a block inside."""
        inner = Batched(self.build, dict(self.found), self.size, self.dim)
        inner.plain, inner.empty = dict(self.plain), set(self.empty)
        return inner

    def close(self, stmt: Stmt, op, wide: list[bool]) -> None:
        """Appends a branch or loop, and binds its results."""
        self.build.origin, self.build.adjoint_of, self.build.within = stmt.origin, stmt.adjoint_of, stmt.within
        targets = tuple(fresh(t, type=self.wider(t.type)) if w else fresh(t) for t, w in zip(stmt.targets, wide))
        self.build.add(Stmt(targets, op))
        for old, new, w in zip(stmt.targets, targets, wide):
            (self.found if w else self.plain)[old] = new


def rank_of(operand: Operand) -> int:
    """The number of axes of an operand, which must be known."""
    if isinstance(operand, (tuple, Slice)) or operand is None:
        raise Unbatchable
    match atom_type(operand):
        case Array(_, dims) if dims is not None:
            return len(dims)
        case Scalar():
            return 0
    raise Unbatchable


def is_plain_index(part: Operand) -> bool:
    """Whether a part of a subscript is a number, or None, or an ellipsis."""
    if isinstance(part, Const) and (part.value is None or part.value is ... or isinstance(part.value, int)):
        return not isinstance(part.value, bool)
    return isinstance(atom_type(part), Scalar) and atom_type(part).kind == "int"


def is_none(part: Operand) -> bool:
    return isinstance(part, Const) and part.value is None


def is_int(atom: Operand) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int and not atom.live


def moved(axis: int, rank: int) -> int:
    """An axis behind the first one."""
    return axis % rank + 1


def map_key(part: Operand, f) -> Operand:
    if isinstance(part, Slice):
        return Slice(*(None if p is None else f(p) for p in (part.lower, part.upper, part.step)))
    return f(part)


