"""Sums of exponentials of sums as products of matrices.

    x = a[:, :, None] + b                       x[n, i, j] = a[n, i] + b[i, j]
    m = max(x, axis=1, keepdims=True)
    s = sum(exp(x - m), axis=1)                 s = log(s) + squeeze(m, 1) is what the program goes on with

becomes, if the shift m cancels (`analysis/cancelled_shifts.py`), so that any other may take its place:

    top_b = max(b, axis=0, keepdims=True)       before the loop, if b does not vary in it
    exp_b = exp(b - top_b)
    top_a = max(a, axis=1, keepdims=True)
    exp_a = exp(a - top_a)
    m = expand_dims(top_a + top_b, 1)
    s = product_in_range(exp_a, exp_b)

The exponentials of one step of a forward algorithm, of a random field or of Sinkhorn's iteration are then those of a row, not of a matrix,
and the adjoint saves the row.  The same holds for `scipy.special.logsumexp(x, axis)`, whose result is log(s) + m.  Terms of x that do not
vary along the axis go into m.

This is legal if the two operands share no axis but the one that is summed.  Factors that underflow make no difference as long as the sum is
not as small as they are.  `product_in_range` checks that it is not, and raises FloatingPointError, whereupon the function is generated
without this pass and called again (`compile/again.py`).  So the function must have no effects that a second call would repeat.

L. R. Rabiner, "A tutorial on hidden Markov models" (1989), section V.A.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.cancelled_shifts import cancelled_shifts
from sourcead.analysis.sizes import known_dtype, least
from sourcead.ir.nodes import (
    AdjointBlock, Atom, Block, Call, Closure, Const, Function, Index, Let, Loop, Op, Operand, Slice, Stmt, Update, Var
)
from sourcead.ir.types import dims_of, rank
from sourcead.ir.walk import bound_vars, count_reads, definitions, has, map_blocks, walk, with_body, with_stmts
from sourcead.passes.cleanup.added_axes import delay_axes
from sourcead.primitives.function_kinds import home

SUMS = {operator.add: 1, np.add: 1, operator.sub: -1, np.subtract: -1}
DEPTH = 6  # how many sums may stand in each other
SCALES = (operator.mul, np.multiply, operator.truediv, np.divide)


@dataclass(frozen=True, eq=False)
class Term:
    """One term of x: what is left of it without the axes of size 1 that were added to it.

    Attributes:
        base: an array of one or two axes.
        axes: the axis of x along which each axis of `base` lies.
        scales: the numbers that it is multiplied with or divided by, and changes of its sign.
    """

    base: Var
    axes: tuple[int, ...]
    scales: tuple[tuple[Callable, Atom | None], ...]

    def emit(self, build: Builder) -> Var:
        """Emit the base with its factors."""
        value = self.base
        for fn, number in self.scales:
            value = build.call(fn, value) if number is None else build.call(fn, value, number)
        return value


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of exponentials: `x`, the axis that is summed, and of the statements that compute it with a shift, the shift."""

    x: Var
    axis: int
    keepdims: bool
    shift: Var | None


@dataclass(eq=False)
class Frame:
    """The block that is written now, or a loop around it: the statements that are taken out of the loop inside."""

    defined: set[Var]
    before: list[Stmt] = field(default_factory=list)


def multiply_exponentials(function: Function, build: Builder) -> Function:
    """Return the function with sums of exponentials of sums as products of matrices; `build` knows its variables."""
    fns = {s.op.fn for s in walk(function.body) if isinstance(s.op, Call) and not isinstance(s.op.fn, Var)}
    if not (np.exp in fns or any(map(is_logsumexp, fns))) or has(function.body, AdjointBlock, Closure) or repeats_effects(function.body):
        return function
    made = with_body(function, Writing(function, build).block(function.body, [Frame(set(function.params))]))
    return function if made is function else delay_axes(made)


def repeats_effects(block: Block) -> bool:
    """Return whether a second call would repeat an effect, such as a draw of random numbers."""
    calls = (s.op for s in walk(block) if isinstance(s.op, Call) and s.op.effect)
    return any(runtime.has_effects(call.fn) for call in calls)


class Writing:
    """Rewrites the blocks of one function."""

    def __init__(self, function: Function, build: Builder):
        self.made, self.maybe_number = definitions(function.body), build.maybe_number
        self.readers: dict[Var, list[Op]] = {}
        for stmt in walk(function.body):
            for v in stmt.op.reads:
                self.readers.setdefault(v, []).append(stmt.op)
        self.reads, self.shifts = count_reads(function.body), cancelled_shifts(function.body)

    def block(self, block: Block, frames: list[Frame]) -> Block:
        """Return the block with sums as products; what does not vary in a loop goes before it, by the frames of the loops around."""
        found = self.sums_of(block)
        out: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt.op, Loop):
                inside = Frame(set(bound_vars(stmt.op)))
                stmt = map_blocks(stmt, lambda b, inside=inside: self.block(b, [*frames, inside]))
                out += inside.before
            else:
                stmt = map_blocks(stmt, lambda b: self.block(b, frames))
            out += found.pop(stmt.targets[0], None)(stmt, frames) if stmt.targets and stmt.targets[0] in found else [stmt]
            frames[-1].defined.update(stmt.targets)
        return with_stmts(block, out)

    def sums_of(self, block: Block) -> dict[Var, Callable[[Stmt, list[Frame]], list[Stmt]]]:
        """Return what writes the statements anew that compute a shift or a sum, by their targets."""
        found: dict[Var, Callable] = {}
        here = {t for s in block.stmts for t in s.targets}
        for stmt in block.stmts:
            if isinstance(stmt.op, Call) and len(stmt.targets) == 1 and (total := self.sum(stmt, here)) is not None:
                if (parts := self.parts(total, here)) is not None:
                    pair = Pair(total, *parts)
                    if total.shift is None:
                        found[stmt.targets[0]] = pair.logarithm
                    else:
                        found[total.shift], found[stmt.targets[0]] = pair.shift, pair.total
        return found

    def sum(self, stmt: Stmt, here: set[Var]) -> Sum | None:
        """Return the sum that a statement computes; None for others."""
        (target,), op = stmt.targets, stmt.op
        axis, keepdims = reduced(op, np.sum) if op.fn is np.sum else reduced(op, op.fn) if is_logsumexp(op.fn) else (None, False)
        if axis is None or known_dtype(target) is None or known_dtype(target).kind != "f" or not isinstance(op.args[0], Var):
            return None
        if op.fn is not np.sum:
            return Sum(op.args[0], axis, keepdims, None)
        match self.only(op.args[0]):
            case Call(np.exp, (Var() as d,), ()):
                match self.only(d):
                    case Call(fn, (Var() as x, Var() as m), ()) if SUMS.get(fn) == -1:
                        shift = m if m in self.shifts else self.unsqueezed(m, axis)
                        largest = self.made.get(shift)
                        if shift in self.shifts and shift in here and self.reads[x] == 2 and isinstance(largest.op, Call):
                            of = reduced(largest.op, largest.op.fn)
                            if largest.op.fn is np.max and largest.op.args[0] is x and of[0] == axis:
                                logarithms = all(only_adds(op) or op is self.made[d].op for v in (shift, m) for op in self.readers[v])
                                return Sum(x, axis, keepdims, shift) if logarithms and self.feeds_logarithms(target) else None
        return None

    def feeds_logarithms(self, total: Var) -> bool:
        """Return whether of a sum only the logarithm is read, which has a number for each sum that is in range."""
        targets = {s.op: s.targets[0] for s in self.made.values()}
        ops = self.readers.get(total, ())
        through = (op for op in ops if not (isinstance(op, Call) and op.fn is np.log))
        return self.reads[total] == len(ops) and all(takes_part(op) and self.feeds_logarithms(targets[op]) for op in through)

    def only(self, v: Var) -> Call | None:
        """Return the call that makes a variable which is read once; None for others."""
        op = self.made[v].op if v in self.made and self.reads[v] == 1 else None
        return op if isinstance(op, Call) and not op.effect else None

    def unsqueezed(self, v: Var, axis: int) -> Var | None:
        """Return the variable to which an axis of size 1 was added, None for others."""
        op = self.made[v].op if v in self.made else None
        axes = added_axes(op)
        return None if axes is None or tuple(k for k, of in enumerate(axes) if of is None) != (axis,) else base_of(op)

    # ---- the terms of x ----

    def parts(self, total: Sum, here: set[Var]) -> tuple[Term, Term, list[Term]] | None:
        """Return the two operands, of which the first has the axis that comes first in the result, and the terms that do not vary
        along the axis that is summed; None if x is no sum of two such operands."""
        dims = dims_of(total.x.type)
        if dims is None or not 2 <= len(dims) <= 3 or least(dims[total.axis]) < 1:
            return None
        for depth in range(1, DEPTH):
            terms = [self.term(atom, scales, total.x, dims) for atom, scales in self.terms(total.x, (), here, depth)]
            if all(terms) and (found := operands(terms, total.axis, dims)) is not None:
                return found
        return None

    def terms(self, atom: Atom, scales: tuple, here: set[Var], depth: int) -> list[tuple[Atom, tuple]]:
        """Return the terms of a sum that is computed in this block, each with its factors and changes of sign."""
        match self.made[atom].op if depth and atom in here else None:
            case Let(Var() as value):
                return self.terms(value, scales, here, depth)
            case Call(fn, (Var() as a, Var() as b), ()) if fn in SUMS and rank(a.type) and rank(b.type):
                minus = scales if SUMS[fn] == 1 else ((operator.neg, None), *scales)
                return [*self.terms(a, scales, here, depth - 1), *self.terms(b, minus, here, depth - 1)]
            case Call(operator.neg | np.negative, (Var() as a,), ()) if rank(a.type):
                return self.terms(a, ((operator.neg, None), *scales), here, depth)
            case Call(fn, (Var() as a, number), ()) if fn in SCALES and rank(a.type) and is_number(number):
                return self.terms(a, ((fn, number), *scales), here, depth)
            case Call(operator.mul | np.multiply, (number, Var() as a), ()) if rank(a.type) and is_number(number):
                return self.terms(a, ((operator.mul, number), *scales), here, depth)
        return [(atom, scales)]

    def term(self, atom: Atom, scales: tuple, x: Var, dims: tuple) -> Term | None:
        """Return a term of x, None if it has an axis of size 1 that is not known to have been added."""
        if not isinstance(atom, Var) or known_dtype(atom) != known_dtype(x):
            return None
        base, axes = atom, list(range(len(dims) - (rank(atom.type) or 0), len(dims)))
        while base in self.made and (added := added_axes(op := self.made[base].op)) is not None:
            base, axes = base_of(op), [axes[k] for k, of in enumerate(added) if of is not None]
        own = dims_of(base.type)
        if own is None or not 1 <= len(own) <= 2 or any(k < 0 for k in axes) or not self.maybe_number.isdisjoint((atom, base)):
            return None
        if any(m != dims[k] and not (least(m) > 1 and least(dims[k]) > 1) for m, k in zip(own, axes)):
            return None
        return Term(base, tuple(axes), scales)


def operands(terms: list[Term], axis: int, dims: tuple) -> tuple[Term, Term, list[Term]] | None:
    """Return the two terms that vary along an axis of x and share no other, in the order of their others, and the terms that do not."""
    varying = [t for t in terms if axis in t.axes]
    free = [set(t.axes) - {axis} for t in varying]
    if len(varying) != 2 or free[0] & free[1] or free[0] | free[1] != set(range(len(dims))) - {axis}:
        return None
    first, second = varying
    sizes = [dims_of(t.base.type)[t.axes.index(axis)] for t in varying]
    if sizes[0] != sizes[1] and any(least(n) < 2 for n in sizes):
        return None
    if len(first.axes) == len(second.axes) and min(free[0]) > min(free[1]) or len(second.axes) == 1 and first.axes[-1] != axis:
        first, second = second, first  # a vector stands where the matrix need not be transposed
    elif len(first.axes) == 1 and second.axes[-1] == axis:
        first, second = second, first
    return first, second, [t for t in terms if axis not in t.axes]


@dataclass(eq=False)
class Pair:
    """Two operands whose sum is x, and what is emitted for them."""

    sum: Sum
    first: Term
    second: Term
    constant: list[Term]
    factors: list[Var] = field(default_factory=list)

    def operand(self, term: Term, stmt: Stmt, frames: list[Frame], build: Builder) -> Var:
        """Emit an operand's maximum and exponential, before the outermost loop in which it does not vary; return the maximum."""
        needs = {term.base, *(n for _, n in term.scales if isinstance(n, Var))}
        level = max(k for k, frame in enumerate(frames) if not needs.isdisjoint(frame.defined))
        inside, build = build, Builder().at(stmt)
        base, along = term.emit(build), term.axes.index(self.sum.axis)
        of = "" if base.temp else f"_{base.name}"
        keeps = {"keepdims": Const(True)} if along else {}
        top = build.call(np.max, base, **({"axis": Const(along)} if len(term.axes) > 1 else {}), **keeps, name=f"top{of}")
        self.factors.append(build.call(np.exp, build.call(operator.sub, base, top), name=f"exp{of}"))
        if keeps and self.result_axis(term.axes[0]) != self.result_rank - 2:
            top = build.call(np.squeeze, top, axis=Const(1))
        elif not keeps and len(term.axes) > 1:
            top = self.aligned(build, top, term.axes[1:])
        if level < len(frames) - 1:
            frames[level + 1].before += build.stmts
            frames[level].defined.update(t for s in build.stmts for t in s.targets)
        else:
            inside.stmts += build.stmts
        return top

    @property
    def result_rank(self) -> int:
        return rank(self.sum.x.type) - 1

    def result_axis(self, axis: int) -> int:
        """Return the axis of the sum that is an axis of x."""
        return axis - (axis > self.sum.axis)

    def aligned(self, build: Builder, value: Var, axes: tuple[int, ...]) -> Var:
        """Emit an array whose axes are these of x with axes of size 1 behind them, so that it can be broadcast to the result."""
        found = [self.result_axis(k) for k in axes]
        key = tuple(Slice(None, None, None) if k in found else Const(None) for k in range(found[0], self.result_rank))
        return value if len(key) == len(found) else build.index(value, key)

    def tops(self, build: Builder, stmt: Stmt, frames: list[Frame]) -> Var:
        """Emit the operands; return the sum of their maxima and of the terms that do not vary along the axis."""
        shift = [self.operand(term, stmt, frames, build) for term in (self.first, self.second)]
        shift += [self.aligned(build, term.emit(build), term.axes) for term in self.constant]
        total = shift[0]
        for part in shift[1:]:
            total = build.call(operator.add, total, part)
        return total

    def kept(self, build: Builder, value: Var, keeps: bool) -> Var:
        """Emit a value with the axis that was summed, of size 1, if it is kept."""
        return build.call(np.expand_dims, value, Const(self.sum.axis)) if keeps else value

    def shift(self, stmt: Stmt, frames: list[Frame]) -> list[Stmt]:
        """Return what computes the shift."""
        build = Builder().at(stmt)
        return renamed(build, self.kept(build, self.tops(build, stmt, frames), rank(stmt.targets[0].type) > self.result_rank), stmt)

    def total(self, stmt: Stmt, frames: list[Frame]) -> list[Stmt]:
        """Return what computes the sum by a product of matrices."""
        build = Builder().at(stmt)
        return renamed(build, self.kept(build, self.product(build), self.sum.keepdims), stmt)

    def product(self, build: Builder) -> Var:
        """Emit the product."""
        a, b = self.factors
        if len(self.first.axes) == 2 and self.first.axes[0] == self.sum.axis:
            a = build.call(np.transpose, a)
        if len(self.second.axes) == 2 and self.second.axes[1] == self.sum.axis:
            b = build.call(np.transpose, b)
        return build.call(runtime.product_in_range, a, b, name="total")

    def logarithm(self, stmt: Stmt, frames: list[Frame]) -> list[Stmt]:
        """Return what computes the logarithm of the sum."""
        build = Builder().at(stmt)
        shift = self.tops(build, stmt, frames)
        total = build.call(operator.add, build.call(np.log, self.product(build)), shift)
        return renamed(build, self.kept(build, total, self.sum.keepdims), stmt)


def renamed(build: Builder, result: Var, stmt: Stmt) -> list[Stmt]:
    """Return the statements of a builder, of which the last computes the target of the statement that they stand for."""
    *stmts, last = build.stmts
    assert last.targets == (result,)
    return [*stmts, replace(stmt, op=last.op)]


def is_logsumexp(fn) -> bool:
    return getattr(fn, "__name__", None) == "logsumexp" and home(fn).startswith("scipy.special")


def takes_part(op: Op) -> bool:
    """Return whether an op computes nothing: it takes a part, or adds or removes axes of size 1."""
    return isinstance(op, Let | Index) or isinstance(op, Call) and op.fn in (np.squeeze, np.expand_dims, np.reshape)


def only_adds(op: Op) -> bool:
    """Return whether an op lets what it reads go into sums only, not into another exponential."""
    added = isinstance(op, Call) and op.fn in (operator.add, np.add) or isinstance(op, Update) and op.mode == "add"
    return added or takes_part(op)


def is_number(operand: Operand) -> bool:
    return isinstance(operand, (Var, Const)) and rank(atom_type(operand)) == 0


def reduced(op: Call, fn: Callable) -> tuple[int | None, bool]:
    """Return the axis of a reduction over one axis of a known number, from 0, and whether it keeps it; None for others."""
    given = dict(zip(("axis",), op.args[1:2])) | dict(op.kwargs)
    known = given.keys() <= {"axis", "keepdims"} and all(isinstance(v, Const) and not v.live for v in given.values()) and len(op.args) <= 2
    if op.fn is not fn or not known or not op.args or "axis" not in given or (n := rank(atom_type(op.args[0]))) is None:
        return None, False
    axis, keepdims = given["axis"].value, given["keepdims"].value if "keepdims" in given else False
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    return (axis % n if type(axis) is int and -n <= axis < n else None), keepdims is True


def added_axes(op) -> list[int | None] | None:
    """Return for each axis of the result the axis of the array whose axes of size 1 an op adds, None for those; None for other ops."""
    match op:
        case Index(Var() as base, key) if rank(base.type):
            keys = key if isinstance(key, tuple) else (key,)
            whole = [isinstance(k, Slice) and k.lower is k.upper is k.step is None for k in keys]
            new = [isinstance(k, Const) and k.value is None for k in keys]
            if not any(new) or not all(a or b for a, b in zip(whole, new)) or sum(whole) > rank(base.type):
                return None
            axes, count = [], 0
            for is_new in (*new, *[False] * (rank(base.type) - sum(whole))):
                axes.append(None if is_new else count)
                count += not is_new
            return axes
        case Call(np.expand_dims, (Var() as base, Const(int() as axis)), ()) if rank(base.type):
            n = rank(base.type)
            axes: list[int | None] = list(range(n))
            axes.insert(axis % (n + 1), None)
            return axes
    return None


def base_of(op: Index | Call) -> Var:
    return op.base if isinstance(op, Index) else op.args[0]
