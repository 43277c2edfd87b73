"""`map`, `reduce` and `scan`: as plain Python, differentiated in both modes and to second order, and the text they become."""

import operator
import warnings

import numpy as np
import pytest

import sourcead as sa
from sourcead import NotAssociativeWarning, grad, hvp, jvp, value_and_grad

pytestmark = pytest.mark.sampled(3)

RNG = np.random.default_rng(0)
xs = RNG.uniform(0.5, 1.5, size=7)
W = RNG.normal(size=(3, 4))
X = RNG.normal(size=(6, 4))
Ms = RNG.normal(size=(5, 3, 3)) * 0.6
a = 0.7

PROGRAMS = {
    "map_el": (lambda xs, w: np.sum(sa.map(lambda x: np.sin(x) * w + x**2, xs)), (xs, a)),
    "map_rows": (lambda X, w: np.sum(sa.map(lambda x: np.tanh(w @ x + 1.0), X) ** 2), (X, W)),
    "map2": (lambda X, w: np.sum(sa.map(lambda x, y: (w @ x) * y, X, xs[:6]) ** 2), (X, W)),
    "map_loop": (lambda X, w: np.sum(sa.map(lambda x: np.cumsum(x) * w, X) ** 2), (X, a)),
    "map_branch": (lambda xs, w: np.sum(sa.map(lambda x: x * w if x > 1 else x * x, xs)), (xs, a)),
    "red_add": (lambda xs, w: sa.reduce(np.add, xs * w, w) ** 2, (xs, a)),
    "red_mul": (lambda xs, w: sa.reduce(operator.mul, xs, w), (xs, a)),
    "red_mul0": (lambda xs, w: sa.reduce(operator.mul, xs * np.array([1, 0, 1, 1, 1, 1, 1.0]), w), (xs, a)),
    "red_lam": (lambda xs, w: sa.reduce(lambda p, q: q + p, xs, w) ** 2, (xs, a)),
    "red_min": (lambda xs, w: sa.reduce(np.minimum, xs, w) * w, (xs, 9.0)),
    "red_max": (lambda X, w: np.sum(sa.reduce(np.maximum, X, w) ** 2), (X, np.zeros(4))),
    "red_lae": (lambda xs, w: sa.reduce(np.logaddexp, xs, w) ** 2, (xs, a)),
    "red_mat": (lambda Ms, w: np.sum(sa.reduce(operator.matmul, Ms, w) ** 2), (Ms, np.eye(3))),
    "red_gen": (lambda xs, w: sa.reduce(lambda p, q: p + q + w * p * q, xs, 0.0), (xs, a)),
    "red_aff": (
        lambda xs, w: sa.reduce(lambda f, g: (f[0] * g[0], g[0] * f[1] + g[1]), (xs, xs**2 * w), (1.0, 0.0))[1],
        (xs, a),
    ),
    "scan_add": (lambda xs, w: np.sum(sa.scan(np.add, xs * w, w) ** 2), (xs, a)),
    "scan_mul": (lambda xs, w: np.sum(sa.scan(operator.mul, xs, w) ** 2), (xs, a)),
    "scan_max": (lambda xs, w: np.sum(sa.scan(np.maximum, xs, w) ** 2), (xs, a)),
    "scan_lae": (lambda xs, w: np.sum(sa.scan(np.logaddexp, xs, w) ** 2), (xs, a)),
    "scan_mat": (lambda Ms, w: np.sum(sa.scan(operator.matmul, Ms, w) ** 2), (Ms, np.eye(3))),
    "scan_gen": (lambda xs, w: np.sum(sa.scan(lambda p, q: p + q + w * p * q, xs, 0.0) ** 2), (xs, a)),
    "scan_aff": (
        lambda xs, w: np.sum(
            sa.scan(lambda f, g: (f[0] * g[0], g[0] * f[1] + g[1]), (xs, xs**2 * w), (1.0, 0.0))[1] ** 2
        ),
        (xs, a),
    ),
    "red_seq": (lambda xs, w: sa.reduce(lambda p, q: np.sin(p) * w + q, xs, 0.0), (xs, a)),
}


def numeric(f, args, k):
    x = np.asarray(args[k], float)
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = 1e-6
        up, down = ([*args[:k], x + s * e if x.ndim else float(x + s * e), *args[k + 1 :]] for s in (1, -1))
        found[i] = (f(*up) - f(*down)) / 2e-6
    return found


@pytest.mark.filterwarnings("ignore::sourcead.NotAssociativeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_modes_and_second_order(name):
    f, args = PROGRAMS[name]
    value, got = value_and_grad(f, wrt=(0, 1))(*args)
    assert value == pytest.approx(f(*args), rel=1e-12)
    for k in (0, 1):
        np.testing.assert_allclose(got[k], numeric(f, args, k), rtol=1e-5, atol=1e-6)
    t = np.random.default_rng(3).normal(size=np.shape(args[0]))
    assert jvp(f, args, (t, None))[1] == pytest.approx(np.sum(got[0] * t), rel=1e-9)
    up, down = (grad(f)(args[0] + s * 1e-5 * t, args[1]) for s in (1, -1))
    np.testing.assert_allclose(hvp(f)(*args, t), (up - down) / 2e-5, rtol=1e-4, atol=1e-4)


def text(f, *args):
    made = grad(f)
    made(*args)
    return made.source


def test_a_body_of_products_on_rows_is_one_product():
    shown = text(lambda x, w: np.sum(sa.map(lambda row: np.tanh(w @ row + 1.0), x) ** 2), X, W)
    assert "X @ w.T" in shown.replace("x @ w.T", "X @ w.T") and "for " not in shown


def test_elementwise_bodies_are_whole_arrays():
    shown = text(lambda x: np.sum(sa.map(lambda v: np.sin(v) * 2.0, x)), xs)
    assert "np.cos(x)" in shown and "for " not in shown


def test_known_operators_are_calls_of_numpy():
    assert "for " not in text(lambda x: sa.reduce(lambda p, q: q + p, x, 1.0) ** 2, xs)
    assert "np.cumsum" in text(lambda x: np.sum(sa.scan(np.add, x, 1.0) ** 2), xs)


def test_operators_that_take_batches_run_as_a_tree():
    n = 1000
    shown = text(lambda x: sa.reduce(lambda p, q: p + q + 0.5 * p * q, x, 0.0), np.full(n, 1e-3))
    assert "while len(xs) > 1" in shown and "\n    for x" not in shown


def test_operators_of_three_arrays_run_as_a_tree_too():
    def after(f, g):
        return f[0] * g[0], g[0] * f[1] + g[1], f[2] + g[2]

    def scanned(a, b):
        _, y, z = sa.scan(after, (a, b, a * b), (1.0, 0.0, 0.0))
        return np.sum(y**2 + z)

    def reduced(a, b):
        _, y, z = sa.reduce(after, (a, b, a * b), (1.0, 0.0, 0.0))
        return y**2 + z

    for function in (scanned, reduced):
        sa.check_grads(function, (np.linspace(0.5, 1.5, 7), np.linspace(-1.0, 1.0, 7)))
        assert "while" in sa.grad(function).lower(np.ones(7), np.ones(7)).text


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 9])
@pytest.mark.parametrize("kind", ["reduce", "scan"])
@pytest.mark.parametrize("op", [np.add, operator.mul, np.minimum, np.maximum, np.logaddexp, lambda p, q: p + q + p * q])
def test_lengths(op, kind, n):
    def f(x, initial):
        return (
            np.sum(getattr(sa, kind)(op, x, initial) ** 2) if kind == "reduce" else np.sum(sa.scan(op, x, initial) ** 2)
        )

    def g(x, initial):
        return np.sum(sa.reduce(op, x, initial) ** 2)

    chosen = f if kind == "scan" else g
    x = np.linspace(0.5, 1.5, n)
    value, got = value_and_grad(chosen, wrt=(0, 1))(x, 0.9)
    assert value == pytest.approx(chosen(x, 0.9))
    np.testing.assert_allclose(got[0], numeric(chosen, (x, 0.9), 0), rtol=1e-5, atol=1e-7)
    assert got[1] == pytest.approx(float(numeric(chosen, (x, 0.9), 1)), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("zeros", [1, 2])
def test_products_with_zeros(zeros):
    x = np.array([2.0, 3.0, 5.0, 7.0])
    x[:zeros] = 0.0
    got = grad(lambda x: sa.reduce(np.multiply, x, 1.0))(x)
    np.testing.assert_array_equal(got, [105.0, 0, 0, 0] if zeros == 1 else np.zeros(4))
    assert np.all(np.isfinite(grad(lambda x: np.sum(sa.scan(np.multiply, x, 1.0)))(x)))


def test_float32_stays():
    x = xs.astype(np.float32)
    assert grad(lambda x: sa.reduce(lambda p, q: p + q + p * q, x, np.float32(0)))(x).dtype == np.float32
    assert grad(lambda x: np.sum(sa.map(lambda v: np.sin(v) * 2, x)))(x).dtype == np.float32


def test_an_operator_that_is_not_associative():
    def op(p, q):
        return np.sin(p) + q

    with pytest.warns(NotAssociativeWarning, match="differ for a = .*, b = .*, c = "):
        plain = sa.reduce(op, xs, 0.0)
    made = value_and_grad(lambda x: sa.reduce(op, x, 0.0))
    with pytest.warns(NotAssociativeWarning, match="differ for a = .*, b = .*, c = ") as record:
        value, got = made(xs)
    assert [warning.filename for warning in record] == [__file__]
    assert value == pytest.approx(plain)  # it runs as it is written
    np.testing.assert_allclose(got, numeric(lambda x: sa.reduce(op, x, 0.0), (xs,), 0), rtol=1e-5)


def test_associative_operators_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: sa.reduce(lambda p, q: p + q + p * q, x, 0.0))(xs)
        sa.reduce(lambda p, q: p + q + p * q, xs.astype(np.float32), np.float32(0))
        sa.scan(operator.matmul, Ms, np.eye(3))


def while_below(p, q):
    total = 0.0
    while total < 3.0 + p:
        total += p * q
    return total


@pytest.mark.parametrize("op", [lambda p, q: p * q, while_below], ids=["at once", "in a loop"])
def test_maps_of_different_lengths(op):
    def f(x, y):
        return np.sum(sa.map(op, x, y))

    made = grad(f, verify=False)
    made(xs, xs.copy())
    for call in (f, made, grad(f)):
        with pytest.raises(ValueError, match="map takes arrays of one length"):
            call(xs, xs[:3].copy())
    of_known_length = grad(lambda x: np.sum(sa.map(op, x, 2 * x)))
    of_known_length(xs)
    assert "raise" not in of_known_length.source


def test_a_map_of_tuples():
    def f(x):
        doubled, squares = sa.map(lambda v: (2 * v, v * v), x)
        return np.sum(doubled * squares)

    assert f(xs) == pytest.approx(np.sum(2 * xs**3))
    np.testing.assert_allclose(grad(f)(xs), 6 * xs**2)


def test_a_map_that_writes_its_rows_is_a_loop():
    def f(x):
        def row(r):
            out = r.copy()
            out[0] *= r[1]
            return out

        return np.sum(sa.map(row, x) ** 2)

    np.testing.assert_allclose(grad(f)(X), numeric(f, (X,), 0), rtol=1e-5, atol=1e-7)
