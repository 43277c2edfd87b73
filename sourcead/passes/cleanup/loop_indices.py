"""What the index of a loop counts."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from sourcead.analysis.sizes import dims_in
from sourcead.ir.nodes import Atom, Call, Const, Index, Loop, Op, Range, Stmt, Var
from sourcead.ir.types import INT, Sym


@dataclass(eq=False)
class Counted:
    """A loop whose index takes the values `first` to the number of `rows` - 1, each once."""

    first: int
    rows: int | Sym
    count: Atom

    def is_size(self, counting: Counting) -> bool:
        """Whether the count is that of the rows of an array, never negative: `range(n)` has no iterations where n is."""
        op = counting.op(self.count)
        if isinstance(op, Index):
            return getattr(counting.op(op.base), "name", None) == "shape"
        return isinstance(op, Call) and op.fn is len or isinstance(self.rows, int) and self.rows >= 0

    def begins(self) -> bool:
        """Whether there is a first iteration, or the count is just short of one."""
        return self.first <= (self.rows.least if isinstance(self.rows, Sym) else self.rows)


class Counting:
    """Finds how loops count, by the statements that made the variables of a function."""

    def __init__(self, made: dict[Var, Stmt]):
        self.made = made

    def of(self, loop: Loop) -> Counted | None:
        """How the index of a loop counts; None if not in steps of one, or if the loop may end before."""
        if not isinstance(loop.domain, Range) or loop.leave is not None or loop.policy is not None:
            return None
        start, stop, step = loop.domain.start, loop.domain.stop, loop.domain.step
        if is_int(step, 1) and known_int(start) is not None:
            first, count = known_int(start), stop
        elif is_int(step, -1) and known_int(stop) is not None:
            first, count = known_int(stop) + 1, self.next(start)
        else:
            return None
        rows = None if count is None else self.size(count)
        return None if rows is None or first < 0 else Counted(first, rows, count)

    def next(self, atom: Atom) -> Atom | None:
        """n of n - 1."""
        if isinstance(atom, Const):
            return None if known_int(atom) is None else Const(atom.value + 1)
        match self.op(atom):
            case Call(operator.sub, (n, one), ()) if is_int(one, 1):
                return n
        return None

    def size(self, atom: Atom) -> int | Sym | None:
        """The dim that an integer is the size of; one of its own if it is of none."""
        if isinstance(atom, Const):
            return known_int(atom)
        match self.op(atom):
            case Call(fn, (x,), ()) if fn is len and dims_in(x):
                return dims_in(x)[0]
            case Index(Var() as shape, Const(value)) if type(value) is int:
                op = self.op(shape)
                dims = dims_in(op.base) if getattr(op, "name", None) == "shape" else None
                if dims and -len(dims) <= value < len(dims):
                    return dims[value]
        return Sym(0) if atom.type == INT else None

    def op(self, atom: Atom) -> Op | None:
        stmt = self.made.get(atom) if isinstance(atom, Var) else None
        return None if stmt is None else stmt.op


def is_int(atom: Atom | None, value: int) -> bool:
    return atom is not None and known_int(atom) == value


def known_int(atom: Atom) -> int | None:
    """The value of an integer that is written in the program."""
    return atom.value if isinstance(atom, Const) and type(atom.value) is int and not atom.live else None


def same_atom(a: Atom, b: Atom) -> bool:
    """Whether two atoms are one variable or equal integers."""
    return a is b or known_int(a) is not None and known_int(a) == known_int(b)  # type: ignore[arg-type]


def offset(key: object, index: Var, made: dict[Var, Stmt]) -> int | None:
    """c, if a subscript is the index of the loop plus c."""
    if key is index:
        return 0
    match made[key].op if isinstance(key, Var) and key in made else None:
        case Call(operator.add, (a, Const() as b), ()) if a is index and known_int(b) is not None:
            return known_int(b)
        case Call(operator.sub, (a, Const() as b), ()) if a is index and known_int(b) is not None:
            return -known_int(b)
    return None
