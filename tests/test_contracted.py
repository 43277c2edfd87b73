"""Several statements are printed as one where a person would write them so, and nowhere else."""

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.emit.text.function import emit
from sourcead.ir.nodes import Block, Build, Call, Const, Function, Index, Pop, Stmt, Var
from sourcead.ir.types import FLOAT, ListT, TupleT

rng = np.random.default_rng(5)
XS = rng.normal(size=(7, 12))
P = rng.normal(size=(12, 12)), rng.normal(size=(12, 12)), rng.normal(size=12)


def states(p, xs):
    w, u, b = p
    h = np.zeros(len(b))
    hs = []
    for x in xs:
        h = np.tanh(w @ x + u @ h + b)
        hs.append(h)
    return np.sum(np.stack(hs[::-1]) ** 2) + np.sum(np.sin(hs[2]))


def steps(x, dt):
    for _ in range(5):
        k = np.sin(x + 0.5 * dt * np.cos(x))
        x = x + 0.5 * dt * k
    return np.sum(x)


def test_a_tuple_is_unpacked_and_an_item_is_read_where_it_is_taken_off():
    text = grad(states).lower(P, XS).text
    assert "w, u, b = p\n" in text
    assert "d_h += d_hs.pop()\n" in text
    check_grads(states, (P, XS))


def test_a_row_that_is_only_unpacked_has_no_name():
    def springs(pos, edges, rest):
        e = 0.0
        for (i, j), at_rest in zip(edges, rest):
            e += (np.linalg.norm(pos[i] - pos[j]) - at_rest) ** 2
        return e

    def with_a_name(pos, edges, rest):
        e = 0.0
        for k in range(len(rest)):
            edge = edges[k]
            e += (np.linalg.norm(pos[edge[0]] - pos[edge[1]]) - rest[k]) ** 2
        return e

    args = np.arange(12.0).reshape(4, 3) ** 2, np.array([[0, 1], [1, 2], [3, 0]]), np.ones(3)
    assert "i, j = edges[k]\n" in grad(springs).lower(*args).text
    assert "edge = edges[k]\n" in grad(with_a_name).lower(*args).text
    for f in (springs, with_a_name):
        check_grads(f, args, wrt=(0,))


def test_a_transpose_and_half_a_step_have_no_names():
    text = grad(steps, wrt=("x", "dt")).lower(XS, 0.1).text
    assert "0.5 * dt" in text and "= 0.5 * dt\n" not in text
    text = grad(lambda w, x, y: np.sum((x @ w) @ (y @ w).T), wrt=(0, 1, 2)).lower(P[0], XS, XS + 1).text
    assert "transpose" not in text


def taking(reader: Call, *also: Stmt, after=()) -> str:
    """Return the text of a function that takes an item off a list, and reads it in a call."""
    items, rest, item, y = Var("items", ListT(FLOAT)), Var("items", ListT(FLOAT)), Var("item", FLOAT), Var("y", FLOAT)
    reads = {"item": item, "rest": rest}
    op = Call(reader.fn, tuple(reads.get(a, a) for a in reader.args))
    body = (Stmt((rest, item), Pop(items)), *also, Stmt((y,), op), *after)
    return emit(Function("taken", (items,), Block(body, (y, rest)))).text


@pytest.mark.parametrize("reader, joined", [
    (Call(np.exp, ("item",)), True),
    (Call(np.multiply, ("item", "item")), False),  # which would take two items off
    (Call(np.full, (Const(3), "item")), True),
    (Call(np.append, ("rest", "item")), False),  # which reads the list without the item
])  # fmt: skip
def test_an_item_that_is_taken_off_needs_a_name(reader, joined):
    assert ("item = items.pop()" not in taking(reader)) == joined


def test_parts_of_a_tuple_in_another_order_are_not_unpacked():
    t = Var("t", TupleT((FLOAT, FLOAT)))
    a, b, c = (Var(name, FLOAT) for name in "abc")
    for first, second in ((1, 0), (0, 0)):
        body = (Stmt((a,), Index(t, Const(first))), Stmt((b,), Index(t, Const(second))), Stmt((c,), Build("tuple", (a, b, a, b))))
        assert "a, b = t" not in emit(Function("parts", (t,), Block(body, (c, a, b)))).text


def test_an_item_that_is_printed_more_than_once_keeps_its_name():
    def elements(w, xs):
        a = np.zeros(len(xs))
        a[0] = w
        for i in range(1, len(a)):
            a[i] = np.sin(a[i - 1]) * xs[i] + a[i - 1] * w
        return np.sum(a)

    for policy in ("states", "store", "auto"):
        assert np.isfinite(grad(elements, wrt=("w", "xs"), checkpoint=policy)(0.5, np.linspace(0.1, 1.0, 9))[0])
