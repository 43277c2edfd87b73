"""The loop over the members of a batch, for statements that have no form for all of them at once.

    y = g(x)                ys = np.empty(n)                            x: (n), y: float
                            for i in range(n): ys[i] = g(x[i])
    y = x[x > 0]            not written yet, since its shape may differ
    s = sum(y)              ss = np.empty(n)
                            for i in range(n): y = x[i][x[i] > 0];  ss[i] = sum(y)

Results whose shape is not known before the first of them are collected in a list, `np.stack(ys)`.
"""

from __future__ import annotations

import numpy as np

from sourcead.analysis.builder import atom_type, container
from sourcead.analysis.unassigned import NOTHING
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Block, Branch, Build, Const, Index, Loop, Range, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import INT, Array, ListT, Scalar, Str, Type, Unknown, keyed_parts
from sourcead.ir.walk import free_vars
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.entries import NOT_NUMBERS, PLAIN_DTYPES, Entry, Parts, Same, Wide, map_leaves, terms_in
from sourcead.passes.batching.member_branches import of
from sourcead.passes.batching.member_loops import MemberLoops
from sourcead.places.origin import quoted_line


class OneByOne(MemberLoops):
    """The rules of `Members` for what is computed for one member after the other."""

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
        return isinstance(t, NOT_NUMBERS) and not isinstance(t, Str)

    def stacked(self, block: Block) -> list[Entry]:
        """Write a loop over the members that computes a block, and return the results of all members."""
        build, leaves = self.build, []
        self.note(block)
        index = Var("i", INT, True)
        with build.block() as body:
            names = {v: self.of_member(self.entry(v), v.type, index) for v in free_vars(block) if self.varies(v) and v not in self.deferred}
            names |= {v: self.whole(self.entry(v)) for v in free_vars(block) if v not in names and v not in self.deferred}
            inner = self.copy(block, names)
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
                wide = Array(getattr(t, "dtype", None), None) if getattr(t, "dims", ()) is None or isinstance(t, Unknown) else self.wider(t)
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
        if isinstance(t, NOT_NUMBERS) and not isinstance(t, Str):
            return Same(Const(getattr(t, "value", None)))
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
            plain = {"float": float, "int": int, "bool": bool, "complex": complex}[t.kind]
            return self.build.call(plain, self.build.index(wide, index), type=t)
        return self.build.emit(Index(wide, index), t, getattr(wide, "name", "member"))

    def note(self, block: Block) -> None:
        """Add a line on a loop over the members."""
        where = next((f"{spoken(s.origin)}: " for s in reversed(block.stmts) if s.origin is not None), "")
        self.notes[f"{where}no form for all members at once, so a loop over the members"] = None


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
    first = next(iter(origin.text.splitlines() or quoted_line(origin)), "").strip()
    return f"line {origin.line}, `{first}`" if first else f"line {origin.line}"
