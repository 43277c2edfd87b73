"""Leaves out iterations of reverse loops whose cotangent is zero, where choices make most cotangents zero.

    for j: d = d_a[j]; d_a[j-1] += d * (c < e); d_x[j] += d * y
        for j: d = d_a[j]; if d != 0: d_a[j-1] += d * (c < e); d_x[j] += d * y

A dynamic programme that takes the least of several numbers gives the cotangent of an element to one of them, so that its reverse visits
one path of the table.  This is legal if the iteration adds nothing but multiples of the cotangent of one element, or sets to them what is
still zero, and pays where some multiples are products with a truth value, or stand in an arm of a branch.  Lists of residuals are popped
in every iteration.  The result is the same, but where zero was multiplied by what is not finite.  Text for Numba stays as it is: machine
code computes iterations at once.
"""

import operator
from dataclasses import replace

from sourcead.analysis.builder import Builder
from sourcead.ir.nodes import (
    Atom, Attr, Block, Branch, Call, Const, Function, Index, Let, Loop, Pop, Range, Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import Array, Scalar, kind_of
from sourcead.ir.walk import has, has_effect, rewrite, walk, with_body
from sourcead.passes.cleanup.constant_folding import generated, is_const
from sourcead.passes.equality import same
from sourcead.passes.residuals.first_additions import first_writes

ADD, SUB, MUL, DIV, NEG = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg
LEAST = 8  # statements that are left out: a test takes about as long as one


def skip_zero_cotangents(function: Function) -> Function:
    """Return the function with tests whether cotangents of elements are zero in its reverse loops."""

    if not has(function.body, Loop):
        return function
    first = first_writes(function)

    def change(stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        if isinstance(op, Loop) and isinstance(op.domain, Range) and op.leave is None and generated(stmt):
            for read in op.body.stmts:
                match read.op:
                    case Index(Var(type=Array()) as base) if base in op.params and is_number(read.targets[0]) and generated(read):
                        if (body := skipped(op, read, first)) is not None:
                            return [replace(stmt, op=replace(op, body=body))]
        return [stmt]

    return with_body(function, rewrite(function.body, change))


def is_number(v: Var) -> bool:
    return isinstance(v.type, Scalar) and v.type.kind == "float"


def skipped(op: Loop, read: Stmt, first: set[Stmt]) -> Block | None:
    """Return the body of a loop with all that a cotangent is multiplied with behind a test of it; None if there is more than that."""
    multiples = Multiples(read, first)
    if not multiples.are_all(op.body.stmts) or not multiples.chosen:
        return None
    kept = needed(op.body.stmts, [read, *(s for s in op.body.stmts if isinstance(s.op, Pop))])
    rest = tuple(s for s in op.body.stmts if s not in kept)
    made = {t for s in rest for t in s.targets}
    pairs = [(p, r) for p, r in zip(op.params, op.body.results) if r in made]
    if len(rest) < LEAST or any(multiples.unchanged(r) is not p for p, r in pairs):
        return None
    build = Builder().at(read)
    cond = build.call(operator.ne, read.targets[0], Const(0.0))
    targets = {r: fresh(r) for _, r in pairs}
    then, orelse = Block(rest, tuple(r for _, r in pairs)), Block((), tuple(p for p, _ in pairs))
    branch = replace(read, targets=tuple(targets.values()), op=Branch(cond, then, orelse))
    return Block((*(s for s in op.body.stmts if s in kept), *build.stmts, branch), tuple(targets.get(r, r) for r in op.body.results))


def needed(stmts: tuple[Stmt, ...], wanted: list[Stmt]) -> set[Stmt]:
    """Return the statements of a block without which some of them cannot run, and these."""
    made = {t: s for s in stmts for t in s.targets}
    found: set[Stmt] = set()
    while wanted:
        stmt = wanted.pop()
        if stmt not in found:
            found.add(stmt)
            wanted += [made[v] for v in stmt.op.reads if v in made]
    return found


class Multiples:
    """The values of an iteration that are zero if the cotangent of one element is zero.

    Attributes:
        read: the statement that reads this cotangent.
        first: the statements of the function that set what is still zero.
        zero: these values.
        same: the values that are then equal to older ones, with those.
        chosen: whether some multiple is a product with a truth value, or stands in an arm of a branch.
    """

    def __init__(self, read: Stmt, first: set[Stmt]):
        self.read, self.first = read, first
        self.zero: set[Atom] = {read.targets[0]}
        self.same: dict[Atom, Atom] = {}
        self.chosen = False

    def are_all(self, stmts: tuple[Stmt, ...]) -> bool:
        """Return whether statements change nothing but by adding multiples to arrays and numbers."""
        return all(self.adds(stmt) for stmt in stmts)

    def adds(self, stmt: Stmt) -> bool:
        """Note what a statement computes; return whether it changes nothing but by adding a multiple."""
        match stmt.op:
            case Call(effect=False) as call if len(stmt.targets) == 1 and not has_effect(call):
                self.note(stmt.targets[0], call)
                return True
            case Let(Var() as v):
                if v in self.zero:
                    self.zero.add(stmt.targets[0])
                return True
            case Index() | Attr() | Let():
                return True
            case Pop(Var(), ()):
                return True
            case Update(Var() as base, path, value, mode):
                self.same[stmt.targets[0]] = self.unchanged(base)
                adds = mode in ("add", "sub") or stmt in self.first
                return adds and value in self.zero or is_const(value, 0) and self.clears(base, path)
            case Branch(_, then, orelse):
                if any(isinstance(s.op, (Pop, Loop)) for s in walk(Block((stmt,)))):
                    return False
                self.chosen = True
                if not all(self.are_all(arm.stmts) for arm in (then, orelse)):
                    return False
                for t, a, b in zip(stmt.targets, then.results, orelse.results):
                    if all(x in self.zero or is_const(x, 0) for x in (a, b)):
                        self.zero.add(t)
                    elif self.unchanged(a) is self.unchanged(b):
                        self.same[t] = self.unchanged(a)
                return True
        return False

    def note(self, target: Var, call: Call) -> None:
        """Note whether the result of a call is a multiple, or equal to an operand that a multiple is added to."""
        zeros = [a in self.zero for a in call.args]
        if call.fn is MUL and any(zeros):
            self.zero.add(target)
            self.chosen = self.chosen or any(isinstance(a, Var) and kind_of(a.type) == "bool" for a in call.args)
        elif call.fn is NEG and all(zeros) or call.fn is DIV and zeros[0] or call.fn in (ADD, SUB) and len(zeros) == 2 and all(zeros):
            self.zero.add(target)
        elif call.fn in (ADD, SUB) and zeros[-1] or call.fn is ADD and zeros[0]:
            (other,) = (a for a, is_zero in zip(call.args, zeros) if not is_zero)
            self.same[target] = self.unchanged(other)

    def clears(self, base: Var, path) -> bool:
        """Return whether an update sets the element that is tested."""
        array, key = self.read.op.base, self.read.op.key
        return self.unchanged(base) is array and len(path) == 1 and isinstance(path[0], Sub) and same(path[0].key, key)

    def unchanged(self, v: Atom) -> Atom:
        """Return the older value that a value is equal to if the cotangent is zero."""
        return self.same.get(v, v)
