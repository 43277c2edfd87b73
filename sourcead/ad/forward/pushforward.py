"""Forward mode: the function that computes the tangent of another function, with the tangent of each statement beside it.

    v = f(a, b)             t_v = (df/da) t_a + (df/db) t_b
    v = a[i]                t_v = t_a[i]
    a1 = a0 with [i] = v    t_a1 = t_a0 with [i] = t_v              likewise [i] += v, [i] -= v
    l1 = l0 ++ [v]          t_l1 = t_l0 ++ [t_v]
    l1, v = pop l0          t_l1, t_v = pop t_l0
    y, pullback = f(a)      y, t_y = f_jvp(a, t_a)                  a recursive function

    vs = if c: B1 else: B2                          vs, t_vs = if c: push(B1) else: push(B2)

    out = loop (p = init) for i in r: B yielding q
        out, t_out = loop (p = init, t_p = t_init) for i in r: push(B) yielding q, t_q

What replaces a value in its place (an update, a pop) comes after its tangent, which may read the value as it was; everything
else comes before, because a tangent rule may read the result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import singledispatchmethod

from sourcead.ad.apply_rule import pullback_refused, set_refused
from sourcead.ad.closed_forms import closed_form
from sourcead.ad.forward.calls import tangent_of
from sourcead.ad.forward.tangents import Items, Tangents
from sourcead.ad.inline_helpers import simplified
from sourcead.ad.recursion import as_lowered, derivative_of, wrt_names
from sourcead.ad.result_and_gradients import in_dtype_of
from sourcead.analysis.activity import active_vars
from sourcead.analysis.builder import Builder, atom_type
from sourcead.analysis.unassigned import with_nothing
from sourcead.errors import UnsupportedSyntaxError
from sourcead.frontend.lower import Lowered
from sourcead.ir.nodes import (
    AdjointBlock, Append, Atom, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop,
    Op, Operand, Pop, Range, Stmt, Update, Var
)
from sourcead.ir.recursive_calls import Pair
from sourcead.ir.types import UNKNOWN, Array, Scalar, TupleT, dims_of, tangent_type
from sourcead.ir.walk import free_vars


class Forward:
    """Generates statements with their tangents, block by block.

    Attributes:
        active: variables that may have tangents.
        build: the builder of the result, with what the frontend knows.
        tangents: those known so far.
        made: the statements so far of the block that is walked, by their targets.
        pairs: the results of calls of recursive functions, (value, tangent).
        closures: whether this is not differentiated again (`recursion.py`).
    """

    def __init__(self, active: set[Var], build: Builder, closures: bool):
        self.active, self.closures = active, closures
        self.build = build
        self.tangents = Tangents(build, active)
        self.made: dict[Var, Stmt] = {}
        self.pairs: set[Atom] = set()

    def block(self, block: Block) -> None:
        """Emit a block's statements and their tangents."""
        around, self.made = self.made, {}
        for stmt in block.stmts:
            self.build.at(stmt)
            self.push(stmt.op, stmt)
            self.made.update(dict.fromkeys(stmt.targets, stmt))
        self.made = around

    def keep(self, stmt: Stmt) -> None:
        self.build.stmts.append(stmt)

    def is_active(self, stmt: Stmt) -> bool:
        return any(t in self.active for t in stmt.targets)

    # -- one statement -----------------------------------------------------------------------------------------------

    @singledispatchmethod
    def push(self, op: Op, stmt: Stmt) -> None:
        raise TypeError(f"no tangent for {type(op).__name__}")

    @push.register
    def _(self, op: Call, stmt):
        if isinstance(op.fn, Pair):
            return self.push_pair(op, stmt)
        self.keep(stmt)
        if isinstance(op.fn, Var) and self.is_active(stmt):
            raise pullback_refused(stmt)
        if self.is_active(stmt) and any(map(self.tangents.has, op.reads)):
            self.tangents.put(stmt.targets[0], tangent_of(self.tangents, stmt, closed_form(stmt, self.made)))

    def push_pair(self, op: Call, stmt: Stmt) -> None:
        """Emit `y, t_y = f_jvp(a, t_a)` for a call of a recursive function."""
        directions = tuple(self.tangents.get_or_zero(op.args[k]) for k in op.fn.wrt)
        self.pairs.update(stmt.targets)
        if not self.closures:
            pair = derivative_of(op.fn, "tangent", forward_as_function)
            made = self.build.emit(Call(pair, (*op.args, *directions)), TupleT((pair.result, UNKNOWN)), "pair")
            return self.build.add(replace(stmt, op=Index(made, Const(0))))
        self.keep(replace(stmt, op=replace(op, fn=op.fn.forward, args=(*op.args, *directions))))

    @push.register
    def _(self, op: Let, stmt):
        (y,) = stmt.targets
        self.keep(stmt)
        if y not in self.active:
            return
        if isinstance(op.value, tuple):
            if all(isinstance(a, Var | Const) for a in op.value):
                self.tangents.put_items(y, Build("tuple", op.value))
            elif self.tangents.has(op.value):
                t = self.build.emit(Let(self.tangents.get(op.value)), tangent_type(y.type))
                self.tangents.put(y, t)
        elif op.value in self.tangents.known:
            self.tangents.known[y] = self.tangents.known[op.value]

    @push.register
    def _(self, op: AdjointBlock, stmt):  # a block for the reverse sweep leaves the values as they are
        for target, value in zip(stmt.targets, op.values):
            self.push(Let(value), replace(stmt, targets=(target,), op=Let(value)))

    @push.register(Attr)
    @push.register(Effect)
    def _(self, op, stmt):
        self.keep(stmt)

    @push.register
    def _(self, op: Index, stmt):
        (v,) = stmt.targets
        if op.base in self.pairs:
            self.keep(stmt)
            return self.tangents.emit(v, Index(op.base, Const(1)))
        if v not in self.active or not self.tangents.has(op.base):
            return self.keep(stmt)
        t = self.tangents.known[op.base]
        if isinstance(t, Items) and isinstance(op.key, Const):
            self.keep(stmt)
            part = t.at(op.key.value)
            if part is not None:
                self.tangents.known[v] = part
            return
        self.tangents.emit(v, Index(self.tangents.get(op.base), op.key))
        self.keep(stmt)

    @push.register
    def _(self, op: Update, stmt):
        (out,) = stmt.targets
        keeps_base = op.mode != "set" or bool(op.path)
        has_base, has_value = keeps_base and self.tangents.has(op.base), self.tangents.has(op.value)
        if out not in self.active or not (has_base or has_value):
            return self.keep(stmt)
        base = self.tangents.get_or_zero(op.base)
        if has_value or op.mode == "set":
            value = self.tangents.get(op.value) if has_value else self.cleared(op)
            self.tangents.emit(out, replace(op, base=base, value=value))
        else:
            self.tangents.known[out] = base
        self.keep(stmt)

    def cleared(self, op: Update) -> Operand:
        """Return a zero tangent of the value that an assignment puts into a container; an array takes one number for all of it."""
        return Const(0.0) if isinstance(op.base, Var) and isinstance(op.base.type, Array) else self.tangents.zero(op.value)

    @push.register
    def _(self, op: Build, stmt):
        (v,) = stmt.targets
        self.keep(stmt)
        if not op.items:
            self.tangents.empty[v] = op
        elif v in self.active:
            if op.kind == "set":
                raise set_refused(stmt)
            self.tangents.put_items(v, op)

    @push.register
    def _(self, op: Append, stmt):
        (out,) = stmt.targets
        if out not in self.active:
            return self.keep(stmt)
        base, value = self.tangents.get_or_zero(op.base), self.tangents.get_or_zero(op.value)
        self.tangents.emit(out, replace(op, base=base, value=value))
        self.keep(stmt)

    @push.register
    def _(self, op: Pop, stmt):
        if not self.is_active(stmt) or not self.tangents.has(op.base):
            return self.keep(stmt)
        base = self.tangents.get(op.base)
        self.build.add(Stmt(tuple(map(self.target_of, stmt.targets)), replace(op, base=base)))
        self.keep(stmt)

    @push.register
    def _(self, op: Closure, stmt):
        if not op.constant and any(self.tangents.has(v) for v in free_vars(op.body)):
            raise pullback_refused(stmt)
        self.keep(stmt)

    # -- statements with blocks --------------------------------------------------------------------------------------

    @push.register
    def _(self, op: Branch, stmt):
        arms = []
        for arm in (op.then, op.orelse):
            with self.build.block() as stmts:
                self.block(arm)
            arms.append((arm, stmts))
        chosen = [
            k for k, target in enumerate(stmt.targets)
            if target in self.active and any(self.tangents.has(arm.results[k]) for arm, _ in arms)
        ]  # fmt: skip
        self.build.at(stmt)
        blocks = [self.yielding(arm, stmts, [arm.results[k] for k in chosen]) for arm, stmts in arms]
        found = [self.target_of(stmt.targets[k]) for k in chosen]
        kind = "if" if chosen else op.kind
        self.keep(replace(stmt, targets=(*stmt.targets, *found), op=Branch(op.cond, *blocks, kind)))

    def yielding(self, block: Block, stmts: list[Stmt], values: list[Atom]) -> Block:
        """Return the block of these statements, which yields the tangents of some values beside its results."""
        with self.build.block() as more:
            ts = tuple(self.tangents.get_or_zero(v) for v in values)
        return Block((*stmts, *more), (*block.results, *ts))

    def target_of(self, var: Var) -> Var:
        """Return a new variable for the tangent of `var`, and record it."""
        t = Var(f"t_{var.name}", tangent_type(var.type), True)
        self.tangents.known[var] = t
        if var in self.build.maybe_number:
            self.build.maybe_number.add(t)
        return t

    @push.register
    def _(self, op: Loop, stmt):
        if not isinstance(op.domain, Range | Block) and self.tangents.has(op.domain):
            raise UnsupportedSyntaxError(
                "a loop over this sequence cannot be differentiated", at=stmt.origin, instead="loop over its indices"
            )
        carried = [k for k, (p, t) in enumerate(zip(op.params, stmt.targets)) if p in self.active or t in self.active]
        inits = tuple(self.tangents.get_or_zero(op.inits[k]) for k in carried)
        params = tuple(self.target_of(op.params[k]) for k in carried)
        with self.build.block() as stmts:
            self.block(op.body)
        self.build.at(stmt)
        body = self.yielding(op.body, stmts, [op.body.results[k] for k in carried])
        targets = tuple(self.target_of(stmt.targets[k]) for k in carried)
        loop = replace(op, params=(*op.params, *params), inits=(*op.inits, *inits), body=body)
        self.keep(replace(stmt, targets=(*stmt.targets, *targets), op=loop))


def pushforward(lowered: Lowered, directions: dict[str, str], value_too: bool, closures: bool = True) -> Function:
    """Return the function that computes a tangent, not yet simplified.

    Args:
        lowered: the function.
        directions: the parameters that have tangents -> what the tangents are called, parameters of the result.
        value_too: whether it returns `(value, tangent)`, or the tangent alone.
        closures: whether the result may contain closures, because it is not differentiated again.
    """
    primal = lowered.function = simplified(lowered, directions)
    build = Builder.knowing(lowered.build)
    block, build.unassigned = with_nothing(primal.body)
    (value,) = block.results
    inputs = {lowered.params[name]: t for name, t in directions.items() if name in lowered.params}
    active = active_vars(block, inputs, [value] if isinstance(value, Var) else [])
    active.update(inputs)
    forward = Forward(active, build, closures)
    params = {x: Var(name, tangent_type(x.type)) for x, name in inputs.items()}
    forward.tangents.known.update(params)
    forward.block(block)
    build.origin = build.adjoint_of = None
    build.within = ()
    t = forward.tangents.get_or_zero(value)
    if isinstance(atom_type(value), Scalar | Array) and dims_of(atom_type(t)) == () and atom_type(t) != tangent_type(atom_type(value)):
        t = in_dtype_of(build, t, value, "t_y")
    body = Block(tuple(build.stmts), (value, t) if value_too else (t,))
    return replace(primal, params=(*primal.params, *params.values()), body=body)


def tangent_names(parameters: Iterable[str], wrt: Sequence[str]) -> dict[str, str]:
    """Return {parameter in wrt: the name of its tangent}."""
    taken, found = set(parameters), {}
    for name in wrt:
        t = f"t_{name}"
        while t in taken:
            t += "_"
        taken.add(t)
        found[name] = t
    return found


def forward_as_function(pair: Pair) -> Lowered:
    """Return the computation of the value and the tangent of a recursive function as one function, which can be differentiated again."""
    directions = {name: f"t_{name}" for name in wrt_names(pair)}
    function = pushforward(pair.lowered, directions, True, closures=False)
    more = dict(zip(directions.values(), function.params[len(pair.lowered.params) :]))
    whole = Var("results", TupleT(tuple(map(atom_type, function.body.results))), True)
    body = Block((*function.body.stmts, Stmt((whole,), Build("tuple", function.body.results))), (whole,))
    return as_lowered(pair, function, more, body)
