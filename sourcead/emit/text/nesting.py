"""Decides which values are written inside the expressions that read them.

    t = mul(x, y);  z = add(t, 1)        z = x * y + 1

This is legal for a temporary that is read once, if nothing between the statement and its reader writes memory that it reads in place,
binds a name that it reads anew, or has an effect, and if the reader is not in a loop that the statement is outside of.  The line must not
become too long to read; what a function returns may have a line for each result (`over_lines`), and for each item of a container in it.
Reads that cost nothing (`x.shape`, `params["w"]`, `x[i]`) are nested wherever they are read.

One walk forward keeps the values that may still be nested *pending*; a value that may not is *named*.
"""

import builtins
import math
import operator
from dataclasses import dataclass
from functools import cache

import numpy as np

from sourcead import runtime
from sourcead.analysis.array_versions import queried
from sourcead.analysis.builder import operand_type
from sourcead.analysis.loop_indices import adds_axes_alone
from sourcead.emit.memory.sharing import AliasGroups, all_written, written_in_place
from sourcead.emit.text.exit_flags import printed_results, unprinted_results
from sourcead.emit.text.lengths import own_length_of
from sourcead.emit.text.live_ranges import NameClasses
from sourcead.ir.nodes import (
    Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Op, Slice, Stmt, Update, Var,
    operand_atoms
)
from sourcead.ir.types import Array, Scalar, kind_of
from sourcead.ir.walk import bound_vars, count_reads, has_effect, is_cotangent, walk

MAX_LENGTH = 88  # characters of an expression, about
SIGNS = (operator.add, operator.sub, operator.mul, operator.truediv)


@dataclass
class _Pending:
    """A value that may still be nested.

    Attributes:
        names, groups: the variables that it reads, and the alias groups of those that have memory.
        length: about how many characters it prints.
        remaining: the number of reads that are still to come.
        trivial: whether reading it costs nothing.
        depth: the number of loops and closures around it.
        within: the context managers around it, which it must not leave.
    """

    names: frozenset[Var]
    groups: frozenset[Var]
    length: int
    remaining: int
    trivial: bool
    depth: int
    within: tuple[Call, ...] = ()


def nested_values(function: Function, over_lines: bool = False) -> dict[Var, Op]:
    """Return the variables that are printed inside the expressions that read them, and their ops."""
    return Nesting(function, over_lines).result


class Nesting:
    """The walk that decides; `result` holds the nested variables and their ops, `groups` which variables may share memory."""

    def __init__(self, function: Function, over_lines: bool = False):
        self.classes = NameClasses(function, {})
        self.groups = AliasGroups(function.body)
        self.counts = count_reads(function.body)
        self.params = set(function.params)
        self.unprinted = unprinted_results(function.body, self.counts)
        for block, k in self.unprinted:
            self.counts[block.results[k]] -= 1
        turned = (s for s in walk(function.body) if isinstance(s.op, Call) and s.op.fn is np.transpose)
        self.turned = {s.op.args[0] for s in turned if self.counts.get(s.targets[0], 0) > 1}  # x, of which `x.T` is read several times
        self.bases: set[Var] = set()  # what is written in place needs a name, and so does a list of which a slice is read
        self.note_bases(function.body)
        self.pending: dict[Var, _Pending] = {}
        self.ops: dict[Var, Op] = {}
        self.infos: dict[Var, _Pending] = {}
        self.lengths: dict[Var, int] = {}  # about how many characters the statements print that bind one variable
        self.named: set[Var] = set()
        self.depth = 0
        self.within: tuple[Call, ...] = ()  # the context managers around the current statement
        self.changes_of = cache(self.changes_of)
        self.displays, self.most = displays(function), math.inf if over_lines else 0  # the characters of a result in the last statement
        self.walk(function.body)
        self.consume(function.body.results, 10, most=self.most)
        self.result = {v: op for v, op in self.ops.items() if v not in self.named}

    def note_bases(self, block: Block) -> None:
        built = {stmt.targets[0] for stmt in walk(block) if isinstance(stmt.op, Build)}
        for op in (stmt.op for stmt in walk(block)):
            if isinstance(op, Index) and isinstance(op.key, Slice) and op.base in built:
                self.bases.add(op.base)
            self.bases.update(written for written, _ in all_written(op))
            if isinstance(op, Branch) and repeated_arm(op) is not None:
                self.counts[op.cond] -= 1

    # ---- reading ----

    def leaves_context(self, entry: _Pending) -> bool:
        """Tell whether a read stands outside of a context manager around the value, which a trivial value may leave if it cannot raise."""
        inside = not entry.trivial or any(context.fn is runtime.unhandled for context in entry.within)
        return inside and bool(entry.within) and entry.within != self.within

    def consume(self, operands, own_length: int, moved_to=(), most: float = MAX_LENGTH) -> _Pending:
        """Read operands, nest those that may be nested while the line stays short, and return what the whole expression reads.

        `moved_to` holds the variables that the results of a block are assigned to; a value that shares their name is not nested.
        The whole has at most so many characters, about.
        """
        found: list[Var] = []
        names: set[Var] = set()
        groups: set[Var] = set()
        length = own_length
        for k, operand in enumerate(operands):
            for atom in operand_atoms(operand):
                if not isinstance(atom, Var):
                    length += len(repr(atom)) if isinstance(atom, Const) else 0
                    continue
                target = moved_to[k] if k < len(moved_to) else None
                entry = self.pending.get(atom)
                moved = target is not None and self.classes.find(atom) is self.classes.find(target)
                if entry is not None and (moved or entry.depth != self.depth and not entry.trivial or self.leaves_context(entry)):
                    self.name(atom)
                    entry = None
                if entry is None:
                    self.read_name(atom, names, groups)
                    length += len(atom.name)
                    continue
                entry.remaining -= 1
                found.append(atom)
        for atom in sorted(found, key=lambda v: (self.infos[v].trivial, self.infos[v].length)):
            entry = self.infos[atom]
            if length + entry.length > most and not entry.trivial:
                self.name(atom)
                self.read_name(atom, names, groups)
                length += len(atom.name)
                continue
            length += entry.length
            names |= entry.names
            groups |= entry.groups
            if entry.remaining == 0:
                self.pending.pop(atom, None)
        return _Pending(frozenset(names), frozenset(groups), length, 0, False, self.depth)

    def bound_by_moves(self, stmt: Stmt) -> tuple[Var | None, ...]:
        """Return the variants of a loop, with None for a flag that only decides whether to `break`."""
        op, read = stmt.op, self.counts
        return tuple(
            None if p is op.leave and not read.get(p) and not read.get(t) else p for p, t in zip(op.params, stmt.targets)
        )

    def read_name(self, v: Var, names: set[Var], groups: set[Var]) -> None:
        names.add(v)
        if self.groups.has_memory(v):
            groups.add(self.groups.find(v))

    def name(self, v: Var) -> None:
        self.named.add(v)
        self.pending.pop(v, None)

    # ---- what forbids nesting ----

    def flush(self, bound: set[Var], written: set[Var], effect: bool, targets=()) -> None:
        """Give names to the pending values that read a variable which is bound anew, or memory which is written.

        `bound` are classes of variables, `written` alias groups; `targets` are the variables that the statement binds itself.
        """
        bound = {c for c in bound if c in self.classes.parent or c not in targets}  # others are read by nothing before
        if not (bound or written or effect):
            return
        for v, entry in list(self.pending.items()):
            if (
                (effect and not entry.trivial)
                or any(self.classes.find(n) in bound and n not in targets for n in entry.names)
                or any(self.groups.find(g) in written for g in entry.groups)
            ):
                self.name(v)

    def keep_shapes(self, stmt: Stmt) -> None:
        """Turn a pending query of the shape of an array that is copied or written into a query of the result."""
        match stmt.op:
            case Call(np.copy, (Var() as old,)) | Update(Var() as old) if isinstance(old.type, Array):
                new = stmt.targets[0]
            case Call(into=int()) as op:
                old, new = written_in_place(op), stmt.targets[0]
            case _:
                return
        for v, entry in self.pending.items():
            if entry.names == {old} and entry.remaining == self.counts[v]:
                match self.ops[v]:
                    case Attr(base, name) if base is old:
                        self.ops[v] = Attr(new, name)
                    case Call(builtins.len, (base,)) if base is old:
                        self.ops[v] = Call(len, (new,))
                    case _:
                        continue
                entry.names = frozenset((new,))

    def changes(self, stmt: Stmt) -> tuple[set[Var], set[Var], bool]:
        """Return the classes that a statement binds, the groups that it writes, and whether it has an effect."""
        op = stmt.op
        bound = {self.classes.find(v) for v in (*stmt.targets, *bound_vars(op))}
        written = {self.groups.find(base) for base, _ in all_written(op) if isinstance(base, Var)}
        effect = isinstance(op, Effect) or (isinstance(op, Call) and op.effect)
        for inner in op.blocks:
            b, w, e = self.changes_of(inner)
            bound, written, effect = bound | b, written | w, effect or e
        return bound, written, effect

    def changes_of(self, block: Block) -> tuple[set[Var], set[Var], bool]:
        parts = [self.changes(s) for s in block.stmts]
        bound, written = (set().union(*(p[k] for p in parts)) for k in (0, 1))
        return bound, written, any(p[2] for p in parts)

    # ---- walking ----

    def walk(self, block: Block) -> None:
        for stmt in block.stmts:
            outer, self.within = self.within, stmt.within or self.within
            self.statement(stmt)
            self.within = outer

    def statement(self, stmt: Stmt) -> None:
        op = stmt.op
        match op:
            case Branch():
                self.branch(stmt)
            case Loop(domain, _, params, inits, body):
                self.consume([domain], 20)
                self.consume(inits, 10, params)
                self.flush(*self.changes(stmt))
                self.depth += 1
                if isinstance(domain, Block):
                    self.walk(domain)
                    self.consume(domain.results, 10)
                self.walk(body)
                self.consume(printed_results(body, self.unprinted), 10, self.bound_by_moves(stmt))
                self.depth -= 1
                self.flush(*self.changes(stmt))
            case Closure(_, body):
                for v in list(self.pending):
                    self.name(v)
                self.depth += 1
                self.walk(body)
                self.consume(body.results, 10)
                self.depth -= 1
            case _:
                most = math.inf if self.lists_several(op) else MAX_LENGTH if self.displays.isdisjoint(stmt.targets) else self.most
                whole = self.consume(operand_atoms(op), own_length_of(op), most=most)
                self.lengths.update(dict.fromkeys(stmt.targets[:1], whole.length))
                self.keep_shapes(stmt)
                self.flush(*self.changes(stmt), stmt.targets)
                self.offer(stmt, whole)

    def lists_several(self, op: Op) -> bool:
        """Return whether an op is a list, or a call with a list or tuple, of several items, which get a line each if they are long."""
        match op:
            case Build("list", items) | Call(_, (tuple() as items, *_)):
                return len(items) > 1
            case Call(_, (Var() as made, *_)) if made in self.pending and isinstance(self.ops[made], Build):
                return self.lists_several(self.ops[made])
        return False

    def branch(self, stmt: Stmt) -> None:
        op = stmt.op
        as_value = op.kind != "if" and len(stmt.targets) == 1
        repeated = repeated_arm(op)
        parts = [self.consume([op.cond], 12)]
        for arm in (op.then, op.orelse):
            self.flush(*self.changes_of(arm))
            self.walk(arm)
            if arm is not repeated:
                parts.append(self.consume(printed_results(arm, self.unprinted), 0, () if as_value else stmt.targets))
            as_value = as_value and all(t in self.ops and t not in self.named for s in arm.stmts for t in s.targets)
        self.flush(*self.changes(stmt))
        if as_value:
            names, groups = (frozenset().union(*(getattr(p, f) for p in parts)) for f in ("names", "groups"))
            self.offer(stmt, _Pending(names, groups, sum(p.length for p in parts), 0, False, self.depth))
        elif repeated is not None:
            self.name(op.cond)

    def offer(self, stmt: Stmt, whole: _Pending) -> None:
        """Make the value of a statement pending if it may be nested at all."""
        op = stmt.op
        if len(stmt.targets) != 1 or all_written(op) or isinstance(op, Effect) or has_effect(op):
            return
        target = stmt.targets[0]
        count = self.counts.get(target, 0)
        trivial = target.temp and self.is_trivial(op, target)  # what has a name is not read again in the loops inside
        once = count == 1 or count > 1 and (trivial or self.is_cheap(op, target))
        if target in self.bases or not once or not (target.temp or count == 1 and self.reads_again(stmt)):
            return
        if queried(op) is not None and not isinstance(target.type, Array):  # no write changes a shape or dtype
            whole.groups = frozenset()
        whole.remaining, whole.trivial, whole.within = count, trivial, stmt.within
        self.ops[target] = op
        self.infos[target] = self.pending[target] = whole

    def reads_again(self, stmt: Stmt) -> bool:
        """Return whether the reverse sweep takes a part that the program has named from where it is, as `xs[i]`, and reads it once."""
        part = stmt.adjoint_of is not None and isinstance(stmt.op, Index) and isinstance(operand_type(stmt.op.base), Array)
        return part and stmt.targets[0] not in self.turned

    def is_trivial(self, op: Op, target: Var) -> bool:
        """Return whether an op costs nothing and reads as well as a name for its result."""
        match op:
            case Attr(base):
                return self.is_short(base)
            case Let(value):
                return not isinstance(value, tuple) and self.is_short(value)
            case Index(base, key):
                atoms = list(operand_atoms(key))
                if not self.is_short(base) or not all(self.is_short(a) for a in atoms):
                    return False
                if isinstance(operand_type(base), Array):
                    return isinstance(target.type, Scalar)
                return all(isinstance(a, Const) for a in atoms)
            case Call(np.transpose, (Var() as base,), ()):
                return isinstance(base.type, Array) and self.is_short(base)
            case Call(builtins.len, (base,)):
                return self.is_short(base) and self.counts.get(target, 0) <= 2
            case Call(operator.neg, (Var() as index,)):
                return index not in self.ops and kind_of(index.type) == kind_of(target.type) == "int"
            case Call(operator.add | operator.sub, (Var() as index, Const(value=int()))):
                return index not in self.ops and kind_of(index.type) == kind_of(target.type) == "int"
        return False

    def is_cheap(self, op: Op, target: Var) -> bool:
        """Return whether an op reads as well as a name for its result, as `0.5 * dt`, `2 * n` or `row[:, None]` do: of what has a name."""
        if self.counts.get(target, 0) > 3 or is_cotangent(target):
            return False
        match op:
            case Index(Var(type=Array()) as base, key) if base not in self.ops or base in self.named:
                return self.counts[target] == 2 and adds_axes_alone(key)
            case Call(fn, (Const(), Var() as number) | (Var() as number, Const())) if fn in SIGNS and number in self.params:
                return isinstance(number.type, Scalar)
            case Call(operator.mul | operator.floordiv, (a, b), ()):
                return kind_of(target.type) == "int" and not any(atom in self.ops for atom in (a, b))
        return False

    def is_short(self, atom) -> bool:
        """Return whether an operand is printed as a name, a constant or another trivial read."""
        if not isinstance(atom, Var):
            return True
        return atom not in self.ops or atom in self.named or self.infos[atom].trivial


def displays(function: Function) -> set[Var]:
    """Return the containers among the results of a function, and those in them."""
    built = {stmt.targets[0]: stmt.op for stmt in function.body.stmts if isinstance(stmt.op, Build) and stmt.op.kind != "record"}
    found = [v for v in function.body.results if isinstance(v, Var) and v in built]
    for v in found:
        found += [item for item in built[v].items if isinstance(item, Var) and item in built]
    return set(found)


def repeated_arm(op: Branch) -> Block | None:
    """Return the arm of `a and b` or `a or b` that yields the condition itself, or None for other branches."""
    arm = {"and": op.orelse, "or": op.then}.get(op.kind)
    repeats = arm is not None and isinstance(op.cond, Var) and not arm.stmts and arm.results[:1] == (op.cond,)
    return arm if repeats else None
