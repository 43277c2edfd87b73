"""Random programs of the IR: arrays, views, updates, lists, branches, loops; for tests of passes against the evaluator."""

import operator
from dataclasses import dataclass
from random import Random

import numpy as np

from sourcead.ir.nodes import (
    Append, Atom, Block, Branch, Build, Call, Closure, Const, Function, Index, Let, Loop, Pop, Range, Slice, Stmt, Sub,
    Update, Var, View
)
from sourcead.ir.types import BOOL, INT, UNKNOWN, Array, ListT, Scalar, Sym, TupleT, many

SIZE = 4
_N: Sym = many()
_F8 = np.dtype(float)
TYPES = {
    "vector": Array(_F8, (_N,)),
    "matrix": Array(_F8, (_N, _N)),
    "scalar": Scalar("float", _F8),
    "list": ListT(Array(_F8, (_N,))),
    "int": INT,
    "pair": TupleT((Array(_F8, (_N,)), Array(_F8, (_N,)))),
}
_NAMES = ["a", "b", "x", "y", "h", "d_a", "v"]
_IDX = np.array([0, 2, 2])


@dataclass(frozen=True)
class Value:
    """A variable, what it holds, and for a list how many elements it has at least."""

    var: Atom
    kind: str
    length: int = 0


class Generator:
    """Draws programs; `untyped` is the chance that a variable's type is not known."""

    def __init__(self, random: Random, untyped: float = 0.0, statements: int = 8):
        self.random = random
        self.untyped = untyped
        self.statements = statements

    def function(self) -> Function:
        params = [Value(Var(n, TYPES[k]), k) for n, k in (("a", "vector"), ("b", "vector"), ("m", "matrix"))]
        params.append(Value(Var("xs", TYPES["list"]), "list", 2))
        stmts, scope = self.body(params, self.statements, 0)
        results = tuple(v.var for v in self.random.choices(scope, k=self.random.randint(1, 3)))
        if self.random.random() < 0.3:
            packed = Var("packed", UNKNOWN, temp=True)
            stmts.append(Stmt((packed,), Build("tuple", results)))
            results = (packed,)
        return Function("f", tuple(p.var for p in params), Block(tuple(stmts), results))

    def var(self, kind: str) -> Var:
        t = UNKNOWN if self.random.random() < self.untyped else TYPES[kind]
        return Var(self.random.choice(_NAMES), t, temp=self.random.random() < 0.6)

    def body(self, scope: list[Value], count: int, depth: int) -> tuple[list[Stmt], list[Value]]:
        stmts, scope = [], list(scope)
        for _ in range(self.random.randint(1, count)):
            choices = [
                self.fresh,
                self.view,
                self.update,
                self.update,
                self.update,
                self.read,
                self.lists,
                self.lists,
                self.pairs,
                self.forward,
            ]
            if depth < 2:
                choices += [self.branch, self.loop, self.loop, self.while_loop]
            if depth == 0:
                choices.append(self.closure)
            self.random.choice(choices)(stmts, scope, depth)
        return stmts, scope

    def pick(self, scope, kind) -> Value:
        """A value of a kind; the newest are the likeliest."""
        found = [v for v in scope if v.kind == kind]
        if not found:
            return Value(Const(0.5), "scalar")
        return found[-1 - min(int(self.random.expovariate(0.7)), len(found) - 1)]

    def bind(self, stmts, scope, kind, op, length=0) -> Value:
        value = Value(self.var(kind), kind, length)
        stmts.append(Stmt((value.var,), op))
        scope.append(value)
        return value

    def fresh(self, stmts, scope, depth):
        kind = self.random.choice(["vector", "vector", "matrix", "scalar"])
        x, y = self.pick(scope, kind).var, self.pick(scope, kind).var
        op = self.random.choice([
            Call(np.tanh, (x,)), Call(operator.mul, (x, y)), Call(operator.sub, (x, Const(0.25))), Call(np.sin, (x,)),
            Call(np.maximum, (x, y)), Call(operator.neg, (y,)),
        ])  # fmt: skip
        self.bind(stmts, scope, kind, op)

    def int(self, scope) -> Atom:
        ints = [v.var for v in scope if v.kind == "int"]
        return self.random.choice([*ints, *ints, *(Const(k) for k in range(-1, SIZE))])

    def view(self, stmts, scope, depth):
        x, m = self.pick(scope, "vector").var, self.pick(scope, "matrix").var
        back = Slice(None, None, Const(-1))
        kind, op = self.random.choice([
            ("vector", Index(x, back)), ("vector", Index(m, self.int(scope))), ("matrix", Call(np.transpose, (m,))),
            ("vector", Index(m, (Slice(None, None, None), self.int(scope)))), ("vector", Call(np.reshape, (x, Const((SIZE,))))),
            ("matrix", Call(np.broadcast_to, (x, Const((SIZE, SIZE))))), ("vector", Index(x, Const(np.array([1, 0, 3, 3])))),
            ("vector", Call(np.diagonal, (m,))), ("matrix", Index(m, back)), ("vector", Call(np.asarray, (x,))),
        ])  # fmt: skip
        self.bind(stmts, scope, kind, op)

    def update(self, stmts, scope, depth):
        kind = self.random.choice(["vector", "vector", "matrix"])
        base = self.pick(scope, kind).var
        back = Slice(None, None, Const(-1))
        mode = self.random.choice(["set", "add", "add", "sub"])
        scalar = self.pick(scope, "scalar").var
        vector = self.pick(scope, "vector").var
        if kind == "vector":
            path, value = self.random.choice([
                ((), vector), ((), vector), ((Sub(self.int(scope)),), scalar), ((Sub(back),), vector), ((Sub(Const(_IDX)),), scalar),
                ((Sub(Slice(Const(1), None, None)), Sub(Const(0))), scalar), ((Sub(Slice(Const(1), Const(3), None)),), scalar),
                ((View(np.reshape, (Const((2, 2)),)), Sub((Const(1), Const(0)))), scalar), ((Sub(Const(...)),), vector),
            ])  # fmt: skip
        else:
            path, value = self.random.choice([
                ((), self.pick(scope, "matrix").var), ((Sub(self.int(scope)),), vector), ((View(np.transpose),), vector),
                ((View(np.transpose), Sub(self.int(scope))), vector), ((Sub((self.int(scope), self.int(scope))),), scalar),
                ((Sub((Slice(None, None, None), Const(_IDX))),), scalar),
            ])  # fmt: skip
        if mode == "set" and path and self.random.random() < 0.3 and all(isinstance(s, Sub) for s in path):
            old = base
            for step in path:
                old = self.temp(stmts, UNKNOWN, Index(old, step.key))
            value = self.temp(stmts, UNKNOWN, Call(operator.add, (old, value)))
        self.bind(stmts, scope, kind, Update(base, path, value, mode))

    def temp(self, stmts, t, op) -> Var:
        v = Var("t", t, temp=True)
        stmts.append(Stmt((v,), op))
        return v

    def read(self, stmts, scope, depth):
        x, m = self.pick(scope, "vector").var, self.pick(scope, "matrix").var
        op = self.random.choice(
            [Index(x, self.int(scope)), Index(m, (self.int(scope), self.int(scope))), Call(np.sum, (x,))]
        )
        self.bind(stmts, scope, "scalar", op)

    def lists(self, stmts, scope, depth):
        xs = self.pick(scope, "list")
        choice = self.random.randrange(5)
        if choice == 0:
            items = tuple(self.pick(scope, "vector").var for _ in range(self.random.randint(0, 2)))
            self.bind(stmts, scope, "list", Build("list", items), len(items))
        elif choice < 3:
            self.bind(stmts, scope, "list", Append(xs.var, self.pick(scope, "vector").var), xs.length + 1)
        elif xs.length and choice == 3:
            rest, last = Value(self.var("list"), "list", xs.length - 1), Value(self.var("vector"), "vector")
            stmts.append(Stmt((rest.var, last.var), Pop(xs.var)))
            scope += [rest, last]
        elif xs.length:
            self.bind(stmts, scope, "vector", Index(xs.var, Const(self.random.randrange(xs.length))))
            if self.random.random() < 0.5:
                at = Const(self.random.randrange(xs.length))
                path = (Sub(at),) if self.random.random() < 0.5 else (Sub(at), Sub(Const(0)))
                value = self.pick(scope, "vector" if len(path) == 1 else "scalar").var
                mode = self.random.choice(["set", "add"])
                self.bind(stmts, scope, "list", Update(xs.var, path, value, mode), xs.length)

    def forward(self, stmts, scope, depth):
        value = self.pick(scope, self.random.choice(["vector", "scalar", "list"]))
        self.bind(stmts, scope, value.kind, Let(value.var), value.length)

    def closure(self, stmts, scope, depth):
        """A nested function, called at once or after what comes next, once or twice."""
        param = Value(self.var("vector"), "vector")
        inner, inner_scope = self.body([*scope, param], 3, depth + 1)
        function = Var("pullback", UNKNOWN, temp=True)
        stmts.append(
            Stmt((function,), Closure((param.var,), Block(tuple(inner), (self.pick(inner_scope, "vector").var,))))
        )
        for _ in range(self.random.randint(1, 2)):
            self.update(stmts, scope, depth)
            self.bind(stmts, scope, "vector", Call(function, (self.pick(scope, "vector").var,)))

    def pairs(self, stmts, scope, depth):
        if self.random.random() < 0.5 or not any(v.kind == "pair" for v in scope):
            items = self.pick(scope, "vector").var, self.pick(scope, "vector").var
            self.bind(stmts, scope, "pair", Build("tuple", items))
        else:
            self.bind(stmts, scope, "vector", Index(self.pick(scope, "pair").var, Const(self.random.randrange(2))))

    def carried(self, scope) -> list[Value]:
        found = [v for v in scope if v.kind != "int" and isinstance(v.var, Var)]
        return [self.random.choice(found[-8:]) for _ in range(self.random.randint(1, 4))]

    def yielded(self, scope, like: Value) -> Atom:
        fits = [v.var for v in scope if v.kind == like.kind and v.length >= like.length]
        return fits[-1 - min(int(self.random.expovariate(0.7)), len(fits) - 1)]

    def branch(self, stmts, scope, depth):
        test = self.temp(stmts, BOOL, Call(operator.gt, (self.pick(scope, "scalar").var, Const(0.1))))
        merged = self.carried(scope)
        arms = []
        for _ in range(2):
            inner, inner_scope = self.body(scope, 4, depth + 1) if self.random.random() < 0.8 else ([], scope)
            arms.append(Block(tuple(inner), tuple(self.yielded(inner_scope, v) for v in merged)))
        targets = [Value(self.var(v.kind), v.kind, v.length) for v in merged]
        kind = self.random.choice(["if", "if", "ifexp"])
        stmts.append(Stmt(tuple(t.var for t in targets), Branch(test, *arms, kind)))
        scope += targets

    def loop(self, stmts, scope, depth):
        carried = self.carried(scope)
        params = [Value(self.var(v.kind), v.kind, v.length) for v in carried]
        index = Value(Var("i", INT, temp=self.random.random() < 0.5), "int")
        sequence = self.pick(scope, self.random.choice(["vector", "matrix"])).var
        domain = self.random.choice([Range(Const(0), Const(k), Const(1)) for k in (0, 1, 2, 3)])
        over = self.random.random() < 0.4 and isinstance(sequence, Var)
        if over:
            n = self.temp(stmts, INT, Call(len, (sequence,)))
            domain = Range(Const(0), n, Const(1))
            if self.random.random() < 0.5:
                domain = Range(self.temp(stmts, INT, Call(operator.sub, (n, Const(1)))), Const(-1), Const(-1))
        inner, inner_scope = [], [*scope, *params, index]
        if over:
            kind = (
                "vector" if sequence.type == TYPES["matrix"] else "scalar" if sequence.type == TYPES["vector"] else None
            )
            if kind:
                self.bind(inner, inner_scope, kind, Index(sequence, index.var))
                if self.random.random() < 0.6:
                    inner_scope.remove(index)
        more, inner_scope = self.body(inner_scope, 5, depth + 1)
        body = Block((*inner, *more), tuple(self.yielded(inner_scope, p) for p in params))
        self.loop_statement(stmts, scope, domain, index.var, carried, params, body)

    def loop_statement(self, stmts, scope, domain, index, carried, params, body):
        targets = [Value(self.var(v.kind), v.kind, v.length) for v in params]
        inits = tuple(v.var for v in carried)
        op = Loop(domain, index, tuple(p.var for p in params), inits, body)
        stmts.append(Stmt(tuple(t.var for t in targets), op))
        scope += [t for t in targets if t.kind != "int"]

    def while_loop(self, stmts, scope, depth):
        carried = [Value(Const(0), "int"), *self.carried(scope)]
        params = [Value(self.var(v.kind), v.kind, v.length) for v in carried]
        count = params[0].var
        test = Var("go", BOOL, temp=True)
        head = Block((Stmt((test,), Call(operator.lt, (count, Const(self.random.randint(0, 3))))),), (test,))
        inner, inner_scope = self.body([*scope, *params], 4, depth + 1)
        again = self.temp(inner, INT, Call(operator.add, (count, Const(1))))
        body = Block(tuple(inner), (again, *(self.yielded(inner_scope, p) for p in params[1:])))
        self.loop_statement(stmts, scope, head, None, carried, params, body)


def arguments(seed: int):
    """Arguments for a random program."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=SIZE),
        rng.normal(size=SIZE),
        rng.normal(size=(SIZE, SIZE)),
        [rng.normal(size=SIZE) for _ in range(2)],
    )
