"""The text that the emitter prints: exactly, and that it means what the IR means."""

import copy
import math
import operator
import warnings
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sourcead.emit import assign_memory, emit
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import (
    UNDEFINED, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Origin,
    Pop, Range, Slice, Stmt, Sub, Update, Var, View
)
from sourcead.ir.types import BOOL, FLOAT, INT, UNKNOWN, Array, DictT, ListT, NoneType, TupleT, many
from tests.random_programs import Generator, arguments

F8 = np.dtype(float)
N = many()
VECTOR = Array(F8, (N,))
SQUARE = Array(F8, (N, N))
MATRIX = Array(F8, (many(), N))
INDICES = Array(np.dtype(int), (many(),))
MASK = Array(np.dtype(bool), (N,))
ROWS = ListT(VECTOR)


class Program:
    """Collects statements; each method returns the variable it binds."""

    def __init__(self):
        self.stmts = []
        self.origin = None
        self.adjoint_of = None

    def add(self, targets, op):
        self.stmts.append(Stmt(tuple(targets), op, self.origin, self.adjoint_of))
        return targets[0] if len(targets) == 1 else tuple(targets)

    def let(self, name, t, op):
        """A value the user named."""
        return self.add([Var(name, t)], op)

    def temp(self, name, t, op):
        return self.add([Var(name, t, temp=True)], op)

    def call(self, t, fn, *args, name="t", effect=False, **kwargs):
        args = tuple(a if isinstance(a, (Var, Const, tuple, Slice)) else Const(a) for a in args)
        return self.temp(name, t, Call(fn, args, tuple(kwargs.items()), effect))

    def block(self, *results):
        return Block(tuple(self.stmts), results)


def text_of(name, params, block, doc=None):
    return emit(assign_memory(Function(name, tuple(params), block, doc))).text


def loaded(function):
    """The function that the emitted text defines."""
    emitted = emit(assign_memory(function))
    namespace = dict(emitted.namespace)
    exec(emitted.text, namespace)
    return namespace[function.name]


# ---- the text, exactly ----

CASES = {}


def prints(expected):
    """Register a program that has to print as `expected`."""

    def register(program):
        CASES[program.__name__] = program, expected
        return program

    return register


@prints("""\
def running_product(a):
    a = a.copy()
    for i in range(1, len(a)):
        a[i] *= a[i - 1]
    return a
""")
def running_product():
    a, p, i, b, q = Var("a", VECTOR), Program(), Var("i", INT), Program(), Var("a", VECTOR)
    n = p.call(INT, len, a)
    before = b.temp("t", FLOAT, Index(q, b.call(INT, operator.sub, i, 1)))
    here = b.temp("t", FLOAT, Index(q, i))
    q1 = b.let("a", VECTOR, Update(q, (Sub(i),), b.call(FLOAT, operator.mul, here, before)))
    r = p.add([Var("a", VECTOR)], Loop(Range(Const(1), n, Const(1)), i, (q,), (a,), b.block(q1)))
    return [a], p.block(r)


@prints("""\
def stencil(u, steps):
    a = u.copy()
    b = np.zeros_like(u)
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:]
        a, b = b, a
    return a
""")
def stencil():
    u, steps, p, b = Var("u", VECTOR), Var("steps", INT), Program(), Program()
    inits = p.call(VECTOR, np.copy, u, name="a"), p.call(VECTOR, np.zeros_like, u, name="b")
    x, y = Var("a", VECTOR), Var("b", VECTOR)
    right = b.temp("t", VECTOR, Index(x, Slice(Const(2), None, None)))
    left = b.temp("t", VECTOR, Index(x, Slice(None, Const(-2), None)))
    inner = Sub(Slice(Const(1), Const(-1), None))
    y1 = b.let("b", VECTOR, Update(y, (inner,), b.call(VECTOR, operator.add, left, right)))
    loop = Loop(Range(Const(0), steps, Const(1)), Var("i", INT), (x, y), inits, b.block(y1, x))
    a, _ = p.add([Var("a", VECTOR), Var("b", VECTOR)], loop)
    return [u, steps], p.block(a)


@prints("""\
def fibonacci(n):
    a = 0.0
    b = 1.0
    for _ in range(n):
        a, b = b, a + b
    return a
""")
def fibonacci():
    n, x, y, p, b = Var("n", INT), Var("a", FLOAT), Var("b", FLOAT), Program(), Program()
    both = b.call(FLOAT, operator.add, x, y)
    loop = Loop(Range(Const(0), n, Const(1)), Var("i", INT, True), (x, y), (Const(0.0), Const(1.0)), b.block(y, both))
    a, _ = p.add([Var("a", FLOAT), Var("b", FLOAT)], loop)
    return [n], p.block(a)


@prints("""\
def branches(x):
    if x > 1.0:
        y = x * x
    elif x > 0.0:
        y = -x
    else:
        y = 0.0
    z = y + 1.0 if y < 5.0 else y - 1.0
    if not (z > 0.0 and z < 3.0):
        z = y
    return z
""")
def branches():
    x, p, a, b, b1 = Var("x", FLOAT), Program(), Program(), Program(), Program()
    big = p.call(BOOL, operator.gt, x, 1.0)
    square = a.let("y", FLOAT, Call(operator.mul, (x, x)))
    positive = b.call(BOOL, operator.gt, x, 0.0)
    minus = b1.let("y", FLOAT, Call(operator.neg, (x,)))
    other = b.add([Var("y", FLOAT)], Branch(positive, b1.block(minus), Block((), (Const(0.0),))))
    y = p.add([Var("y", FLOAT)], Branch(big, a.block(square), b.block(other)))
    then, orelse, second = Program(), Program(), Program()
    arms = then.block(then.call(FLOAT, operator.add, y, 1.0)), orelse.block(orelse.call(FLOAT, operator.sub, y, 1.0))
    z = p.add([Var("z", FLOAT)], Branch(p.call(BOOL, operator.lt, y, 5.0), *arms, "ifexp"))
    first = p.call(BOOL, operator.gt, z, 0.0)
    within = Branch(first, second.block(second.call(BOOL, operator.lt, z, 3.0)), Block((), (first,)), "and")
    inside = p.add([Var("t", BOOL, True)], within)
    return [x], p.block(p.add([Var("z", FLOAT)], Branch(inside, Block((), (z,)), Block((), (y,)))))


@prints("""\
def assigned_on_one_side(x):
    if x > 0.0:
        y = x * 2
        print(y)
    return x
""")
def assigned_on_one_side():
    x, p, a = Var("x", FLOAT), Program(), Program()
    y = a.let("y", FLOAT, Call(operator.mul, (x, Const(2))))
    a.stmts.append(Stmt((), Call(print, (y,), effect=True)))
    p.add([Var("y", FLOAT)], Branch(p.call(BOOL, operator.gt, x, 0.0), a.block(y), Block((), (UNDEFINED,))))
    return [x], p.block(x)


@prints("""\
def halve(x):
    k = 0
    while abs(x) > 0.1:
        x /= 2
        k += 1
    return x, k
""")
def halve():
    x, y, k, p, c, b = Var("x", FLOAT), Var("x", FLOAT), Var("k", INT), Program(), Program(), Program()
    go = c.call(BOOL, operator.gt, c.call(FLOAT, abs, y), 0.1)
    y1 = b.let("x", FLOAT, Call(operator.truediv, (y, Const(2))))
    k1 = b.let("k", INT, Call(operator.add, (k, Const(1))))
    loop = Loop(c.block(go), None, (y, k), (x, Const(0)), b.block(y1, k1))
    return [x], p.block(*p.add([Var("x", FLOAT), Var("k", INT)], loop))


@prints("""\
def condition_with_statements(x):
    while True:
        e = x * x
        print(e)
        if not e > 0.1:
            break
        x /= 2
    return x
""")
def condition_with_statements():
    x, y, p, c, b = Var("x", FLOAT), Var("x", FLOAT), Program(), Program(), Program()
    e = c.let("e", FLOAT, Call(operator.mul, (y, y)))
    c.stmts.append(Stmt((), Call(print, (e,), effect=True)))
    y1 = b.let("x", FLOAT, Call(operator.truediv, (y, Const(2))))
    loop = Loop(c.block(c.call(BOOL, operator.gt, e, 0.1)), None, (y,), (x,), b.block(y1))
    return [x], p.block(p.add([Var("x", FLOAT)], loop))


@prints("""\
def closure(x):
    y = np.tanh(x)

    def pullback(d_y):
        return d_y * (1 - y * y)

    return y.copy(), pullback
""")
def closure():
    x, d_y, p, b = Var("x", VECTOR), Var("d_y", VECTOR), Program(), Program()
    y = p.let("y", VECTOR, Call(np.tanh, (x,)))
    slope = b.call(VECTOR, operator.sub, 1, b.call(VECTOR, operator.mul, y, y))
    pullback = p.temp("pullback", UNKNOWN, Closure((d_y,), b.block(b.call(VECTOR, operator.mul, d_y, slope))))
    return [x], p.block(y, pullback)


@prints("""\
def writes(a, idx, mask, i, v, m):
    d_a = np.zeros_like(a)
    np.add.at(d_a, idx, v)
    np.subtract.at(d_a, (idx, i), v)
    d_a[mask] += v
    d_a[i] -= v
    d_a[1:] += v
    d_a[idx] = v
    d_a[1:][0] = v
    d_a[...] = v
    d_a += a
    m = m.copy()
    m.T[i] = d_a
    m.flat[...] = v
    m[i, i] *= v
    return d_a, m
""")
def writes():
    a, idx, mask, i = Var("a", VECTOR), Var("idx", INDICES), Var("mask", MASK), Var("i", INT)
    v, m, p = Var("v", FLOAT), Var("m", SQUARE), Program()
    tail = Sub(Slice(Const(1), None, None))
    d = p.call(VECTOR, np.zeros_like, a, name="d_a")
    for path, value, mode in [
        ((Sub(idx),), v, "add"), ((Sub((idx, i)),), v, "sub"), ((Sub(mask),), v, "add"), ((Sub(i),), v, "sub"), ((tail,), v, "add"),
        ((Sub(idx),), v, "set"), ((tail, Sub(Const(0))), v, "set"), ((), v, "set"), ((), a, "add"),
    ]:  # fmt: skip
        d = p.temp("d_a", VECTOR, Update(d, path, value, mode))
    m1 = p.let("m", SQUARE, Update(m, (View(np.transpose), Sub(i)), d))
    m2 = p.let("m", SQUARE, Update(m1, (View(np.reshape, (Const(-1),)),), v))
    scaled = p.call(FLOAT, operator.mul, p.temp("t", FLOAT, Index(m2, (i, i))), v)
    return [a, idx, mask, i, v, m], p.block(d, p.let("m", SQUARE, Update(m2, (Sub((i, i)),), scaled)))


@prints("""\
def sequences(xs, ys):
    s = 0.0
    for i, x in enumerate(xs):
        s += i * np.sum(x)
    for x, y in zip(xs, ys):
        s += np.dot(x, y)
    for k in range(len(xs)):
        s += np.sum(xs[k])
    return s
""")
def sequences():
    xs, ys, p, s = Var("xs", MATRIX), Var("ys", MATRIX), Program(), Const(0.0)
    n, m = p.call(INT, len, xs), p.call(INT, len, ys)
    least = p.call(INT, min, n, m)

    def total(length, index, term):
        b, before = Program(), Var("s", FLOAT)
        after = b.let("s", FLOAT, Call(operator.add, (before, term(b, index))))
        return p.add([Var("s", FLOAT)], Loop(Range(Const(0), length, Const(1)), index, (before,), (s,), b.block(after)))

    s = total(
        n,
        Var("i", INT),
        lambda b, i: b.call(FLOAT, operator.mul, i, b.call(FLOAT, np.sum, b.let("x", VECTOR, Index(xs, i)))),
    )
    s = total(
        least, Var("i", INT, True),
        lambda b, i: b.call(FLOAT, np.dot, b.let("x", VECTOR, Index(xs, i)), b.let("y", VECTOR, Index(ys, i))),
    )  # fmt: skip
    s = total(n, Var("k", INT), lambda b, k: b.call(FLOAT, np.sum, b.temp("t", VECTOR, Index(xs, k))))
    return [xs, ys], p.block(s)


def helper(x):
    return x


@prints('''\
def names(params, x, np):
    """One line.

    And another.
    """
    q, r = np_1.linalg.qr(params["w"])
    out = helper(params["w"] @ (q @ x + params["b"]) * rate)
    out = np_1.asarray(out, dtype=np_1.float32)
    scale = math.sqrt(2.0)
    print(out)
    assert np > 1, "np is small"
    with np_1.errstate(divide="ignore"):
        y = out / -scale
    lambda_ = y[:, None, ..., -1]
    return {"y": y, "r": r, "z": lambda_.copy()}
''')
def names():
    params, x, p = Var("params", DictT((("w", SQUARE), ("b", VECTOR)))), Var("x", VECTOR), Program()
    bound = Var("np", INT)
    w, b = (p.temp(k, t, Index(params, Const(k))) for k, t in (("w", SQUARE), ("b", VECTOR)))
    qr = p.call(TupleT((SQUARE, SQUARE)), np.linalg.qr, w)
    q, r = p.let("q", SQUARE, Index(qr, Const(0))), p.let("r", SQUARE, Index(qr, Const(1)))
    t = p.call(VECTOR, operator.add, p.call(VECTOR, operator.matmul, q, x), b)
    t = p.call(VECTOR, operator.mul, p.call(VECTOR, operator.matmul, w, t), Const(0.5, text="rate", live=True))
    out = p.let("out", UNKNOWN, Call(helper, (t,)))
    out = p.let("out", SQUARE, Call(np.asarray, (out,), (("dtype", Const(np.dtype("float32"))),)))
    scale = p.let("scale", FLOAT, Call(math.sqrt, (Const(2.0),)))
    p.call(NoneType(), print, out, effect=True)
    p.add([], Effect("assert", (p.call(BOOL, operator.gt, bound, 1), Const("np is small"))))
    inner = Program()
    ratio = inner.let("y", SQUARE, Call(operator.truediv, (out, inner.call(FLOAT, operator.neg, scale))))
    state = Call(np.errstate, (), (("divide", Const("ignore")),))
    body = inner.block(ratio)
    p.stmts += [replace(s, within=(state,)) for s in body.stmts]
    (y,) = body.results
    key = (Slice(None, None, None), Const(None), Const(...), Const(-1))
    z = p.let("lambda", VECTOR, Index(y, key))
    display = p.temp("out", UNKNOWN, Build("dict", (y, r, z), ("y", "r", "z")))
    return [params, x, bound], p.block(display), "One line.\n\nAnd another.\n"


@prints("""\
def view_is_copied_where_it_is_made(a):
    b = np.sin(a)
    v = b[:2].copy()
    b[0] = 1.0
    return b * 2 * np.sum(v)
""")
def view_is_copied_where_it_is_made():
    a, p = Var("a", VECTOR), Program()
    b = p.let("b", VECTOR, Call(np.sin, (a,)))
    v = p.let("v", VECTOR, Index(b, Slice(None, Const(2), None)))
    b1 = p.let("b", VECTOR, Update(b, (Sub(Const(0)),), Const(1.0)))
    return [a], p.block(p.call(VECTOR, operator.mul, p.call(VECTOR, operator.mul, b1, 2), p.call(FLOAT, np.sum, v)))


@prints("""\
def saved_before_it_is_written(a):
    h = np.zeros_like(a)
    hs = []
    for i in range(3):
        hs.append(h.copy())
        h[i] += 2.0
    return h, hs
""")
def saved_before_it_is_written():
    a, p, b = Var("a", VECTOR), Program(), Program()
    h0, hs0 = p.call(VECTOR, np.zeros_like, a, name="h"), p.temp("hs", ROWS, Build("list", ()))
    h, hs, i = Var("h", VECTOR), Var("hs", ROWS, True), Var("i", INT)
    hs1 = b.temp("hs", ROWS, Append(hs, h))
    h1 = b.let("h", VECTOR, Update(h, (Sub(i),), Const(2.0), "add"))
    loop = Loop(Range(Const(0), Const(3), Const(1)), i, (h, hs), (h0, hs0), b.block(h1, hs1))
    return [a], p.block(*p.add([Var("h", VECTOR), Var("hs", ROWS, True)], loop))


@prints("""\
def first_sum_of_what_is_not_ours(d_y, x):
    d_y = d_y + x
    d_y -= x
    return d_y
""")
def first_sum_of_what_is_not_ours():
    d, x, p = Var("d_y", VECTOR), Var("x", VECTOR), Program()
    d1 = p.temp("d_y", VECTOR, Update(d, (), x, "add"))
    return [d, x], p.block(p.temp("d_y", VECTOR, Update(d1, (), x, "sub")))


@prints("""\
def long_lines(x_long_name):
    t = np.maximum(np.maximum(x_long_name, x_long_name * -2.0), x_long_name * -1.0)
    t = np.maximum(np.maximum(t, x_long_name * 0.0), x_long_name * 1.0)
    return np.maximum(np.maximum(t, x_long_name * 2.0), x_long_name * 3.0)
""")
def long_lines():
    x, p = Var("x_long_name", VECTOR), Program()
    t = x
    for k in range(-2, 4):
        t = p.call(VECTOR, np.maximum, t, p.call(VECTOR, operator.mul, x, float(k)))
    return [x], p.block(t)


@prints("""\
def constants(x):
    dt = 0.01
    t = x * dt + np.inf
    return t + np.float32(2.5) - -1.5
""")
def constants():
    x, p = Var("x", FLOAT), Program()
    dt = p.let("dt", FLOAT, Let(Const(0.01)))
    same = p.temp("dt2", FLOAT, Let(dt))
    t = p.let("t", FLOAT, Call(operator.add, (p.call(FLOAT, operator.mul, x, same), Const(math.inf))))
    t = p.call(FLOAT, operator.add, t, np.float32(2.5))
    return [x], p.block(p.call(FLOAT, operator.sub, t, -1.5))


@prints("""\
def reads_stay_before_writes(a):
    b = np.sin(a)
    t = b[0]
    b[0] = 1.0
    return b * t
""")
def reads_stay_before_writes():
    a, p = Var("a", VECTOR), Program()
    b = p.let("b", VECTOR, Call(np.sin, (a,)))
    old = p.temp("t", FLOAT, Index(b, Const(0)))
    b1 = p.let("b", VECTOR, Update(b, (Sub(Const(0)),), Const(1.0)))
    return [a], p.block(p.call(VECTOR, operator.mul, b1, old))


def elman():
    """The gradient on the design page, as reverse mode hands it over."""
    w, u, b, xs, y = Var("w", SQUARE), Var("u", SQUARE), Var("b", VECTOR), Var("xs", MATRIX), Var("y", VECTOR)
    p = Program()
    shape = p.temp("shape", TupleT((INT,)), Attr(b, "shape"))
    h0 = p.let("h", VECTOR, Call(np.zeros, (shape,)))
    hs0 = p.temp("hs", ROWS, Build("list", ()))
    n = p.call(INT, len, xs, name="n")
    h, hs, i = Var("h", VECTOR), Var("hs", ROWS, temp=True), Var("i", INT, temp=True)
    body = Program()
    hs1 = body.temp("hs", ROWS, Append(hs, h))
    x = body.let("x", VECTOR, Index(xs, i))
    wx = body.call(VECTOR, operator.matmul, w, x)
    uh = body.call(VECTOR, operator.matmul, u, h)
    z = body.call(VECTOR, operator.add, wx, uh)
    zb = body.call(VECTOR, operator.add, z, b)
    h1 = body.let("h", VECTOR, Call(np.tanh, (zb,)))
    h2, hs2 = Var("h", VECTOR), Var("hs", ROWS, temp=True)
    p.add([h2, hs2], Loop(Range(Const(0), n, Const(1)), i, (h, hs), (h0, hs0), body.block(h1, hs1)))

    p.adjoint_of = Origin("model.py", 16, 4, 16, 30, "return np.mean((h - y) ** 2)")
    e = p.call(VECTOR, operator.sub, h2, y)
    e2 = p.call(VECTOR, operator.mul, 2, e)
    size = p.temp("size", INT, Attr(y, "size"))
    d_h0 = p.call(VECTOR, operator.truediv, e2, size, name="d_h")
    p.adjoint_of = Origin("model.py", 14, 4, 15, 40, "for x in xs:")
    d_w0 = p.call(SQUARE, np.zeros_like, w, name="d_w")
    d_u0 = p.call(SQUARE, np.zeros_like, u, name="d_u")
    d_b0 = p.call(VECTOR, np.zeros_like, b, name="d_b")
    last = p.call(INT, operator.sub, n, 1)
    d_h, hh, hs3 = Var("d_h", VECTOR, temp=True), Var("h", VECTOR), Var("hs", ROWS, temp=True)
    d_w, d_u, d_b = Var("d_w", SQUARE, temp=True), Var("d_u", SQUARE, temp=True), Var("d_b", VECTOR, temp=True)
    r = Program()
    r.adjoint_of = Origin("model.py", 15, 8, 15, 40, "h = np.tanh(w @ x + u @ h + b)")
    j = Var("i", INT, temp=True)
    xr = r.let("x", VECTOR, Index(xs, j))
    sq = r.call(VECTOR, operator.pow, hh, 2)
    one = r.call(VECTOR, operator.sub, 1, sq)
    d_z = r.call(VECTOR, operator.mul, d_h, one, name="d_z")
    hs4, h_in = r.add([Var("hs", ROWS, temp=True), Var("h", VECTOR)], Pop(hs3))
    d_w1 = r.temp("d_w", SQUARE, Update(d_w, (), r.call(SQUARE, np.outer, d_z, xr), "add"))
    d_u1 = r.temp("d_u", SQUARE, Update(d_u, (), r.call(SQUARE, np.outer, d_z, h_in), "add"))
    d_b1 = r.temp("d_b", VECTOR, Update(d_b, (), d_z, "add"))
    ut = r.call(SQUARE, np.transpose, u)
    d_h1 = r.call(VECTOR, operator.matmul, ut, d_z, name="d_h")
    results = [Var(v.name, v.type, temp=True) for v in (d_h, hh, hs3, d_w, d_u, d_b)]
    params = (d_h, hh, hs3, d_w, d_u, d_b)
    inits = (d_h0, h2, hs2, d_w0, d_u0, d_b0)
    p.add(
        results, Loop(Range(last, Const(-1), Const(-1)), j, params, inits, r.block(d_h1, h_in, hs4, d_w1, d_u1, d_b1))
    )
    doc = "Gradient of loss (model.py:12) with respect to w, u, b."
    return Function("loss_grad", (w, u, b, xs, y), p.block(*results[3:]), doc)


ELMAN = '''\
def loss_grad(w, u, b, xs, y):
    """Gradient of loss (model.py:12) with respect to w, u, b."""
    # forward
    h = np.zeros(b.shape)
    hs = []
    for x in xs:
        hs.append(h)
        h = np.tanh(w @ x + u @ h + b)
    # reverse
    d_h = 2 * (h - y) / y.size
    d_w = np.zeros_like(w)
    d_u = np.zeros_like(u)
    d_b = np.zeros_like(b)
    for x in xs[::-1]:
        # h = np.tanh(w @ x + u @ h + b)
        d_z = d_h * (1 - h ** 2)
        h = hs.pop()
        d_w += np.outer(d_z, x)
        d_u += np.outer(d_z, h)
        d_b += d_z
        d_h = u.T @ d_z
    return d_w, d_u, d_b
'''


def test_the_gradient_of_the_design_page():
    assert emit(assign_memory(elman())).text == ELMAN


def elman_arguments():
    rng = np.random.default_rng(0)
    return [rng.normal(size=s) for s in ((4, 4), (4, 4), 4, (5, 4), 4)]


def test_the_gradient_of_the_design_page_is_what_the_ir_means():
    args = elman_arguments()
    for got, expected in zip(loaded(elman())(*args), evaluate(elman(), *args)):
        np.testing.assert_allclose(got, expected)


@pytest.mark.compiled
def test_the_gradient_of_the_design_page_compiles_with_numba():
    numba = pytest.importorskip("numba")
    args = elman_arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)
        results = numba.njit(loaded(elman()))(*args)
    for got, expected in zip(results, evaluate(elman(), *args)):
        np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("name", CASES)
def test_prints_as_a_person_would_write_it(name):
    program, expected = CASES[name]
    assert text_of(name, *program()) == expected


def test_groups_in_a_branch_say_which_statement_they_belong_to():
    x, p, a = Var("x", FLOAT), Program(), Program()
    y = p.let("y", FLOAT, Call(math.sin, (x,)))
    p.adjoint_of = Origin("m.py", 2, 4, 3, 20, "if x > 0:\n    y = y * x")
    a.adjoint_of = Origin("m.py", 3, 8, 3, 20, "y = y * x")
    d = a.temp("d_x", FLOAT, Call(operator.mul, (y, Const(3.0))))
    a.stmts.append(Stmt((), Call(print, (d,), effect=True), None, a.adjoint_of))
    e = p.add(
        [Var("d_x", FLOAT, True)], Branch(p.call(BOOL, operator.gt, x, 0.0), a.block(d), Block((), (Const(0.0),)))
    )
    assert text_of("f", [x], p.block(e)) == (
        "def f(x):\n    # forward\n    y = math.sin(x)\n    # reverse\n    if x > 0.0:\n        # y = y * x\n        d_x = y * 3.0\n"
        "        print(d_x)\n    else:\n        d_x = 0.0\n    return d_x\n"
    )


# ---- the text means what the IR means ----


def same(a, b):
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=True)


def arrays(x):
    """The arrays inside a structure."""
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from arrays(item)


def check(function):
    """The text computes what the IR means, leaves its arguments alone and gives away nothing that is shared."""
    args, given = arguments(0), arguments(0)
    with np.errstate(all="ignore"):
        expected = evaluate(function, *args)
        assert same(evaluate(assign_memory(function), *args), expected)
        got = loaded(function)(*given)
    assert same(got, expected)
    assert same(given, args)
    assert all(r.flags.writeable and not np.shares_memory(r, a) for r in arrays(got) for a in arrays(given))
    if len(function.body.results) > 1:
        for k, first in enumerate(got):
            assert not any(np.shares_memory(a, b) for other in got[:k] for a in arrays(first) for b in arrays(other))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3]), st.integers(3, 16))
def test_random_programs_mean_what_they_say(seed, untyped, statements):
    check(Generator(Random(seed), untyped, statements).function())


def test_arguments_of_elman_stay_as_they_are():
    args = elman_arguments()
    before = copy.deepcopy(args)
    loaded(elman())(*args)
    assert all(map(np.array_equal, args, before))
