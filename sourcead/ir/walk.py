"""Functions that walk over the IR or rebuild it, so that most passes write no recursion of their own.

To read: `walk` yields the statements, `has` and `calls` look for kinds of them, `places` also tells where they stand, `all_reads` the
variables that are read, `count_reads` counts them, `definitions` maps variables to statements.  To rebuild: `rewrite` replaces statements,
`map_atoms` operands, `map_blocks` the blocks of a statement.
A pass that needs the context of a statement recurses over `op.blocks` itself.
"""

import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sourcead.ir.nodes import (
    Atom, Block, Branch, Call, Const, Effect, Function, Loop, Op, Part, Stmt, Var, fresh, operand_atoms
)

# ---- One op ----


def bound_vars(op: Op) -> tuple[Var, ...]:
    """Return the variables that an op binds for its blocks."""
    return tuple(operand_atoms(tuple(getattr(op, name) for name in op.binders))) if op.binders else ()


def reads_inside(op: Op) -> Iterator[Var]:
    """Yield every variable that an op or a block inside it reads, as often as it is read; a block reads what it yields."""
    return itertools.chain(op.reads, *(block.reads for block in op.blocks))


def handed_on(stmt: Stmt) -> Iterator[tuple[Atom, ...]]:
    """Yield for each result of a branch or loop what may be its value: the results of the arms; the variant's values through the loop.

    A group holds the target first, then what it gets its value from.  Other statements hand nothing on.
    """
    match stmt.op:
        case Branch(_, then, orelse):
            yield from zip(stmt.targets, then.results, orelse.results)
        case Loop(_, _, params, inits, body):
            yield from zip(stmt.targets, params, inits, body.results)


def has_effect(op: Op) -> bool:
    """Return whether an op must stay even if nothing reads its results."""
    match op:
        case Effect():
            return True
        case Call(effect=effect):
            return effect
    return any(has_effect(s.op) for b in op.blocks for s in b.stmts)


# ---- Reading a block ----


def walk(block: Block) -> Iterator[Stmt]:
    """Yield every statement of a block, each before the statements of the blocks inside it."""
    return iter(block.statements)


def has(block: Block, *kinds: type[Op]) -> bool:
    """Return whether an op of one of these classes is in a block or in the blocks inside it."""
    return any(isinstance(stmt.op, kinds) for stmt in block.statements)


def calls(block: Block, *fns: Any) -> bool:
    """Return whether one of these functions is called in a block or in the blocks inside it."""
    return any(isinstance(stmt.op, Call) and any(stmt.op.fn is fn for fn in fns) for stmt in block.statements)


@dataclass(frozen=True, eq=False)
class Place:
    """A statement, the block that it stands in, and the loops around it, outermost first."""

    stmt: Stmt
    block: Block
    loops: tuple[Stmt, ...]


def places(block: Block, loops: tuple[Stmt, ...] = ()) -> Iterator[Place]:
    """Yield the places of all statements of a block in the order of `walk`."""
    for stmt in block.stmts:
        yield Place(stmt, block, loops)
        for inner in stmt.op.blocks:
            yield from places(inner, (*loops, stmt) if isinstance(stmt.op, Loop) else loops)


def all_reads(block: Block) -> Iterator[Var]:
    """Yield every variable that a block or a block inside it reads, as often as it is read; a block reads what it yields."""
    return iter(block.reads)


def count_reads(block: Block) -> dict[Var, int]:
    """Return how often each variable is read in a block and in the blocks inside it."""
    return Counter(all_reads(block))


def definitions(block: Block) -> dict[Var, Stmt]:
    """Return the statement that defines each target of the statements in a block and in the blocks inside it."""
    return {t: s for s in walk(block) for t in s.targets}


def free_vars(block: Block) -> dict[Var, None]:
    """Return the variables that a block reads and does not define, in the order of their first reads."""
    defined: set[Var] = set()
    free: dict[Var, None] = {}

    def visit(b: Block):
        for stmt in b.stmts:
            for v in stmt.op.reads:
                if v not in defined:
                    free.setdefault(v)
            defined.update(bound_vars(stmt.op))
            for inner in stmt.op.blocks:
                visit(inner)
            defined.update(stmt.targets)
        for result in b.results:
            if isinstance(result, Var) and result not in defined:
                free.setdefault(result)

    visit(block)
    return free


# ---- Rebuilding one op ----


def map_operand(operand: Any, f: Callable[[Atom], Atom], block: Callable[[Block], Block] = lambda b: b) -> Any:
    """Return an operand, or another part of an op, with each atom in it replaced by `f(atom)` and each block by `block(b)`."""
    match operand:
        case Var() | Const():
            return f(operand)
        case tuple():
            items = tuple([map_operand(item, f, block) for item in operand])
            return operand if all(map(operator.is_, items, operand)) else items
        case Part():
            return map_op(operand, f, block)
        case Block():
            return block(operand)
    return operand


def map_op(op: Any, f: Callable[[Atom], Atom], block: Callable[[Block], Block] = lambda b: b) -> Any:
    """Return an op, or a part of one, with each atom that it reads replaced by `f(atom)` and each block by `block(b)`.

    It is the same object if nothing changes.
    """
    changed = {}
    for name in op.children:
        old = getattr(op, name)
        if (new := map_operand(old, f, block)) is not old:
            changed[name] = new
    if not changed:
        return op
    new = replace(op, **changed)
    return replace(new, fn=new.fn.value) if isinstance(new, Call) and isinstance(new.fn, Const) else new


def with_op(stmt: Stmt, op: Op) -> Stmt:
    """Return the statement with another op; the same object if the op is its own."""
    return stmt if op is stmt.op else Stmt(stmt.targets, op, stmt.origin, stmt.adjoint_of, stmt.within, stmt.saves)


def map_blocks(stmt: Stmt, f: Callable[[Block], Block]) -> Stmt:
    """Return the statement with each block of its op replaced by `f(block)`, or the same statement if nothing changes."""
    op = stmt.op
    if not op.blocks:
        return stmt
    changed = {name: new for name in op.children if isinstance(b := getattr(op, name), Block) and (new := f(b)) is not b}
    return with_op(stmt, replace(op, **changed)) if changed else stmt


def with_results(stmt: Stmt, keep: Sequence[int]) -> Stmt:
    """Return a branch or loop with those of its results or variants whose numbers are in `keep`, or the same statement if it keeps all."""

    def pick(items: tuple) -> tuple:
        return tuple(items[k] for k in keep)

    op = stmt.op
    if len(keep) == len(stmt.targets):
        return stmt
    match op:
        case Branch(cond, then, orelse, kind):
            arms = (Block(arm.stmts, pick(arm.results)) for arm in (then, orelse))
            op = Branch(cond, *arms, kind if keep else "if")
        case Loop(_, _, params, inits, body):
            op = replace(op, params=pick(params), inits=pick(inits), body=Block(body.stmts, pick(body.results)))
    return replace(stmt, targets=pick(stmt.targets), op=op)


# ---- Rebuilding a block ----


def with_stmts(block: Block, stmts: Sequence[Stmt]) -> Block:
    """Return the block with other statements; the same object if they are its own."""
    same = len(stmts) == len(block.stmts) and all(map(operator.is_, stmts, block.stmts))
    return block if same else Block(tuple(stmts), block.results)


def with_body(function: Function, body: Block) -> Function:
    """Return the function with another body; the same object if the body is its own."""
    return function if body is function.body else replace(function, body=body)


def rewrite(block: Block, change: Callable[[Stmt], Iterable[Stmt]]) -> Block:
    """Return the block with the statements `change(stmt)` in place of each, inner ones first, or the same block if nothing changes."""

    def visit(b: Block) -> Block:
        return with_stmts(b, [new for stmt in b.stmts for new in change(map_blocks(stmt, visit))])

    return visit(block)


def map_atoms(block: Block, f: Callable[[Atom], Atom], bind: Callable[[Var], Var] | None = None) -> Block:
    """Return the block with each atom that it or a block inside it reads or yields replaced by `f(atom)`.

    With `bind`, each variable that is bound there is replaced by `bind(var)`, before it is read.
    """

    def visit(b: Block) -> Block:
        new = with_stmts(b, [change(stmt) for stmt in b.stmts])
        results = map_operand(b.results, f)
        return new if results is b.results else Block(new.stmts, results)

    def change(stmt: Stmt) -> Stmt:
        if bind is None:
            return with_op(stmt, map_op(stmt.op, f, visit))
        op = stmt.op
        if op.binders:
            op = replace(op, **{name: map_operand(getattr(op, name), bind) for name in op.binders})
        op = map_op(replace(op, leave=f(op.leave)) if isinstance(op, Loop) else op, f, visit)
        return Stmt(map_operand(stmt.targets, bind), op, stmt.origin, stmt.adjoint_of, stmt.within, stmt.saves)

    return visit(block)


def substitute(block: Block, mapping: dict[Var, Atom]) -> Block:
    """Return the block with variables replaced, also in the blocks inside it; replacements of replacements are followed."""

    def f(atom):
        while isinstance(atom, Var) and atom in mapping:
            atom = mapping[atom]
        return atom

    return map_atoms(block, f) if mapping else block


def copied(block: Block, mapping: dict[Var, Atom]) -> Block:
    """Return a copy of the block that binds fresh variables; `mapping` replaces variables that it reads."""
    mapping = dict(mapping)

    def f(atom):
        return mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def bind(var: Var) -> Var:
        mapping[var] = fresh(var)
        return mapping[var]

    return map_atoms(block, f, bind)


def is_cotangent(v: Var) -> bool:
    """Return whether a variable is a cotangent, not one of the user's with such a name."""
    return v.temp and v.name.startswith("d_")
