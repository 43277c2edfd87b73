"""Which variables each element of a result depends on: a program is evaluated, and sets of variables go with its values.

    y = x[1:] * x[:-1]        {1} {2} {3} and {0} {1} {2}, so y: {0 1} {1 2} {2 3}
    y[i] = exp(t)             the set of t takes the place of that of y[i]
    s = sum(y)                {0 1 2 3}
    if x[0] > 0: ...          the arm that runs; a condition adds nothing to a set

A set may be too large, never too small: of a function of which nothing else is known, each element of the result depends on all that its
arguments depend on.  Where branches and subscripts depend on values, the sets are those at the point at which the program is evaluated.

Values are immutable, but an `Update` whose base nobody else holds works in place, so that a loop over the elements of an array takes
time in proportion to their number.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np

from sourcead import runtime
from sourcead.ir import evaluate
from sourcead.ir.nodes import (
    AdjointBlock, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Op,
    Operand, Pop, Range, Stmt, Update, Var
)
from sourcead.ir.recursive_calls import Pair
from sourcead.sparsity.calls import dependences_of_call
from sourcead.sparsity.containers import filled, part_of, united_parts

UNSHARED = 3  # the references to an object that a variable, an argument, and the call of `getrefcount` hold


def dependences(function: Function, values: list, sets: list) -> tuple[list, list]:
    """Return the results of a function, and their sets, for arguments and their sets (`containers.py`)."""
    program = Evaluation()
    for p, value, found in zip(function.params, values, sets):
        program.bind(p, value, found)
    del values, sets
    with np.errstate(all="ignore"):
        return program.run(function.body)


class LastReads:
    """The variables that a block binds, or that are bound for it, and that nothing reads after each of its statements."""

    def __init__(self, block: Block, bound: tuple[Var, ...]):
        self.block = block  # so that its id is not used again
        own = {*bound, *(t for s in block.stmts for t in s.targets)}
        read = {r for r in block.results if isinstance(r, Var)}
        self.after: list[set[Var]] = []
        for stmt in reversed(block.stmts):
            reads = {*stmt.op.reads, *(v for b in stmt.op.blocks for v in b.reads)}
            self.after.append((reads & own) - read)
            read |= reads
        self.after.reverse()

    @cached_property
    def own(self) -> tuple[Var, ...]:
        return tuple(t for s in self.block.stmts for t in s.targets)


class Evaluation:
    """An evaluation of a program.

    Attributes:
        env: the values of variables.
        sets: the sets that they depend on; a variable without a derivative is left out.
        closures: the nested functions.
    """

    def __init__(self):
        self.env: dict[Var, Any] = {}
        self.sets: dict[Var, Any] = {}
        self.closures: dict[Var, Closure] = {}
        self.last_reads: dict[int, LastReads] = {}

    # ---- variables ----

    def bind(self, var: Var, value: Any, found: Any) -> None:
        self.env[var] = value
        if isinstance(found, int):  # zero, the empty set
            self.sets.pop(var, None)
        else:
            self.sets[var] = found

    def forget(self, var: Var) -> None:
        self.env.pop(var, None)
        self.sets.pop(var, None)

    def value(self, operand: Operand | None) -> Any:
        return evaluate._value(operand, self.env)

    def set_of(self, operand: Operand | None) -> Any:
        """Return the sets of an operand, 0 if it depends on nothing."""
        if isinstance(operand, Var):
            return self.sets.get(operand, 0)
        if isinstance(operand, tuple):
            found = tuple(map(self.set_of, operand))
            return found if any(not isinstance(s, int) for s in found) else 0
        return 0

    # ---- statements ----

    def run(self, block: Block, bound: tuple[Var, ...] = ()) -> tuple[list, list]:
        """Return the values and the sets of the results of a block; afterwards its variables, and those `bound` for it, are unknown."""
        last = self.last_reads.get(id(block))
        if last is None:
            last = self.last_reads[id(block)] = LastReads(block, bound)
        for stmt, dying in zip(block.stmts, last.after):
            self.statement(stmt, dying)
            for var in dying:
                self.forget(var)
        results = [self.value(r) for r in block.results], [self.set_of(r) for r in block.results]
        for var in (*last.own, *bound):
            self.forget(var)
        return results

    def statement(self, stmt: Stmt, dying: set[Var]) -> None:
        op = stmt.op
        if isinstance(op, Closure):
            self.closures[stmt.targets[0]] = op
        if isinstance(op, Update | Append | Pop):
            values, sets = self.changed(op, op.base in dying)
        else:
            values, sets = self.results(op)
        for target, value, found in zip(stmt.targets, values, sets, strict=True):
            self.bind(target, value, found)

    def results(self, op: Op) -> tuple[list, list]:
        """Return the values and the sets of the results of an op."""
        match op:
            case Let(value):
                return [self.value(value)], [self.set_of(value)]
            case Call(fn):
                return self.call(self.value(fn) if isinstance(fn, Var | Const) else fn, op)
            case Attr(base, name):
                return [getattr(self.value(base), name)], [getattr(self.set_of(base), name, 0) if name in ("T", "real", "imag") else 0]
            case Index(base, key):
                value, at = self.value(base), self.value(key)
                return [evaluate._item(value, at)], [part_of(self.set_of(base), at)]
            case Build(kind, items, keys, cls):
                return self.built(op, kind, items, keys, cls)
            case Branch(cond, then, orelse):
                return self.run(then if self.value(cond) else orelse)
            case Loop():
                return self.loop(op)
            case Closure(_, body):
                captured = united_parts(tuple(self.sets[v] for v in {*body.reads} if v in self.sets))
                return [evaluate._do(op, dict(self.env))[0]], [captured]
            case AdjointBlock(values):
                return [self.value(v) for v in values], [self.set_of(v) for v in values]
            case Effect():
                return evaluate._do(op, self.env), []
        raise TypeError(f"not an op: {op!r}")

    def call(self, fn: Any, op: Call) -> tuple[list, list]:
        if isinstance(fn, Pair):  # of which the value is read
            values, sets = dependences(fn.lowered.function, [self.value(a) for a in op.args], [self.set_of(a) for a in op.args])
            return [(values[0], None)], [(sets[0], 0)]
        closure = self.closures.get(op.fn) if isinstance(op.fn, Var) else None
        if closure is not None and not op.kwargs and len(op.args) == len(closure.params):
            for p, a in [(p, (self.value(a), self.set_of(a))) for p, a in zip(closure.params, op.args)]:
                self.bind(p, *a)
            values, sets = self.run(closure.body, closure.params)
            return [evaluate._bare(values)], [sets[0] if len(sets) == 1 else filled(tuple(values), tuple(sets))]
        args, kwargs = [self.value(a) for a in op.args], {k: self.value(v) for k, v in op.kwargs}
        value = fn(*args, **kwargs)
        sets, named = [self.set_of(a) for a in op.args], {k: self.set_of(v) for k, v in op.kwargs}
        if isinstance(op.fn, Var) and op.fn in self.sets:  # a function with a derivative
            sets, args, fn = [*sets, self.sets[op.fn]], [*args, None], None
        if all(isinstance(s, int) for s in (*sets, *named.values())):
            return [value], [0]
        return [value], [dependences_of_call(fn, value, (args, kwargs), (sets, named))]

    def built(self, op: Build, kind: str, items: tuple, keys: tuple | None, cls: type | None) -> tuple[list, list]:
        values = evaluate._do(op, self.env)
        found = [self.set_of(i) for i in items]
        if all(isinstance(s, int) for s in found):
            return values, [0]
        found = [filled(self.value(i), s) for i, s in zip(items, found)]
        if kind == "dict":
            return values, [dict(zip(keys, found))]
        if kind == "record":
            return values, [dict(zip(keys, found))]
        return values, [united_parts(tuple(found)) if kind == "set" else list(found) if kind == "list" else tuple(found)]

    # ---- writes ----

    def changed(self, op: Update | Append | Pop, dying: bool) -> tuple[list, list]:
        """Return the results of an op that changes a part of its base; `dying` says that nothing reads the base afterwards."""
        value = self.env.pop(op.base) if dying else self.value(op.base)
        found = self.sets.pop(op.base, 0) if dying and isinstance(op.base, Var) else self.set_of(op.base)
        adds = not isinstance(op, Pop) and not isinstance(self.set_of(op.value), int)
        if adds or not isinstance(found, int):
            found = filled(value, found)
        if not (dying and is_alone(value, sys.getrefcount(value))):
            value = runtime.copy(value)
        if not isinstance(found, int) and not (dying and is_alone(found, sys.getrefcount(found))):
            found = runtime.copy(found)
        match op:
            case Append(_, item, path, at):
                place = None if at is None else self.value(at)
                new = self.value(item)
                insert(evaluate._list_at(value, path, self.env), place, new)
                if not isinstance(found, int):
                    insert(evaluate._list_at(found, path, self.env), place, filled(new, self.set_of(item)))
                return [value], [found]
            case Pop(_, path, at):
                place = -1 if at is None else self.value(at)
                item = evaluate._list_at(value, path, self.env).pop(place)
                return [value, item], [found, 0 if isinstance(found, int) else evaluate._list_at(found, path, self.env).pop(place)]
            case Update(_, path, new, mode):
                adding = evaluate._value(new, self.env)
                sets = self.set_of(new)
                value = evaluate._updated(value, path, adding, mode, self.env)
                if adds or not isinstance(found, int):
                    found = evaluate._updated(found, path, filled(adding, sets), mode, self.env)
                return [value], [found]

    # ---- loops ----

    def loop(self, op: Loop) -> tuple[list, list]:
        inits = [(self.value(i), self.set_of(i)) for i in op.inits]
        for p, init in zip(op.params, inits):
            self.bind(p, *init)
        del inits
        match op.domain:
            case Block() as condition:
                over = iter(lambda: bool(self.value_of(condition)), False)
            case Range(start, stop, step):
                over = range(*self.value((start, stop, step)))
            case sequence:
                over = self.value(sequence)
        for one in over:
            if op.index is not None:
                self.bind(op.index, one, 0)
            values, sets = self.run(op.body, op.params)
            for p in op.params:
                self.bind(p, values.pop(0), sets.pop(0))
            if op.leave is not None and self.env[op.leave]:
                break
        return [self.env[p] for p in op.params], [self.sets.get(p, 0) for p in op.params]

    def value_of(self, block: Block) -> Any:
        """Return the one result of the condition of a loop."""
        return self.run(block)[0][0]


def is_alone(value: Any, references: int) -> bool:
    """Return whether an object to which so many references were counted is an array that only a variable holds, with memory of its own."""
    return isinstance(value, np.ndarray) and references <= UNSHARED and value.base is None


def insert(items: list, place: int | None, item: Any) -> None:
    items.insert(len(items) if place is None else place, item)

