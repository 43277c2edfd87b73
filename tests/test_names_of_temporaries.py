"""A temporary is called after what it is, after the user's variable that its statement assigns to, or after the function that made it."""

import re

import numpy as np
import pytest

from sourcead import check_grads, grad, value_and_grad

RNG = np.random.default_rng(0)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def projections(Wq, Wk, X):
    q = (X @ Wq).reshape(12, 4, 4).transpose(1, 0, 2)
    k = (X @ Wk).reshape(12, 4, 4).transpose(1, 0, 2)
    return np.sum(np.tanh(q) * k)


def gated(W, U, xs):
    h = np.zeros(9)
    total = 0.0
    for x in xs:
        z = sigmoid(W @ h - x)
        r = sigmoid(U @ h + x)
        h = (1 - z) * h + z * r
        total += np.sum(h * h)
    return total


def cell(w, xs):
    c = np.zeros(9)
    for i in range(len(xs)):
        f = w * xs[i]
        o = w + xs[i]
        c = sigmoid(f) * c + sigmoid(o)
    return np.sum(c * c)


def user_has_i(ws, xs):
    h = np.zeros(9)
    for x in xs:
        i = np.tanh(x * ws)
        h = h * i + np.sin(i)
    return np.sum(h * h)


X = RNG.standard_normal((12, 16))
CASES = {
    projections: (RNG.standard_normal((16, 16)), RNG.standard_normal((16, 16)), X),
    gated: (RNG.standard_normal((9, 9)), RNG.standard_normal((9, 9)), RNG.standard_normal((5, 9))),
    cell: (RNG.standard_normal(9), RNG.standard_normal((5, 9))),
    user_has_i: (RNG.standard_normal(9), RNG.standard_normal((5, 9))),
}
EXPECTED = {
    projections: {"q_product", "k_product"},
    gated: {"d_z_products", "d_r_products"},
    cell: {"sigmoid_f", "sigmoid_o"},
    user_has_i: {"k"},
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_no_temporary_has_a_number(f):
    args = CASES[f]
    gradient = grad(f, tuple(range(len(args))))
    found = gradient(*args)
    names = set(re.findall(r"\b[A-Za-z_]\w*\b", gradient.source))
    assert EXPECTED[f] <= names
    assert not {name for name in names if re.search(r"_\d+$", name) and name != "d_h_1"}  # part of the cotangent of the user's `h`
    direction = [RNG.standard_normal(a.shape) for a in args]
    value = value_and_grad(f)  # the value stays the same under the other names
    assert value(*args)[0] == pytest.approx(f(*args))
    step = 1e-6
    slope = (f(*(a + step * d for a, d in zip(args, direction))) - f(*(a - step * d for a, d in zip(args, direction)))) / (2 * step)
    assert sum(np.vdot(g, d) for g, d in zip(found, direction)) == pytest.approx(slope, rel=1e-6)


def d_gate(z):
    return 1 / (1 + np.exp(-z))


def test_a_function_whose_name_begins_like_a_cotangents_names_no_value():
    def f(x):
        y = d_gate(x) * np.sin(d_gate(2 * x))
        return np.sum(y * y)

    gradient = grad(f)
    check_grads(f, (RNG.standard_normal(9),))
    gradient(RNG.standard_normal(9))
    assert "d_gate" not in gradient.source


def applied_often(w, x, n):
    h = x
    for _ in range(n):
        h = np.tanh(w @ h)
    return np.sum(h**2)


def test_the_text_for_numba_keeps_the_name_of_a_count_and_says_a_statement_once_above_its_loops():
    pytest.importorskip("numba")
    text = grad(applied_often, backend="numba").lower(np.eye(9), np.ones(9), 5).compiled_text
    assert "for _ in range(n):" in text and "n = " not in text.replace("len = ", "")
    assert text.count("# h = np.tanh(w @ h)") == 1
