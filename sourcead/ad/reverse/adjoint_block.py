"""The reverse of a block that the user wrote for the reverse sweep: `with adjoint_of(x) as d_x: block`.

    program             x1 = adjoint_of (x0) as (d): B yielding e
    forward sweep       x1 = x0
    reverse sweep       B with d = d_x1;  d_x0 += e

Both names stay apart until the reverse sweep is written, so that what is computed from x1 contributes to its cotangent and what is
computed from x0 does not.  Then `without_adjoint_blocks` makes one variable of them: what a loop saves does not depend on whether the
user looks at a cotangent.
"""

from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents.by_variable import Cotangents
from sourcead.ad.cotangents.shapes import cast
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep
from sourcead.ad.reverse.walk import Reverse
from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import UnsupportedValueError
from sourcead.ir.nodes import AdjointBlock, Atom, Block, Branch, Call, Const, Loop, Op, Origin, Stmt, Var
from sourcead.ir.types import Array, Scalar, carries_derivative, dims_of, kind_of, same_dtype
from sourcead.ir.walk import map_op, map_operand, substitute, with_results

KINDS = {"int": "an integer", "bool": "a truth value"}


def reverse_adjoint_block(r: Reverse, stmt: Stmt, cots: Cotangents) -> None:
    """Emit the user's block with the cotangents of the statements after it, and hand on the cotangents that it leaves."""
    op: AdjointBlock = stmt.op
    build = r.build
    given: dict[Var, Atom] = {}
    for target, param in zip(stmt.targets, op.params):
        if not carries_derivative(target.type):
            what = KINDS.get(kind_of(target.type), "this value")
            raise UnsupportedValueError(f"{what} has no cotangent", at=stmt.origin, instead="make it a float before")
        given[param] = cast(build, cots.take_or_zero(target), target)
    body = substitute(op.body, given)
    for s in body.stmts:
        build.add(replace(s, adjoint_of=stmt.origin))
    for value, target, d, before in zip(op.values, stmt.targets, body.results, given.values()):
        cots.add(value, d if d is before else handed_on(build, d, before, target, stmt.origin))


def handed_on(build: Builder, d: Atom, before: Atom, x: Var, origin: Origin | None) -> Atom:
    """Return the cotangent of `x` that the block leaves, in the shape and dtype of the cotangent that it was given."""
    t, to = atom_type(d), x.type
    have, want = dims_of(t), dims_of(to)
    if kind_of(t) == "complex" and kind_of(to) == "float":
        raise UnsupportedValueError(f"the cotangent of `{x.name}`, which is real, is replaced by a complex value", at=origin)
    if have is None or want is None or not isinstance(to, Array) and have:
        return build.call(runtime.replaced_cotangent, d, before, type=to, name=f"d_{x.name}")
    if isinstance(to, Scalar):
        return d
    if not have and want:
        d = Const(build.known[d]) if d in build.known else d
        if isinstance(d, Const) and d.value == 0:
            return build.call(np.zeros_like, before, type=to, name=f"d_{x.name}")  # `x` itself might have to be saved
        return build.call(np.full_like, before, d, type=to, name=f"d_{x.name}")
    if len(have) != len(want) or any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(have, want)):
        raise UnsupportedValueError(
            f"the cotangent of `{x.name}` is replaced by an array of another shape", at=origin,
            instead=f"use an array of the shape of `{x.name}`, or one number",
        )
    if isinstance(t, Array) and all(n is m or n == m for n, m in zip(have, want)) and same_dtype(t.dtype, to.dtype):
        return d
    return build.call(runtime.replaced_cotangent, d, before, type=to, name=f"d_{x.name}")


def without_adjoint_blocks(block: Block, sweep: Sweep, atoms: tuple) -> tuple[Block, Sweep, tuple]:
    """Return a block, its reverse, and atoms of it, in which a value before and after an adjoint block is one variable.

    A statement without results stays in its place, for the residuals to know where in the block the user's statements read.
    """
    same = _same_values(block)
    if not same:
        return block, sweep, atoms
    erase = _Eraser(same)
    return erase.block(block), erase.sweep(sweep), tuple(map(erase.atom, atoms))


def _same_values(block: Block) -> dict[Var, Atom]:
    """Map each variable that equals another because only adjoint blocks lie between them to that other variable."""
    same: dict[Var, Atom] = {}

    def visit(b: Block) -> None:
        for stmt in b.stmts:
            for inner in stmt.op.blocks:
                visit(inner)
            match stmt.op:
                case AdjointBlock(values):
                    same.update(zip(stmt.targets, values))
                case Call(fn, (value,)) if fn is runtime.stop_gradient:
                    same[stmt.targets[0]] = value
                case Branch(_, then, orelse):
                    for target, a, b_ in zip(stmt.targets, then.results, orelse.results):
                        if (a in same or b_ in same) and _resolve(same, a) is _resolve(same, b_):
                            same[target] = a
                case Loop(_, _, params, inits, body):
                    for target, param, init, result in zip(stmt.targets, params, inits, body.results):
                        if result is not param and _resolve(same, result) is param:
                            same[param] = same[target] = init

    visit(block)
    return same


def _resolve(same: dict[Var, Atom], atom: Atom) -> Atom:
    while atom in same:
        atom = same[atom]
    return atom


class _Eraser:
    """Rewrites blocks and sweeps; `stmts` remembers what became of each statement, which sweeps refer to."""

    def __init__(self, same: dict[Var, Atom]):
        self.same = same
        self.stmts: dict[Stmt | None, Stmt | None] = {None: None}

    def atom(self, atom: Atom) -> Atom:
        return _resolve(self.same, atom)

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.stmt, block.stmts)), map_operand(block.results, self.atom))

    def stmt(self, stmt: Stmt) -> Stmt:
        live = [k for k, t in enumerate(stmt.targets) if t not in self.same]
        new = with_results(stmt, live)
        if isinstance(stmt.op, (AdjointBlock, Call)) and stmt.targets and not live:
            new = replace(new, op=AdjointBlock((), (), Block(())))
        self.stmts[stmt] = replace(new, op=map_op(new.op, self.atom, self.block))
        return self.stmts[stmt]

    def sweep(self, sweep: Sweep) -> Sweep:
        steps = tuple((self.stmts[forward], tuple(map(self.raw, stmts))) for forward, stmts in sweep.steps)
        return Sweep(steps, map_operand(sweep.results, self.atom))

    def raw(self, stmt: Stmt) -> Stmt:
        match stmt.op:
            case ReverseLoop(forward, params, inits, sweep):
                op: Op = ReverseLoop(self.stmts[forward], params, tuple(map(self.atom, inits)), self.sweep(sweep))
            case ReverseBranch(forward, then, orelse):
                op = ReverseBranch(self.stmts[forward], self.sweep(then), self.sweep(orelse))
            case other:
                op = map_op(other, self.atom, self.block)
        return replace(stmt, op=op)
