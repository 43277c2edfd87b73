"""Several columns at once: what the text computes for a batch of directions is what it computes for each."""

import numpy as np
import pytest

from sourcead import SourceADError, hessian, hvp, jacobian, jvp
from tests.harness import all_programs, quietly, rng_for

pytestmark = pytest.mark.sampled(3)

RNG = np.random.default_rng(0)
A = RNG.normal(size=(5, 4))
X = RNG.normal(size=4)


def products(x):
    return np.tanh(A @ x) * 2 + np.sum(x**2)


def both_sides(x):
    m = np.outer(x, x) + np.eye(4)
    return m @ x @ m + x @ x


def loops(x):
    h = np.zeros(4)
    for t in range(3):
        h = np.sin(h + x * t)
    return h


def writes(x):
    y = np.zeros(6)
    y[1:5] = x * x
    y[2] += x[0]
    y[[0, 5]] = x[[1, 1]]
    return y


def branches(x):
    h = x
    for t in range(4):
        if t % 2 == 0:
            h = h * x
        else:
            h = np.ones(4)
    return h + x


def axes(x):
    m = np.reshape(x, (2, 2)) * np.array([1.0, 2.0])
    m = m - np.mean(m, axis=0, keepdims=True) + np.max(m, axis=-1)[:, None]
    return np.transpose(m) @ m + np.broadcast_to(x[:2], (2, 2))


def zeros_of_no_tangent(x):
    return x[:3] + 1 if x.size > 100 else np.arange(3.0) + 0 * x[0]


def sequential(x):
    return np.cumsum(x) * np.sort(x)


FUNCTIONS = [products, both_sides, loops, writes, branches, axes, zeros_of_no_tangent, sequential]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobian_is_that_of_the_columns(f):
    made = jacobian(f, mode="forward")
    got = made(X)
    columns = [jvp(f, (X,), (unit,))[1] for unit in np.eye(4)]
    np.testing.assert_allclose(got, np.stack(columns, axis=-1), rtol=1e-12, atol=1e-14)
    assert ("columns" in made.source) is (f is not sequential)


def test_one_text_serves_all_columns():
    made = jacobian(products, mode="forward")
    made(X)
    assert "t_x @ np.transpose(A)" in made.source and "reduce_short(np.add, 2 * t_x * x, 1)" in made.source


def test_several_arguments_and_numbers():
    def f(x, y):
        return np.outer(x, np.ones(3)) * y

    by_x, by_y = jacobian(f, wrt=("x", "y"), mode="forward")(X, 2.0)
    assert by_x.shape == (4, 3, 4) and by_y.shape == (4, 3)
    np.testing.assert_array_equal(by_y, np.outer(X, np.ones(3)))
    np.testing.assert_array_equal(by_x, 2 * np.einsum("ij,k->ikj", np.eye(4), np.ones(3)))


def test_float32_stays():
    assert jacobian(products, mode="forward")(X.astype(np.float32)).dtype == np.float64  # A is float64
    assert hessian(lambda x: np.sum(np.sin(x) * x))(X.astype(np.float32)).dtype == np.float32


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def test_columns_come_in_parts_where_they_are_many(monkeypatch):
    from sourcead.api import jacobians

    x = RNG.normal(size=30)
    whole = hessian(rosenbrock)(x)
    monkeypatch.setattr(jacobians, "AT_ONCE", 200)
    np.testing.assert_array_equal(hessian(rosenbrock)(x), whole)
    np.testing.assert_allclose(whole, np.stack([hvp(rosenbrock)(x, unit) for unit in np.eye(30)], axis=-1), rtol=1e-12)


def hessians():
    """Programs whose Hessian is small; a part of them is tested."""
    for p in all_programs("basic"):
        args = p.make_args(rng_for(0)) if p.raises is None else ()
        if args and isinstance(args[0], np.ndarray) and args[0].dtype.kind == "f" and 0 < args[0].size <= 40:
            yield p


@pytest.mark.slow
@pytest.mark.parametrize("p", list(hessians())[::16], ids=lambda p: f"{p.theme}.{p.name}")
def test_hessians_of_the_corpus(p):
    made, single = hessian(p.function), hessian(p.function)
    single._wide = None
    with quietly():
        try:
            got = made(*p.make_args(rng_for(0)))
        except SourceADError:
            return
        expected = single(*p.make_args(rng_for(0)))
    scale = np.max(np.abs(expected), where=np.isfinite(expected), initial=1.0)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11 * scale)
