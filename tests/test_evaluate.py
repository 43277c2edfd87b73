"""The meaning of the IR: values never change, loops and branches yield, effects happen."""

import operator

import numpy as np
import pytest

from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import (
    UNDEFINED, Append, Attr, Block, Branch, Build, Call, Closure, Const, Effect, Function, Index, Let, Loop, Pop, Range,
    Slice, Stmt, Sub, Update, Var, View
)


def run(op, *args, targets=1):
    """The results of one op over variables named a, b, ..., which `op` makes from them."""
    params = [Var(name) for name in "abc"[: len(args)]]
    results = tuple(Var("r") for _ in range(targets))
    return evaluate(Function("f", tuple(params), Block((Stmt(results, op(*params)),), results)), *args)


A = np.arange(6.0).reshape(2, 3)

OPS = {
    "call": (lambda a: Call(np.sum, (a,), (("axis", Const(0)),)), (A,), A.sum(axis=0)),
    "call of a constant": (lambda a: Call(Const(np.sin), (a,)), (A,), np.sin(A)),
    "call of a variable": (lambda f, a: Call(f, (a,)), (np.cos, A), np.cos(A)),
    "let": (lambda a: Let(a), (3,), 3),
    "tuple operand": (lambda n: Call(np.ones, ((n, Const(2)),)), (3,), np.ones((3, 2))),
    "attribute": (lambda a: Attr(a, "shape"), (A,), (2, 3)),
    "index": (lambda a, i: Index(a, (i, Slice(Const(1), None, None))), (A, 1), A[1, 1:]),
    "tuple": (lambda a, b: Build("tuple", (a, b)), (1, 2), (1, 2)),
    "list": (lambda a, b: Build("list", (a, b)), (1, 2), [1, 2]),
    "dict": (lambda a, b: Build("dict", (a, b), ("x", "y")), (1, 2), {"x": 1, "y": 2}),
    "append": (lambda a, b: Append(a, b), ([1], 2), [1, 2]),
    "set": (lambda a: Update(a, (Sub(Const(0)),), Const(7.0)), (A,), [[7, 7, 7], [3, 4, 5]]),
    "set all": (lambda a: Update(a, (), Const(7.0)), (A,), np.full((2, 3), 7.0)),
    "set a number": (lambda a: Update(a, (), Const(7.0)), (1.0,), 7.0),
    "add": (lambda a, b: Update(a, (), b, "add"), (A, A), 2 * A),
    "subtract": (lambda a, b: Update(a, (Sub(Const(1)),), b, "sub"), (A, 1.0), [[0, 1, 2], [2, 3, 4]]),
    "add to repeated indices": (lambda a, i: Update(a, (Sub(i),), Const(1.0), "add"), (np.zeros(3), np.array([1, 1, 2])), [0, 2, 1]),
    "part of a part": (lambda a: Update(a, (Sub(Const(1)), Sub(Const(2))), Const(0.0)), (A,), [[0, 1, 2], [3, 4, 0]]),
    "through a view": (lambda a: Update(a, (View(np.transpose), Sub(Const(0))), Const(9.0)), (A,), [[9, 1, 2], [9, 4, 5]]),
    "all of a view": (lambda a: Update(a, (View(np.reshape, (Const(-1),)),), Const(9.0)), (A,), np.full((2, 3), 9.0)),
    "element of a list": (lambda a: Update(a, (Sub(Const(0)),), Const(1), "add"), ([1, 2],), [2, 2]),
    "inside a list": (lambda a: Update(a, (Sub(Const(0)), Sub(Const(1))), Const(5.0)), ([A[0]],), [[0, 5, 2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_op(name):
    op, args, expected = OPS[name]
    before = [np.copy(a) if isinstance(a, (np.ndarray, list)) else a for a in args]
    np.testing.assert_equal(run(op, *args), expected)
    np.testing.assert_equal(list(args), before)


def test_pop_gives_the_rest_and_the_last():
    assert run(lambda a: Pop(a), [1, 2, 3], targets=2) == ([1, 2], 3)


def test_older_versions_stay_as_they_were():
    a, b, c = Var("a"), Var("a"), Var("a")
    stmts = Stmt((b,), Update(a, (Sub(Const(0)),), Const(1.0))), Stmt((c,), Update(b, (Sub(Const(0)),), Const(2.0)))
    first, second, third = evaluate(Function("f", (a,), Block(stmts, (a, b, c))), np.zeros(1))
    assert (first[0], second[0], third[0]) == (0, 1, 2)


def test_branch_yields_the_results_of_the_arm_that_ran():
    def op(a):
        x = Var("x")
        then = Block((Stmt((x,), Call(operator.neg, (a,))),), (x, a))
        return Branch(a, then, Block((), (Const(5), UNDEFINED)))

    assert run(op, 3, targets=2) == (-3, 3)
    assert run(op, 0, targets=2)[0] == 5


def test_counted_loop_carries_all_its_parameters_at_once():
    i, x, y = Var("i"), Var("x"), Var("y")
    loop = Loop(Range(Const(0), Const(3), Const(1)), i, (x, y), (Const("a"), Const("b")), Block((), (y, x)))
    assert run(lambda: loop, targets=2) == ("b", "a")


def test_while_loop_tests_before_each_iteration():
    x, go, y = Var("x"), Var("go"), Var("y")
    cond = Block((Stmt((go,), Call(operator.lt, (x, Const(10)))),), (go,))
    body = Block((Stmt((y,), Call(operator.mul, (x, Const(2)))),), (y,))
    assert run(lambda a: Loop(cond, None, (x,), (a,), body), 3) == 12
    assert run(lambda a: Loop(cond, None, (x,), (a,), body), 30) == 30


def test_loop_over_a_sequence():
    s, x, t = Var("s"), Var("x"), Var("t")
    body = Block((Stmt((t,), Call(operator.add, (s, x))),), (t,))
    assert run(lambda a: Loop(a, x, (s,), (Const(0),), body), [1, 2, 3]) == 6


def test_closure_reads_what_is_around_it():
    x, y = Var("x"), Var("y")
    closure = run(lambda a: Closure((x,), Block((Stmt((y,), Call(operator.sub, (a, x))),), (y,))), 10)
    assert closure(3) == 7 and closure(4) == 6


def test_assert_and_raise():
    with pytest.raises(AssertionError, match="no"):
        run(lambda a: Effect("assert", (a, Const("no"))), 0, targets=0)
    with pytest.raises(KeyError):
        run(lambda a: Effect("raise", (a,)), KeyError(), targets=0)


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError, match="takes 0 arguments, got 1"):
        evaluate(Function("f", (), Block((), ())), 1)
