"""The walk that the local simplifications share.

`rewrite(function, rule)` visits every statement once, in order, inner blocks before the statement that holds them, and
asks `rule(stmt, facts)` what should stand in its place:

    None                 the statement stays
    an atom              its one target is this value; the statement goes
    an op                the statement computes its targets so instead
    a list of statements stand in its place

A rule may also say `facts.replace(var, atom)`.  Because values are immutable, replacing a variable by an equal value that
is visible in its place is always right, whatever stands between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sourcead.ir.nodes import Atom, Block, Branch, Call, Const, Function, Op, Stmt, Var, fresh
from sourcead.ir.walk import map_op, op_blocks, op_reads


@dataclass(eq=False)
class Facts:
    """What is known at the statement being visited.

    Attributes:
        uses: how often each variable was read when the walk began.
        open: the blocks that surround the statement, outermost first, by number; `scope` is the innermost.
        holds: variables whose truth is known here, because a branch on them was taken.
    """

    function: Function
    open: list[int] = field(default_factory=list)
    holds: dict[Var, bool] = field(default_factory=dict)
    definitions: dict[Var, Stmt] = field(default_factory=dict)
    scopes: dict[Var, int] = field(default_factory=dict)
    replaced: dict[Var, Atom] = field(default_factory=dict)
    renamed: dict[Var, Var] = field(default_factory=dict)
    late: bool = False
    changed: bool = False
    blocks: int = 0
    _uses: Counter | None = None
    _readers: dict[Var, list[Op]] | None = None

    @property
    def scope(self) -> int:
        return self.open[-1]

    @property
    def uses(self) -> Counter:
        if self._uses is None:
            self._uses = Counter({v: len(ops) for v, ops in self.readers.items()})
        return self._uses

    @property
    def readers(self) -> dict[Var, list[Op | None]]:
        """Which ops read each variable as the walk began; None stands for the results of a block."""
        if self._readers is None:
            self._readers = {}
            _collect_readers(self.function.body, self._readers)
        return self._readers

    def op(self, atom: Atom | object) -> Op | None:
        """The op whose one result this atom is, if it is known."""
        stmt = self.definitions.get(atom) if isinstance(atom, Var) else None
        return stmt.op if stmt is not None and len(stmt.targets) == 1 and not op_blocks(stmt.op) else None

    def call(self, atom: Atom | object, *fns: Callable) -> Call | None:
        """The call, without keywords, of one of these functions whose result this atom is."""
        op = self.op(atom)
        return op if isinstance(op, Call) and not op.kwargs and not op.effect and any(op.fn is f for f in fns) else None

    def resolve(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self.replaced:
            atom = self.replaced[atom]
        return atom

    def replace(self, var: Var, atom: Atom) -> None:
        """From here on `var` is `atom`."""
        self.replaced[var] = self.resolve(atom)
        self.changed = True

    def replace_everywhere(self, var: Var, atom: Atom) -> None:
        """`var` is `atom`, also in statements that were visited already."""
        self.replace(var, atom)
        self.late = True

    def rename(self, var: Var, new: Var) -> None:
        """`var` is defined under another name."""
        self.renamed[var] = new
        self.late = self.changed = True

    def define(self, stmt: Stmt) -> None:
        for target in stmt.targets:
            self.definitions[target] = stmt
            self.scopes[target] = self.scope


def rewrite(function: Function, rule: Callable[[Stmt, Facts], object]) -> Function:
    """The function with each statement replaced as `rule` says; the same object if nothing changed."""
    facts = Facts(function)
    body = _block(function.body, rule, facts)
    if not facts.changed:
        return function
    if facts.late:
        body = _finish(body, facts)
    return replace(function, body=body)


def _block(block: Block, rule, facts: Facts) -> Block:
    facts.blocks += 1
    facts.open.append(facts.blocks)
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        stmts.extend(_statement(stmt, rule, facts))
    results = tuple(map(facts.resolve, block.results))
    facts.open.pop()
    same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts)) and all(map(_is, results, block.results))
    return block if same else Block(tuple(stmts), results)


def _is(a, b) -> bool:
    return a is b


def _statement(stmt: Stmt, rule, facts: Facts) -> list[Stmt]:
    stmt = _with_known_operands(stmt, rule, facts)
    answer = rule(stmt, facts)
    match answer:
        case None:
            out = [stmt]
        case Var() | Const():
            _take_name(stmt.targets[0], answer, facts)
            facts.replace(stmt.targets[0], answer)
            return []
        case Op():
            facts.changed = True
            out = [replace(stmt, op=answer)]
        case _:
            facts.changed = True
            out = list(answer)
    for s in out:
        facts.define(s)
    return out


def _take_name(var: Var, atom: Atom, facts: Facts) -> None:
    """A temporary that replaces one of the user's variables in the same block takes over its name."""
    if var.temp or not isinstance(atom, Var) or not atom.temp or atom in facts.renamed:
        return
    if facts.scopes.get(atom) == facts.scope:
        facts.rename(atom, fresh(atom, name=var.name, temp=False))


def _with_known_operands(stmt: Stmt, rule, facts: Facts) -> Stmt:
    """The statement with replaced variables replaced, and its blocks rewritten."""
    op = stmt.op
    blocks = op_blocks(op)
    new_blocks: dict[Block, Block] = {}
    if isinstance(op, Branch):
        cond = facts.resolve(op.cond)
        for block, truth in zip(blocks, (True, False)):
            known = isinstance(cond, Var) and cond not in facts.holds
            if known:
                facts.holds[cond] = truth
            new_blocks[block] = _block(block, rule, facts)
            if known:
                del facts.holds[cond]
    else:
        for block in blocks:
            new_blocks[block] = _block(block, rule, facts)
    stale = facts.replaced and not facts.replaced.keys().isdisjoint(op_reads(op))
    if stale or any(new is not old for old, new in new_blocks.items()):
        return replace(stmt, op=with_atoms(op, facts.resolve, new_blocks.__getitem__))
    return stmt


def with_atoms(op: Op, atom: Callable[[Atom], Atom], block: Callable[[Block], Block]) -> Op:
    """`map_op`, and a called variable that turns out to be a constant becomes the function itself."""
    op = map_op(op, atom, block)
    return replace(op, fn=op.fn.value) if isinstance(op, Call) and isinstance(op.fn, Const) else op


def _finish(block: Block, facts: Facts) -> Block:
    """The block with all that was replaced and renamed during the walk, also before the walk knew of it."""
    renamed = facts.renamed

    def atom(a: Atom) -> Atom:
        a = facts.resolve(a)
        return renamed.get(a, a) if isinstance(a, Var) else a

    def visit(b: Block) -> Block:
        stmts = tuple(
            replace(s, targets=tuple(renamed.get(t, t) for t in s.targets), op=with_atoms(s.op, atom, visit)) for s in b.stmts
        )
        return Block(stmts, tuple(map(atom, b.results)))

    return visit(block)


def _collect_readers(block: Block, readers: dict[Var, list[Op | None]]) -> None:
    for stmt in block.stmts:
        for v in op_reads(stmt.op):
            readers.setdefault(v, []).append(stmt.op)
        for inner in op_blocks(stmt.op):
            _collect_readers(inner, readers)
    for result in block.results:
        if isinstance(result, Var):
            readers.setdefault(result, []).append(None)
