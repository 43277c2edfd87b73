"""Parts of the members' arrays whose lengths differ: the elements of all members in one vector, one member after the other.

    y = x[x > 0]            mask = x > 0;  y = x[mask];  rows = nonzero(mask)[0]        x: (n, m), rows: the member of each element
    y = x[:k]               mask = arange(m) < k[:, None]                               k: (n)
    z = s * log(y)          z = s[rows] * log(y)                                        s: (n)
    t = sum(z)              t = zeros(n);  t[rows] += z
    x[x > 0] = z            x[mask] = z

Elements that no member selects are not computed.  All else that reads such a part is in a loop over the members (`one_by_one.py`), so that
the statements of the part stay in `deferred`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np

from sourcead.analysis.builder import atom_type
from sourcead.ir.nodes import Atom, Call, Const, Index, Operand, Slice, Stmt, Sub, Update, Var
from sourcead.ir.types import Array, Scalar
from sourcead.passes.batching.blocks import ALL
from sourcead.passes.batching.calls import Unbatchable, rank_of
from sourcead.passes.batching.entries import Wide
from sourcead.passes.batching.member_calls import is_mask
from sourcead.passes.batching.one_by_one import OneByOne
from sourcead.primitives.table import record_of

INTEGERS = np.dtype(np.int64)


@dataclass(frozen=True, eq=False)
class Selection:
    """The elements that the members select.

    Attributes:
        elements: those of all members, along the first axis.
        rows: the member of each of them.
        mask: which elements of each member they are.
    """

    elements: Var
    rows: Var
    mask: Var


class Selected(OneByOne):
    """The rules of `Members` for parts whose lengths differ.

    Attributes:
        selected: these parts, by the variables of the block.
        masks: the masks of slices, by the bounds and the size of the axis.
    """

    selected: dict[Var, Selection]
    masks: dict[tuple, Var]

    def of_selected(self, stmt: Stmt) -> None:
        """Write a statement that selects such a part, or reads one."""
        match stmt.op:
            case Index(base, key) if base not in self.deferred:
                return self.selection(stmt, base, key)
            case Update(base, (Sub(key),), value) if base not in self.deferred:
                return self.update_of_selected(stmt, base, key, value)
            case Call(fn, (x,), kwargs, False) if fn in REDUCTIONS and x in self.selected and all(is_first(k, v) for k, v in kwargs):
                return self.bind(stmt.targets[0], Wide(REDUCTIONS[fn](self, stmt.targets[0], self.selected[x])))
            case Call(fn, args, (), False) if not isinstance(fn, Var) and record_of(fn).is_elementwise(len(args)):
                return self.elementwise(stmt)
        raise Unbatchable

    # -- which elements --------------------------------------------------------------------------------------------------

    def mask_of(self, base: Atom, key: Operand) -> tuple[Var, tuple | None]:
        """Return the mask of a part, and the key under which it is kept."""
        if not isinstance(atom_type(base), Array) or rank_of(base) < 1:
            raise Unbatchable
        if is_mask(key) and key in self.found and rank_of(key) <= rank_of(base):
            return self.found[key], None
        if not isinstance(key, Slice) or not self.is_batched((key.lower, key.upper)) or not of_step_one(key):
            raise Unbatchable
        n = atom_type(base).dims[0]
        kept_as = key.lower, key.upper, n
        if kept_as in self.masks:
            return self.masks[kept_as], None
        whole = self.spread(base)
        length = Const(n) if isinstance(n, int) else self.build.index(self.build.attr(whole, "shape"), Const(1), name="length")
        places, found = self.build.call(np.arange, length, type=Array(INTEGERS, (n,)), name="places"), []
        for bound, compare in ((key.lower, operator.ge), (key.upper, operator.lt)):
            if bound is None or bound == Const(None):
                continue
            at = atom_type(bound)
            if not isinstance(at, Scalar) or at.kind != "int":
                raise Unbatchable
            place = self.spread(bound)
            negative = self.build.call(operator.lt, place, Const(0))
            place = self.build.call(np.where, negative, self.build.call(operator.add, place, length), place, name="bound")
            found.append(self.build.call(compare, places, self.build.index(place, (ALL, Const(None))), name="inside"))
        mask = found[0] if len(found) == 1 else self.build.call(np.logical_and, *found, name="inside")
        if mask.type.dtype != np.dtype(bool) or len(mask.type.dims or ()) != 2:
            raise Unbatchable
        return mask, kept_as

    def selection(self, stmt: Stmt, base: Atom, key: Operand) -> None:
        mask, kept_as = self.mask_of(base, key)
        elements = self.build.index(self.spread(base), mask, name=stmt.targets[0].name)
        rows = self.build.index(self.build.call(np.nonzero, mask, name="places"), Const(0), name="rows")
        if not isinstance(elements.type, Array) or elements.type.dtype is None or not isinstance(rows.type, Array):
            raise Unbatchable
        if kept_as is not None:
            self.masks[kept_as] = mask
        self.keep(stmt, Selection(elements, rows, mask))

    def keep(self, stmt: Stmt, made: Selection) -> None:
        self.selected[stmt.targets[0]] = made
        self.deferred[stmt.targets[0]] = stmt

    # -- what reads them -------------------------------------------------------------------------------------------------

    def along(self, operand: Operand, like: Selection) -> Atom:
        """Return an operand of elementwise functions of selected elements."""
        if operand in self.selected:
            found = self.selected[operand]
            if found.mask is not like.mask or len(found.elements.type.dims) != len(like.elements.type.dims):
                raise Unbatchable
            return found.elements
        if operand in self.deferred or rank_of(operand):
            raise Unbatchable
        if operand not in self.found:
            return self.unbatched(operand)
        picked = self.build.index(self.found[operand], like.rows)
        more = len(like.elements.type.dims) - 1
        return self.build.index(picked, (ALL, *[Const(None)] * more)) if more else picked

    def elementwise(self, stmt: Stmt) -> None:
        op, target = stmt.op, stmt.targets[0]
        like = next((self.selected[a] for a in op.args if a in self.selected), None)
        if like is None or not isinstance(target.type, Array):
            raise Unbatchable
        new = replace(op, args=tuple(self.along(a, like) for a in op.args))
        t = self.build.result_type(new)
        if not isinstance(t, Array) or t.dtype is None or t.dtype != target.type.dtype or len(t.dims or ()) != len(like.elements.type.dims):
            raise Unbatchable
        self.keep(stmt, replace(like, elements=self.build.emit(new, t, target.name)))

    def update_of_selected(self, stmt: Stmt, base: Atom, key: Operand, value: Operand) -> None:
        mask, kept_as = self.mask_of(base, key)
        whole = self.spread(base)
        if isinstance(value, tuple):
            raise Unbatchable
        if value in self.selected:
            like = self.selected[value]
            if like.mask is not mask or len(like.elements.type.dims) != len(whole.type.dims) - len(mask.type.dims) + 1:
                raise Unbatchable
            new: Atom = like.elements
        elif value in self.deferred or rank_of(value):
            raise Unbatchable
        elif value not in self.found:
            new = self.unbatched(value)
        else:
            rows = self.build.index(self.build.call(np.nonzero, mask, name="places"), Const(0), name="rows")
            new = self.build.index(self.found[value], rows)
            if more := len(whole.type.dims) - len(mask.type.dims):
                new = self.build.index(new, (ALL, *[Const(None)] * more))
        made = self.emit(stmt.targets[0], replace(stmt.op, base=whole, path=(Sub(mask),), value=new, distinct=True))
        if kept_as is not None:
            self.masks[kept_as] = mask
        self.bind(stmt.targets[0], Wide(made))

    def total(self, target: Var, part: Selection) -> Var:
        t = part.elements.type
        if len(t.dims) != 1 or t.dtype.kind != "f" or not isinstance(target.type, Scalar) or self.wider(target.type).dtype != t.dtype:
            raise Unbatchable
        whole = Array(t.dtype, (self.dim,))
        zeros = self.build.call(np.zeros, self.size, dtype=Const(t.dtype), type=whole, name=target.name)
        return self.build.emit(Update(zeros, (Sub(part.rows),), part.elements, "add"), whole, target.name)

    def number_of(self, target: Var, part: Selection) -> Var:
        if len(part.mask.type.dims) != 2:
            raise Unbatchable
        return self.build.call(np.sum, part.mask, axis=Const(1), type=Array(INTEGERS, (self.dim,)), name="count")

    def mean(self, target: Var, part: Selection) -> Var:
        total, count = self.total(target, part), self.number_of(target, part)
        if part.elements.type.dtype != np.dtype(float):
            raise Unbatchable
        return self.build.call(operator.truediv, total, count, type=total.type, name=target.name)


REDUCTIONS = {np.sum: Selected.total, np.mean: Selected.mean, len: Selected.number_of, np.size: Selected.number_of}


def is_first(name: str, value: Operand) -> bool:
    """Return whether an option of a reduction of a vector says what holds without it."""
    return name == "axis" and isinstance(value, Const) and value.value in (None, 0) and value.value is not False


def of_step_one(key: Slice) -> bool:
    return key.step is None or isinstance(key.step, Const) and key.step.value in (None, 1)
