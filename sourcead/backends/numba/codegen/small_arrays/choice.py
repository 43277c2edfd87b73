"""Which small arrays become numbers.

An array is *small* if its type has all its sizes, at most `MOST` elements, of float64 or truth values.  Those that must be in one form
are one class: the values of a loop variant and of the results of a branch, the versions of an array, what lies on one stack of residuals.
A class is *split* into numbers if each subscript of it is a constant, and more statements in loops compute with its elements than
take it as a whole.
"""

import math
from collections import Counter
from typing import Any

import numpy as np

from sourcead.analysis.connected import UnionFind
from sourcead.analysis.residual_stacks import Stack, residual_stacks
from sourcead.backends.numba.codegen.loop_nests import PRODUCTS, small_sizes
from sourcead.backends.numba.codegen.small_arrays import elements
from sourcead.backends.numba.codegen.small_arrays.subscripts import is_constant, is_constant_path
from sourcead.ir.nodes import (
    Append, Atom, Attr, Branch, Build, Call, Const, Function, Index, Let, Loop, Pop, Stmt, Sub, Update, Var
)
from sourcead.ir.types import Array, Scalar
from sourcead.ir.walk import handed_on, places

MOST = 16  # elements
DTYPES = {np.dtype(np.float64): elements.FLOAT, np.dtype(np.bool_): elements.BOOL}


def is_small(v: Any) -> bool:
    """Return whether a variable is a small array."""
    t = v.type if isinstance(v, Var) else None
    if not isinstance(t, Array) or not t.dims or t.dtype is None or t.dtype not in DTYPES:
        return False
    return all(isinstance(n, int) for n in t.dims) and 1 <= int(np.prod(t.dims)) <= MOST


def attribute(v: Atom, name: str) -> Any:
    """Return the shape, number of axes, or size of a small array.

    Raises:
        TypeError, LookupError: that is not known.
    """
    if not is_small(v):
        raise TypeError(v)
    return {"shape": v.type.dims, "ndim": len(v.type.dims), "size": int(np.prod(v.type.dims))}[name]


def is_number(atom: Any) -> bool:
    """Return whether an atom is a number that may stand for an array all of whose elements are equal."""
    if isinstance(atom, Const):
        return isinstance(atom.value, (int, float)) and not atom.live
    return elements.is_plain_number(atom.type) and atom.type.kind == "float"


def is_list_of_elements(op: Any) -> bool:
    """Return whether an op makes a list of the elements of a small vector; where items of it are read, the list is not needed."""
    match op:
        case Call(fn, (x,), ()) if fn is list or fn is np.ndarray.tolist:
            return is_small(x) and len(x.type.dims) == 1
    return False


def may_be_computed(stmt: Stmt, work: int) -> bool:
    """Return whether a statement is one of those that may be computed element by element, in at most `work` statements."""
    match stmt.op:
        case Call(fn, args, effect=False) if stmt.targets:
            value = stmt.targets[0]
            if is_list_of_elements(stmt.op):
                return True
            if not is_small(value) and not isinstance(value.type, Scalar):
                return False
            if fn in PRODUCTS and (sizes := small_sizes(stmt.op, value.type)) and 2 * math.prod(n or 1 for n in sizes) > work:
                return False
            known = fn.__hash__ and (fn in elements.CREATING or fn is np.float64)
            return known or elements.is_elementwise(fn, len(args)) or elements.rule_of(fn) is not None
        case Index(_, key):
            return is_small(stmt.targets[0]) or is_constant(key)
        case Update(base, path):
            return is_small(base) and is_constant_path(path) or len(path) == 1 and isinstance(path[0], Sub)
        case Attr() | Let() | Build():
            return True
    return False


class Choice:
    """The choice for one function.

    Attributes:
        work: the most statements that one operation may become.
        stacks: the versions of the stacks of residuals that become stacks of numbers.
        loose: small arrays that may be a number although their type is that of an array; those that are split are not.
    """

    def __init__(self, function: Function, work: int):
        self.work = work
        self.classes = UnionFind()
        self.stacks: dict[Var, Stack] = {}
        self.loose: set[Var] = set()
        stacks = {v: s for v, s in residual_stacks(function).items() if s.plain and s.inner is None and not s.inside}
        stays, gain = self._found(function, stacks)
        total = Counter()
        for v, n in gain.items():
            total[self.classes.find(v)] += n
        self.split = {c for c, n in total.items() if n > 0} - set(map(self.classes.find, stays))
        for v, stack in stacks.items():
            alike = all(map(is_small, stack.elements)) and len({str(a.type) for a in stack.elements}) == 1
            if alike and self.classes.find(stack) in self.split:
                self.stacks[v] = stack

    def is_split(self, v: Any) -> bool:
        """Return whether a variable is a small array whose elements become variables."""
        return is_small(v) and self.classes.find(v) in self.split

    def _found(self, function: Function, stacks: dict[Var, Stack]) -> tuple[set[Var], Counter]:
        """Find the classes; return what must stay in one piece, and for each array how much more often it is computed by elements."""
        stays, gain = set(), Counter()
        for place in places(function.body):
            stmt = place.stmt
            for group in handed_on(stmt):
                if small := [a for a in group if is_small(a)]:
                    self.classes.unite(*small)
                    if not all(is_small(a) and a.type == small[0].type or is_number(a) for a in group):
                        stays.add(small[0])
                    if any(map(is_number, group)):
                        self.loose.update(small)
            match stmt.op:
                case Update(Var() as base, path) if is_small(base):
                    self.classes.unite(base, stmt.targets[0])
                    if not is_constant_path(path):
                        stays.add(base)
                case Index(Var() as base, key) if is_small(base) and not is_constant(key):
                    stays.add(base)
                case Append(Var() as base, value) if base in stacks and is_small(value):
                    self.classes.unite(stacks[base], value)
                case Pop(Var() as base) if base in stacks and is_small(stmt.targets[1]):
                    self.classes.unite(stacks[base], stmt.targets[1])
            if place.loops and not isinstance(stmt.op, Append | Pop | Loop | Branch):
                step = 1 if may_be_computed(stmt, self.work) else -1
                for v in {v for v in (*stmt.op.reads, *stmt.targets) if is_small(v)}:
                    gain[v] += step
        return stays, gain
