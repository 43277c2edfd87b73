"""Jacobians whose rows or columns are computed together: equal to those of one sweep after the other."""

import numpy as np
import pytest

from sourcead import grad, jacobian, vjp

X = np.random.default_rng(0).normal(size=8)
W = np.random.default_rng(1).normal(size=(5, 8))


def branches(x):
    y = np.zeros(5)
    for i in range(5):
        if x[i] > 0:
            y[i] = np.sqrt(x[i])
        else:
            y[i] = x[i] ** 2
    return y


def writes(x):
    x[0] *= 3.0
    return W @ x**2


def ending(x):
    while np.sum(x * x) > 1:
        x = x * 0.7
    return W @ x


CASES = {
    "network": (lambda x: W @ np.tanh(x), (X,), 0), "two": (lambda x, y: np.outer(x, y[:3]), (X, X[::-1].copy()), (0, 1)),
    "structure": (lambda p, x: np.tanh(p["w"] @ x + p["b"]), ({"w": W, "b": np.ones(5)}, X), 0), "branches": (branches, (X,), 0),
    "writes": (writes, (X,), 0), "ending": (ending, (X,), 0), "part": (lambda x: x[x > -0.5] * x[1], (X,), 0),
    "solution": (lambda x: np.linalg.solve(np.eye(8) + np.outer(x, x), x)[:4], (X,), 0),
    "single precision": (lambda x: x * x[0], (X.astype(np.float32),), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_the_jacobian_is_that_of_single_sweeps(name, mode):
    f, args, wrt = CASES[name]
    together, single = jacobian(f, wrt, mode=mode), jacobian(f, wrt, mode=mode)
    single._wide = single._stack = None
    want = single(*args)
    for got in (together(*args), together(*args)):
        for a, b in zip(got if isinstance(wrt, tuple) else [got], want if isinstance(wrt, tuple) else [want]):
            for part, other in zip(a.values(), b.values()) if isinstance(a, dict) else [(a, b)]:
                assert part.dtype == other.dtype
                np.testing.assert_allclose(part, other, rtol=2e-5 if part.dtype == np.float32 else 1e-10, atol=1e-12)
    if mode == "reverse" and name in ("network", "two", "structure", "branches"):
        assert together.source.startswith("def rows_vmap(")


def test_columns_of_a_structure_are_computed_together():
    slopes = jacobian(lambda x: {"a": np.sin(x), "b": np.sum(x) * x[0]}, mode="forward")
    found = slopes(X)
    np.testing.assert_allclose(found["a"], np.diag(np.cos(X)))
    np.testing.assert_allclose(found["b"], np.where(np.arange(8) == 0, np.sum(X) + X[0], X[0]))
    assert slopes._wide is not None


def test_a_function_with_effects_is_computed_once(capsys):
    def f(x):
        print("once")
        return W @ x

    jacobian(f, mode="reverse", verify=False)(X)
    assert capsys.readouterr().out.count("once") == 1


def test_a_pullback_inside_a_function_takes_the_shape_of_the_value():
    def f(x, d):
        return np.sum(vjp(lambda x, y: np.outer(x, y[:3]), x, x, wrt=0)[1](d) ** 2)

    d = np.ones((8, 3))
    step = np.eye(8)[2] * 1e-6
    assert grad(f)(X, d)[2] == pytest.approx((f(X + step, d) - f(X - step, d)) / 2e-6, rel=1e-6)
