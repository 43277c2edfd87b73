"""Small arrays in loops as numbers, for the text that Numba compiles.

    for i in range(n):                          for i in range(n):
        r = p[i] - q                                r_0 = p[i, 0] - q_0;  r_1 = p[i, 1] - q_1;  r_2 = p[i, 2] - q_2
        d = np.dot(r, r)                            d = r_0 * r_0 + r_1 * r_1 + r_2 * r_2
        f = f + r / d                               f_0 = f_0 + r_0 / d;  f_1 = f_1 + r_1 / d;  f_2 = f_2 + r_2 / d
        rs.append(r)                                rs.append(r_0);  rs.append(r_1);  rs.append(r_2)

Machine code keeps numbers in registers, while each array takes memory, a call or a loop, and checks.  The elements of a small array are
variables if `choice.py` says so; a loop variant, a result of a branch and a stack of residuals become several.  What `elements.py` cannot
compute element by element gets an array that is made of the variables, and what it returns is read element by element, so a value may be
in both forms.  Since values are immutable here, neither form can become stale.  Arrays that no loop makes or reads stay as they are.

A type that promises too much (a variant that begins as a number) shows when Numba compiles the text or in an `IndexError`; another text,
without this pass, runs the call then (`engine.py`), for which the function must be one that may run again.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from sourcead.analysis.builder import Builder, atom_type
from sourcead.backends.numba.codegen.small_arrays import elements
from sourcead.backends.numba.codegen.small_arrays.choice import (
    DTYPES, Choice, attribute, is_list_of_elements, is_small, may_be_computed
)
from sourcead.backends.numba.codegen.small_arrays.elements import array_of, element_of
from sourcead.backends.numba.codegen.small_arrays.subscripts import (
    is_constant, is_constant_path, keys_of, single, written
)
from sourcead.ir.nodes import (
    Append, Atom, Attr, Block, Branch, Build, Call, Closure, Const, Function, Index, Let, Loop, Operand, Pop, Slice,
    Stmt, Sub, Update, Var, fresh
)
from sourcead.ir.types import Array, ListT
from sourcead.ir.walk import definitions, has, map_op, map_operand, with_body
from sourcead.passes.cleanup.dead_code import remove_dead

WORK = 160, 45  # the most statements that one operation may become; the next if all become more than `MOST_STATEMENTS`
MOST_STATEMENTS = 1200  # beside twice as many as before: LLVM takes about 4 ms for one
REFUSALS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, StopIteration, NotImplementedError)


class MayBeNumber(TypeError):
    """Raised for a variable that may be a number, of which the elements are asked."""


def small_arrays_as_numbers(function: Function) -> Function:
    """Return the function with numbers in place of the small arrays in its loops; must run before `assign_memory`."""
    if has(function.body, Closure) or not any(is_small(v) for stmt in function.body.statements for v in stmt.targets):
        return function
    most = MOST_STATEMENTS + 2 * len(function.body.statements)
    for work in WORK:
        rewriting = _ArraysAsNumbers(function, work)
        try:
            made = remove_dead(rewriting.function())
        except MayBeNumber:
            return function
        if len(made.body.statements) <= most:
            return made if rewriting.changed else function
    return function


class _ArraysAsNumbers:
    """Rewrites one function.

    Attributes:
        work: the most statements that one operation may become.
        choice: which arrays become numbers.
        made_by: the op of each variable.
        elements: the elements of small arrays that are in variables.
        arrays: the small arrays that are variables of the new text.
        later: for each small array, the list of the statements that stand right behind its definition.
        renamed: the variables of the new text for versions of stacks and for arrays that were made of elements.
    """

    def __init__(self, function: Function, work: int):
        self.of, self.work = function, work
        self.changed = False
        self.made_by = {v: stmt.op for v, stmt in definitions(function.body).items()}
        self.choice = Choice(function, work)
        self.elements: dict[Var, np.ndarray] = {}
        self.arrays: set[Var] = set()
        self.later: dict[Var, list[Stmt]] = {}
        self.renamed: dict[Var, Var] = {}

    # ---- the two forms of a value ----

    def parts(self, v: Var) -> np.ndarray:
        """Return the elements of a small array, which are read behind its definition if they are in no variables yet.

        Raises:
            MayBeNumber: it may be a number.
        """
        if v not in self.elements:
            if v in self.choice.loose:
                raise MayBeNumber(v)
            build = Builder()
            made = np.empty(v.type.dims, object)
            for at in np.ndindex(*v.type.dims):
                made[at] = build.emit(Index(v, single(tuple(map(Const, at)))), DTYPES[v.type.dtype], f"{v.name}_{joined(at)}")
            self.later[v] += build.stmts
            self.elements[v] = made
        return self.elements[v]

    def whole(self, atom: Atom) -> Atom:
        """Return a variable that holds an atom's value; an array is made of elements behind their definitions."""
        if atom in self.renamed:
            return self.renamed[atom]
        if not isinstance(atom, Var) or atom not in self.elements or atom in self.arrays:
            return atom
        build, t = Builder(), atom.type
        dtype = () if t.dtype == np.float64 else (("dtype", Const(t.dtype)),)
        made = build.emit(Call(np.empty, (single(tuple(map(Const, t.dims))),), dtype), t, atom.name, atom.temp)
        for at in np.ndindex(*t.dims):
            made = build.emit(Update(made, (Sub(single(tuple(map(Const, at)))),), self.elements[atom][at]), t, atom.name, atom.temp)
        self.later[atom] += build.stmts
        self.renamed[atom] = made
        return made

    def operand(self, x: Operand | None, build: Builder) -> Any:
        """Return an operand as NumPy gets it: arrays of numbers, numbers, and what is known."""
        op = self.made_by.get(x) if isinstance(x, Var) else None
        match x:
            case Var() if is_small(x):
                return array_of(self.parts(x), build)
            case Var() if isinstance(op, Build) and op.kind in ("list", "tuple") and not op.residual:
                return [self.operand(item, build) for item in op.items]
            case Var() if isinstance(op, Attr) and isinstance(t := atom_type(op.base), Array) and t.dtype is not None:
                return t.dtype if op.name == "dtype" else attribute(op.base, op.name)
            case Var() if isinstance(op, Index) and isinstance(self.made_by.get(op.base), Attr):
                return self.operand(op.base, build)[self.operand(op.key, build)]
            case Const(live=True) | Var():
                return elements.number_of(x, build)
            case Const(value):
                return value
            case Slice(lower, upper, step):
                return slice(*(None if a is None else self.operand(a, build) for a in (lower, upper, step)))
            case tuple():
                return tuple(self.operand(a, build) for a in x)
        return None

    # ---- blocks ----

    def function(self) -> Function:
        start: list[Stmt] = []
        for p in filter(is_small, self.of.params):
            self.defined(p, start)
        body = self.block(self.of.body, False)
        results = tuple(map(self.whole, self.of.body.results))
        return with_body(self.of, Block((*start, *body), results))

    def defined(self, v: Var, later: list[Stmt]) -> None:
        """Note that a small array is a variable of the text, and where the statements that follow its definition go."""
        self.arrays.add(v)
        self.later[v] = later

    def block(self, block: Block, inside: bool, bound: Iterable[Var] = ()) -> Iterable[Stmt]:
        """Return the statements of a block; those that are found later to be needed behind a definition are put there."""
        out: list[Stmt | list[Stmt]] = []
        for v in filter(is_small, bound):
            out.append([])
            if v in self.elements:
                self.later[v] = out[-1]
            else:
                self.defined(v, out[-1])
        for stmt in block.stmts:
            later: list[Stmt] = []
            new = self.statement(stmt, inside)
            if new is None:
                new = [self.kept(stmt, inside)]
                if isinstance(stmt.op, Call | Update | Let) and not self.choice.loose.isdisjoint(stmt.op.reads):
                    self.choice.loose.update(stmt.targets)
                for v in filter(is_small, stmt.targets):
                    if v not in self.elements or isinstance(stmt.op, Index):
                        self.defined(v, later)
            for v in stmt.targets:
                self.later.setdefault(v, later)
            out += [*new, later]
        return _Flat(out)

    def statement(self, stmt: Stmt, inside: bool) -> list[Stmt] | None:
        """Return the statements that compute a statement element by element, or None if it stays."""
        match stmt.op:
            case Build() | Let() if stmt.targets[0] in self.choice.stacks:
                return [replace(stmt, targets=(self.stack(stmt.targets[0]),), op=map_op(stmt.op, self.whole))]
            case Append(base, value) if base in self.choice.stacks:
                return self.pushed(stmt, base, self.parts(value).ravel())
            case Pop(base) if base in self.choice.stacks:
                return self.popped(stmt, base)
            case Loop() | Branch():
                return None
        if not stmt.targets or len(stmt.targets) > 1 or not may_be_computed(stmt, self.work):
            return None
        if not (inside or self.choice.is_split(stmt.targets[0]) or any(v in self.elements and v not in self.arrays for v in stmt.op.reads)):
            return None
        build = Builder().at(stmt)
        with suppress(*REFUSALS):
            if self.computed(stmt, build) is not None and len(build.stmts) <= self.work:
                self.changed = True
                return build.stmts
        self.elements.pop(stmt.targets[0], None)
        self.arrays.discard(stmt.targets[0])
        return None

    def kept(self, stmt: Stmt, inside: bool) -> Stmt:
        """Return a statement that stays, with its operands in the form that it takes."""
        op = stmt.op
        match op:
            case Loop():
                for p in filter(self.choice.is_split, op.params):
                    self.elements[p] = self.variables(p)
                inits = self.spread(op.inits, op.params)
                params = self.spread(op.params, op.params)
                domain = op.domain
                if isinstance(domain, Block):
                    domain = self.condition(op)
                else:
                    domain = map_operand(domain, self.whole)
                stmts = self.block(op.body, True, op.params)
                results = self.spread(op.body.results, op.params)
                new = replace(op, domain=domain, params=params, inits=inits, body=Block(tuple(stmts), results))
            case Branch():
                arms = []
                for arm in (op.then, op.orelse):
                    stmts = self.block(arm, inside)
                    results = self.spread(arm.results, stmt.targets)
                    arms.append(Block(tuple(stmts), results))
                new = replace(op, cond=self.whole(op.cond), then=arms[0], orelse=arms[1])
            case _:
                return replace(stmt, op=map_op(op, self.whole))
        for v in filter(self.choice.is_split, stmt.targets):
            self.elements[v] = self.variables(v)
        return replace(stmt, op=new, targets=self.spread(stmt.targets, stmt.targets))

    def condition(self, op: Loop) -> Block:
        """Return the block that computes the condition of a loop, of which nothing is in scope in the body."""
        stmts = self.block(op.domain, True, op.params)
        results = tuple(map(self.whole, op.domain.results))
        made = Block(tuple(stmts), results)
        for p in filter(is_small, op.params):
            self.renamed.pop(p, None)
            if p in self.arrays:
                self.elements.pop(p, None)
        return made

    def spread(self, atoms: tuple[Atom, ...], places: tuple[Var, ...]) -> tuple[Atom, ...]:
        """Return what stands for atoms that become variants or results of branches: all elements, for an array that is split."""
        new: list[Atom] = []
        for atom, place in zip(atoms, places):
            if self.choice.is_split(place):
                number = Const(float(atom.value)) if isinstance(atom, Const) else atom
                found = self.parts(atom) if is_small(atom) else np.full(place.type.dims, number, object)
                new.extend(found.ravel())
            elif place in self.choice.stacks:
                new.append(self.renamed.get(atom) or self.stack(atom))
            else:
                new.append(self.whole(atom))
        return tuple(new)

    def variables(self, v: Var) -> np.ndarray:
        """Return new variables for the elements of an array."""
        made = np.empty(v.type.dims, object)
        for at in np.ndindex(*v.type.dims):
            made[at] = Var(f"{v.name}_{joined(at)}", DTYPES[v.type.dtype], v.temp)
        return made

    # ---- stacks ----

    def stack(self, v: Var) -> Var:
        """Return the new variable for a version of a stack, which holds numbers."""
        (element,) = {DTYPES[a.type.dtype].kind: DTYPES[a.type.dtype] for a in self.choice.stacks[v].elements}.values()
        self.renamed[v] = fresh(v, type=ListT(element))
        return self.renamed[v]

    def pushed(self, stmt: Stmt, base: Var, numbers: np.ndarray) -> list[Stmt]:
        made, now = [], self.renamed[base]
        for number in numbers:
            new = self.stack(stmt.targets[0])
            made.append(replace(stmt, targets=(new,), op=Append(now, number)))
            now = new
        self.changed = True
        return made

    def popped(self, stmt: Stmt, base: Var) -> list[Stmt]:
        made, now = [], self.renamed[base]
        version, value = stmt.targets
        self.elements[value] = self.variables(value)
        for number in reversed(self.elements[value].ravel()):
            new = self.stack(version)
            made.append(replace(stmt, targets=(new, number), op=Pop(now)))
            now = new
        return made

    # ---- statements by elements ----

    def computed(self, stmt: Stmt, build: Builder) -> Any:
        """Emit what computes a statement and note the elements of its result; return None if that is not known."""
        (target,), op = stmt.targets, stmt.op
        match op:
            case Update(Var() as base, path, value, mode) if self.choice.is_split(base) and is_constant_path(path):
                return self.assign(target, written(self.operand(base, build), path, self.operand(value, build), mode, self.operand), build)
            case Update(Var() as base, (Sub(key),), Var() as value, mode) if self.choice.is_split(value):
                return self.write(target, base, keys_of(base.type, key, value.type), value, mode, build)
            case Index(Var() as base, key) if is_small(base) and is_constant(key):
                return self.assign(target, self.operand(base, build)[self.operand(key, build)], build)
            case Index(Var() as base, Const(value=int(key), live=False)) if is_list_of_elements(made := self.made_by.get(base)):
                return self.assign(target, self.operand(made.args[0], build)[key], build)
            case Index(Var() as base, key) if is_small(target) and self.choice.is_split(target):
                keys, element = keys_of(base.type, key, target.type), DTYPES[target.type.dtype]
                made = np.empty(target.type.dims, object)
                for at in np.ndindex(*made.shape):
                    made[at] = build.emit(Index(self.whole(base), single(keys[at])), element, f"{target.name}_{joined(at)}")
                build.add(self.kept(stmt, True))  # for what reads the array as a whole
                self.elements[target] = made
                self.arrays.add(target)
                return made
            case Let(Var() as value) if is_small(value) and is_small(target):
                return self.assign(target, self.operand(value, build), build)
            case Attr(Var() as base, name) if is_small(base) and base not in self.arrays:
                known = attribute(base, name)
                build.add(Stmt((target,), Let(Const(known))))
                return known
            case Call(fn, args, kwargs) if any(map(self.choice.is_split, (target, *self.arrays_in(args)))):
                return self.called(target, fn, args, dict(kwargs), build)
        return None

    def arrays_in(self, args: Iterable) -> list[Var]:
        """Return the small arrays among some operands and in the lists among them."""
        found: list[Var] = []
        for a in args:
            op = self.made_by.get(a) if isinstance(a, Var) else None
            found += [a] if is_small(a) else self.arrays_in(op.items) if isinstance(op, Build) and not op.residual else ()
        return found

    def called(self, target: Var, fn: Any, args: tuple, kwargs: dict[str, Operand], build: Builder) -> Any:
        if fn in elements.CREATING:
            return self.assign(target, np.full(target.type.dims, elements.CREATING[fn]), build) if is_small(target) else None
        given = tuple(self.operand(a, build) for a in args)
        options = {name: self.operand(a, build) for name, a in kwargs.items()}
        if options.get("dtype") in (float, np.float64):
            del options["dtype"]
        if elements.is_elementwise(fn, len(args)) and not options and is_small(target):
            return self.assign(target, elements.by_elements(fn, given, DTYPES[target.type.dtype], build), build)
        if fn is np.float64 and is_small(target):  # how a variant that becomes an array begins
            return self.assign(target, np.broadcast_to(np.asarray(given[0], object), target.type.dims), build)
        rule = elements.rule_of(fn)
        if any(a.type.dtype != np.float64 for a in self.arrays_in(args)) and fn is not np.ndarray.astype:
            return None
        return None if rule is None else self.assign(target, rule(*given, **options), build)

    def assign(self, target: Var, result: Any, build: Builder) -> Any:
        """Note the elements of a variable, or emit its value if it is a number.

        Raises:
            TypeError: the result is not what its type says.
        """
        if not is_small(target):
            build.add(Stmt((target,), Let(element_of(result, elements.OF_KIND[target.type.kind]))))
            return result
        result = np.asarray(result, dtype=object)
        if result.shape != target.type.dims:
            raise TypeError(target)
        made, new = np.empty(result.shape, object), {t for s in build.stmts for t in s.targets}
        for at in np.ndindex(*result.shape):
            made[at] = element_of(result[at], DTYPES[target.type.dtype])
            if made[at] in new:
                made[at].name, made[at].temp = f"{target.name}_{joined(at)}", target.temp
                new.remove(made[at])
        self.elements[target] = made
        return made

    def write(self, target: Var, base: Var, keys: np.ndarray, value: Var, mode: str, build: Builder) -> Any:
        """Emit the writes of the elements of a part of a larger array."""
        now, numbers = self.whole(base), self.parts(value)
        self.arrays.add(target)
        for at in np.ndindex(*keys.shape):
            new = target if at == tuple(n - 1 for n in keys.shape) else fresh(target)
            build.add(Stmt((new,), Update(now, (Sub(single(keys[at])),), numbers[at], mode)))
            now = new
        return keys


class _Flat:
    """The statements of a block of which some are added after it was made."""

    def __init__(self, parts: list):
        self.parts = parts

    def __iter__(self):
        for part in self.parts:
            yield from part if isinstance(part, list) else (part,)


def joined(at: tuple[int, ...]) -> str:
    return "".join(map(str, at))
