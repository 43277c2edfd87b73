"""Functions that walk over the IR or rebuild it, so that most passes write no recursion of their own.

To read: `walk` yields the statements, `all_reads` the variables that are read, `count_reads` counts them, `definitions` maps
variables to statements.  To rebuild: `rewrite` replaces statements, `map_atoms` operands, `map_blocks` the blocks of a statement.
A pass that needs the context of a statement recurses over `op_blocks` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sourcead.ir.nodes import (
    AdjointBlock, Append, Atom, Attr, Block, Branch, Build, Call, Closure, Effect, Index, Let, Loop, Op, Operand, Pop,
    Range, Slice, Stmt, Sub, Update, Var, View, fresh
)

# ---- One op ----


def op_reads(op: Op) -> tuple[Var, ...]:
    """Return the variables that an op reads itself, without those that its blocks read."""
    return op.reads


def op_blocks(op: Op) -> tuple[Block, ...]:
    """Return the blocks of an op."""
    if isinstance(op, (Call, Index, Update)):  # the most frequent first
        return ()
    match op:
        case Branch(_, then, orelse):
            return then, orelse
        case Loop(domain, _, _, _, body):
            return (domain, body) if isinstance(domain, Block) else (body,)
        case Closure(_, body) | AdjointBlock(_, _, body):
            return (body,)
    return ()


def bound_vars(op: Op) -> tuple[Var, ...]:
    """Return the variables that an op binds for its blocks."""
    match op:
        case Loop(_, index, params):
            return params if index is None else (index, *params)
        case Closure(params) | AdjointBlock(_, params):
            return params
    return ()


def reads_inside(op: Op) -> Iterator[Var]:
    """Yield every variable that an op or a block inside it reads, as often as it is read; a block reads what it yields."""
    yield from op.reads
    for block in op_blocks(op):
        yield from all_reads(block)


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
    return any(has_effect(s.op) for b in op_blocks(op) for s in b.stmts)


# ---- Reading a block ----


def walk(block: Block) -> Iterator[Stmt]:
    """Yield every statement of a block, each before the statements of the blocks inside it."""
    for stmt in block.stmts:
        yield stmt
        for inner in op_blocks(stmt.op):
            yield from walk(inner)


def all_reads(block: Block) -> Iterator[Var]:
    """Yield every variable that a block or a block inside it reads, as often as it is read; a block reads what it yields."""
    for stmt in block.stmts:
        yield from reads_inside(stmt.op)
    yield from (r for r in block.results if isinstance(r, Var))


def count_reads(block: Block) -> dict[Var, int]:
    """Return how often each variable is read in a block and in the blocks inside it."""
    counts: dict[Var, int] = {}
    for v in all_reads(block):
        counts[v] = counts.get(v, 0) + 1
    return counts


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
            for inner in op_blocks(stmt.op):
                visit(inner)
            defined.update(stmt.targets)
        for result in b.results:
            if isinstance(result, Var) and result not in defined:
                free.setdefault(result)

    visit(block)
    return free


# ---- Rebuilding one op ----


def map_operand(operand: Operand | None, f: Callable[[Atom], Atom]):
    """Return the operand with each atom replaced by `f(atom)`."""
    match operand:
        case None:
            return None
        case tuple():
            return tuple(map_operand(item, f) for item in operand)
        case Slice(lower, upper, step):
            return Slice(map_operand(lower, f), map_operand(upper, f), map_operand(step, f))
    return f(operand)


def map_op(op: Op, f: Callable[[Atom], Atom], block: Callable[[Block], Block] = lambda b: b) -> Op:
    """Return the op with each atom that it reads replaced by `f(atom)` and each block by `block(b)`; it binds the same variables."""

    def many(operands):
        return tuple(map_operand(o, f) for o in operands)

    def named(kwargs):
        return tuple((k, map_operand(v, f)) for k, v in kwargs)

    match op:
        case Call(fn, args, kwargs):
            return replace(op, fn=f(fn) if isinstance(fn, Var) else fn, args=many(args), kwargs=named(kwargs))
        case Attr(base):
            return replace(op, base=f(base))
        case Pop(base, path, at):
            return Pop(f(base), tuple(Sub(map_operand(s.key, f)) for s in path), at if at is None else f(at))
        case Let(value):
            return Let(map_operand(value, f))
        case Index(base, key):
            return Index(f(base), map_operand(key, f))
        case Update(base, path, value):
            steps = tuple(
                Sub(map_operand(s.key, f)) if isinstance(s, Sub) else View(s.fn, many(s.args), named(s.kwargs)) for s in path
            )
            return replace(op, base=f(base), path=steps, value=map_operand(value, f))
        case Build(_, items):
            return replace(op, items=many(items))
        case Append(base, value, path, at):
            steps = tuple(Sub(map_operand(s.key, f)) for s in path)
            return Append(f(base), map_operand(value, f), steps, at if at is None else f(at))
        case Effect(kind, args):
            return Effect(kind, many(args))
        case Branch(cond, then, orelse, kind):
            return Branch(f(cond), block(then), block(orelse), kind)
        case Loop(domain, _, _, inits, body):
            match domain:
                case Range(start, stop, step):
                    domain = Range(f(start), f(stop), f(step))
                case Block():
                    domain = block(domain)
                case _:
                    domain = f(domain)
            policy = op.policy and op.policy.map(f)
            return replace(op, domain=domain, inits=many(inits), body=block(body), policy=policy)
        case Closure(params, body):
            return Closure(params, block(body))
        case AdjointBlock(values, params, body):
            return AdjointBlock(many(values), params, block(body))
    raise TypeError(f"not an op: {op!r}")


def map_blocks(stmt: Stmt, f: Callable[[Block], Block]) -> Stmt:
    """Return the statement with each block of its op replaced by `f(block)`, or the same statement if nothing changes."""
    op = stmt.op
    match op:
        case Branch(_, then, orelse):
            changed = {"then": f(then), "orelse": f(orelse)}
        case Loop(Block() as domain, _, _, _, body):
            changed = {"domain": f(domain), "body": f(body)}
        case Loop(_, _, _, _, body) | Closure(_, body) | AdjointBlock(_, _, body):
            changed = {"body": f(body)}
        case _:
            return stmt
    if all(new is getattr(op, name) for name, new in changed.items()):
        return stmt
    return replace(stmt, op=replace(op, **changed))


# ---- Rebuilding a block ----


def rewrite(block: Block, change: Callable[[Stmt], Iterable[Stmt]]) -> Block:
    """Return the block with the statements `change(stmt)` in place of each, inner ones first, or the same block if nothing changes."""

    def visit(b: Block) -> Block:
        stmts = tuple(new for stmt in b.stmts for new in change(map_blocks(stmt, visit)))
        same = len(stmts) == len(b.stmts) and all(new is old for new, old in zip(stmts, b.stmts))
        return b if same else Block(stmts, b.results)

    return visit(block)


def map_atoms(block: Block, f: Callable[[Atom], Atom]) -> Block:
    """Return the block with each atom that it or a block inside it reads or yields replaced by `f(atom)`."""

    def visit(b: Block) -> Block:
        return Block(tuple(replace(s, op=map_op(s.op, f, visit)) for s in b.stmts), tuple(map_operand(r, f) for r in b.results))

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

    def bind(variables: tuple[Var, ...]) -> tuple[Var, ...]:
        mapping.update((v, fresh(v)) for v in variables)
        return tuple(mapping[v] for v in variables)

    def visit(b: Block) -> Block:
        stmts = []
        for stmt in b.stmts:
            op = stmt.op
            match op:
                case Loop(_, index, params, _, _, leave):
                    index = None if index is None else bind((index,))[0]
                    params = bind(params)
                    op = map_op(replace(op, index=index, params=params, leave=f(leave)), f, visit)
                case Closure(params) | AdjointBlock(_, params):
                    op = map_op(replace(op, params=bind(params)), f, visit)
                case _:
                    op = map_op(op, f, visit)
            stmts.append(replace(stmt, targets=bind(stmt.targets), op=op))
        return Block(tuple(stmts), tuple(map_operand(r, f) for r in b.results))

    return visit(block)
