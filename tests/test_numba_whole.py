"""`exp`, `tanh` and kin of whole arrays run NumPy's loops in compiled code."""

import math

import numpy as np
import pytest

pytest.importorskip("numba")

import numba

from sourcead import grad
from sourcead.backends.numba import compile as compiling  # noqa: F401  (registers what Numba compiles)
from sourcead.backends.numba.functions import ARRAY_REDUCTIONS, ARRAY_UFUNCS
from sourcead.backends.numba.internals import numpy_loops as whole  # noqa: F401  (registers what Numba compiles)

pytestmark = pytest.mark.compiled
sum_of, tanh_of = ARRAY_REDUCTIONS[np.sum], ARRAY_UFUNCS[np.tanh]


def compiled_call(function):
    """A compiled function that calls this one."""
    namespace = {"function": function}
    exec("def f(x):\n    return function(x)", namespace)
    return numba.njit(namespace["f"])


@pytest.fixture(scope="module", params=ARRAY_UFUNCS, ids=lambda f: f.__name__)
def both(request):
    """A function of NumPy's, and what is compiled in its place."""
    return request.param, compiled_call(ARRAY_UFUNCS[request.param])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_numbers_for_every_layout(both, dtype):
    function, compiled = both
    x = np.random.default_rng(0).uniform(0.1, 2, (7, 40)).astype(dtype)
    for a in (x, x[0], x[:, 3], x.T, x[::2, ::-3], x[:0], x[:, :0], np.asfortranarray(x), x[:1, :1]):
        got = compiled(a)
        assert got.dtype == dtype and got.shape == a.shape
        np.testing.assert_allclose(got, function(a), rtol=4 * np.finfo(dtype).eps)


def test_special_values(both):
    function, compiled = both
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -3.0, 1e300, -1e300, 5e-324])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-15)


def test_the_hyperbolic_tangent_of_numbers():
    compiled = numba.njit(lambda x: tanh_of(x))
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-3, 3, 5000), 10.0 ** rng.uniform(-320, 3, 1000), [0.0, np.inf, 0.625, 20.0, 5e-324, 1e308]])
    for value in (*x, *-x):
        assert abs(compiled(value) - math.tanh(value)) <= 2 * np.spacing(abs(math.tanh(value)))
        assert np.signbit(compiled(value)) == np.signbit(value)
    assert math.isnan(compiled(math.nan))
    for value in x[:-1].astype(np.float32):
        got = compiled(value)
        assert type(got) is float and np.float32(got) == got  # Numba gives Python's
        np.testing.assert_array_max_ulp(np.float32(got), np.tanh(value), maxulp=1, dtype=np.float32)
    assert compiled(3) == np.tanh(3)


@pytest.mark.parametrize("scalar_tanh", [math.tanh, np.tanh])
def test_gradients_of_loops_with_tanh(scalar_tanh):
    def loss(w, xs):
        h = 0.0
        for x in xs:
            h = scalar_tanh(w * h + x)
        return h * h

    xs = np.random.default_rng(2).normal(size=50)
    compiled = grad(loss, backend="numba")
    assert "tanh_of(" in compiled.lower(0.7, xs).compiled_text
    np.testing.assert_allclose(compiled(0.7, xs), grad(loss)(0.7, xs), rtol=1e-12)


def test_a_loop_is_only_taken_where_memory_is_as_expected():
    assert whole.loop_address(np.modf, np.dtype(np.float64)) is None  # two results
    assert all(whole.loop_address(f, np.dtype(np.float64)) for f in (np.exp, np.tanh, np.add, np.maximum))


@pytest.fixture(scope="module", params=ARRAY_REDUCTIONS, ids=lambda f: f.__name__)
def reduction(request):
    """A reduction of NumPy's, and what is compiled in its place."""
    return request.param, compiled_call(ARRAY_REDUCTIONS[request.param])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reductions_of_every_layout(reduction, dtype):
    function, compiled = reduction
    x = np.random.default_rng(0).normal(size=(70, 400)).astype(dtype)
    for a in (x, x[0], x[:, 3], x.T, x[::2, ::-3], x[0, ::-2], x[5, :63], x[5, :64], x[:1, :1], np.asfortranarray(x)[:, :3]):
        got = compiled(a)
        np.testing.assert_allclose(got, function(a), rtol=0, atol=40 * np.finfo(dtype).eps * np.abs(a).sum() / a.size**0.5)
        if function in (np.max, np.min):
            assert got == function(a)


def test_reductions_of_special_values(reduction):
    function, compiled = reduction
    for n in (3, 63, 64, 65, 1000):
        x = np.random.default_rng(n).normal(size=n)
        for special in (np.nan, np.inf, -np.inf):
            for k in (0, n // 2, n - 1):
                a = x.copy()
                a[k] = special
                np.testing.assert_allclose(compiled(a), function(a), rtol=1e-12)
    if function in (np.max, np.min):
        with pytest.raises(ValueError, match="zero-size|empty"):
            compiled(np.zeros(0))
    if function is np.sum:
        assert compiled(np.zeros(0)) == 0


def test_a_long_sum_is_as_exact_as_that_of_numpy():
    x = np.full(1_000_000, 0.1, np.float32)
    compiled = numba.njit(lambda x: sum_of(x))
    assert compiled(x) == np.sum(x) and abs(compiled(x) - 1e5) < 0.1


def test_gradients_of_reductions():
    def spread(x):
        total = 0.0
        for k in range(3):
            total += np.sum(x * k) ** 2 + np.mean(x) * np.max(x) - np.min(x)
        return total

    for n in (5, 300):
        x = np.random.default_rng(n).normal(size=n)
        compiled = grad(spread, backend="numba")
        np.testing.assert_allclose(compiled(x), grad(spread)(x), rtol=1e-12)


def network(w, v, x):
    z = np.exp(-np.tanh(x @ w) @ v)
    return np.sum(np.log(1 + z))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_whole_arrays(dtype):
    rng = np.random.default_rng(1)
    args = [rng.normal(size=shape).astype(dtype) for shape in ((20, 30), (30, 10), (40, 20))]
    gradient = grad(network, wrt=(0, 1), backend="numba")
    assert "tanh_of(x @ w)" in gradient.lower(*args).compiled_text
    for got, expected in zip(gradient(*args), grad(network, wrt=(0, 1))(*args)):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=0, atol=50 * np.finfo(dtype).eps * np.abs(expected).max())


def in_a_loop(a, n):
    for _ in range(n):
        a = np.tanh(1.1 * a + 0.1)
    return np.sum(a**2)


def test_functions_of_vectors_in_loops_stay_whole():
    """An element at a time they would take several times as long as in NumPy."""
    a = np.linspace(-1.0, 1.0, 40)
    gradient = grad(in_a_loop, backend="numba")
    np.testing.assert_allclose(gradient(a, 3), grad(in_a_loop)(a, 3), rtol=1e-12)
    assert "tanh_of(" in gradient.lower(a, 3).compiled_text
