"""Branches of which the members of a batch take other arms.

    y = if c: -x else: x                   y = np.where(c, -x, x)                  arms that only add, choose and negate

    y = if c: log(x) else: x               y = x with [c] = log(x[c])              others: each arm for the members that take it

What arms multiply is not computed for members that do not take the arm: there a factor may be infinite, and the cotangent 0 * inf would not
be a number.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.analysis.builder import atom_type, key_of
from sourcead.analysis.unassigned import NOTHING
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Branch, Call, Const, Index, Operand, Stmt, Sub, Update, Var, fresh
from sourcead.ir.sizes import Sym
from sourcead.ir.types import BOOL, INT, Array, Scalar, Type, keyed_parts
from sourcead.ir.walk import free_vars, has_effect, walk
from sourcead.passes.batching.blocks import check_ranks
from sourcead.passes.batching.calls import ALL, Unbatchable, rank_of
from sourcead.passes.batching.entries import Entry, Parts, Same, Wide, map_leaves
from sourcead.passes.batching.member_calls import MemberCalls
from sourcead.passes.batching.safe import is_safe


@dataclass(eq=False)
class Arm:
    """An arm of a branch.

    Attributes:
        block: what it computes.
        mask: tells the members that take it.
        writer: wrote it for these members; None if it computes nothing.
        stmts: what the writer wrote.
        guarded: whether this stands in a branch of its own, for the case that no member takes the arm.
    """

    block: Block
    mask: Var | None
    writer: MemberBranches | None = None
    stmts: list[Stmt] = field(default_factory=list)
    guarded: bool = False


@dataclass(eq=False)
class Choice:
    """A number or array that each member has from one of two arms.

    Attributes:
        base: the values of all members, as far as they are written.
        wide: its type.
        sides: what stands for it behind each arm, and its type there.
        given: whether it has a value behind each arm.
    """

    base: Atom
    wide: Array
    sides: list[tuple[Entry, Type]]
    given: list[bool]


def as_entry(made: Entry | Choice) -> Entry:
    """Return what stands for a result, now that all choices are written."""
    if isinstance(made, Choice):
        return Wide(made.base)
    return Parts(made.type, {key: as_entry(item) for key, item in made.items.items()}) if isinstance(made, Parts) else made


class MemberBranches(MemberCalls):
    """The rules of `Members` for branches."""

    def branch(self, stmt: Stmt) -> None:
        op: Branch = stmt.op
        if not self.varies(op.cond):
            return super().branch(stmt)
        if not isinstance(atom_type(op.cond), Scalar) or any(has_effect(s.op) for s in walk_arms(op)):
            raise Unbatchable
        for arm in (op.then, op.orelse):
            check_ranks([v.type for v in stmt.targets], arm.results)
        if not all(map(of_one_shape, op.then.results, op.orelse.results)):
            raise Unbatchable
        safe = all(isinstance(t.type, (Scalar, Array)) for t in stmt.targets) and all(map(is_safe, walk_arms(op)))
        if not (safe and self.tries(lambda: self.chosen(stmt))):
            self.parted(stmt)

    def truth(self, cond: Atom) -> Var:
        """Return for each member whether a condition holds."""
        found = self.spread(cond)
        if found.type.dtype == np.dtype(bool):
            return found
        return self.build.call(operator.ne, found, Const(0), type=Array(np.dtype(bool), (self.dim,)), name="holds")

    def chosen(self, stmt: Stmt) -> None:
        """Write a branch whose arms are both computed for all members."""
        op: Branch = stmt.op
        inner = self.inside()
        for arm in (op.then, op.orelse):
            for s in arm.stmts:
                self.build.at(s)
                inner.batched_statement(s) if any(map(inner.varies, free_vars(Block((s,))))) else inner.uniform_statement(s)
        self.build.at(stmt)
        holds, made = self.truth(op.cond), []
        for target, a, b in zip(stmt.targets, op.then.results, op.orelse.results):
            if a is UNDEFINED or b is UNDEFINED:
                raise Unbatchable
            rank = rank_of(target)
            cond = self.build.index(holds, (ALL, *[Const(None)] * rank)) if rank else holds
            values = (inner.aligned(x, rank) if rank_of(x) <= rank else x for x in (a, b))
            made.append(self.emit(target, Call(np.where, (cond, *values))))
        for target, new in zip(stmt.targets, made):
            self.bind(target, Wide(new))

    # -- some of the members ---------------------------------------------------------------------------------------------

    def some(self, mask: Var, needed: Sequence[Var]):
        """Return a writer for the members at which a mask is true, which knows the variables `needed`."""
        inner = self.inside()
        inner.size, inner.dim = self.build.call(np.count_nonzero, mask, type=INT, name="n"), Sym(0, varies=True)
        inner.may_be_empty, inner.risks = True, []
        for v in needed:
            if self.varies(v):
                inner.bind(v, self.taken(self.entry(v), v.type, mask, inner.dim))
        return inner

    def taken(self, entry: Entry, t: Type, mask: Var, dim: Sym) -> Entry:
        match entry:
            case Wide(var):
                def leaf(whole: Atom, u: Type) -> tuple[Atom, Type]:
                    new = replace(self.wider(u), dims=(dim, *self.wider(u).dims[1:]))
                    self.build.part_dims.setdefault((atom_type(whole).dims, key_of(mask)), new.dims)
                    return self.build.emit(Index(whole, mask), new, getattr(var, "name", "some")), new

                return Wide(map_leaves(self.build, var, t, leaf)[0])
            case Parts(t, items):
                return Parts(t, {k: self.taken(item, part, mask, dim) for (k, item), (_, part) in zip(items.items(), keyed_parts(t))})
        return entry

    def parted(self, stmt: Stmt) -> None:
        """Write each arm of a branch for the members that take it; what may raise an error is not computed for none."""
        op: Branch = stmt.op
        then = self.truth(op.cond)
        arms = [Arm(op.then, then), Arm(op.orelse, None)]
        kept = next((arm for arm in reversed(arms) if not arm.block.stmts), None)  # the arm that computes nothing
        for arm in arms:
            if arm is kept:
                continue
            if arm.mask is None:
                arm.mask = self.build.call(np.logical_not, then, type=then.type, name="others")
            with self.build.block() as arm.stmts:
                arm.writer = self.some(arm.mask, list(free_vars(arm.block)))
                arm.writer.block(arm.block)
                arm.writer.ended(arm.block)
            arm.guarded = bool(arm.writer.risks)
            if not arm.guarded:
                self.build.stmts += arm.stmts
        self.build.at(stmt)
        choices: list[Choice] = []
        made = []
        for n, target in enumerate(stmt.targets):
            results = [arm.block.results[n] for arm in arms]
            entries = [(arm.writer or self).entry(r) for arm, r in zip(arms, results)]
            made.append(self.begun(target.type, [*zip(arms, entries, map(atom_type, results))], choices))
        for k, arm in enumerate(arms):
            if arm is not kept:
                self.give(arm, k, choices)
        for target, entry in zip(stmt.targets, made):
            self.bind(target, as_entry(entry))

    def begun(self, t: Type, sides: list[tuple[Arm, Entry, Type]], choices: list[Choice]):
        """Return what stands for a result that each member has from one of two arms, with a `Choice` for each number or array in it."""
        (one, other) = entries = [entry for _, entry, _ in sides]
        if keyed_parts(t) is not None and not isinstance(t, (Scalar, Array)):
            if any(arm.guarded and not isinstance(entry, Parts) for arm, entry, _ in sides):
                raise Unbatchable
            parts = {key: [(arm, self.item(e, key), part) for arm, e, _ in sides] for key, part in keyed_parts(t)}
            return Parts(t, {key: self.begun(part, parts[key], choices) for key, part in keyed_parts(t)})
        if isinstance(one, Same) and isinstance(other, Same) and one.atom is other.atom:
            return one
        if any(isinstance(e, Same) and e.atom is NOTHING for e in entries) or not isinstance(t, (Scalar, Array)):
            raise Unbatchable
        wide = self.wider(t)
        if wide.dtype is None:
            raise Unbatchable
        given = [not isinstance(e, Same) or e.atom is not UNDEFINED for e in entries]
        kept = next((k for k, (arm, *_) in enumerate(sides) if arm.writer is None), None)
        if kept is not None and given[kept]:
            base = self.in_dtype(self.spread_entry(entries[kept], sides[kept][2]), wide)
        else:
            arm, entry, own = sides[given.index(True)]
            like = None if arm.guarded else self.value_of(arm.writer, entry, own)
            shape = self.shape_of(wide, like)
            if kept is not None:
                base = self.build.call(np.full, shape, filling(wide), type=wide, name="y", **of(wide))
            else:
                base = self.build.call(np.empty, shape, type=wide, name="y", **of(wide))
        choices.append(Choice(base, wide, [(entry, own) for _, entry, own in sides], given))
        return choices[-1]

    def give(self, arm: Arm, k: int, choices: list[Choice]) -> None:
        """Write what an arm gives to the members that take it."""
        build, bases = self.build, [choice.base for choice in choices]
        with build.block() as stmts:
            build.stmts += arm.stmts if arm.guarded else []
            for choice in choices:
                entry, own = choice.sides[k]
                value = self.value_of(arm.writer, entry, own) if choice.given[k] else filling(choice.wide)
                axes = len(getattr(atom_type(value), "dims", None) or ())
                if choice.given[k] and axes not in (0, len(choice.wide.dims) - isinstance(entry, Same)):
                    raise Unbatchable
                choice.base = build.emit(Update(choice.base, (Sub(arm.mask),), value), choice.wide, getattr(value, "name", "y"))
        if not arm.guarded:
            build.stmts += stmts
            return
        some = build.call(np.any, arm.mask, type=BOOL, name="some")
        ends = tuple(choice.base for choice in choices)
        outs = tuple(fresh(end) for end in ends)
        build.add(Stmt(outs, Branch(some, Block(tuple(stmts), ends), Block((), tuple(bases)))))
        for choice, out in zip(choices, outs):
            choice.base = out

    def item(self, entry: Entry, key) -> Entry:
        """Return an entry for a part of a container."""
        if isinstance(entry, Parts):
            return entry.items[key]
        found = self.build.index(entry.var if isinstance(entry, Wide) else entry.atom, Const(key))
        return Wide(found) if isinstance(entry, Wide) else Same(found)

    def value_of(self, writer, entry: Entry, t: Type) -> Atom:
        """Return the value that an arm gives the members which take it, as it is written into the array of all."""
        return entry.atom if isinstance(entry, Same) else writer.spread_entry(entry, t)

    def nothing(self, wide: Array) -> Var:
        """Emit an array for values that some members have only later, and that Python would not let them read before: not a number."""
        return self.build.call(np.full, self.shape_of(wide, None), filling(wide), type=wide, name="y", **of(wide))

    def in_dtype(self, var: Var, wide: Array) -> Var:
        """Return an array in the dtype of an array type, which values of another one are written into."""
        if var.type.dtype == wide.dtype:
            return var
        return self.build.call(np.ndarray.astype, var, Const(wide.dtype), type=replace(wide, dims=var.type.dims), name=var.name)

    def shape_of(self, wide: Array, like: Atom | None) -> Operand:
        """Return the shape of an array for the values of all members, where `like` has those of some, or of one."""
        lengths = wide.dims[1:]
        if not lengths:
            return self.size
        if all(isinstance(n, int) for n in lengths):
            return (self.size, *map(Const, lengths))
        if like is None:
            raise Unbatchable
        whole, first = self.build.attr(like, "shape"), len(getattr(atom_type(like), "dims", None) or ()) - len(lengths)
        return (self.size, *(Const(n) if isinstance(n, int) else self.build.index(whole, Const(k + first)) for k, n in enumerate(lengths)))


def of(wide: Array) -> dict[str, Const]:
    """Return the option that makes an array of a dtype."""
    return {} if wide.dtype == np.dtype(float) else {"dtype": Const(wide.dtype)}


def filling(wide: Array) -> Const:
    """Return the number that stands where there is no value: not a number, or an integer that is no index."""
    if wide.dtype is None or wide.dtype.kind not in "fci":
        raise Unbatchable
    return Const(int(np.iinfo(wide.dtype).min)) if wide.dtype.kind == "i" else Const(np.nan, "np.nan")


def of_one_shape(a: Atom, b: Atom) -> bool:
    """Return whether the results of two arms have the same shapes; what is no array is compared where it is merged."""
    return of_equal_dims(atom_type(a), atom_type(b))


def of_equal_dims(t: Type, u: Type) -> bool:
    parts, others = keyed_parts(t), keyed_parts(u)
    if parts is not None and others is not None:
        return len(parts) == len(others) and all(of_equal_dims(x, y) for (_, x), (_, y) in zip(parts, others))
    if isinstance(t, Array) and isinstance(u, Array):
        if t.dims is None or u.dims is None or len(t.dims) != len(u.dims):
            return False
        return all(n is m or isinstance(n, int) and n == m for n, m in zip(t.dims, u.dims))
    return not (isinstance(t, (Array, Scalar)) and isinstance(u, (Array, Scalar))) or isinstance(t, Scalar) is isinstance(u, Scalar)


def walk_arms(op: Branch) -> list[Stmt]:
    return [s for arm in (op.then, op.orelse) for s in walk(arm)]
