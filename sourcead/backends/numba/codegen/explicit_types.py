"""Forms in which types are explicit, as Numba's type inference requires.

    d = zeros_like(params)            d = {"w": zeros_like(params["w"]), "b": ...}      parts of structures, before simplification
    total = 0                         total = 0.0                                       where floats are added to it later
    before = None                     before = 0.0                                      where a number is not assigned yet
    before = None                     before = [0.0 for _ in range(0)]                  where a list is not assigned yet
    out = []                          out = [0.0 for _ in range(0)]                     where insertions make the list
    table = [0] * n                   table = [0.0] * n                                 where floats are written into it
    row.append(0)                     row.append(0.0)                                   where floats are written into it
    [[1, 0], [0, x]]                  [[1.0, 0.0], [0, x]]                              where floats are in other rows
    k = row[0]                        k = int(row[0])                                   where other items of the list are floats
    x[...] += v                       x[:] += v
    v = np.where(c, a, v)             v = chosen(c, a, v)                               where `v` may be a number

Numba infers the type of a variable statement by statement.  A variable that it has inferred as an integer, and passed to a function, does
not become a float later; and a call of `len` does not tell it the element type of an empty list.
"""

import operator
from dataclasses import replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import container, operand_type
from sourcead.analysis.connected import UnionFind
from sourcead.backends.numba.functions import chosen
from sourcead.errors import BackendError
from sourcead.ir.names import of_part
from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Build, Call, Const, Function, Index, Let, Loop, Op, Pop, Slice, Stmt, Sub, Update, Var
)
from sourcead.ir.types import INT, Array, ListT, Scalar, TupleT, Type, keyed_parts, kind_of, rank
from sourcead.ir.walk import handed_on, rewrite, walk


def structures_by_parts(function: Function) -> Function:
    """Return the function with operations on structures replaced by operations on their parts."""

    def each(fn, args: tuple[Var, ...], stmt: Stmt, out: list[Stmt]) -> Op:
        t = args[-1].type
        items = []
        for key, part in keyed_parts(t):
            inner = tuple(Var(of_part(x.name, key), dict(keyed_parts(x.type))[key], True) for x in args)
            made = Var(of_part("d", key), part, True)
            out.extend(replace(stmt, targets=(v,), op=Index(x, Const(key))) for v, x in zip(inner, args))
            op = each(fn, inner, stmt, out) if are_alike(inner) else Call(fn, inner)
            out.append(replace(stmt, targets=(made,), op=op))
            items.append(made)
        return container(t, tuple(items))

    def change(stmt: Stmt) -> list[Stmt]:
        out: list[Stmt] = []
        match stmt.op:
            case Call(fn, args, ()) if fn in (runtime.zeros_like, runtime.like_argument) and are_alike(args):
                stmt = replace(stmt, op=each(fn, args, stmt, out))
            case Call(fn, (Var() as x,), ()) if fn is tuple and isinstance(x.type, ListT):
                (y,) = stmt.targets
                if isinstance(y.type, TupleT):
                    items = tuple(Var(f"{x.name}_{k}", t, True) for k, t in enumerate(y.type.items))
                    out += [replace(stmt, targets=(v,), op=Index(x, Const(k))) for k, v in enumerate(items)]
                    stmt = replace(stmt, op=Build("tuple", items))
        return [*out, stmt]

    return replace(function, body=rewrite(function.body, change))


def are_alike(args: tuple) -> bool:
    """Return whether all arguments are structures with the same parts."""
    if not all(isinstance(a, Var) and keyed_parts(a.type) is not None for a in args):
        return False
    return len({(type(a.type), tuple(key for key, _ in keyed_parts(a.type))) for a in args}) == 1


def with_stable_types(function: Function) -> Function:
    """Return the function with float initial values for float variables, and with typed empty lists where elements are inserted."""
    lists = _Lists(function.body)
    typed, floats = lists.inserted_into(), lists.floats_later()
    numbers = maybe_numbers(function.body)

    def handed(block: Block, variables: tuple[Var, ...]) -> Block:
        made: list[Stmt] = []
        results = tuple(typed_nothing(as_float(a, v), v, made) for a, v in zip(block.results, variables))
        return Block((*block.stmts, *made), results)

    def change(stmt: Stmt) -> list[Stmt]:
        op = stmt.op
        before: list[Stmt] = []
        match op:
            case Loop(_, _, params, inits, body):
                first = handed(Block((), inits), params)
                before += first.stmts
                op = replace(op, inits=first.results, body=handed(body, params))
            case Branch(_, then, orelse):
                op = replace(op, then=handed(then, stmt.targets), orelse=handed(orelse, stmt.targets))
            case Update(Var(type=Array(dims=(_, *_))), (Sub(Const(value)),)) if value is ...:  # Numba cannot lower `x[...] += v`
                op = replace(op, path=(Sub(Slice(None, None, None)),))
            case Index(Var(type=ListT(Scalar("float") as item))) if stmt.targets[0].type == INT:
                kept = Var(stmt.targets[0].name, item, True)
                before.append(replace(stmt, targets=(kept,)))
                op = Call(int, (kept,))
            case Build("list", ()) if stmt.targets[0] in typed:
                op = Call(typed[stmt.targets[0]], ())
            case Build("list", items) if stmt.targets[0] in floats:
                op = replace(op, items=tuple(Const(float(a.value)) for a in items))
            case Call(np.where, (_, _, _), ()) if stmt.targets[0] in numbers:
                op = replace(op, fn=chosen)
            case Append(_, Const(value)) if stmt.targets[0] in floats:
                op = replace(op, value=Const(float(value)))
        return [*before, replace(stmt, op=op)]

    return replace(function, body=rewrite(function.body, change))


def maybe_numbers(body: Block) -> set[Var]:
    """Return the results of `np.where` that a branch or loop hands on, where on another way it hands on a number."""
    groups, results, numbers = UnionFind(), [], []
    for stmt in walk(body):
        for group in handed_on(stmt):
            groups.unite(*(a for a in group if isinstance(a, Var)))
            numbers += [group[0] for a in group if isinstance(operand_type(a), Scalar)]
        if isinstance(stmt.op, Call) and stmt.op.fn is np.where:
            results.append(stmt.targets[0])
    found = {groups.find(v) for v in numbers}
    return {v for v in results if groups.find(v) in found}


def typed_nothing(atom: Atom, variable: Var, stmts: list[Stmt]) -> Atom:
    """Return what a variable holds that is not assigned yet: for a list an empty list, which a statement makes; any other atom itself.

    Raises:
        BackendError: Numba has no empty list of the type.
    """
    nothing = isinstance(atom, Const) and not atom.live and atom.value is None
    if not nothing or not isinstance(variable.type, ListT):
        return atom
    item = variable.type.item
    plain = isinstance(item, Scalar) and item.dtype in (None, *_PLAIN)
    maker = EMPTY.get((item.kind, 0) if plain else (kind_of(item), rank(item)) if getattr(item, "dtype", None) == _PLAIN[0] else None)
    if maker is None:
        raise BackendError(f"Numba cannot compile the gradient: the list `{variable.name}` is not assigned on every path")
    made = Var(variable.name, variable.type, True)
    stmts.append(Stmt((made,), Call(maker, ())))
    return made


def as_float(atom: Atom, variable: Var) -> Atom:
    """Return an initial value as a float if the variable holds floats; a number that is not assigned yet becomes 0."""
    if isinstance(atom, Const) and not atom.live and atom.value is None and isinstance(variable.type, Scalar):
        return Const({"float": 0.0, "complex": 0j, "bool": False}.get(variable.type.kind, 0))
    exact = isinstance(atom, Const) and not atom.live and type(atom.value) is int and abs(atom.value) < 2**53
    return Const(float(atom.value)) if exact and variable.type == Scalar("float") else atom


def no_floats():
    """Return an empty list of floats."""
    return [0.0 for _ in range(0)]


def no_integers():
    """Return an empty list of integers."""
    return [0 for _ in range(0)]


def no_vectors():
    """Return an empty list of arrays of floats with one axis."""
    return [np.zeros(0) for _ in range(0)]


def no_matrices():
    """Return an empty list of arrays of floats with two axes."""
    return [np.zeros((0, 0)) for _ in range(0)]


EMPTY = {("float", 0): no_floats, ("int", 0): no_integers, ("float", 1): no_vectors, ("float", 2): no_matrices}  # by kind and rank
MAKERS = tuple(EMPTY.values())


def is_list(a) -> bool:
    """Return whether an operand is a variable that holds a list."""
    return isinstance(a, Var) and isinstance(a.type, ListT)


def is_integer(a) -> bool:
    """Return whether an operand is an integer that stands in the program."""
    return isinstance(a, Const) and not a.live and type(a.value) is int


class _Lists(UnionFind):
    """The versions of each list, the types of what is put into it, and whether some is inserted before its end.

    The rows of a list of lists are taken for one list.
    """

    def __init__(self, body: Block):
        super().__init__()
        self.empty: list[Var] = []
        self.integers: list[Var] = []
        self.put: list[tuple[Var, Type]] = []
        self.inserted: list[Var] = []
        self.rows: list[tuple[Var, Var]] = []
        below: list[tuple[Var, Type]] = []
        for stmt in walk(body):
            target = stmt.targets[0] if stmt.targets else None
            for group in handed_on(stmt):
                self.unite(*(a for a in group if isinstance(a, Var)))
            match stmt.op:
                case Build("list", ()):
                    self.empty.append(target)
                case Build("list", items) if all(map(is_integer, items)):
                    self.integers.append(target)
                case Build("list", items):
                    self.put += [(target, operand_type(a)) for a in items]
                    self.rows += [(target, a) for a in items if is_list(a)]
                case Index(Var(type=ListT()) as base) if is_list(target):
                    self.rows.append((base, target))
                case Call(operator.mul, (Var() as base, _)) if isinstance(target.type, ListT):  # [0] * n
                    self.unite(target, base)
                case Append(Var() as base, value, (), at):
                    self.unite(target, base)
                    self.integers += [target] if is_integer(value) else []
                    self.put.append((base, operand_type(value)))
                    self.rows += [(base, value)] if is_list(value) else []
                    self.inserted += [base] if at is not None else []
                case Update(Var(type=ListT()) as base) | Pop(Var(type=ListT()) as base) | Let(Var(type=ListT()) as base):
                    self.unite(target, base)
                    if isinstance(stmt.op, Update) and stmt.op.mode == "set" and len(stmt.op.path) <= 2:
                        (self.put if len(stmt.op.path) == 1 else below).append((base, operand_type(stmt.op.value)))
        first = self.united_rows()
        self.put += [(first[self.find(base)], t) for base, t in below if self.find(base) in first]

    def united_rows(self) -> dict[Var, Var]:
        """Take all rows of each list for one list; return {list: one of its rows}."""
        while True:
            first: dict[Var, Var] = {}
            pairs = [(row, first.setdefault(self.find(base), row)) for base, row in self.rows]
            if all(self.find(row) == self.find(other) for row, other in pairs):
                return first
            for pair in pairs:
                self.unite(*pair)

    def floats_later(self) -> set[Var]:
        """Return the lists that begin with integers, or get some at their end, and into which floats are written later."""
        kinds = self.kinds()
        found = {v: kinds.get(self.find(v), set()) for v in self.integers}
        return {v for v, put in found.items() if "float" in put <= {"int", "float"}}

    def kinds(self) -> dict[Var, set]:
        """Return what is put into each list: "int", "float", or None for anything else."""
        found: dict[Var, set] = {}
        for base, t in self.put:
            found.setdefault(self.find(base), set()).add(t.kind if isinstance(t, Scalar) and t.dtype in (None, *_PLAIN) else None)
        return found

    def inserted_into(self) -> dict[Var, object]:
        """Return {empty list of numbers that is inserted into: the function that makes it}."""
        kinds = self.kinds()
        wanted = set(map(self.find, self.inserted))
        makers = {frozenset({"float"}): no_floats, frozenset({"int"}): no_integers}
        found = {v: makers.get(frozenset(kinds.get(self.find(v), ()))) for v in self.empty if self.find(v) in wanted}
        return {v: maker for v, maker in found.items() if maker is not None}


_PLAIN = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(object))  # of Python's numbers, the last where some may be integers
