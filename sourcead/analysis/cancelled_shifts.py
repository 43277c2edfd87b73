"""Shifts that cancel: what is subtracted so that nothing overflows, and added again or divided out.

    m = max(x, axis=1, keepdims=True)      m is
    y = x - m                              a term of y, -1 times
    e = exp(y)                             a factor exp(-m)
    t = sum(e, axis=1, keepdims=True)      a factor exp(-m)
    p = e / t                              gone: a softmax
    s = log(t) + m                         gone: the logarithm of a sum of exponentials

If m goes wherever it is read, the result does not depend on it, and the derivative by it is zero, whatever m is.  The term or factor is
followed through the operations of a softmax; if it meets another one, m is differentiated as usual.  A sum may be one that a loop behind m
adds up from zero.
"""

import heapq
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import (
    Attr, Block, Call, Const, Index, Let, Loop, Operand, Slice, Stmt, Update, Var, operand_atoms
)
from sourcead.ir.types import Sym, Type, dims_of, kind_of, rank
from sourcead.ir.walk import walk
from sourcead.primitives.table import record_of

EXTREMES = {max, min, np.max, np.min, np.maximum, np.minimum}
ADDITIONS = {operator.add, np.add, "add"}
REDUCTIONS = {np.max, np.min, np.sum, np.mean}
SUMS = {operator.add: 1, np.add: 1, "add": 1, operator.sub: -1, np.subtract: -1, "sub": -1}
PRODUCTS = {operator.mul: 1, np.multiply: 1, operator.truediv: -1, np.divide: -1}
MATRIX_PRODUCTS = {operator.matmul, np.matmul, runtime.product_in_range}
RESHAPES = {np.squeeze, np.expand_dims, np.reshape}


class Lost(Exception):
    """It is not known how a value depends on the shift."""


@dataclass(frozen=True)
class Part:
    """What the shift m is of a value: the term `times * m`, or the factor `exp(times * m)`.

    `axes` are the axes of the value along which m varies, counted from the last, -1; each with the axis of m.
    """

    factor: bool
    times: int
    axes: frozenset[tuple[int, int]]


def cancelled_shifts(block: Block) -> set[Var]:
    """Return the maxima and minima that statements of a block read and the results of the block do not depend on."""
    stmts = list(walk(block))
    found = [k for k, stmt in enumerate(stmts) if isinstance(stmt.op, Call) and _among(stmt.op.fn, EXTREMES)]
    if not found:
        return set()
    uses = _Uses(stmts)
    for b in (block, *(b for stmt in stmts for b in stmt.op.blocks)):
        uses.handed_on.update(r for r in b.results if isinstance(r, Var))
    for k, stmt in enumerate(stmts):
        uses.definitions.update(dict.fromkeys(stmt.targets, stmt))
        for v in set(stmt.op.reads):
            uses.readers[v].append(k)
    for stmt in stmts:
        if isinstance(stmt.op, Loop):
            uses.note_sums(stmt)
    return {stmts[k].targets[0] for k in found if _cancels(stmts[k].targets[0], uses)}


@dataclass(frozen=True, eq=False)
class _Uses:
    """The statements of a function in their order, with what defines and reads each variable, and how often each leaves its block.

    Attributes:
        sums: for what an iteration yields as the sum of a loop that begins with zero: the loop, the sum so far, and that after the loop.
    """

    stmts: list[Stmt]
    definitions: dict[Var, Stmt] = field(default_factory=dict)
    readers: dict[Var, list[int]] = field(default_factory=lambda: defaultdict(list))
    handed_on: Counter[Var] = field(default_factory=Counter)
    sums: dict[Var, tuple[Loop, Var, Var]] = field(default_factory=dict)

    def note_sums(self, stmt: Stmt) -> None:
        loop = stmt.op
        for param, init, end, target in zip(loop.params, loop.inits, loop.body.results, stmt.targets):
            adds = next((k for k in self.readers[param] if self.stmts[k].targets == (end,)), None)
            alone = adds is not None and self.readers[param] == [adds] and not self.handed_on[param] and self.handed_on[end] == 1
            if alone and self.is_zero(init) and self.stmts[adds] in loop.body.stmts:
                self.sums[end] = loop, param, target

    def is_zero(self, operand: Operand) -> bool:
        op = self.definitions[operand].op if isinstance(operand, Var) and operand in self.definitions else None
        if isinstance(op, Call):
            return isinstance(op.fn, Hashable) and op.fn in (np.zeros, np.zeros_like) and not op.kwargs
        value = op.value if isinstance(op, Let) else operand
        return isinstance(value, Const) and not value.live and type(value.value) in (int, float) and value.value == 0


def _cancels(shift: Var, uses: _Uses) -> bool:
    dims = dims_of(shift.type)
    if dims is None:
        return False
    parts = {shift: Part(False, 1, frozenset((k - len(dims), k) for k, n in enumerate(dims) if n != 1))}
    if shift in uses.handed_on:
        return False
    pending = list(uses.readers[shift])
    while pending:
        stmt = uses.stmts[heapq.heappop(pending)]
        try:
            part = _part(stmt, parts, uses)
        except Lost:
            return False
        if part is None or not part.times or stmt.targets[0] in parts:
            continue
        found = [stmt.targets[0]]
        loop, _, total = uses.sums.get(found[0], (None, None, None))
        if total is not None and uses.definitions[shift] not in loop.body.statements:
            found.append(total)
        if uses.handed_on[found[-1]]:
            return False
        for v in found:
            parts[v] = part
            for k in uses.readers[v]:
                heapq.heappush(pending, k)
    return True


def _part(stmt: Stmt, parts: dict[Var, Part], uses: _Uses) -> Part | None:
    """Return what the shift is of the result of a statement that reads a value with a part of it."""
    to = stmt.targets[0].type if stmt.targets else None
    _, so_far, _ = uses.sums.get(stmt.targets[0], (None, None, None)) if stmt.targets else (None, None, None)
    match stmt.op:
        case Call(fn, (a, b), ()) | Update(a, (), b, fn) if _among(fn, ADDITIONS) and (a is so_far or uses.is_zero(a)):
            return _of(b, parts)
        case Call(fn, (a, b), ()) | Update(a, (), b, fn) if _among(fn, ADDITIONS) and (b is so_far or uses.is_zero(b)):
            return _of(a, parts)
        case Attr():
            return None
        case Let(Var() as value):
            return parts[value]
        case Update(base, (), value, "add" | "sub" as mode):
            return _sum(_of(base, parts), _of(value, parts), SUMS[mode])
        case Update(_, (), value, "set"):
            return _of(value, parts)
        case Index(base, key) if base in parts:
            return _indexed(base, key, parts[base], uses.definitions)
        case Call(fn, args, kwargs, False) if isinstance(fn, Hashable) and not isinstance(fn, Var):
            if record_of(fn).no_derivative:
                return None
            return _of_call(fn, args, dict(kwargs), to, parts)
    raise Lost


def _of_call(fn, args: tuple[Operand, ...], kwargs: dict[str, Operand], to: Type, parts: dict[Var, Part]) -> Part | None:
    if not args:
        raise Lost
    first = _of(args[0], parts)
    if len(args) == 2 and not kwargs and fn in SUMS:
        return _sum(first, _of(args[1], parts), SUMS[fn])
    if len(args) == 2 and not kwargs and fn in PRODUCTS:
        return _product(first, _of(args[1], parts), PRODUCTS[fn])
    if fn in MATRIX_PRODUCTS and len(args) == 2 and not kwargs:
        return _matrix_product([_of(a, parts) for a in args], [rank(atom_type(a)) or 0 for a in args])
    if first is None or any(_of(a, parts) for a in (*args[1:], *kwargs.values())):
        raise Lost
    if fn in REDUCTIONS and (first.factor or fn is not np.sum):
        return _reduced(first, args, kwargs)
    if fn is np.transpose and len(args) == 1 and not kwargs and (n := rank(args[0].type)) is not None:
        return replace(first, axes=frozenset((-n - 1 - k, of) for k, of in first.axes))
    if fn in RESHAPES:
        return _reshaped(first, dims_of(args[0].type), dims_of(to))
    if len(args) == 1 and not kwargs:
        if fn in (np.exp, math.exp) and not first.factor:
            return replace(first, factor=True)
        if fn in (np.log, math.log) and first.factor:
            return replace(first, factor=False)
        if fn in (operator.neg, np.negative):
            return first if first.factor else replace(first, times=-first.times)
    raise Lost


def _sum(a: Part | None, b: Part | None, sign: int) -> Part:
    """Return the part of a + b or a - b: a sum has a factor only if both have it."""
    if a is None or b is None:
        part = a or replace(b, times=b.times * (1 if b.factor else sign))
        if part.factor:
            raise Lost
        return part
    if (a.factor, a.axes) != (b.factor, b.axes) or a.factor and a.times != b.times:
        raise Lost
    return a if a.factor else replace(a, times=a.times + sign * b.times)


def _product(a: Part | None, b: Part | None, sign: int) -> Part:
    """Return the part of a * b or a / b, in which the exponents of factors add up."""
    if any(p is not None and not p.factor for p in (a, b)) or a and b and a.axes != b.axes:
        raise Lost
    return replace(a or b, times=(a.times if a else 0) + (sign * b.times if b else 0))


def _reduced(part: Part, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> Part:
    """Return the part of a sum, mean or extreme over axes along which the shift does not vary."""
    axis = kwargs.pop("axis", args[1] if len(args) > 1 else Const(None))
    keepdims = kwargs.pop("keepdims", Const(False))
    n = rank(args[0].type)
    if kwargs or len(args) > 2 or n is None or not (isinstance(axis, Const) and isinstance(keepdims, Const)):
        raise Lost
    axes = range(-n, 0) if axis.value is None else axis.value if isinstance(axis.value, tuple) else (axis.value,)
    gone = {k - n if k >= 0 else k for k in axes}
    if any(k in gone for k, _ in part.axes):
        raise Lost
    if keepdims.value:
        return part
    return replace(part, axes=frozenset((k + sum(k < g for g in gone), of) for k, of in part.axes))


def _matrix_product(parts: list[Part | None], ranks: list[int]) -> Part:
    """Return the part of a product of matrices or vectors, which must not sum along an axis along which the shift varies."""
    (part, n, other, summed) = (parts[0], ranks[0], ranks[1], -1) if parts[1] is None else (parts[1], ranks[1], ranks[0], -min(ranks[1], 2))
    if all(parts) or not all(ranks) or not part.factor or any(k == summed for k, _ in part.axes):
        raise Lost
    if n == 1 or other > 1:
        return part
    return replace(part, axes=frozenset((k + (k < summed), of) for k, of in part.axes))  # a vector has no axis to put in the place


def _reshaped(part: Part, before: tuple | None, after: tuple | None) -> Part:
    """Return the part of a value that has lost or gained axes of size 1 only."""
    if before is None or after is None:
        raise Lost
    old, new = ([k - len(dims) for k, n in enumerate(dims) if n != 1] for dims in (before, after))
    same = len(old) == len(new) and all(before[a] is after[b] or before[a] == after[b] for a, b in zip(old, new))
    if not same and not len(old) == len(new) == 1:
        raise Lost
    to = dict(zip(old, new))
    return replace(part, axes=frozenset((to[k], of) for k, of in part.axes))


def _indexed(base: Var, key: Operand, part: Part, definitions: dict[Var, Stmt]) -> Part:
    """Return the part of `base[key]`, which takes the axes along which the shift varies whole and in their order."""
    keys, dims = _key_of_each_axis(base, key), dims_of(base.type)
    varies = {k + len(dims): of for k, of in part.axes}
    out: list[int | None] = []  # for each axis of the result the axis of the shift
    picked: list[int] = []  # the positions of numbers and arrays in the key
    arrays, axis = 0, 0
    for position, k in enumerate(keys):
        if isinstance(k, Const) and k.value is None:
            out.append(None)
            continue
        of = varies.get(axis)
        if isinstance(k, Slice):
            if of is not None and any(bound is not None for bound in (k.lower, k.upper, k.step)):
                raise Lost
            out.append(of)
        else:
            picked.append(position)
            if not _is_number(k):
                if not _is_row_of_integers(k):
                    raise Lost
                if not arrays:
                    out.append(None)
                arrays += 1
            if of is not None:
                if _is_number(k) or out[-1] is not None or not _counts_all(k, dims[axis], definitions):
                    raise Lost
                out[-1] = of
        axis += 1
    if arrays and picked != list(range(picked[0], picked[0] + len(picked))):
        raise Lost
    return replace(part, axes=frozenset((j - len(out), of) for j, of in enumerate(out) if of is not None))


def _key_of_each_axis(base: Var, key: Operand) -> list[Operand]:
    """Return the key with whole slices in the place of an ellipsis, and for the axes that it does not name."""
    keys, n = list(key) if isinstance(key, tuple) else [key], rank(base.type)
    if n is None:
        raise Lost
    named = sum(not (isinstance(k, Const) and (k.value is None or k.value is Ellipsis)) for k in keys)
    whole = [Slice(None, None, None)] * (n - named)
    at = next((j for j, k in enumerate(keys) if isinstance(k, Const) and k.value is Ellipsis), None)
    return [*keys, *whole] if at is None else [*keys[:at], *whole, *keys[at + 1 :]]


def _is_number(key: Operand) -> bool:
    return isinstance(key, (Var, Const)) and kind_of(atom_type(key)) == "int" and rank(atom_type(key)) == 0


def _is_row_of_integers(key: Operand) -> bool:
    return isinstance(key, (Var, Const)) and kind_of(atom_type(key)) == "int" and rank(atom_type(key)) == 1


def _counts_all(rows: Operand, dim: int | Sym, definitions: dict[Var, Stmt]) -> bool:
    """Return whether `rows` is `np.arange(n)`, which as part of a key is not repeated for the others: its length is 1 only if `dim` is."""
    stmt = definitions.get(rows) if isinstance(rows, Var) else None
    if stmt is None or not isinstance(stmt.op, Call) or stmt.op.fn is not np.arange or len(stmt.op.args) != 1 or stmt.op.kwargs:
        return False
    length = dims_of(rows.type)[0]
    return length is dim or (length > 1 if isinstance(length, int) else length.many)


def _of(operand: Operand, parts: dict[Var, Part]) -> Part | None:
    """Return the part of an operand; None if it does not depend on the shift."""
    if isinstance(operand, Var):
        return parts.get(operand)
    if any(atom in parts for atom in operand_atoms(operand) if isinstance(atom, Var)):
        raise Lost
    return None


def _among(fn, functions: set) -> bool:
    return isinstance(fn, Hashable) and fn in functions
