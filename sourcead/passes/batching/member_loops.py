"""Loops that the members of a batch leave at different times, or in which they have different numbers of iterations.

    x = while x > 1: x / 2                 going = x > 1
                                           x, going = while any(going):
                                               x1 = x[going] / 2
                                               x, going = x with [going] = x1, going with [going] = x1 > 1

A loop over a range that some members leave earlier (`break`), or whose end differs, has such a mask of members too.
"""

from __future__ import annotations

import operator

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import UNDEFINED, Atom, Block, Const, Loop, Range, Stmt, Sub, Update, Var, fresh
from sourcead.ir.sizes import Sym
from sourcead.ir.types import BOOL, INT, Array, Scalar
from sourcead.ir.walk import free_vars, has_effect
from sourcead.passes.batching.blocks import check_ranks
from sourcead.passes.batching.calls import Unbatchable
from sourcead.passes.batching.entries import Same, Wide
from sourcead.passes.batching.member_branches import MemberBranches
from sourcead.passes.batching.safe import is_safe


class MemberLoops(MemberBranches):
    """The rules of `Members` for loops."""

    def loop(self, stmt: Stmt) -> None:
        together = super().loop
        if self.tries(lambda: together(stmt)):
            return
        if has_effect(stmt.op):
            raise Unbatchable
        self.build.at(stmt)
        self.apart(stmt)

    def apart(self, stmt: Stmt) -> None:
        """Write a loop that members leave at different times, or in which they have different numbers of iterations."""
        op, build = stmt.op, self.build
        counted, last = isinstance(op.domain, Range), self.last_of(op)
        wides = self.types_apart(op)
        inits = [
            self.nothing(wide) if init is UNDEFINED else self.in_dtype(self.spread(init), wide) for init, wide in zip(op.inits, wides)
        ]
        flags = Array(np.dtype(bool), (self.dim,))
        if counted:
            going = build.call(np.full, self.size, Const(True), type=flags, name="going")
        else:
            start = self.inside()
            for p, init in zip(op.params, inits):
                start.bind(p, Wide(init))
            going = self.tested(start, op.domain, {})
        params, going_in = [fresh(p, type=wide) for p, wide in zip(op.params, wides)], Var("going", flags, True)
        index = None if op.index is None else fresh(op.index)
        with build.block() as body:
            around = self.inside()
            for p, new in zip(op.params, params):
                around.bind(p, Wide(new))
            mask = going_in
            if index is not None:
                around.bind(op.index, Same(index))
                build.numbers.setdefault(index, Sym(0, True))
            if last is not None:
                more = build.call(operator.gt, last, index, type=flags, name="more")
                mask = build.call(np.logical_and, going_in, more, type=flags, name="now")
            needed = [v for b in op.blocks for v in free_vars(b)]
            inner = around.some(mask, list(dict.fromkeys([*needed, *op.params])))
            inner.block(op.body)
            inner.ended(op.body)
            if inner.risks and last is not None and op.leave is not None:  # maybe no member is in an iteration
                raise Unbatchable
            build.at(stmt)
            values = [self.value_of(inner, inner.entry(r), atom_type(r)) for r in op.body.results]
            ends = [build.emit(Update(p, (Sub(mask),), v), w, p.name) for p, v, w in zip(params, values, wides)]
            stay = self.staying(inner, op)
            keeps = going_in
            if stay is not None:
                none = build.call(np.zeros, self.size, dtype=Const(np.dtype(bool)), type=flags, name="ahead")
                keeps = build.emit(Update(none, (Sub(mask),), stay), flags, "ahead")
            done = ()
            if counted and op.leave is not None:
                done = (build.call(operator.not_, build.call(np.any, keeps, type=BOOL, name="some"), type=BOOL, name="done"),)
        leave = tuple(Var("done", BOOL, True) for _ in done)
        outs = [fresh(t, type=wide) for t, wide in zip(stmt.targets, wides)]
        loop = Loop(
            self.head(op, going_in, last), index, (going_in, *params, *leave), (going, *inits, *(Const(False) for _ in leave)),
            Block(tuple(body), (keeps, *ends, *done)), leave[0] if leave else None,
        )  # fmt: skip
        build.add(Stmt((fresh(going_in), *outs, *map(fresh, leave)), loop))
        for target, out in zip(stmt.targets, outs):
            self.bind(target, Wide(out))

    def last_of(self, op: Loop) -> Var | None:
        """Return the ends of the ranges of all members, None if they are the same; refuse loops without such a form."""
        if op.policy is not None and op.policy.name not in ("auto", "store"):
            raise Unbatchable
        if isinstance(op.domain, Block):
            return None
        if not isinstance(op.domain, Range) or self.varies(op.domain.start):
            raise Unbatchable
        if not isinstance(op.domain.step, Const) or op.domain.step.value < 1:
            raise Unbatchable
        if not self.varies(op.domain.stop) and op.leave is None:
            raise Unbatchable
        return self.spread(op.domain.stop) if self.varies(op.domain.stop) else None

    def types_apart(self, op: Loop) -> list[Array]:
        """Return the types of the variants of all members, each of one shape in all iterations."""
        check_ranks([v.type for v in op.params], op.inits)
        if not all(isinstance(p.type, (Scalar, Array)) and self.stacks(p.type) for p in op.params):
            raise Unbatchable
        wides = [self.wider(p.type) for p in op.params]
        if any(wide.dtype is None for wide in wides):
            raise Unbatchable
        return wides

    def head(self, op: Loop, going: Var, last: Var | None) -> Range | Block:
        """Return the head of a loop that ends when no member is left, or the last one has come to its end."""
        build = self.build
        if isinstance(op.domain, Range):
            more = {"initial": Const(0)} if self.may_be_empty else {}
            if last is None:
                stop = self.unbatched(op.domain.stop)
            else:
                stop = build.call(int, build.call(np.max, last, **more), type=INT, name="most")
            return Range(self.unbatched(op.domain.start), stop, op.domain.step)
        with build.block() as test:
            some = build.call(np.any, going, type=BOOL, name="some")
        return Block(tuple(test), (some,))

    def staying(self, inner, op: Loop) -> Var | None:
        """Write which members go on after an iteration; None if the range alone decides."""
        flags, stay = Array(np.dtype(bool), (inner.dim,)), None
        results = dict(zip(op.params, op.body.results))
        if op.leave is not None:
            stay = self.build.call(np.logical_not, inner.truth(results[op.leave]), type=flags, name="stay")
        if isinstance(op.domain, Range) or is_endless(op.domain):
            return stay
        if stay is None:
            return self.tested(inner, op.domain, results)
        if not all(map(is_safe, op.domain.statements)):  # it is not evaluated behind a `break`
            raise Unbatchable
        return self.build.call(np.logical_and, stay, self.tested(inner, op.domain, results), type=flags, name="stay")

    def tested(self, writer, test: Block, results: dict[Var, Atom]) -> Var:
        """Write the test of a `while` loop over what an iteration leaves in its variants; return for each member whether it holds."""
        block = self.copy(test, results)
        writer.block(block)
        writer.ended(block)
        return writer.truth(block.results[0])


def is_endless(test: Block) -> bool:
    """Return whether the test of a loop always holds."""
    return not test.stmts and isinstance(test.results[0], Const) and bool(test.results[0].value)
