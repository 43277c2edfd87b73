"""The walk over a function that the local simplifications share.

`peephole(function, rule)` visits every statement once, in order, the blocks of a statement before the statement itself, and calls
`rule(stmt, facts)`, which returns what is to stand in its place:

    None                 the statement stays
    an atom              the statement goes, and this value takes the place of its one target
    an op                the statement computes its targets by this op
    a list of statements they stand in its place

A rule may also call `facts.replace(var, atom)`.  Because values are immutable, replacing a variable by an equal value that is
visible in its place is always legal, whatever stands between the two.
"""

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Function, Let, Op, Stmt, Var, fresh
from sourcead.ir.types import INT
from sourcead.ir.walk import bound_vars, map_atoms, map_op, walk, with_op, with_stmts

DIVISIONS = (operator.truediv, operator.floordiv, operator.mod)


@dataclass(eq=False)
class Facts:
    """The facts that are known at the statement that is being visited.

    Attributes:
        open: the numbers of the blocks that surround the statement, outermost first; `scope` is the innermost.
        holds: variables whose truth is known here, because a branch on them was taken.
        definitions, scopes: the statement that defines each variable so far, and the block that this stands in.
        ops: the ops without blocks that have one result, by that.
        replaced, renamed: what stands for a variable from here on, and its new name.
        late: whether statements that were visited before must be changed too.
    """

    function: Function
    keeps_names: bool = False
    open: list[int] = field(default_factory=list)
    holds: dict[Var, bool] = field(default_factory=dict)
    definitions: dict[Var, Stmt] = field(default_factory=dict)
    scopes: dict[Var, int] = field(default_factory=dict)
    ops: dict[Any, Op] = field(default_factory=dict)
    replaced: dict[Var, Atom] = field(default_factory=dict)
    renamed: dict[Var, Var] = field(default_factory=dict)
    late: bool = False
    changed: bool = False
    blocks: int = 0

    @property
    def scope(self) -> int:
        return self.open[-1]

    @cached_property
    def uses(self) -> Counter:
        """Return how often each variable was read when the walk began."""
        return Counter({v: len(ops) for v, ops in self.readers.items()})

    @cached_property
    def readers(self) -> dict[Var, list[Op | None]]:
        """Return the ops that read each variable when the walk began; None stands for the results of a block."""
        found: dict[Var, list[Op | None]] = {}
        blocks = [self.function.body]
        for stmt in walk(self.function.body):
            blocks += stmt.op.blocks
            for v in stmt.op.reads:
                found.setdefault(v, []).append(stmt.op)
        for result in (r for b in blocks for r in b.results if isinstance(r, Var)):
            found.setdefault(result, []).append(None)
        return found

    @cached_property
    def bound(self) -> Counter:
        """Return how many variables have each name that the user gave."""
        return Counter(v.name for s in walk(self.function.body) for v in (*s.targets, *bound_vars(s.op)) if not v.temp)

    def is_only_first(self, var: Var, of: Var | None = None) -> bool:
        """Return whether a variable is a constant array, which the user names like what is calculated later, as `P = np.eye(n)`.

        Other uses of the same constant read better by another name. `of` is the constant if the variable is not defined.
        """
        op = self.op(of or var)
        return not var.temp and isinstance(op, Call) and all(v.type == INT for v in op.reads) and self.bound[var.name] > 1

    def op(self, atom: Atom | object) -> Op | None:
        """Return the op without blocks whose only result this atom is, or None if there is no such op."""
        return self.ops.get(atom)

    def call(self, atom: Atom | object, *fns: Callable) -> Call | None:
        """Return the call of one of these functions, without keywords, whose result this atom is, or None if there is none."""
        op = self.ops.get(atom)
        if isinstance(op, Call) and not op.kwargs and not op.effect:
            for fn in fns:
                if op.fn is fn:
                    return op
        return None

    def resolve(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self.replaced:
            atom = self.replaced[atom]
        return atom

    def current(self, atom: Atom) -> Atom:
        """Return the atom that takes the place of another, under its new name."""
        atom = self.resolve(atom)
        return self.renamed.get(atom, atom) if isinstance(atom, Var) else atom

    def stale(self, op: Op) -> bool:
        """Return whether an op reads a variable that another atom stands for."""
        return bool(self.replaced) and not self.replaced.keys().isdisjoint(op.reads)

    def replace(self, var: Var, atom: Atom) -> None:
        """Let `atom` stand for `var` from here on."""
        self.replaced[var] = self.resolve(atom)
        self.changed = True


def peephole(function: Function, rule: Callable[[Stmt, Facts], object], keeps_names: bool = False) -> Function:
    """Return the function with each statement replaced as `rule` says; the same object if nothing changed.

    With `keeps_names`, a statement that the rule answers with a constant stays an assignment if the user named its target.
    """
    facts = Facts(function, keeps_names)
    body = _block(function.body, rule, facts)
    if not facts.changed:
        return function
    return replace(function, body=map_atoms(body, facts.current, facts.current) if facts.late else body)


def _block(block: Block, rule, facts: Facts) -> Block:
    facts.blocks += 1
    facts.open.append(facts.blocks)
    definitions, scopes, ops, scope = facts.definitions, facts.scopes, facts.ops, facts.scope
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        if stmt.op.blocks or facts.replaced:
            stmt = _with_known_operands(stmt, rule, facts)
        answer = rule(stmt, facts)
        new = (stmt,) if answer is None else _answered(stmt, answer, facts)
        for one in new:
            for target in one.targets:
                definitions[target], scopes[target] = one, scope
            if len(one.targets) == 1 and not one.op.blocks:
                ops[one.targets[0]] = one.op
        stmts += new
    new = with_stmts(block, stmts)
    results = tuple(map(facts.resolve, block.results))
    facts.open.pop()
    return new if all(a is b for a, b in zip(results, block.results)) else Block(new.stmts, results)


def _answered(stmt: Stmt, answer: Any, facts: Facts) -> Sequence[Stmt]:
    """Return what stands in the place of a statement by the rule's answer."""
    facts.changed = True
    if facts.keeps_names and isinstance(answer, Const) and not stmt.targets[0].temp:
        answer = Let(answer)
    match answer:
        case Var() | Const():
            _take_name(stmt.targets[0], answer, facts)
            facts.replace(stmt.targets[0], answer)
            return ()
        case Op():
            origin = _divides(stmt, answer, facts).origin
            return (with_op(stmt if origin is stmt.origin else replace(stmt, origin=origin), answer),)
    return answer


def _divides(stmt: Stmt, answer: Op, facts: Facts) -> Stmt:
    """Return the statement whose line an error of the new op belongs to: one that divided, if `(1 / x) * 2` has become `2 / x`."""
    if not isinstance(answer, Call) or answer.fn not in DIVISIONS or getattr(stmt.op, "fn", None) is answer.fn:
        return stmt
    made = (facts.definitions[v] for v in stmt.op.reads if v in facts.definitions)
    divided = (s for s in made if isinstance(s.op, Call) and s.op.fn is answer.fn and s.op.args[1] is answer.args[1])
    return next(divided, stmt)


def _take_name(var: Var, atom: Atom, facts: Facts) -> None:
    """Return a temporary that replaces one of the user's variables in the same block the name of that variable."""
    if var.temp or not isinstance(atom, Var) or not atom.temp or atom in facts.renamed or facts.is_only_first(var, atom):
        return
    if facts.scopes.get(atom) == facts.scope:
        facts.renamed[atom] = fresh(atom, name=var.name, temp=False)
        facts.late = facts.changed = True


def _with_known_operands(stmt: Stmt, rule, facts: Facts) -> Stmt:
    """Return the statement with the replacements of its variables in their place, and with its blocks rewritten."""
    op = stmt.op
    if not op.blocks:
        return with_op(stmt, map_op(op, facts.resolve)) if facts.stale(op) else stmt
    blocks: dict[Block, Block] = {}
    cond = facts.resolve(op.cond) if isinstance(op, Branch) else None
    for block, truth in zip(op.blocks, (True, False)):
        known = isinstance(cond, Var) and cond not in facts.holds
        if known:
            facts.holds[cond] = truth
        blocks[block] = _block(block, rule, facts)
        if known:
            del facts.holds[cond]
    if facts.stale(op) or any(new is not old for old, new in blocks.items()):
        return with_op(stmt, map_op(op, facts.resolve, blocks.__getitem__))
    return stmt
