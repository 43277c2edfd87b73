"""Which loops have iterations that may run at the same time.

A loop is one over a range that runs to its end, whose iterations calculate with numbers and elements of arrays.  Each of its variants is

    an array     whose elements are accessed by one iteration each, if any iteration writes them       a[i] = f(a[i], b[i - 1], b[i])
    a sum        to which iterations add, and that none reads: a number or an array                    s += x[i];  d_w[j] += d_s * x[i, j]
    a counter    that each iteration moves by as much                                                  stack[top] = v;  top += 1

Versions of an array that a loop writes in place are one array (`emit/memory/`), and all other arrays are only read, or made by the
iteration itself.  Where this is not established, the loop is not parallel, and `Serial` says why.
"""

import builtins
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sourcead.analysis.affine import Subscripts, number
from sourcead.backends.numba.codegen.parallel.elements import Elements, defined_inside
from sourcead.backends.numba.codegen.parallel.sums import Advance, Growth, moved_behind
from sourcead.backends.numba.functions import ARRAY_UFUNCS, CHECKED, chosen
from sourcead.emit.memory.sharing import call_sharing
from sourcead.ir.nodes import (
    Atom, Attr, Block, Branch, Build, Call, Const, Effect, Index, Let, Loop, Operand, Range, Stmt, Sub, Update, Var,
    operand_atoms
)
from sourcead.ir.types import Array, Scalar, TupleT, kind_of, rank
from sourcead.ir.walk import walk

ADDING = ("add", "sub")
NUMBERS = (min, max, abs, int, float, bool, complex, len, range, round, slice)
MAKERS = (np.zeros, np.empty, np.ones, np.zeros_like, np.empty_like)


class Serial(Exception):
    """Raised if iterations of a loop may depend on each other; the message says why, in a few words."""


@dataclass(frozen=True)
class Independent:
    """What the variants of a loop are whose iterations may run at the same time.

    Attributes:
        own: arrays of which each element belongs to one iteration.
        sums: arrays and numbers to which iterations add.
        counters: by how much each iteration moves a number.
    """

    own: tuple[Var, ...]
    sums: tuple[Var, ...]
    counters: dict[Var, Advance]


@dataclass(frozen=True, eq=False)
class Access:
    """An access of an array that is a loop variant. `mode` is that of the update, None for a read; `block` is that of the statement."""

    key: Operand | None  # None: not one subscript
    mode: str | None
    stmt: Stmt
    block: Block


def independent(loop: Loop, subscripts: Subscripts) -> Independent:
    """Return what the variants of a loop are, if its iterations may run at the same time.

    Raises:
        Serial: they may depend on each other.
    """
    if not isinstance(loop.domain, Range) or loop.leave is not None or loop.policy is not None or not number(loop.domain.step):
        raise Serial("it may end early, or is not over a range")
    inside = defined_inside(loop)
    growth = Growth(loop, inside)
    accesses = _Accesses(loop, inside)
    accesses.visit_all()
    own, sums, counters = [], [], {}
    for param, result in zip(loop.params, loop.body.results):
        if isinstance(param.type, Scalar) and result is not param:
            advance = growth.advance(result, param) if kind_of(param.type) == "int" else None
            if advance is not None:
                counters[param] = advance
            elif kind_of(param.type) in ("int", "float", "complex") and growth.is_sum(param, result):
                sums.append(param)
            else:
                raise Serial(f"an iteration reads the `{param.name}` of the one before")
    begins = {p: init for p, init in zip(loop.params, loop.inits) if p in counters}
    upward = {p: a for p, a in counters.items() if not a.falls and subscripts.from_zero(begins[p]) is not None}
    moves = {p: a.constant for p, a in upward.items() if not a.trips}
    elements = Elements(loop, subscripts, inside, moves)
    for param, result in zip(loop.params, loop.body.results):
        if isinstance(param.type, Scalar):
            continue
        if not isinstance(param.type, Array) or not rank(param.type) or accesses.version.get(result) is not param:
            raise Serial(f"an iteration hands `{param.name}` on to the next one")
        found = accesses.found[param]
        if all(one.mode is None for one in found):
            own.append(param)  # nothing writes it
        elif are_apart(found, elements, upward):
            own.append(param)
        elif all(one.mode in ADDING for one in found) and kind_of(param.type) in ("int", "float", "complex"):
            sums.append(param)
        else:
            raise Serial(f"iterations may meet in elements of `{param.name}`")
    return Independent(tuple(own), tuple(sums), counters)


def are_apart(found: list[Access], elements: Elements, upward: dict[Var, Advance]) -> bool:
    """Return whether no iteration writes an element that another one accesses."""
    if any(one.key is None for one in found):
        return False
    for advance in upward.values():  # of a stack, each iteration accesses what lies between two values of its counter
        if all(moved_behind(one.block, one.stmt, one.key, advance) for one in found):
            return True
    return all(elements.apart(a.key, b.key) for a in found if a.mode is not None for b in found)


@dataclass(eq=False)
class _Accesses:
    """Finds the accesses of the arrays that are variants, and refuses what an iteration may not do.

    Attributes:
        version: a version of an array -> the variant that it is a version of.
        fresh: the arrays that an iteration makes, and their versions.
        shapes: the shapes that an iteration asks for.
        found: the accesses of each variant.
    """

    loop: Loop
    inside: frozenset[Var]
    version: dict[Var, Var] = field(default_factory=dict)
    fresh: set[Var] = field(default_factory=set)
    shapes: set[Var] = field(default_factory=set)
    found: dict[Var, list[Access]] = field(default_factory=dict)

    def visit_all(self) -> None:
        arrays = [p for p in self.loop.params if not isinstance(p.type, Scalar)]
        self.version.update({p: p for p in arrays})
        self.found.update({p: [] for p in arrays})
        self.block(self.loop.body)

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.statement(stmt, block)

    def statement(self, stmt: Stmt, block: Block) -> None:
        match stmt.op:
            case Update(base, path, value, mode):
                self.update(stmt, block, base, path)
                self.refuse_versions((value, *(step for step in path)))
                if mode not in ("set", *ADDING):
                    raise Serial("it writes in another way than by = and +=")
            case Index(Var() as base, key):
                self.refuse_versions((key,))
                if base in self.version:
                    self.found[self.version[base]].append(Access(key, None, stmt, block))
                elif not isinstance(base.type, Array | TupleT) and base not in self.shapes:
                    raise Serial(f"it reads `{base.name}`, which is no array")
            case Attr(Var(), "shape" | "ndim" | "size"):
                self.shapes.update(stmt.targets)
            case Index():
                pass
            case Let(Var() as value) if value in self.version:
                self.version[stmt.targets[0]] = self.version[value]
            case Let(value):
                self.refuse_versions((value,))
            case Build("tuple", items):
                self.refuse_versions(items)
            case Effect("raise", (Var() as error,)) if self.is_index_error(error):
                pass
            case Call():
                self.call(stmt)
            case Branch(cond, then, orelse):
                self.refuse_versions((cond,))
                self.block(then)
                self.block(orelse)
                for target, a, b in zip(stmt.targets, then.results, orelse.results):
                    self.joined(target, a, b)
            case Loop(domain, _, params, inits, body):
                self.inner_loop(stmt, domain, params, inits, body)
            case _:
                raise Serial(f"it holds a statement of another kind ({type(stmt.op).__name__.lower()})")

    def update(self, stmt: Stmt, block: Block, base: Atom, path: tuple) -> None:
        if base in self.fresh:
            self.fresh.add(stmt.targets[0])
        elif base in self.version:
            root = self.version[stmt.targets[0]] = self.version[base]
            key = path[0].key if len(path) == 1 and isinstance(path[0], Sub) else None
            self.found[root].append(Access(key, stmt.op.mode, stmt, block))
        elif not (isinstance(base, Var) and isinstance(base.type, Scalar) and not path):
            raise Serial(f"it writes `{base!r}`, which it did not make")

    def call(self, stmt: Stmt) -> None:
        op: Call = stmt.op
        if op.effect or not is_calculation(op.fn):
            raise Serial(f"it calls `{getattr(op.fn, '__name__', op.fn)}`")
        if op.into is not None and op.args[op.into] not in self.fresh:
            raise Serial("it writes a result into another array")
        if op.fn is not builtins.len:
            self.refuse_versions((*op.args, *(v for _, v in op.kwargs)))
        if op.fn not in MAKERS and op.kwargs:
            raise Serial(f"it calls `{op.fn.__name__}` with options")
        if any(not isinstance(t.type, Scalar) for t in stmt.targets) and op.fn is not IndexError:
            if (op.fn in MAKERS or isinstance(op.fn, np.ufunc) or call_sharing(op) == "fresh") and isinstance(stmt.targets[0].type, Array):
                self.fresh.update(stmt.targets)

    def inner_loop(self, stmt: Stmt, domain: object, params: tuple[Var, ...], inits: tuple[Atom, ...], body: Block) -> None:
        for param, init in zip(params, inits):
            if init in self.version:
                self.version[param] = self.version[init]
            elif init in self.fresh:
                self.fresh.add(param)
        if isinstance(domain, Block):
            self.block(domain)
        elif not isinstance(domain, Range):
            raise Serial("it walks over what is no range")
        self.block(body)
        for target, param, result in zip(stmt.targets, params, body.results):
            self.joined(target, param, result)

    def joined(self, target: Var, a: Atom, b: Atom) -> None:
        """Record what is either of two values."""
        roots = self.version.get(a), self.version.get(b)
        if roots[0] is not roots[1]:
            raise Serial(f"`{target.name}` may be one of two arrays")
        if roots[0] is not None:
            self.version[target] = roots[0]
        elif a in self.fresh and b in self.fresh:
            self.fresh.add(target)

    def refuse_versions(self, operands: tuple) -> None:
        """Refuse a loop that reads all of an array that iterations write."""
        for atom in operand_atoms(operands):
            if atom in self.version and self.version[atom] is not None:
                raise Serial(f"an iteration reads all of `{atom.name}`")

    def is_index_error(self, error: Var) -> bool:
        made = next((s.op for s in walk(self.loop.body) if error in s.targets), None)
        return isinstance(made, Call) and made.fn is IndexError and all(isinstance(a, Const) for a in made.args)


def is_calculation(fn: Callable) -> bool:
    """Return whether a function calculates with numbers or elements alone, in compiled code that needs no interpreter."""
    fn = fn.value if isinstance(fn, Const) else fn
    if isinstance(fn, Var):
        return False
    if isinstance(fn, np.ufunc):
        return fn.signature is None and fn.nout == 1
    if isinstance(fn, type) and (issubclass(fn, np.number | np.bool_) or fn is IndexError):
        return True
    if any(fn is known for known in (*NUMBERS, *MAKERS, *CHECKED, *ARRAY_UFUNCS.values(), chosen)):
        return True
    return getattr(fn, "__module__", None) in ("math", "_operator", "operator") and fn not in (operator.matmul, math.fsum)
