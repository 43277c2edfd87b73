"""How loops count: the least value of an index, the number of iterations, and subscripts that advance with the index."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sourcead.analysis.affine import number
from sourcead.analysis.builder import Builder, operand_type
from sourcead.analysis.sizes import dims_in
from sourcead.ir.nodes import Atom, Call, Const, Index, Loop, Op, Operand, Range, Slice, Stmt, Var
from sourcead.ir.types import INT, Scalar, Sym, kind_of


@dataclass(eq=False)
class Counted:
    """A loop whose index takes each of the values from `first` to `rows` - 1 once.

    Attributes:
        first: the least value of the index.
        rows: one more than the greatest value, as a dim; `count` is the same as an atom.
    """

    first: int
    rows: int | Sym
    count: Atom

    def is_size(self, counting: Counting) -> bool:
        """Return whether the count is the size of an array and so not negative; the `n` of `range(n)` may be negative."""
        return counting.is_size(self.count) or isinstance(self.rows, int) and self.rows >= 0

    def begins(self) -> bool:
        """Return whether `rows` is known to be at least `first`."""
        return self.first <= (self.rows.least if isinstance(self.rows, Sym) else self.rows)

    def write_count(self, build: Builder, counting: Counting) -> Atom:
        """Return the count; if it is the length of an array, emit that again, which needs no name."""
        op = counting.op(self.count)
        return build.call(len, *op.args) if isinstance(op, Call) and op.fn is len else self.count

    def write_number(self, build: Builder, counting: Counting) -> Atom:
        """Emit the number of iterations."""
        number = self.write_count(build, counting)
        if self.first:
            number = build.call(operator.sub, number, Const(self.first))
        return number if self.is_size(counting) and self.begins() else build.call(max, number, Const(0), type=INT)


class Counting:
    """Finds how loops count; `made` maps each variable to the statement that defines it."""

    def __init__(self, made: dict[Var, Stmt]):
        self.made = made

    def of(self, loop: Loop) -> Counted | None:
        """Return how the index of a loop counts, or None if it does not count by one, or the loop may end early or has a policy."""
        if not isinstance(loop.domain, Range) or loop.leave is not None or loop.policy is not None:
            return None
        start, stop, step = loop.domain.start, loop.domain.stop, loop.domain.step
        if number(step) == 1 and number(start) is not None:
            first, count = number(start), stop
        elif number(step) == -1 and number(stop) is not None:
            first, count = number(stop) + 1, self.successor(start)
        else:
            return None
        rows = None if count is None else self.size(count)
        return None if rows is None or first < 0 else Counted(first, rows, count)

    def successor(self, atom: Atom) -> Atom | None:
        """Return `n` if `atom` is `n - 1`, else None."""
        if isinstance(atom, Const):
            return None if number(atom) is None else Const(atom.value + 1)
        match self.op(atom):
            case Call(operator.sub, (n, one), ()) if number(one) == 1:
                return n
        return None

    def size(self, atom: Atom) -> int | Sym | None:
        """Return the dim whose size an integer is, a new dim if it is the size of no array, or None if it is not an integer."""
        if isinstance(atom, Const):
            return number(atom)
        match self.op(atom):
            case Call(fn, (x,), ()) if fn is len and dims_in(x):
                return dims_in(x)[0]
            case Index(Var() as shape, Const(value)) if type(value) is int:
                op = self.op(shape)
                dims = dims_in(op.base) if getattr(op, "name", None) == "shape" else None
                if dims and -len(dims) <= value < len(dims):
                    return dims[value]
        return Sym(0) if atom.type == INT else None

    def is_size(self, atom: Atom) -> bool:
        """Return whether an integer is the size of an array or list, or the least of such sizes, and so not negative."""
        match self.op(atom):
            case Index(base):
                return getattr(self.op(base), "name", None) == "shape"
            case Call(builtins.min, (_, _, *_) as args, ()):
                return all(map(self.is_size, args))
            case Call(fn, _, ()):
                return fn is len
        return False

    def transposed(self, atom: Atom) -> Var | None:
        """Return the matrix or array that an atom is the transpose of, or None if it is not one."""
        match self.op(atom):
            case Call(np.transpose, (Var() as x,), ()):
                return x
        return None

    def op(self, atom: Atom) -> Op | None:
        """Return the op that defines a variable, or None if it is unknown."""
        stmt = self.made.get(atom) if isinstance(atom, Var) else None
        return None if stmt is None else stmt.op


def counts_up(loop: Loop) -> bool:
    """Return whether a loop counts up from zero in steps of one and always runs to the end."""
    domain = loop.domain
    always = isinstance(domain, Range) and loop.leave is None and loop.policy is None
    return always and number(domain.start) == 0 and number(domain.step) == 1


def reversed_range(build: Builder, domain: Range) -> Range:
    """Return the range of the same numbers, last first."""
    start, stop, step = domain.start, domain.stop, domain.step

    def shifted(atom, by: int):
        if number(atom) is not None:
            return Const(number(atom) + by)
        return build.call(operator.add if by > 0 else operator.sub, atom, Const(abs(by)), type=INT)

    s = number(step)
    if s in (1, -1):
        return Range(shifted(stop, -s), shifted(start, -s), Const(-s))
    length = build.call(len, build.call(range, start, stop, step), type=INT, name="n")
    offset = build.call(operator.mul, shifted(length, -1), step, type=INT)
    last = build.call(operator.add, start, offset, type=INT)
    back = build.call(operator.neg, step, type=INT) if s is None else Const(-s)
    return Range(last, back if number(start) == 0 else build.call(operator.sub, start, step, type=INT), back)


def offset(key: object, index: Var, made: dict[Var, Stmt]) -> int | None:
    """Return `c` if a subscript is the index of the loop plus the integer `c`, else None."""
    if key is index:
        return 0
    match made[key].op if isinstance(key, Var) and key in made else None:
        case Call(operator.add | operator.sub as fn, (a, Const() as b), ()) if a is index and number(b) is not None:
            return number(b) if fn is operator.add else -number(b)
    return None


def axis_of(key: Operand, index: Var | None) -> int | None:
    """Return the axis that the loop index subscripts if all other axes are taken whole, or None for other subscripts."""
    if key is index:
        return 0
    match key:
        case (Slice(None, None, None), at) if at is index:
            return 1
    return None


def names_elements_once(key: Operand) -> bool:
    """Return whether a subscript consists of integers and slices; arrays of integers may name an element twice."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(p, Slice) or isinstance(t := operand_type(p), Scalar) and kind_of(t) == "int" for p in parts)


def adds_axes_alone(key: Operand) -> bool:
    """Return whether a subscript shows all of an array with more axes: `x[None]`, `x[:, None]`."""
    parts = key if isinstance(key, tuple) else (key,)
    none = [isinstance(p, Const) and p.value is None and not p.live for p in parts]
    return any(none) and all(n or isinstance(p, Slice) and p.lower is p.upper is p.step is None for n, p in zip(none, parts))


def turned_axes(key: Operand) -> list[int] | None:
    """Return the axes that a subscript of whole slices only turns round (`::-1`), or None if it does anything else."""
    parts = key if isinstance(key, tuple) else (key,)
    steps = [p.step if isinstance(p, Slice) and p.lower is p.upper is None else Const(None) for p in parts]
    turned = [k for k, step in enumerate(steps) if isinstance(step, Const) and step.value == -1]
    return turned if all(step is None or k in turned for k, step in enumerate(steps)) else None


def added_axes(key: Operand) -> list[int] | None:
    """Return the axes that a subscript adds between whole slices, or None if it does anything else."""
    return _axes_with(key, lambda value: value is None)


def dropped_axes(key: Operand) -> list[int] | None:
    """Return the axes of which a subscript takes the first element, if it takes the others whole; else None."""
    return _axes_with(key, lambda value: type(value) is int and value == 0)


def _axes_with(key: Operand, test: Callable[[object], bool]) -> list[int] | None:
    parts = key if isinstance(key, tuple) else (key,)
    found = [k for k, p in enumerate(parts) if isinstance(p, Const) and test(p.value)]
    whole = all(k in found or isinstance(p, Slice) and p.lower is p.upper is p.step is None for k, p in enumerate(parts))
    return found if whole else None
