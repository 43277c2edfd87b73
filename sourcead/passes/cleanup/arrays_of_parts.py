"""Writes the cotangent of an array whose parts the program read one by one as the array of their cotangents.

    d0 = zeros_like(x)                  x: (3,)
    d1 = d0 with [2] = w                                               parts = [u, v, w]
    d2 = d1 with [1] += v                                 ->           d3 = np.array(parts)
    d3 = d2 with [0] += u

    d0 = zeros_like(a)                  a: (2, n)
    d1 = d0 with [0] = u                                  ->           d2 = np.stack([u, v])
    d2 = d1 with [1] += v

    d0 = zeros((m, 2 * n))
    d1 = d0 with [:, :n] = u                              ->           d2 = np.concatenate((u, v), axis=1)
    d2 = d1 with [:, n:] += v

Legal if nothing else reads the versions in between, the parts make up the whole, and each value has the shape and dtype of its part.
Slices from one bound to the next, the first from 0, make up an axis if none of them is empty: then the bounds are in order.  If parts
are left, additions become assignments: what they add to is zero.
"""

import itertools
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from sourcead.analysis.affine import Forms
from sourcead.analysis.builder import atom_type
from sourcead.analysis.numbers_or_arrays import may_be_numbers
from sourcead.analysis.sizes import dims_in, fills
from sourcead.ir.affine import Affine
from sourcead.ir.nodes import Atom, Block, Build, Call, Const, Function, Operand, Slice, Stmt, Sub, Update, Var, fresh
from sourcead.ir.sizes import form_of
from sourcead.ir.sizes_of_call import equal, not_one
from sourcead.ir.types import ANY_DTYPE, Array, ListT, Scalar, Sym, Type, same_dtype
from sourcead.ir.walk import count_reads, definitions, map_blocks, with_body
from sourcead.passes.residuals.first_additions import same_arrays

ZEROS = (np.zeros, np.zeros_like)
Position = tuple[int | None, ...]  # indices along the first axes, None for a whole axis
MOST = 16  # elements along an axis of an array that is written out


def join_parts(function: Function, arrays: bool = True) -> Function:
    """Return the function with arrays of zeros whose parts are all set made of these parts, which are numbers or, with `arrays`, slices."""
    given = None
    while function is not given:  # arrays whose rows have become arrays of their elements
        given, body = function, _Joining(function, count_reads(function.body), arrays).block(function.body)
        function = function if body is function.body else with_body(function, body)
    return function


@dataclass(eq=False)
class _Joining:
    """Joins the parts of arrays in a function, of whose variables `uses` counts the reads; slices only with `arrays`."""

    function: Function
    uses: dict[Var, int]
    arrays: bool
    definitions: dict[Var, Stmt] = field(init=False)
    numbers: set[Var] = field(init=False)
    forms: Forms = field(default_factory=Forms)

    def __post_init__(self):
        self.definitions = definitions(self.function.body)
        self.numbers = may_be_numbers(self.function)
        self.forms.definitions = {v: stmt.op for v, stmt in self.definitions.items()}

    def block(self, block: Block) -> Block:
        stmts = [map_blocks(stmt, self.block) for stmt in block.stmts]
        updates = {s.op.base: s for s in stmts if isinstance(s.op, Update)}
        changed: dict[Stmt, list[Stmt]] = {}
        for stmt in stmts:
            match stmt.op:
                case Call(fn) if fn in ZEROS and stmt.adjoint_of is not None and isinstance(stmt.targets[0].type, Array):
                    changed |= self.set_parts(stmt, updates)
        if changed or any(a is not b for a, b in zip(stmts, block.stmts)):
            return replace(block, stmts=tuple([new for s in stmts for new in changed.get(s, [s])]))
        return block

    def set_parts(self, zeros: Stmt, updates: dict[Var, Stmt]) -> dict[Stmt, list[Stmt]]:
        """Return what becomes of an array of zeros and of the updates that set parts of it."""
        return self.of_elements(zeros, updates) or self.of_slices(zeros, updates)

    def chain(self, zeros: Stmt, updates: dict[Var, Stmt], belongs: Callable[[Update], bool]) -> list[Stmt]:
        """Return the updates that follow each other and that belong together, up to the first that does not."""
        found, last = [], zeros
        while dims_in(zeros.targets[0]) is not None and self.uses.get(last.targets[0]) == 1:
            last = updates.get(last.targets[0])
            if last is None or last.op.mode not in ("set", "add", "sub") or not belongs(last.op):
                break
            found.append(last)
        return found

    # ---- elements and rows at constant positions ----

    def of_elements(self, zeros: Stmt, updates: dict[Var, Stmt]) -> dict[Stmt, list[Stmt]]:
        array, parts = zeros.targets[0], {}

        def belongs(update: Update) -> bool:
            position = _position(update, dims_in(array))
            if position is None or not _are_apart(position, parts) or not _fits(update.value, array.type, position):
                return False
            parts[position] = update
            return True

        found = self.chain(zeros, updates, belongs)
        if not found:
            return {}
        changed = _as_sets(found)
        parts = {position: changed[stmt][-1].op.value for position, stmt in zip(parts, found)}
        dims, last = dims_in(array)[: max(map(len, parts))], found[-1]
        if all(isinstance(n, int) and n <= MOST for n in dims) and parts.keys() == set(np.ndindex(dims)):
            rows = {position: self.listed(row) for position, row in parts.items()}  # rows that were made of their elements
            elements = None not in rows.values()
            if elements or len(dims) == len(array.type.dims) and len(dims) < 3 and self.make(array, list(parts.values())):
                join = np.array
            elif self.arrays and 1 == len(dims) < len(array.type.dims) and dims[0] > 1 and self.numbers.isdisjoint(parts.values()):
                join = np.stack
            else:
                return _if_new(changed)
            lists, items = _listed((), dims, rows if elements else parts, last)
            negated = {s: changed[s][:-1] for s in found}
            return {zeros: []} | negated | {last: [*negated[last], *lists, replace(last, op=Call(join, (items,)))]}
        return _if_new(changed)

    def listed(self, row: Atom) -> Atom | None:
        """Return the list of which a row is made, if nothing else reads the row."""
        made = self.definitions.get(row)
        match made and made.op:
            case Call(fn, (Var() as items,), ()) if fn is np.array and self.uses.get(row) == 1 and isinstance(items.type, ListT):
                return items
        return None

    def make(self, array: Var, values: list[Operand]) -> bool:
        """Return whether an array of these numbers has the dtype of another array by itself."""
        found, dtype = list(map(atom_type, values)), array.type.dtype
        if not all(map(_is_float, found)):
            return False
        others = {t.dtype for t in found if not same_dtype(t.dtype, dtype)}
        if not same_dtype(dtype, np.dtype(float)):  # a Python number would make it float64
            return not others
        if not others <= {None, ANY_DTYPE}:
            return False
        if ANY_DTYPE in others and any(map(_is_wide, (*self.function.params, *self.definitions))):
            return False
        return any(t.least is None for t in found)  # integers alone would make an array of integers

    # ---- slices of one axis ----

    def of_slices(self, zeros: Stmt, updates: dict[Var, Stmt]) -> dict[Stmt, list[Stmt]]:
        array, parts = zeros.targets[0], []

        def belongs(update: Update) -> bool:
            part = _slice(update, array.type)
            if part is None or part[3] in self.numbers or parts and part[0] != parts[0][0]:
                return False
            parts.append(part)
            return True

        found = self.chain(zeros, updates, belongs)
        if len(found) < 2:
            return {}
        ordered, axis = self.in_order(parts[: len(found)]), parts[0][0]
        if ordered is None:
            return {}
        changed, last = _as_sets(found), found[-1]
        if not self.arrays or not self.make_up(dims_in(array)[axis], axis, ordered):
            return _if_new(changed)
        values = {part[3]: changed[stmt][-1].op.value for part, stmt in zip(parts, found)}
        joined = Call(np.concatenate, (tuple(values[part[3]] for part in ordered),), (("axis", Const(axis)),) if axis else ())
        negated = {s: changed[s][:-1] for s in found}
        return {zeros: []} | negated | {last: [*negated[last], replace(last, op=joined)]}

    def in_order(self, parts: list[tuple]) -> list[tuple] | None:
        """Return the slices in the order in which each begins where the one before it ends, the first at 0, or None."""
        left, ordered, at = list(parts), [], Affine()
        while left:
            following = [p for p in left if (Affine() if p[1] is None else self.forms.affine(p[1])) == at]
            if at is None or len(following) != 1:
                return None
            ordered += following
            left.remove(following[0])
            at = None if following[0][2] is None else self.forms.affine(following[0][2])
        return ordered

    def make_up(self, whole: int | Sym, axis: int, parts: list[tuple]) -> bool:
        """Return whether slices in order are as long as the whole axis."""
        if parts[-1][2] is None:
            return True
        total = Affine()
        for part in parts:
            total = total.plus(form_of(dims_in(part[3])[axis]))
        return equal(total, form_of(whole))


def _listed(at: tuple[int, ...], dims: tuple[int, ...], parts: dict[Position, Atom], stmt: Stmt) -> tuple[list[Stmt], Atom]:
    """Return statements that list the elements at positions that begin with `at`, and the list, or the one element that is there."""
    if len(at) == len(dims):
        return [], parts[at]
    found = [_listed((*at, k), dims, parts, stmt) for k in range(dims[len(at)])]
    items = tuple([item for _, item in found])
    listed = replace(stmt, targets=(Var("parts", ListT(atom_type(items[0])), temp=True),), op=Build("list", items))
    return [*(s for before, _ in found for s in before), listed], listed.targets[0]


def _as_sets(updates: list[Stmt]) -> dict[Stmt, list[Stmt]]:
    """Return for each update of zeros the statements that set its part, the last one with the value that the part then has."""
    return {s: _as_set(s) for s in updates}


def _if_new(changed: dict[Stmt, list[Stmt]]) -> dict[Stmt, list[Stmt]]:
    """Return the additions among the updates, with what becomes of them; a difference from zero is no shorter as a negation."""
    return {s: new for s, new in changed.items() if s.op.mode == "add"}


def _as_set(stmt: Stmt) -> list[Stmt]:
    if stmt.op.mode != "sub":
        return [replace(stmt, op=replace(stmt.op, mode="set"))]
    value = stmt.op.value
    minus = fresh(value) if isinstance(value, Var) else Var("minus", atom_type(value), temp=True)
    negated = replace(stmt, targets=(minus,), op=Call(operator.neg, (value,)))
    return [negated, replace(stmt, op=replace(stmt.op, value=minus, mode="set"))]


def _position(update: Update, dims: tuple[int | Sym, ...]) -> Position | None:
    """Return the indices, counted from the beginning, of the part that an update sets, or adds to; None for other parts."""
    match update.path:
        case (Sub(key),):
            keys = key if isinstance(key, tuple) else (key,)
            found = [_place(k, n) for k, n in zip(keys, dims)]
            return tuple(found) if len(keys) <= len(dims) and min((k for k in found if k is not None), default=-1) >= 0 else None
    return None


def _place(key: Operand, size: int | Sym) -> int | None:
    """Return the index that a subscript names along an axis, None if that is the whole axis, and -1 if it is not known."""
    if isinstance(key, Slice):
        return None if all(map(_is_none, (key.lower, key.upper, key.step))) else -1
    if not isinstance(key, Const) or type(key.value) is not int or key.live:
        return -1
    return key.value if key.value >= 0 or isinstance(size, Sym) else key.value + size


def _are_apart(position: Position, parts: Iterable[Position]) -> bool:
    """Return whether a part has no element in common with others."""
    return not any(all(a == b or None in (a, b) for a, b in zip(position, other)) for other in parts)


def _fits(value: Operand, array: Array, position: Position) -> bool:
    """Return whether a value that is added to a part of an array of zeros is what the part then is."""
    part = Array(array.dtype, tuple([n for k, n in itertools.zip_longest(position, array.dims) if k is None]))
    t = atom_type(value)
    return same_arrays(t, part) or part.dims == () and _is_float(t) and part.dtype is not None and part.dtype.kind == "f"


def _slice(update: Update, array: Array) -> tuple | None:
    """Return the axis, the bounds and the value of an update of a slice of one axis that the value fills; None if it is another."""
    match update.path:
        case (Sub(key),):
            keys = key if isinstance(key, tuple) else (key,)
        case _:
            return None
    cut = [k for k, one in enumerate(keys) if not (isinstance(one, Slice) and _is_none(one.lower) and _is_none(one.upper))]
    value, t = update.value, atom_type(update.value)
    if len(cut) != 1 or not isinstance(t, Array) or t.dims is None or len(t.dims) != len(array.dims) or not isinstance(value, Var):
        return None
    (axis,) = cut
    one = keys[axis]
    if not all(isinstance(k, Slice) and _is_none(k.step) for k in keys) or t.dtype is None or not same_dtype(t.dtype, array.dtype):
        return None
    others = [dims[:axis] + dims[axis + 1 :] for dims in (t.dims, array.dims)]
    if not fills(*others) or not not_one(t.dims[axis]) or isinstance(t.dims[axis], int) and t.dims[axis] < 1:
        return None
    lower, upper = (None if _is_none(bound) else bound for bound in (one.lower, one.upper))
    return axis, lower, upper, value


def _is_none(bound: Operand | None) -> bool:
    return bound is None or isinstance(bound, Const) and bound.value is None


def _is_float(t: Type) -> bool:
    return isinstance(t, Scalar) and t.kind == "float"


def _is_wide(v: Var) -> bool:
    """Return whether a value has more bits than float64."""
    dtype = getattr(v.type, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "fc" and np.finfo(dtype).bits > 64
