"""The factors of sums of products in a loop: their sizes, and the arrays that hold their values in all iterations (`fission.py`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.loop_indices import Counted, Counting, axis_of, offset
from sourcead.analysis.residual_stacks import residual_stacks
from sourcead.analysis.sizes import Size, Sizes, dims_in, fills, known_dtype
from sourcead.ir.nodes import Call, Function, Index, Loop, Stmt, Sub, Update, Var
from sourcead.ir.types import rank
from sourcead.ir.walk import all_reads, definitions


@dataclass(eq=False)
class Term:
    """The value that one update adds to a sum in each iteration: the product of two factors, or one factor.

    Attributes:
        update: the update.
        variant: the number of the loop variant that is the sum.
        axis: the axis of the factors over which the product sums.
    """

    update: Stmt
    variant: int
    factors: tuple[Var, ...]
    axis: int = 0


class FunctionFacts:
    """Facts about the function whose loops are split; `notes` gets a line for each of these loops."""

    def __init__(self, function: Function, notes: list[str]):
        self.notes = notes
        self.stacks = residual_stacks(function)
        self.uses = Counter(all_reads(function.body))
        self.made = definitions(function.body)
        self.counting = Counting(self.made)


@dataclass(eq=False)
class FactorArray:
    """An array that holds the values of a factor, the value of iteration i at position i + `offset` along an axis."""

    array: Var
    axis: int
    offset: int


class FactorArrays:
    """Finds the arrays and sizes of the factors of one loop.  `scope` holds the variables that are visible before it."""

    def __init__(self, facts: FunctionFacts, stmt: Stmt, counted: Counted, scope: list[Var]):
        self.facts, self.stmt, self.counted, self.scope = facts, stmt, counted, scope
        self.loop: Loop = stmt.op
        self.index = self.loop.index
        self.here = {t: s for s in self.loop.body.stmts for t in s.targets}

    def shape_of(self, v: Var, term: Term) -> tuple[Size, ...] | None:
        """Return the sizes of a factor along its axes in terms of variables in scope, or None if they may differ between iterations.

        A factor of a product that is added to an array without being broadcast is as long as an axis of that array.  Along the
        other axis of a batch, over which the product sums, both factors are equally long.
        """
        if known_dtype(v) is None or v not in self.here and v not in self.loop.params:
            return None
        held = self.find(v)
        if held is not None and rank(v.type) == 2 and held.array.type.scattered:
            return None
        sum_, k = self.loop.inits[term.variant], term.factors.index(v)
        like = self.facts.counting.op(sum_)
        if isinstance(like, Call) and like.fn is np.zeros_like and isinstance(like.args[0], Var):
            sum_ = like.args[0]
        sizes = Sizes(self.scope)
        dim = dims_in(sum_)[k]
        kept = sizes.size(dim) or Size(sum_, k, dim)
        if rank(v.type) == 1:
            return (kept,)
        for dim in (dims_in(factor)[term.axis] for factor in term.factors):
            if (size := sizes.size(dim)) is not None:
                return (kept, size) if term.axis else (size, kept)
        return None

    def find(self, v: Var) -> FactorArray | None:
        """Return the array that holds all values of a factor after the loop, which each iteration reads or finally writes; else None."""
        match self.here[v].op if v in self.here else None:
            case Index(Var() as array, key) if array in self.scope and rank(array.type) == rank(v.type) + 1:
                return self.held(array, key)
        for stmt in self.loop.body.stmts:
            match stmt.op:
                case Update(Var() as base, (Sub(key),), value, "set") if value is v and rank(base.type) == rank(v.type) + 1:
                    for k in range(len(self.loop.params)):
                        if known_dtype(base) == known_dtype(v) and self.stays(stmt, chain_of(self.loop, k, self.here)):
                            held = self.held(self.stmt.targets[k], key)
                            part = dims_in(base)[: held.axis] + dims_in(base)[held.axis + 1 :] if held is not None else ()
                            return held if held is not None and fills(dims_in(v), part) else None
        return None

    def held(self, array: Var, key) -> FactorArray | None:
        """Return the place of the part that a subscript takes, if the subscript moves on by one in each iteration."""
        at = offset(key, self.index, self.facts.made)
        if at is not None:
            return FactorArray(array, 0, at) if at + self.counted.first >= 0 else None
        return FactorArray(array, 1, 0) if axis_of(key, self.index) == 1 else None

    def stays(self, stmt: Stmt, chain: list[Stmt]) -> bool:
        """Return whether no other update of the array, in this or a later iteration, changes what an update sets."""
        if stmt not in chain:
            return False
        keys = [s.op.path[0].key if len(s.op.path) == 1 and isinstance(s.op.path[0], Sub) else None for s in chain]
        own = keys[chain.index(stmt)]
        if len(chain) == 1:
            return True
        at = offset(own, self.index, self.facts.made)
        others = [offset(key[0] if isinstance(key, tuple) else key, self.index, self.facts.made) for key in keys]
        if at is None or None in others or min(others) + self.counted.first < 0:
            return False
        down = number(self.loop.domain.step) == -1
        return all(
            s is stmt or (other < at if down else other > at) or (other == at and k < chain.index(stmt))
            for k, (s, other) in enumerate(zip(chain, others))
        )


def chain_of(loop: Loop, k: int, here: dict[Var, Stmt]) -> list[Stmt]:
    """Return the updates in the body that make the next value of the k-th variant, in order, or none if something else makes it."""
    found, version = [], loop.body.results[k]
    while version in here and isinstance(here[version].op, Update):
        found.append(here[version])
        version = here[version].op.base
    return found[::-1] if version is loop.params[k] else []
