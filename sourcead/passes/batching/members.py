"""Computes a block for all members of a batch, where members may differ in the branches that they take and in how long they loop.

    y = f(x)        y = f(x)                                                x: (n), if f has a batched form
    y = g(x)        ys = [];  for i in range(n): ys += [g(x[i])]            else
                    y = np.stack(ys)

`blocks.py` has the forms that jacobians and `map` use too.  What is added here: containers whose parts are known one by one, subscripts
that differ (`member_calls.py`), branches (`member_branches.py`), loops (`member_loops.py`), and the loop over the members for any statement
without such a form (`one_by_one.py`), about which `notes` says so.  A value whose shape may differ between members, such as `x[x > 0]`, is
not stacked: its elements are computed in one vector (`selected.py`), and what that does not do in one loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type, container
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Attr, Block, Branch, Build, Call, Const, Effect, Index, Let, Loop, Pop, Stmt, Update, Var,
    fresh
)
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.types import Array, Scalar, Type, keyed_parts
from sourcead.ir.walk import free_vars, map_atoms, walk
from sourcead.passes.batching.blocks import check_ranks
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.entries import (
    PLAIN_DTYPES, Entry, Parts, Same, Wide, is_wide, map_leaves, terms_in, wide_type
)
from sourcead.passes.batching.member_loops import MemberLoops
from sourcead.passes.batching.safe import may_fail
from sourcead.passes.batching.selected import Selected


class Members(Selected, MemberLoops):
    """Writes a block for all members.

    Attributes (besides those of `Batched`):
        parts: containers that are known part by part, by the variables of the block.
        deferred: statements that are not written yet, because the shapes of their results may differ between members, by result.
        uniform: the sizes that are the same for all members.
        notes: gets a line for each loop over the members.
        may_be_empty: whether these may be no members, because they are those that take an arm.
        begin_as_numbers: what is a number where its type says array (`check_ranks`).
        risks: statements that are the same for all members and may raise an error.
    """

    def __init__(self, build: Builder, size: Atom, dim: Dim, notes: dict[str, None], applied: Callable[..., Atom]):
        super().__init__(build, {}, size, dim)
        self.applied = applied
        self.parts: dict[Var, Parts] = {}
        self.deferred: dict[Var, Stmt] = {}
        self.selected, self.masks = {}, {}
        self.uniform: set[Sym] = set()
        self.notes = notes
        self.may_be_empty = False
        self.begin_as_numbers: set[Atom] = set()
        self.risks: list[Stmt] = []

    def inside(self) -> Members:
        inner = Members(self.build, self.size, self.dim, self.notes, self.applied)
        inner.found, inner.plain, inner.empty = dict(self.found), dict(self.plain), set(self.empty)
        inner.parts, inner.deferred, inner.uniform = dict(self.parts), dict(self.deferred), set(self.uniform)
        inner.may_be_empty, inner.risks, inner.begin_as_numbers = self.may_be_empty, self.risks, self.begin_as_numbers
        return inner

    # -- values ----------------------------------------------------------------------------------------------------------

    def entry(self, atom: Atom) -> Entry:
        if atom in self.found:
            return Wide(self.found[atom])
        return self.parts[atom] if atom in self.parts else Same(self.plain.get(atom, atom) if isinstance(atom, Var) else atom)

    def bind(self, var: Var, entry: Entry) -> None:
        """Note what a variable of the block stands for."""
        match entry:
            case Wide(new):
                self.found[var] = new
            case Same(atom):
                self.plain[var] = atom
            case Parts():
                self.parts[var] = entry
        self.uniform |= terms_in(var.type)
        if isinstance(number := self.build.number(var), Sym) and isinstance(entry, Same):
            self.uniform |= set(number.terms)

    def varies(self, atom: Atom) -> bool:
        return atom in self.found or atom in self.deferred or atom in self.parts and is_wide(self.parts[atom])

    def unbatched(self, atom: Atom) -> Atom:
        if atom in self.parts:
            return self.whole(self.parts[atom])
        return super().unbatched(atom)

    def whole(self, entry: Entry) -> Atom:
        """Return an entry that is the same for all members as one value."""
        match entry:
            case Same(atom):
                return atom
            case Parts(t, items):
                return self.build.emit(container(t, tuple(map(self.whole, items.values()))), t)
        raise Unbatchable

    def wider(self, t: Type) -> Type:
        return wide_type(t, self.dim)

    def spread(self, atom: Atom) -> Atom:
        if atom in self.deferred:
            raise Unbatchable
        if atom is UNDEFINED or atom in self.empty and atom not in self.found:
            return self.unbatched(atom)
        return self.spread_entry(self.entry(atom), atom_type(atom))

    def spread_entry(self, entry: Entry, t: Type) -> Atom:
        """Return an entry with the new axis in all numbers and arrays, as one value."""
        match entry:
            case Wide(var):
                return var
            case Parts(t, items):
                found = tuple(self.spread_entry(item, part) for item, (_, part) in zip(items.values(), keyed_parts(t)))
                return self.build.emit(container(t, found), self.wider(t))
            case Same(atom) if isinstance(t, Scalar | Array):
                if atom in self.build.maybe_number or atom in self.begin_as_numbers:
                    raise Unbatchable
                return self.repeated(atom, t)
            case Same(atom):
                return map_leaves(self.build, atom, t, lambda part, u: (self.repeated(part, u), self.wider(u)))[0]
        raise Unbatchable

    def repeated(self, atom: Atom, t: Type) -> Var:
        """Emit a number or an array once for each member."""
        wide = self.wider(t)
        if isinstance(t, Scalar):
            options = {} if t.dtype is not None or t.kind == "float" else {"dtype": Const(PLAIN_DTYPES[t.kind])}
            return self.build.call(np.full, self.size, atom, type=wide, name="each", **options)
        one = self.build.index(atom, (Const(None), Const(...)))
        return self.build.call(np.repeat, one, self.size, axis=Const(0), type=wide, name="each")

    def check(self, target: Var, inferred: Type) -> None:
        if not isinstance(target.type, (Scalar, Array)):
            raise Unbatchable
        super().check(target, inferred)

    def emit(self, target: Var, op) -> Var:
        """Return a new variable in place of `target`, with its dtype, which an array in place of a Python number might change."""
        if not isinstance(op, (Index, Call)):
            return self.written(target, op)
        inferred = self.build.result_type(op)
        self.check(target, inferred)
        want, have = self.wider(target.type).dtype, getattr(inferred, "dtype", None)
        if want is None or have is None or want == have:
            return self.written(target, op)
        if want.kind not in "fciu" or have.kind not in "fciu" or "fciu".index(have.kind) > "fciu".index(want.kind) and want.kind in "iu":
            raise Unbatchable
        first = self.build.emit(op, replace(inferred, dims=self.wider(target.type).dims), target.name)
        return self.written(target, Call(np.ndarray.astype, (first, Const(want))))

    # -- statements ------------------------------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.statement(stmt)

    def ended(self, block: Block) -> None:
        """Refuse a block that yields a value whose shape differs between members."""
        if any(r in self.deferred for r in block.results):
            raise Unbatchable

    def statement(self, stmt: Stmt) -> None:
        self.build.at(stmt)
        read = free_vars(Block((stmt,)))
        if not any(map(self.varies, read)):
            return self.uniform_statement(stmt)
        ways = [self.of_selected] if any(v in self.deferred for v in read) else [self.batched_statement, self.of_selected]
        for way in ways:
            self.build.at(stmt)
            if self.tries(lambda way=way: way(stmt)):
                return
        self.build.at(stmt)
        self.one_by_one(stmt)

    def tries(self, write: Callable[[], None]) -> bool:
        """Return whether something can be written; what was written before it could not is removed."""
        mark, notes = len(self.build.stmts), dict(self.notes)
        try:
            write()
        except Unbatchable:
            del self.build.stmts[mark:]
            self.notes.clear()
            self.notes.update(notes)
            return False
        return True

    def uniform_statement(self, stmt: Stmt) -> None:
        """Write a statement that is the same for all members."""
        if isinstance(stmt.op, Index) and stmt.op.base in self.parts and isinstance(stmt.op.key, Const):
            return self.bind(stmt.targets[0], self.parts[stmt.op.base].items[stmt.op.key.value])
        if may_fail(stmt):
            self.risks.append(stmt)
        (new,) = self.copy(Block((stmt,)), {v: self.whole(self.entry(v)) for v in free_vars(Block((stmt,)))}).stmts
        self.build.add(new)
        arrays = [v for v in free_vars(Block((new,))) if isinstance(v.type, Array)]
        may_be_numbers = not has_rank(stmt) or bool(arrays) and self.begin_as_numbers.issuperset(arrays)
        for old, var in zip(stmt.targets, new.targets):
            self.bind(old, Same(var))
            if may_be_numbers:
                self.begin_as_numbers.add(var)
            self.build.made_by[var] = new.op
            self.build.learn(var, new.op)
        if isinstance(stmt.op, Build) and not stmt.op.items:
            self.empty.add(stmt.targets[0])

    def copy(self, block: Block, names: dict[Var, Atom]) -> Block:
        """Return a copy of a block that binds fresh variables, of which the same is known; `names` replaces variables that it reads."""
        names = dict(names)

        def bind(var: Var) -> Var:
            names[var] = fresh(var)
            if var in self.build.maybe_number:
                self.build.maybe_number.add(names[var])
            return names[var]

        return map_atoms(block, lambda a: names.get(a, a) if isinstance(a, Var) else a, bind)

    def batched_statement(self, stmt: Stmt) -> None:
        op = stmt.op
        if not has_rank(stmt):
            raise Unbatchable
        match op:
            case Loop():
                return self.loop(stmt)
            case Branch():
                return self.branch(stmt)
            case Build(kind="set"):
                raise Unbatchable
            case Build(items=items):
                t = stmt.targets[0].type
                if keyed_parts(t) is None:
                    raise Unbatchable
                keys = [key for key, _ in keyed_parts(t)]
                return self.bind(stmt.targets[0], Parts(t, dict(zip(keys, map(self.entry, items)))))
            case Let(Var() as value):
                return self.bind(stmt.targets[0], self.entry(value))
            case Index(base, Const(key)) if base in self.parts and key in self.parts[base].items:
                return self.bind(stmt.targets[0], self.parts[base].items[key])
        for target, new in zip(stmt.targets, self.touched(stmt)):
            self.bind(target, new if isinstance(new, Wide | Same | Parts) else Wide(new))

    def touched(self, stmt: Stmt) -> tuple:
        """Write an op, and return what stands for its results."""
        op, target = stmt.op, stmt.targets[0] if stmt.targets else None
        match op:
            case Attr(base, name):
                return (Same(self.attribute(base, name)),)
            case Append(base, value, (), None):
                check_ranks((target.type.item,), (value,))
                return (self.emit(target, Append(self.spread(base), self.spread(value))),)
            case Index(base, key) if isinstance(atom_type(base), Array):
                return (self.part_of_array(target, base, key),)
            case Index(base, key):
                if self.is_batched(key):
                    return (self.item_of_table(target, base, key),)
                return (self.written(target, Index(self.spread(base), self.mapped(key))),)
            case Update():
                return (self.update(stmt),)
            case Call(effect=False):
                return (self.call(target, op),)
            case Effect():
                raise Unbatchable
            case Pop(base) if base not in self.found:
                raise Unbatchable
        return super().touched(stmt)

    def attribute(self, base: Atom, name: str) -> Atom:
        """Emit an attribute of a member's array, which is the same for all."""
        dims = getattr(atom_type(base), "dims", None)
        if name == "ndim" and dims is not None:
            return Const(len(dims))
        whole = self.spread(base)
        if name == "dtype":
            return self.build.attr(whole, name)
        if name == "shape":
            return self.build.index(self.build.attr(whole, "shape"), self.behind_first(), name="shape")
        if name == "size" and dims is not None and all(isinstance(n, int) for n in dims):
            return Const(int(np.prod(dims)))
        if name == "size" and dims is not None and len(dims) == 1:
            return self.build.index(self.build.attr(whole, "shape"), Const(1), name="size")
        raise Unbatchable


def has_rank(stmt: Stmt) -> bool:
    """Return whether a copy or a conversion has the rank that its type says; it may be a number that a loop begins with (`check_ranks`)."""
    match stmt.op:
        case Let(value) | Call(type(), (value,)) if not isinstance(value, tuple):
            return not (isinstance(stmt.targets[0].type, Array) and isinstance(atom_type(value), Scalar))
    return True


def has_calls_with_effects(block: Block) -> bool:
    """Return whether a block prints, draws random numbers or the like."""
    return any(isinstance(s.op, Call) and s.op.effect for s in walk(block))
