"""Programs that a pass gets wrong if the condition under which it is legal is weaker than it must be."""

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad
from sourcead.ir.evaluate import evaluate
from sourcead.ir.nodes import Block, Branch, Call, Const, Function, Index, Origin, Stmt, Sub, Update, Var
from sourcead.ir.types import BOOL, FLOAT, INT, Array
from sourcead.ir.verify import verify
from sourcead.passes.cleanup.shape_queries import query_current_versions
from sourcead.passes.residuals.clears import sink_clears

USER = Origin("model.py", 1, 0, 1, 1, "a[0] = v")


def rows_from_the_end(xs, w, first, second):
    hs = np.empty((3, 4))
    hs[0] = first
    hs[1] = second
    for t in range(len(xs) - 1, -1, -1):
        hs[t + 1] = np.tanh(xs[t] @ w + hs[t])
    return np.sum(hs[1] * hs[2])


def test_a_loop_that_counts_down_reads_rows_that_were_set_before_it():
    rng = np.random.default_rng(0)
    args = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    wrt = ("xs", "w", "first", "second")
    assert value_and_grad(rows_from_the_end, wrt=wrt)(*args)[0] == pytest.approx(rows_from_the_end(*args))
    check_grads(rows_from_the_end, args, wrt=wrt)


def scaled_by_distinct(x, a, b):
    return np.sum(x) * len({a, b})


@pytest.mark.parametrize("b", [1, 2])
def test_the_items_of_a_set_may_be_equal(b):
    np.testing.assert_array_equal(grad(scaled_by_distinct, wrt="x")(np.ones(2), 1, b), np.full(2, len({1, b})))


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_only_a_part_that_was_set_to_zero_is_set_by_a_sum(constant):
    t = Array(np.dtype(float), (3,))
    d, v, once, twice = Var("d", t), Var("v", FLOAT), Var("d", t), Var("d", t)
    stmts = (
        Stmt((once,), Update(d, (Sub(Const(0)),), Const(constant)), adjoint_of=USER),
        Stmt((twice,), Update(once, (Sub(Const(0)),), v, "add"), adjoint_of=USER),
    )
    function = Function("f", (d, v), Block(stmts, (twice,)))
    np.testing.assert_array_equal(evaluate(sink_clears(function), np.ones(3), 5.0), [constant + 5.0, 1, 1])
    assert len(sink_clears(function).body.stmts) == (1 if constant == 0 else 2)


def test_a_part_that_is_read_cleared_and_restored_is_left_alone():
    t = Array(np.dtype(float), (3,))
    d, v, cleared, restored = Var("d", t), Var("v", FLOAT, temp=True), Var("d", t), Var("d", t)
    stmts = (
        Stmt((v,), Index(d, Const(0)), adjoint_of=USER),
        Stmt((cleared,), Update(d, (Sub(Const(0)),), Const(0.0)), adjoint_of=USER),
        Stmt((restored,), Update(cleared, (Sub(Const(0)),), v, "add"), adjoint_of=USER),
    )
    assert sink_clears(Function("f", (d,), Block(stmts, (restored,)))).body.results == (d,)


def test_an_arm_of_a_branch_does_not_query_a_version_of_the_other():
    t = Array(np.dtype(float), (3,))
    a, c, n, out = Var("a", t), Var("c", BOOL), Var("n", INT), Var("a", t)
    written, other = Var("a", t), Var("a", t)
    then = Block((Stmt((written,), Update(a, (Sub(Const(0)),), Const(1.0))),), (written,))
    orelse = Block((Stmt((n,), Call(len, (a,))), Stmt((other,), Update(a, (Sub(n),), Const(2.0)))), (other,))
    function = Function("f", (a, c), Block((Stmt((out,), Branch(c, then, orelse)),), (out,)))
    verify(query_current_versions(function))
