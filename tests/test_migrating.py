"""The tables of docs/migrating.md: what they say to write for sourcead runs."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest

import sourcead
import sourcead.nn.convolution
import sourcead.nn.layers
import sourcead.nn.optimisers
import sourcead.nn.recurrent
from sourcead import Revolve, adjoint, checkpoint, grad, stop_gradient, tangent, vjp

TEXT = (Path(__file__).parents[1] / "docs" / "migrating.md").read_text(encoding="utf-8")
ROWS = [line.split(" | ") for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
SNIPPETS = sorted({code for row in ROWS for code in re.findall(r"`([^`]+)`", row[-1])})


def f(x, w=0.5, b=1.0):
    return np.sum(np.sin(x) * w) * b


X, V = np.array([0.3, 0.7]), np.array([1.0, -2.0])
NAMES = {
    **{name: getattr(sourcead, name) for name in sourcead.__all__}, "np": np, "f": f, "math": math, "sourcead": sourcead, "args": (X,),
    "tangents": (V,), "n": 3, "i": 0, "w": np.ones((2, 2)), "b": V, "seed": 0, "rng": np.random.default_rng(0), "g": grad(f), "value": 1.0,
    "pullback": None,
    "dense": sourcead.nn.layers.dense, "conv2d": sourcead.nn.convolution.conv2d, "lstm": sourcead.nn.recurrent.lstm,
    "adam": sourcead.nn.optimisers.adam,
}  # fmt: skip


def is_python(code):
    try:
        return bool(ast.parse(code))
    except SyntaxError:
        return False


def decorated(code):
    """Tell whether a snippet is a decorator, a part of a statement, or an argument, which runs in one of the tests below."""
    return code.startswith("@") or code.endswith((":", "=")) or code in ("for", "while", "if")


@pytest.mark.parametrize("code", [code for code in SNIPPETS if not decorated(code)])
def test_what_the_table_says_to_write_runs(code):
    assert is_python(code) or code == "for x in checkpoint(xs, policy)", code
    if is_python(code):
        names = {**NAMES, "x": X.copy(), "v": V if code.startswith("jvp") else 2.0}
        exec(compile(code.replace("...", "size=3"), "docs/migrating.md", "exec"), names)


@pytest.mark.parametrize("code", [code for code in SNIPPETS if decorated(code)])
def test_each_part_of_a_statement_is_one_that_runs_here(code):
    assert code in {"@adjoint(f)", "@tangent(f)", "checkpoint=", "out=", "with adjoint_of(x) as d_x:", "for", "while", "if"}


def test_the_parts_of_statements_run():
    def cube(x):
        return x**3

    @adjoint(cube)
    def adjoint_of_cube(y, x, d_y):
        return d_y * 3 * x**2

    @tangent(cube)
    def tangent_of_cube(y, x, t_x):
        return t_x * 3 * x**2

    def steps(x, n):
        for _ in checkpoint(range(n), Revolve(2)):
            x = np.sin(x)
            with sourcead.adjoint_of(x) as d_x:
                d_x = 2 * d_x
        return cube(x) + stop_gradient(x)

    def plain(x, n):
        while n > 0:
            x, n = np.sin(x), n - 1
        return x**3

    expected = 2**5 * grad(plain)(0.4, 5)
    for policy in ("auto", "recompute", Revolve(3)):
        np.testing.assert_allclose(grad(steps, checkpoint=policy)(0.4, 5), expected, rtol=1e-12)


def test_the_pullback_comes_second():
    value, pullback = vjp(f, X)
    np.testing.assert_allclose(value, f(X))
    np.testing.assert_allclose(pullback(2.0), 2 * grad(f)(X))
