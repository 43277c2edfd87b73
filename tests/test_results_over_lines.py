"""What a function returns is computed in its last statement, over several lines, as a person would write it."""

import ast

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.emit.text import function as emitted

rng = np.random.default_rng(3)
X, Y = rng.normal(size=(30, 20)), rng.normal(size=(30, 8))
PARAMS = {
    "w1": rng.normal(size=(20, 16)), "b1": rng.normal(size=16), "w2": rng.normal(size=(16, 8)), "b2": rng.normal(size=8),
    "rest": (rng.normal(size=(8, 8)), [rng.normal(size=8)]),
}  # fmt: skip


def network(p, x, y):
    h = np.tanh(x @ p["w1"] + p["b1"])
    out = np.tanh(h @ p["w2"] + p["b2"])
    w3, (b3,) = p["rest"]
    return np.mean((out @ w3 + b3 - y) ** 2)


def separate(w1, b1, w2, b2, w3, b3, x, y):
    return network({"w1": w1, "b1": b1, "w2": w2, "b2": b2, "rest": (w3, [b3])}, x, y)


def written_later(x, w, v):
    a = np.exp(x @ w)
    b = np.sum(a @ v)
    a[0] = 2.0
    return b + np.sum(a**2) + np.sum(np.sin(w)) + np.sum(np.cos(v) * v) + np.sum(np.tanh(x) * np.exp(x) * x)


ARGS = (*list(PARAMS.values())[:4], PARAMS["rest"][0], PARAMS["rest"][1][0], X, Y)


def last_statement(text: str) -> ast.stmt:
    return ast.parse(text).body[-1].body[-1]


def test_a_dict_of_gradients_has_a_line_for_each_and_for_each_item_inside():
    text = grad(network).lower(PARAMS, X, Y).text
    returned = last_statement(text)
    assert isinstance(returned, ast.Return) and isinstance(returned.value, ast.Dict)
    assert len({key.lineno for key in returned.value.keys}) == len(PARAMS)
    assert all(len(line) <= 140 for line in text.splitlines())
    check_grads(network, (PARAMS, X, Y), modes=("reverse",))


def test_products_are_written_where_they_are_returned():
    returned = last_statement(grad(separate, wrt=("w1", "b1", "w2", "b2", "w3", "b3")).lower(*ARGS).text)
    assert sum(isinstance(item, ast.Name) for item in returned.value.elts) == 0
    check_grads(separate, ARGS, modes=("reverse",))


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_what_is_written_later_is_not_read_in_the_last_statement(backend):
    args = 0.1 * X, PARAMS["w1"], PARAMS["w2"]
    found = grad(written_later, wrt=("x", "w", "v"), backend=backend)(*args)
    for k, name in enumerate(("x", "w", "v")):
        moved = [np.array(a) for a in args]
        step = np.zeros_like(moved[k])
        step[1, 1] = 1e-6
        up = written_later(*[a + step if j == k else a for j, a in enumerate(moved)])
        down = written_later(*[a - step if j == k else a for j, a in enumerate(moved)])
        np.testing.assert_allclose(found[k][1, 1], (up - down) / 2e-6, rtol=1e-5, err_msg=name)


def test_results_that_would_keep_much_memory_are_computed_at_once(monkeypatch):
    def deep(w1, w2, w3, w4, w5, w6, x):
        h = x
        for w in (w1, w2, w3, w4, w5, w6):
            h = np.tanh(h @ w)
        return np.sum(h * h)

    args = [rng.normal(size=(12, 12)) for _ in range(6)]

    texts = {}
    for most in (1.0, 10.0):
        monkeypatch.setattr(emitted, "MOST_WAITING", most)
        texts[most] = grad(deep, wrt=tuple(f"w{k}" for k in range(1, 7))).lower(*args, X[:, :12]).text
    products = {most: ast.unparse(last_statement(text)).count("@") for most, text in texts.items()}
    assert products[1.0] < products[10.0]

