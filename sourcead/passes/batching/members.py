"""Computes a block for all members of a batch, where members may differ in the branches that they take and in how long they loop.

    y = f(x)        y = f(x)                                                x: (n), if f has a batched form
    y = g(x)        ys = [];  for i in range(n): ys += [g(x[i])]            else
                    y = np.stack(ys)

`blocks.py` has the forms that jacobians and `map` use too.  What is added here: containers whose parts are known one by one, subscripts
that differ (`member_calls.py`), branches and loops (`member_control.py`), and the loop over the members for any statement without such a
form, about which `notes` says so.  A value whose shape may differ between members, such as `x[x > 0]`, is not stacked: what reads it is
computed in the same loop.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sourcead.analysis.builder import Builder, atom_type, container
from sourcead.analysis.unassigned import NOTHING
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Attr, Block, Branch, Build, Call, Const, Effect, Index, Let, Loop, Range, Stmt, Sub, Update,
    Var, fresh
)
from sourcead.ir.sizes import Dim, Sym
from sourcead.ir.types import INT, UNKNOWN, Array, ListT, Scalar, Type, Undefined, Unknown, keyed_parts
from sourcead.ir.walk import copied, free_vars, map_op, walk
from sourcead.passes.batching.blocks import check_ranks
from sourcead.passes.batching.entries import (
    NOT_NUMBERS, PLAIN_DTYPES, Entry, Parts, Same, Wide, is_wide, map_leaves, terms_in, wide_type
)
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.member_control import MemberControl, of


class OneByOne(Exception):
    """A block must be computed for one member after the other, because its effects come in that order."""


class Members(MemberControl):
    """Writes a block for all members.

    Attributes (besides those of `Batched`):
        parts: containers that are known part by part, by the variables of the block.
        deferred: statements that are not written yet, because the shapes of their results may differ between members, by result.
        uniform: the sizes that are the same for all members.
        notes: gets a line for each loop over the members.
        may_be_empty: whether these may be no members, because they are those that take an arm.
    """

    def __init__(self, build: Builder, size: Atom, dim: Dim, notes: dict[str, None]):
        super().__init__(build, {}, size, dim)
        self.parts: dict[Var, Parts] = {}
        self.deferred: dict[Var, Stmt] = {}
        self.uniform: set[Sym] = set()
        self.notes = notes
        self.may_be_empty = False

    def inside(self) -> Members:
        inner = Members(self.build, self.size, self.dim, self.notes)
        inner.found, inner.plain, inner.empty = dict(self.found), dict(self.plain), set(self.empty)
        inner.parts, inner.deferred, inner.uniform = dict(self.parts), dict(self.deferred), set(self.uniform)
        inner.may_be_empty = self.may_be_empty
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
                if atom in self.build.maybe_number:
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
        """Return a new variable in place of `target`; a Python number lets the dtype of arrays as it is, and its array must not change it."""
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
        op = stmt.op
        self.build.at(stmt)
        read = free_vars(Block((stmt,)))
        if any(v in self.deferred for v in read):
            return self.one_by_one(stmt)
        if not any(map(self.varies, read)):
            return self.uniform_statement(stmt)
        mark = len(self.build.stmts)
        try:
            self.batched_statement(stmt)
        except Unbatchable:
            del self.build.stmts[mark:]
            self.build.at(stmt)
            self.one_by_one(stmt)

    def uniform_statement(self, stmt: Stmt) -> None:
        """Write a statement that is the same for all members."""
        if isinstance(stmt.op, Index) and stmt.op.base in self.parts and isinstance(stmt.op.key, Const):
            return self.bind(stmt.targets[0], self.parts[stmt.op.base].items[stmt.op.key.value])
        names: dict[Var, Atom] = {v: self.unbatched(v) for v in free_vars(Block((stmt,)))}
        if stmt.op.blocks:
            (new,) = copied(Block((stmt,)), names).stmts
        else:
            new = replace(stmt, targets=tuple(map(fresh, stmt.targets)), op=map_op(stmt.op, lambda a: names.get(a, a)))
        self.build.add(new)
        for old, var in zip(stmt.targets, new.targets):
            self.bind(old, Same(var))
            self.build.made_by[var] = new.op
            self.build.learn(var, new.op)
            if old in self.build.maybe_number:
                self.build.maybe_number.add(var)
        if isinstance(stmt.op, Build) and not stmt.op.items:
            self.empty.add(stmt.targets[0])

    def batched_statement(self, stmt: Stmt) -> None:
        op = stmt.op
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
                check_ranks([stmt.targets[0].type], (value,))
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
                    raise Unbatchable
                return (self.written(target, Index(self.spread(base), self.mapped(key))),)
            case Update():
                return (self.update(stmt),)
            case Call(effect=False):
                return (self.call(target, op),)
            case Effect():
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

    # -- one member after the other ---------------------------------------------------------------------------------------

    def one_by_one(self, stmt: Stmt) -> None:
        """Write a loop over the members for a statement, with all that it reads whose shape may differ."""
        needed: dict[Stmt, None] = {}

        def need(s: Stmt) -> None:
            for v in free_vars(Block((s,))):
                if v in self.deferred and self.deferred[v] not in needed:
                    need(self.deferred[v])
            needed[s] = None

        need(stmt)
        if not all(self.stacks(t.type) for t in stmt.targets) or unsure(stmt, set()):
            self.deferred.update(dict.fromkeys(stmt.targets, stmt))
            return
        for target, entry in zip(stmt.targets, self.stacked(Block(tuple(needed), stmt.targets))):
            self.bind(target, entry)

    def stacks(self, t: Type) -> bool:
        """Return whether the values of type `t` of all members surely have one shape."""
        if keyed_parts(t) is not None:
            return all(self.stacks(part) for _, part in keyed_parts(t))
        match t:
            case Scalar(kind):
                return kind in PLAIN_DTYPES
            case Array(dtype, dims):
                return dtype is not None and dtype.kind in "fciub" and dims is not None and terms_in(t) <= self.uniform
        return isinstance(t, NOT_NUMBERS)

    def stacked(self, block: Block) -> list[Entry]:
        """Write a loop over the members that computes a block, and return the results of all members."""
        build, leaves = self.build, []
        self.note(block)
        index = Var("i", INT, True)
        with build.block() as body:
            names = {v: self.of_member(self.entry(v), v.type, index) for v in free_vars(block) if self.varies(v) and v not in self.deferred}
            names |= {v: self.unbatched(v) for v in free_vars(block) if v not in names}
            inner = copied(Block(block.stmts, block.results), names)
            build.stmts += inner.stmts
            entries = [self.taken_apart(result, atom_type(old), leaves) for result, old in zip(inner.results, block.results)]
            holders, inits, ends = [], [], []
            for value, t in leaves:
                name = "members" if not isinstance(value, Var) or value.temp else f"{value.name}s"
                if self.has_room(t):
                    holders.append(Var(name, self.wider(t), True))
                    ends.append(build.emit(Update(holders[-1], (Sub(index),), value), holders[-1].type, name))
                elif self.may_be_empty:
                    raise Unbatchable  # nothing would tell the shape
                else:
                    holders.append(Var(name, ListT(t), True))
                    ends.append(build.emit(Append(holders[-1], value), ListT(t), name))
        for holder in holders:
            if isinstance(holder.type, Array):
                shape = self.shape_of(holder.type, None)
                inits.append(build.call(np.empty, shape, type=holder.type, name=holder.name, **of(holder.type)))
            else:
                inits.append(build.emit(Build("list", ()), holder.type, holder.name))
        outs = tuple(map(fresh, holders))
        domain = Range(Const(0), self.size, Const(1))
        build.add(Stmt(outs, Loop(domain, index, tuple(holders), tuple(inits), Block(tuple(body), tuple(ends)))))
        found = []
        for out, (_, t) in zip(outs, leaves):
            if isinstance(out.type, ListT):
                wide = Array(None, None) if isinstance(t, Unknown) else self.wider(t)
                out = build.call(np.stack, out, type=wide, name=out.name)
            found.append(out)
        return self.numbered(entries, found)

    def has_room(self, t: Type) -> bool:
        """Return whether the shape and dtype of a result are known before the first member is computed."""
        if isinstance(t, Scalar):
            return t.kind in PLAIN_DTYPES and self.wider(t).dtype is not None and t.least is None
        return isinstance(t, Array) and t.dtype is not None and t.dims is not None and all(isinstance(n, int) for n in t.dims)

    def taken_apart(self, value: Atom, t: Type, lists: list) -> Entry | None:
        """Add the numbers and arrays in a member's result to `lists`; return the structure with None in their places."""
        found = keyed_parts(t)
        if found is not None:
            items = {key: self.taken_apart(self.build.index(value, Const(key)), part, lists) for key, part in found}
            return Parts(t, items)
        if isinstance(t, NOT_NUMBERS):
            return Same(Const(getattr(t, "value", None))) if not isinstance(t, Str) else None
        if not isinstance(t, (Scalar, Array, Unknown)):
            raise Unbatchable
        lists.append((value, t))
        return None

    def numbered(self, entries: list, found: list[Var]) -> list[Entry]:
        """Return entries with the stacks `found`, in their order, where the entries have None."""
        stacks = iter(found)

        def filled(entry):
            if entry is None:
                return Wide(next(stacks))
            return Parts(entry.type, {k: filled(e) for k, e in entry.items.items()}) if isinstance(entry, Parts) else entry

        return [filled(entry) for entry in entries]

    def of_member(self, entry: Entry, t: Type, index: Atom) -> Atom:
        """Emit the value of one member."""
        match entry:
            case Same(atom):
                return atom
            case Parts(t, items):
                found = [self.of_member(item, part, index) for item, (_, part) in zip(items.values(), keyed_parts(t))]
                return self.build.emit(container(t, tuple(found)), t)
            case Wide(var):
                return map_leaves(self.build, var, t, lambda part, u: (self.member_of(part, u, index), u))[0]
        raise Unbatchable

    def member_of(self, wide: Atom, t: Type, index: Atom) -> Var:
        if isinstance(t, Scalar) and t.dtype is None and t.kind in ("float", "int", "bool", "complex"):
            return self.build.call({"float": float, "int": int, "bool": bool, "complex": complex}[t.kind], self.build.index(wide, index), type=t)
        return self.build.emit(Index(wide, index), t, getattr(wide, "name", "member"))

    def note(self, block: Block) -> None:
        """Add a line on a loop over the members."""
        places = [s.origin for s in block.stmts if s.origin is not None]
        self.notes[f"{spoken(places[-1])}: no form for all members at once; a loop over the members" if places else "a loop over the members"] = None


UNASSIGNED = (UNDEFINED, NOTHING)


def unsure(stmt: Stmt, known: set[Atom]) -> set[Atom]:
    """Return the results of a statement that may have no value; `known` are variables that may have none."""
    op = stmt.op
    if isinstance(op, Branch):
        found = set()
        for arm in (op.then, op.orelse):
            inside = known.union(*(unsure(s, known) for s in arm.stmts))
            found |= {t for t, r in zip(stmt.targets, arm.results) if r in UNASSIGNED or r in inside}
        return found
    if isinstance(op, Loop):
        return {t for t, init in zip(stmt.targets, op.inits) if init in UNASSIGNED or init in known}
    return set()


def spoken(origin) -> str:
    """Return a place in the user's function as text."""
    first = next(iter(origin.text.splitlines()), "").strip()
    return f"line {origin.line}, `{first}`" if first else f"line {origin.line}"


def has_calls_with_effects(block: Block) -> bool:
    """Return whether a block prints, draws random numbers or the like."""
    return any(isinstance(s.op, Call) and s.op.effect for s in walk(block))
