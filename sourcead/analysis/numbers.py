"""What the integers of a program, and the lengths of its lists, are as expressions over sizes."""

import builtins
import functools
import math
import operator
from functools import lru_cache

import numpy as np

from sourcead.ir.nodes import (
    Append, Atom, Attr, Build, Call, Const, Index, Let, Loop, Op, Operand, Range, Slice, Sub, Update, Var
)
from sourcead.ir.records import type_of
from sourcead.ir.sizes import ANY, Affine, Dim, Sym, form_of, greater, lesser, lower_bound, minus, plus, quotient, times
from sourcead.ir.types import INT, UNKNOWN, ListT, Scalar, TupleT, Type

ARITHMETIC = {
    operator.add: plus, operator.sub: minus, operator.mul: times, operator.floordiv: quotient, min: lesser, max: greater,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _const_type(const: Const) -> Type:
    return type_of(const.value)


def atom_type(atom: Atom) -> Type:
    """Return the type of an atom; the type of a constant is computed once, so that its dims keep their identity."""
    return atom.type if isinstance(atom, Var) else _const_type(atom)


def operand_type(operand: Operand) -> Type:
    """Return the type of an operand, which for a tuple display is the tuple of its items' types."""
    if isinstance(operand, tuple):
        return TupleT(tuple(map(operand_type, operand)))
    return UNKNOWN if isinstance(operand, Slice) else atom_type(operand)


class Numbers:
    """The facts about the integers and lists of a function.

    Attributes:
        known: the values of variables that are known while compiling (`n = 10`).
        shape_dims: for a variable that is the `.shape` of an array, the dims; size_dim: for an integer variable, the dim that it is.
        numbers: for an integer variable, the expression over sizes and integers that it is.
        lengths: the same for the length of a list.
        among: for a variable that is one of several constants, which these are.
        globals: for an integer that the text reads at each call, by its name there, the expression that it is.
    """

    def __init__(self):
        self.known: dict[Var, object] = {}
        self.shape_dims: dict[Var, tuple] = {}
        self.size_dim: dict[Var, object] = {}
        self.numbers: dict[Var, Dim] = {}
        self.lengths: dict[Var, Dim] = {}
        self.among: dict[Var, tuple] = {}
        self.globals: dict[tuple, Sym] = {}

    def number(self, atom: Operand | None) -> Dim | None:
        """Return the expression that a Python integer is, None for other operands."""
        match atom:
            case Const(int() as value, text, live) if not isinstance(value, bool):
                return self.globals.setdefault((text, id(value)), Sym(ANY)) if live else value
            case Var(type=Scalar("int", None, None)):
                value = self.known.get(atom)
                if atom not in self.numbers:
                    size = self.size_dim.get(atom)
                    self.numbers[atom] = value if type(value) is int else Sym(ANY) if size is None else size
                return self.numbers[atom]
        return None

    def count(self, index: Var, domain: Range) -> None:
        """Note between which bounds the index of a loop is."""
        start, stop, step = map(self.number, (domain.start, domain.stop, domain.step))
        if start is None or stop is None or not isinstance(step, int) or not step:
            return
        ends = (start, minus(stop, 1)) if step > 0 else (plus(stop, 1), start)
        low, high = map(form_of, ends)
        self.numbers[index] = Sym(lower_bound(low), True, above=((high, 1),), below=((low, 1),))

    def length(self, atom: Operand | None) -> Dim | None:
        """Return the expression that the length of a list is, None for other operands."""
        if not isinstance(atom, Var) or not isinstance(atom.type, ListT):
            return None
        if atom not in self.lengths:
            self.lengths[atom] = Sym() if atom.type.items is None else len(atom.type.items)
        return self.lengths[atom]

    def after(self, loop: Loop, outs: tuple[Var, ...]) -> None:
        """Note what integers and lengths are after a loop in which each iteration adds the same number to them."""
        if loop.leave is not None or not isinstance(loop.domain, Range):
            return
        start, stop, step = map(self.number, (loop.domain.start, loop.domain.stop, loop.domain.step))
        if start is None or stop is None or step not in (1, -1):
            return
        count = greater(minus(stop, start) if step == 1 else minus(start, stop), 0)
        for out, param, init, end in zip(outs, loop.params, loop.inits, loop.body.results):
            for measure, found in ((self.number, self.numbers), (self.length, self.lengths)):
                before, now, first = measure(param), measure(end), measure(init)
                added = None if before is None or now is None else minus(now, before)
                if first is not None and isinstance(added, int):
                    found[out] = plus(first, times(count, added))

    def learn(self, var: Var, op: Op) -> None:
        """Note the dims of the array whose shape or size an op computes for a variable."""
        match op:
            case Attr(base, "shape"):
                dims = getattr(atom_type(base), "dims", None)
                if dims is not None:
                    self.shape_dims[var] = dims
            case Attr(base, "size") | Call(builtins.len | np.size, (Var() | Const() as base,), ()):
                dims = getattr(atom_type(base), "dims", None) or ()
                dims = dims[:1] if isinstance(op, Call) and op.fn is len else dims
                if len(dims) == 1 or dims and all(isinstance(n, int) for n in dims):
                    self.size_dim[var] = dims[0] if len(dims) == 1 else math.prod(dims)
                elif dims:
                    self.numbers[var] = functools.reduce(times, dims)
                elif isinstance(op, Call) and op.fn is len and (length := self.length(base)) is not None:
                    self.numbers[var] = length
            case Index(Var() as base, Const(int() as k)) if base in self.shape_dims:
                dims = self.shape_dims[base]
                if -len(dims) <= k < len(dims):
                    self.size_dim[var] = dims[k]
            case Call(fn, (a, b), ()) if fn in ARITHMETIC and var.type == INT:
                a, b = self.number(a), self.number(b)
                if a is not None and b is not None:
                    self.numbers[var] = ARITHMETIC[fn](a, b)
            case Call(operator.neg, (a,), ()) if var.type == INT and (a := self.number(a)) is not None:
                self.numbers[var] = minus(0, a)
            case Build("list" | "tuple", items) if items and all(isinstance(item, Const) and not item.live for item in items):
                self.among[var] = (tuple(item.value for item in items),)
            case Index(Var() as base, key) if base in self.among:
                self.learn_constants(var, self.among[base], key)
            case Append(base, _, ()) if (length := self.length(base)) is not None:
                self.lengths[var] = plus(length, 1)
            case Update(base, (Sub(key), *_)) if (length := self.length(base)) is not None and not isinstance(key, Slice):
                self.lengths[var] = length
            case Let(Var() as other):
                for found in (self.shape_dims, self.size_dim, self.numbers, self.lengths):
                    found.update({var: found[other]} if other in found else {})

    def learn_constants(self, var: Var, containers: tuple, key: Operand) -> None:
        """Note which constants the item may be that a subscript takes of one of several tuples."""
        if isinstance(key, Slice) or isinstance(key, tuple) or not all(isinstance(c, tuple) for c in containers):
            return
        if isinstance(key, Const):
            found = {c[key.value] for c in containers if type(key.value) is int and -len(c) <= key.value < len(c)}
        else:
            found = {item for c in containers for item in c}
        self.among[var] = tuple(found)
        if found and var.type == INT and all(type(n) is int for n in found):
            low, high = min(found), max(found)
            self.numbers[var] = Sym(max(low, ANY), True, above=((Affine(high), 1),), below=((Affine(low), 1),))
