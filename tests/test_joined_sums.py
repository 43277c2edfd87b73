"""Contributions to a cotangent are added in one statement where they fit into a line, and are the same sums."""

import numpy as np
import pytest

from sourcead import check_grads, grad, vjp
from sourcead.emit.memory.joined_sums import join_sums
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import Block, Call, Const, Function, Origin, Stmt, Update, Var
from sourcead.ir.types import Array, Sym

rng = np.random.default_rng(7)
N, M = Sym("n"), Sym("m")
F8, F4 = np.dtype(float), np.dtype("float32")
AT = Origin("program.py", 1, 0, 1, 8, "y = f(x)")


def tied(w, x):
    return np.sum(np.tanh(x @ w) @ w.T)


def stepped(theta, omega, dt):
    for _ in range(4):
        omega = omega - dt * np.sin(theta) * np.cos(omega)
        theta = theta + dt * omega * np.cos(theta)
    return np.sum(theta * omega)


def smoothed(x, a):
    y = x * a
    for _ in range(3):
        y = y + a * (np.roll(y, 1) - y) + x * np.tanh(y)
    return np.sum(y * y)


def test_two_products_are_added_where_they_are_returned():
    args = rng.normal(size=(5, 4)), rng.normal(size=(6, 5))
    text = grad(tied).lower(*args).text
    assert "+=" not in text and text.count("@") >= 3
    check_grads(tied, args)


@pytest.mark.parametrize("f, args", [
    (stepped, (rng.normal(size=5), rng.normal(size=5), 0.1)),
    (smoothed, (rng.normal(size=(4, 3)), rng.normal(size=3))),
    (smoothed, (rng.normal(size=3), rng.normal(size=(4, 3)))),
    (smoothed, (rng.normal(size=3), 0.7)),
])  # fmt: skip
def test_the_sums_are_those_of_the_gradient(f, args):
    check_grads(f, args)
    first, second = (grad(f, readable=readable)(*args) for readable in (False, True))
    np.testing.assert_allclose(first, second, rtol=1e-12)
    pulled = vjp(f, *args)[1](1.0)
    np.testing.assert_allclose(pulled[0], first, rtol=1e-12)


def added(modes: tuple[str, str], types: tuple[Array, Array, Array], reads_between: bool = False, made: bool = True) -> Function:
    """Return a function that adds two values to a third one, which it makes or is given."""
    d, x, y = (Var(name, t) for name, t in zip(("d", "x", "y"), types))
    base, first, second, u, v, seen = (Var(name, d.type, temp=True) for name in ("d_0", "d_1", "d_2", "u", "v", "seen"))
    u, v = Var("u", x.type, temp=True), Var("v", y.type, temp=True)
    stmts = [
        Stmt((u,), Call(np.sin, (x,)), adjoint_of=AT),
        Stmt((v,), Call(np.cos, (y,)), adjoint_of=AT),
        Stmt((first,), Update(base if made else d, (), u, modes[0]), adjoint_of=AT),
        Stmt((second,), Update(first, (), v, modes[1]), adjoint_of=AT),
    ]
    if made:
        stmts.insert(0, Stmt((base,), Call(np.exp, (d,)), adjoint_of=AT))
    if reads_between:
        stmts.insert(-1, Stmt((seen,), Call(np.multiply, (first, Const(2.0))), adjoint_of=AT))
    return Function("added", (d, x, y), Block(tuple(stmts), (second, seen) if reads_between else (second,)))


def updates(function: Function) -> int:
    return sum(isinstance(stmt.op, Update) for stmt in function.body.stmts)


@pytest.mark.parametrize("modes", [("add", "add"), ("add", "sub"), ("sub", "add"), ("sub", "sub")])
@pytest.mark.parametrize("made", [False, True])
def test_signs(modes, made):
    like = Array(F8, (N, M))
    function = added(modes, (like, like, like), made=made)
    joined = join_sums(function)
    assert updates(joined) == (0 if made else 1)
    args = [rng.normal(size=(3, 2)) for _ in range(3)]
    np.testing.assert_allclose(evaluate(joined, *args), evaluate(function, *args), rtol=1e-14)


def test_what_is_broadcast_or_of_another_dtype_is_added_where_it_is():
    like, row, single = Array(F8, (N, M)), Array(F8, (M,)), Array(F4, (N, M))
    assert updates(join_sums(added(("add", "add"), (like, row, like), made=False))) == 2
    assert updates(join_sums(added(("add", "add"), (like, like, row), made=False))) == 2
    assert updates(join_sums(added(("add", "add"), (like, row, row), made=False))) == 1  # two rows alike
    assert updates(join_sums(added(("add", "add"), (single, like, like), made=True))) == 2
    assert updates(join_sums(added(("add", "add"), (like, row, row), made=True))) == 0  # rows are added to the whole


def test_a_sum_that_is_read_in_between_stays():
    like = Array(F8, (N, M))
    assert updates(join_sums(added(("add", "add"), (like, like, like), reads_between=True, made=False))) == 2
