"""Reverse mode: the adjoint of each statement, last statement first.

    v = f(a, b)            d_a += (df/da)^T d_v;  d_b += (df/db)^T d_v
    v = a[i]               d_a[i] += d_v
    a1 = a0 with [i] = v   d_v += d_a1[i];  d_a0 = d_a1 with [i] = 0
    a1 = a0 with [i] += v  d_v += d_a1[i];  d_a0 = d_a1
    l1 = l0 ++ [v]         d_l0, d_v = pop d_l1
    l1, v = pop l0         d_l0 = d_l1 ++ [d_v]

    vs = if c: B1 else: B2             d_free = if c: reverse(B1, d_vs) else: reverse(B2, d_vs)

    x1 = steer x0 by (d): B            d_x0 += B with d = d_x1 (`steering.py`)

    out = loop (p = init) for i in r: B yielding q
        d_init, d_free = loop (d_q = d_out, d_free = d_free) for i in reversed(r): reverse(B, d_q) yielding d_p, d_free
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatchmethod

import numpy as np

from sourcead import runtime
from sourcead.ad.cotangents import Cotangents, cast, unbroadcast, zeros
from sourcead.ad.recursion import cotangents_of as cotangents_of_pair
from sourcead.ad.reverse.adjoint_block import differentiate_steer, steered_stmts
from sourcead.ad.reverse.rules import cotangents_of
from sourcead.ad.reverse.sweep import ReverseBranch, ReverseLoop, Sweep
from sourcead.analysis.builder import Builder, atom_type
from sourcead.errors import UnsupportedArgumentError, UnsupportedSyntaxError, spelled
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import (
    UNDEFINED, Append, Atom, Attr, Block, Branch, Build, Call, Const, Effect, Index, Let, Loop, Op, Operand, Pop, Slice,
    Steer, Stmt, Sub, Update, Var, fresh, operand_atoms
)
from sourcead.ir.pairs import Pair
from sourcead.ir.type_of import list_type
from sourcead.ir.types import (
    BOOL, UNKNOWN, Array, DictT, ListT, MapT, Scalar, StructT, TupleT, Type, Unknown, dims_of, keyed_parts
)
from sourcead.ir.walk import free_vars, walk

ONLY_FIRST = (np.linalg.lstsq,)  # of several results, the rule has the first one's derivative


def changeable(build: Builder, d: Atom) -> Atom:
    """The cotangent of a tuple as a list, whose items can be replaced one by one."""
    t = atom_type(d)
    return build.call(list, d, type=ListT(list_type(t.items).item), name="d") if isinstance(t, TupleT) else d


def unassigned_vars(block: Block) -> set[Var]:
    """Variables that may hold nothing: loop variants before their first assignment, names set in one arm only."""
    found: set[Var] = set()
    for stmt in walk(block):
        match stmt.op:
            case Loop(_, _, params, inits):
                pairs = [(i, v) for i, p, t in zip(inits, params, stmt.targets) for v in (p, t)]
            case Branch(_, then, orelse):
                pairs = [(a, t) for arm in (then, orelse) for a, t in zip(arm.results, stmt.targets)]
            case _:
                pairs = []
        found.update(v for a, v in pairs if a is UNDEFINED or a in found)
    return found


def same_shape(init: Atom, param: Var) -> bool:
    """Whether every value of a loop variant has the shape of the first."""
    have, want = dims_of(atom_type(init)), dims_of(param.type)
    return have is not None and want is not None and len(have) == len(want) and all(map(operator.eq, have, want))


def shaped_like(t: Type, init: Atom) -> Type:
    """The type of a loop variant's cotangent on entry of the loop: the variant may have another shape inside."""
    found = atom_type(init)
    return Array(t.dtype, found.dims) if isinstance(t, Array) and isinstance(found, Array) else t


class Reverse:
    """Generates the reverse sweep of a function, block by block.

    Attributes:
        active: variables that get cotangents.
        build: the builder of the sweep, with what the frontend knows.
        as_function: returns both sweeps of a recursive function as one function.
    """

    def __init__(self, active: set[Var], build: Builder, block: Block, as_function: Callable[[Pair], Lowered]):
        self.active = active
        self.as_function = as_function
        self.build = build
        self.unassigned = unassigned_vars(block)
        self.steered = steered_stmts(block)
        self.counting = {  # numbers that are all different
            s.targets[0] for s in walk(block)
            if isinstance(s.op, Call) and s.op.fn in (np.arange, range) and len(s.op.args) == 1
        }  # fmt: skip

    def block(self, block: Block, cots: Cotangents, finish: Callable[[], tuple[Atom, ...]]) -> Sweep:
        """The reverse of a block whose results' cotangents are in `cots`; `finish()` gives what it yields."""
        steps = []
        first = self.build.stmts
        if first:
            steps.append((None, tuple(first)))
        for stmt in reversed(block.stmts):
            with self.build.block() as stmts:
                self.build.origin = self.build.adjoint_of = stmt.origin
                self.build.within = stmt.within
                if stmt in self.steered or any(cots.has(t) for t in stmt.targets):
                    self.adjoint(stmt.op, stmt, cots)
            if stmts:
                steps.append((stmt, tuple(stmts)))
        with self.build.block() as stmts:
            results = finish()
        if stmts:
            steps.append((None, tuple(stmts)))
        return Sweep(tuple(steps), results)

    # -- one statement -----------------------------------------------------------------------------------------------

    @singledispatchmethod
    def adjoint(self, op: Op, stmt: Stmt, cots: Cotangents) -> None:
        raise TypeError(f"no adjoint for {type(op).__name__}")

    @adjoint.register
    def _(self, op: Call, stmt, cots):
        (y,) = stmt.targets
        if isinstance(op.fn, Pair):
            return self.pull_back(op, y, cots)
        if any(op.fn is f for f in ONLY_FIRST) and (y in cots.whole or set(cots.parts[y]) - {0}):
            raise UnsupportedArgumentError(
                f"the derivative of `{spelled(op.fn)}` is known of its first result only",
                at=stmt.origin,
                instead="compute the other results from the first",
            )
        d_y = cots.take(y)
        for operand, d, broadcasts in cotangents_of(self.build, stmt, d_y, self.active):
            self.contribute(operand, d, broadcasts, cots)

    def pull_back(self, op: Call, pair: Var, cots: Cotangents) -> None:
        """`d_args = pullback(d_value)` for a call of a recursive function."""
        d_value = cots.parts.pop(pair, {}).get(0)
        if d_value is None:
            return
        args = [op.args[k] for k in op.fn.wrt]
        ds = tuple(Var(f"d_{a.name}" if isinstance(a, Var) else "d", atom_type(a), True) for a in args)
        if self.build.pullbacks is None:  # this is differentiated again
            call = Call(cotangents_of_pair(op.fn, self.as_function), (*op.args, d_value))
            made = self.build.emit(call, TupleT((call.fn.result, UNKNOWN)), "pair")
            call = Index(made, Const(0))
        else:
            call = Call(self.build.pullbacks[pair], (d_value,))
        if len(ds) == 1 and self.build.pullbacks is not None:
            self.build.add(Stmt(ds, call))
        else:
            whole = self.build.emit(call, TupleT(tuple(d.type for d in ds)), "cotangents")
            for k, d in enumerate(ds):
                self.build.add(Stmt((d,), Index(whole, Const(k))))
        for arg, d in zip(args, ds):
            self.contribute(arg, d, False, cots)

    def contribute(self, operand: Operand, d: Operand | None, broadcasts: bool, cots: Cotangents) -> None:
        """Adds what a rule returned for an operand."""
        if d is None or isinstance(operand, (Const, Slice)):
            return
        if isinstance(operand, tuple):
            for k, item in enumerate(operand):
                part = d[k] if isinstance(d, tuple) else self.item_of(d, k, item)
                self.contribute(item, part, broadcasts, cots)
            return
        if operand not in self.active:
            return
        if isinstance(d, tuple):
            if isinstance(operand.type, (TupleT, ListT)) and getattr(operand.type, "items", None) is not None:
                for k, part in enumerate(d):
                    if part is not None:
                        cots.add_part(operand, k, part, operand.type.items[k])
                return
            if isinstance(operand.type, StructT) and len(operand.type.fields) == len(d):  # a named tuple
                for (name, t), part in zip(operand.type.fields, d):
                    if part is not None:
                        cots.add_part(operand, name, part, t)
                return
            d = self.build.emit(Build("list", d), operand.type, f"d_{operand.name}")
        d = unbroadcast(self.build, d, operand) if broadcasts else cast(self.build, d, operand)
        cots.add(operand, d)

    def item_of(self, d: Atom, k: int, item: Operand) -> Atom | None:
        """The k-th of the cotangents that a rule returned as one list."""
        if isinstance(item, Const) or not any(a in self.active for a in operand_atoms(item)):
            return None
        part = self.build.index(d, Const(k))
        if isinstance(part.type, Unknown) and isinstance(item, Var):
            stmt = self.build.stmts.pop()
            part = fresh(part, type=item.type)
            self.build.stmts.append(replace(stmt, targets=(part,)))
        return part

    @adjoint.register
    def _(self, op: Let, stmt, cots):
        if isinstance(op.value, Var):
            cots.add(op.value, cots.take(stmt.targets[0]))

    @adjoint.register
    def _(self, op: Attr, stmt, cots):
        pass

    @adjoint.register
    def _(self, op: Index, stmt, cots):
        (v,) = stmt.targets
        base = op.base
        if base not in self.active:
            cots.take(v)
            return
        items = keyed_parts(base.type)
        if items is not None and isinstance(op.key, Const):
            key = op.key.value
            if isinstance(key, int) and isinstance(base.type, (TupleT, ListT)):
                key %= len(items)
            cots.add_part(base, key, cots.take(v), dict(items)[key])
            return
        d_v = cots.take(v)
        if isinstance(base.type, MapT):
            cots.put(base, self.added_at(cots.get_or_zero(base), op.key, d_v, base, v.type))
            return
        if isinstance(base.type, Scalar) or isinstance(base.type, Array) and base.type.dims == ():  # whose cotangent may be a number
            cots.add(base, unbroadcast(self.build, d_v, base))
            return
        d_base = changeable(self.build, cots.get_or_zero(base))
        if isinstance(base.type, Unknown) and isinstance(op.key, Const) and isinstance(op.key.value, int):  # it may be a tuple
            new = self.build.call(runtime.with_added, d_base, op.key, d_v, type=base.type, name=f"d_{base.name}")
            cots.put(base, new)
            return
        if isinstance(base.type, (ListT, TupleT, Unknown)) and isinstance(v.type, (TupleT, ListT, DictT, StructT, Unknown)):
            before = self.build.emit(Index(d_base, op.key), v.type, f"d_{v.name}")
            d_v = self.build.call(runtime.add, before, d_v, type=v.type, name=f"d_{v.name}")
            new = self.build.emit(Update(d_base, (Sub(op.key),), d_v, "set"), base.type, f"d_{base.name}")
        else:
            update = Update(d_base, (Sub(op.key),), d_v, "add", self.distinct(op.key))
            new = self.build.emit(update, atom_type(d_base), f"d_{base.name}")
        cots.put(base, new)

    @adjoint.register
    def _(self, op: Update, stmt, cots):
        (out,) = stmt.targets
        d_out = cots.take(out)
        value = op.value
        if isinstance(value, tuple):
            value_active = any(a in self.active for a in operand_atoms(value))
            if value_active:
                raise UnsupportedSyntaxError(
                    "a tuple assigned into an array cannot be differentiated yet",
                    at=stmt.origin,
                    instead="assign an array: `np.array([...])`",
                )
        elif value in self.active:
            part = self.taken_at(d_out, op.path[0].key, value) if isinstance(out.type, MapT) else self.part(d_out, op.path)
            if op.mode == "sub":
                part = self.build.call(operator.neg, part)
            if op.mode == "set" and any(isinstance(s, Sub) and self.repeats(out.type, s.key) for s in op.path):
                *outer, last = op.path
                if not isinstance(last, Sub) or any(isinstance(s, Sub) and self.repeats(out.type, s.key) for s in outer):
                    raise UnsupportedSyntaxError(
                        "an assignment into a view of what an integer-array subscript takes",
                        at=stmt.origin,
                        instead="subscript the array itself",
                    )
                whole = self.part(d_out, tuple(outer))
                part = self.build.call(runtime.assigned_cotangent, whole, last.key, value, type=value.type, name=f"d_{value.name}")
                cots.add(value, part)
            else:
                shaped = unbroadcast(self.build, part, value) if isinstance(value.type, (Array, Scalar, Unknown)) else part
                cots.add(value, shaped)
        if isinstance(op.base, Var) and op.base in self.active:
            if op.mode == "set":
                if not op.path:
                    return
                d_out = self.build.emit(Update(d_out, op.path, self.cleared(op), "set"), atom_type(d_out), f"d_{op.base.name}")
            cots.add(op.base, d_out)

    def added_at(self, d: Atom, key: Operand, d_v: Atom, base: Var, t: Type) -> Atom:
        """The cotangent of a dict with a contribution to one key, which it may lack."""
        before = self.build.call(dict.get, d, key, *([Const(0.0)] if isinstance(t, Scalar) else []), type=t, name=f"d_{base.name}_item")
        plus = operator.add if isinstance(t, Scalar) else runtime.add
        total = self.build.call(plus, before, d_v, type=t, name=f"d_{base.name}_item")
        return self.build.emit(Update(d, (Sub(key),), total), base.type, f"d_{base.name}")

    def taken_at(self, d: Atom, key: Operand, x: Atom) -> Atom:
        """The cotangent of `x` under a key of that of a dict, which it may lack."""
        if isinstance(atom_type(x), Scalar):
            return self.build.call(dict.get, d, key, Const(0.0), type=atom_type(x), name="d")
        return self.build.call(runtime.cotangent_at, d, key, x, type=atom_type(x), name="d")

    def cleared(self, op: Update) -> Atom:
        """The cotangent of what an assignment replaces: nothing flows to it. Of an item of a list, of that item's shape."""
        if isinstance(op.base.type, MapT):
            return Const(0.0) if isinstance(op.base.type.item, Scalar) else Const(None)
        if isinstance(op.base.type, ListT) and len(op.path) == 1 and isinstance(op.path[0], Sub):
            return zeros(self.build, self.build.index(op.base, op.path[0].key))
        return Const(0.0)

    def part(self, d: Atom, path: tuple) -> Atom:
        """The part of a cotangent at a path."""
        for step in path:
            if isinstance(step, Sub):
                d = self.build.index(d, step.key, name=f"{d.name}_part" if isinstance(d, Var) else "d_part")
            else:
                d = self.build.call(step.fn, d, *step.args, **dict(step.kwargs))
        return d

    def distinct(self, key: Operand) -> bool:
        """Whether a subscript with integer arrays surely names no element twice: one of them counts `arange(n)`."""
        parts = key if isinstance(key, tuple) else (key,)
        arrays = [p for p in parts if not isinstance(p, (Slice, tuple)) and isinstance(atom_type(p), Array)]
        return any(p in self.counting for p in arrays) and all(len(dims_of(atom_type(p)) or (0, 0)) == 1 for p in arrays)

    @staticmethod
    def repeats(t, key: Operand) -> bool:
        """Whether a subscript may name an element twice: some part of it is, or may be, an array of integers."""
        for part in key if isinstance(key, tuple) else (key,):
            if isinstance(part, (Slice, tuple)):
                if isinstance(part, tuple):
                    return True
                continue
            kind = atom_type(part)
            if isinstance(kind, (Unknown, ListT)):
                return not isinstance(t, ListT)
            if isinstance(kind, Array) and (kind.dtype is None or kind.dtype.kind != "b"):
                return True
        return False

    @adjoint.register
    def _(self, op: Append, stmt, cots):
        d_out = cots.take(stmt.targets[0])
        t = atom_type(d_out)
        item = atom_type(op.value) if not isinstance(op.value, tuple) else Unknown()
        rest = Var(f"d_{stmt.targets[0].name}", op.base.type if isinstance(op.base, Var) else t, True)
        d_value = Var(f"d_{op.value.name}" if isinstance(op.value, Var) else "d_item", item, True)
        if isinstance(op.base.type if isinstance(op.base, Var) else t, MapT):
            self.pop_if_there(d_out, op, rest, d_value)
        else:
            self.build.add(Stmt((rest, d_value), Pop(d_out, op.path, op.at)))
        if isinstance(op.base, Var):
            cots.add(op.base, rest)
        if isinstance(op.value, Var):
            cots.add(op.value, d_value)

    def pop_if_there(self, d_out: Atom, op: Append, rest: Var, d_value: Var) -> None:
        """The reverse of an append to a list in a dict, whose cotangent lacks the key if nothing came to that list."""
        there = self.build.call(dict.get, d_out, op.path[0].key, type=BOOL, name="there")  # the list: an empty one counts as none
        popped = Var(rest.name, rest.type, True), Var(d_value.name, d_value.type, True)
        with self.build.block() as missing:
            zero = zeros(self.build, op.value)
        arms = Block((Stmt(popped, Pop(d_out, op.path, op.at)),), popped), Block(tuple(missing), (d_out, zero))
        self.build.add(Stmt((rest, d_value), Branch(there, *arms)))

    @adjoint.register
    def _(self, op: Pop, stmt, cots):
        rest, item = stmt.targets
        d_rest = cots.get_or_zero(rest)
        cots.take(rest)
        d_item = cots.get_or_zero(item)
        cots.take(item)
        if isinstance(rest.type, MapT):
            key = op.path[0].key
            items = self.taken_at(d_rest, key, self.build.index(rest, key))
            grown = self.build.emit(Append(items, d_item, op.path[1:], op.at), atom_type(items), "d_items")
            cots.add(op.base, self.build.emit(Update(d_rest, op.path[:1], grown), rest.type, f"d_{op.base.name}"))
            return
        new = self.build.emit(Append(d_rest, d_item, op.path, op.at), atom_type(d_rest), f"d_{op.base.name}")
        cots.add(op.base, new)

    @adjoint.register
    def _(self, op: Build, stmt, cots):
        (v,) = stmt.targets
        keys = op.keys if op.keys is not None else range(len(op.items))
        parts = cots.parts.pop(v, {})
        whole = cots.take(v)
        for key, item in zip(keys, op.items):
            if item in self.active:
                if key in parts:
                    cots.add(item, parts[key])
                if whole is not None and isinstance(v.type, MapT):
                    cots.add(item, self.taken_at(whole, Const(key), item))
                elif whole is not None:
                    part = self.build.emit(Index(whole, Const(key)), atom_type(item), f"d_{item.name}")
                    cots.add(item, part)

    @adjoint.register
    def _(self, op: Branch, stmt, cots):
        d_targets = [cots.take(t) for t in stmt.targets]
        arms = []
        for arm in (op.then, op.orelse):
            inner = Cotangents(self.build, self.active)
            inner.whole, inner.parts = dict(cots.whole), {k: dict(v) for k, v in cots.parts.items()}
            with self.build.block():
                self.build.adjoint_of = stmt.origin
                for d, result in zip(d_targets, arm.results):
                    if d is not None and isinstance(result, Var):
                        inner.add(result, d)
                state: list = []

                def finish(inner=inner, state=state):
                    return ()

                sweep = self.block(arm, inner, finish)
            arms.append((inner, sweep))
        self.build.origin = self.build.adjoint_of = stmt.origin
        self.build.within = stmt.within
        self.merge_arms(stmt, op, cots, arms, {d for d in d_targets if d is not None})

    def merge_arms(self, stmt: Stmt, op: Branch, cots: Cotangents, arms: list, outside: set) -> None:
        """Yields from both arms the cotangents that either has changed; those in `outside` can be read in both."""
        local = {t for arm in (op.then, op.orelse) for s in arm.stmts for t in s.targets}
        tails: list[list[Stmt]] = [[], []]
        for var in [v for v in cots.parts if any(v not in inner.parts for inner, _ in arms)]:
            # an arm has put the items of a container together: then both do
            for side, (inner, _) in enumerate(arms):
                with self.build.block() as stmts:
                    inner.get(var)
                tails[side].extend(stmts)
            del cots.parts[var]
        changed: dict = {}
        for inner, _ in arms:
            for var, d in inner.whole.items():
                if var not in local and cots.whole.get(var) is not d:
                    changed.setdefault((var, None))
            for var, parts in inner.parts.items():
                for key, d in parts.items():
                    if var not in local and cots.parts.get(var, {}).get(key) is not d:
                        changed.setdefault((var, key))
        results: list[list[Atom]] = [[], []]
        targets = []
        for var, key in changed:
            column = []
            for side, (inner, _) in enumerate(arms):
                d = inner.whole.get(var) if key is None else inner.parts.get(var, {}).get(key)
                if d is None:
                    theirs = arms[1 - side][0].whole.get(var) if key is None else None
                    with self.build.block() as stmts:
                        if var in self.unassigned and theirs in outside:  # `var` may not exist here
                            d = zeros(self.build, theirs)
                        else:
                            d = zeros(self.build, var if key is None else self.build.index(var, Const(key)))
                    tails[side].extend(stmts)
                column.append(d)
            for side in (0, 1):
                results[side].append(column[side])
            t = atom_type(next((d for d in column if isinstance(d, Var)), column[0]))
            if key is None and not isinstance(var.type, Unknown):
                t = var.type
            targets.append(Var(f"d_{var.name}", t, True))
        sweeps = []
        for side, (_, sweep) in enumerate(arms):
            tail = ((None, tuple(tails[side])),) if tails[side] else ()
            sweeps.append(Sweep(sweep.steps + tail, tuple(results[side])))
        if not targets and stmt not in self.steered:
            return
        self.build.add(Stmt(tuple(targets), ReverseBranch(stmt, *sweeps)))
        for (var, key), target in zip(changed, targets):
            if key is None:
                cots.put(var, target)
            else:
                cots.parts.setdefault(var, {})[key] = target

    @adjoint.register
    def _(self, op: Loop, stmt, cots):
        d_targets = [cots.take(t) for t in stmt.targets]
        carried = [
            k for k, (p, t) in enumerate(zip(op.params, stmt.targets))
            if d_targets[k] is not None or p in self.active
        ]  # fmt: skip
        inits = [
            zeros(self.build, stmt.targets[k]) if d_targets[k] is None else d_targets[k] for k in carried
        ]  # fmt: skip
        params = [Var(f"d_{op.params[k].name}", op.params[k].type, True) for k in carried]
        free = [v for v in free_vars(op.body) if v in self.active and v not in op.params]
        free_inits = [changeable(self.build, cots.get_or_zero(v)) for v in free]
        inits += free_inits
        for v in free:
            cots.take(v)
        free_params = [Var(f"d_{v.name}", atom_type(d) if isinstance(v.type, TupleT) else v.type, True) for v, d in zip(free, free_inits)]
        inner = Cotangents(self.build, self.active)
        for v, p in zip(free, free_params):
            inner.put(v, p)
        outer_origin = self.build.adjoint_of
        with self.build.block():
            self.build.adjoint_of = None
            for k, p in zip(carried, params):
                result = op.body.results[k]
                if isinstance(result, Var):
                    inner.add(result, p)

            def finish():
                yields = []
                for k, p in zip(carried, params):
                    d = inner.take(op.params[k]) if op.params[k] in self.active else None
                    if d is None:  # nothing flows to the value on entry: of its shape, which may not be that on leaving
                        keeps_shape = op.params[k] in self.unassigned or same_shape(op.inits[k], op.params[k])
                        d = zeros(self.build, p if keeps_shape else op.params[k])
                    yields.append(d)
                return (*yields, *(inner.get_or_zero(v) for v in free))

            sweep = self.block(op.body, inner, finish)
        self.build.adjoint_of = outer_origin
        self.build.origin = stmt.origin
        targets = [
            Var(p.name, p.type if same_shape(op.inits[k], op.params[k]) else shaped_like(p.type, op.inits[k]), True)
            for k, p in zip(carried, params)
        ]  # fmt: skip
        targets += [Var(p.name, p.type, True) for p in free_params]
        self.build.add(Stmt(tuple(targets), ReverseLoop(stmt, (*params, *free_params), tuple(inits), sweep)))
        for v, target in zip(free, targets[len(carried) :]):
            cots.put(v, target)
        for k, target in zip(carried, targets):
            cots.add(op.inits[k], target)

    @adjoint.register
    def _(self, op: Effect, stmt, cots):
        if op.body is not None:
            raise UnsupportedSyntaxError("a `with` block cannot be differentiated yet", at=stmt.origin)

    @adjoint.register
    def _(self, op: Steer, stmt, cots):
        differentiate_steer(self.build, stmt, cots)
