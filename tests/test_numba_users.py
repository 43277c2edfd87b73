"""`grad` of what Numba compiles already, and programs as people write them for Numba."""

import copy
import functools
import itertools
import math
import pickle
import warnings

import numpy as np
import pytest

from sourcead import SourceADError, grad, hvp, jacobian, pushforward, value_and_grad
from tests.harness_numba import largest_difference

numba = pytest.importorskip("numba")

from numba import njit, prange  # noqa: E402

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """Machine code of these tests goes into a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


RNG = np.random.default_rng(11)
STEP = 0.01


def normal(*shape):
    return RNG.normal(size=shape)


@njit
def sine_sum(x, k):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * k
    return total


def test_the_gradient_of_a_compiled_function_is_compiled():
    g, x = grad(sine_sum), normal(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(g(x, 2.0), 2 * np.cos(x), rtol=1e-14)
    assert "for i in range" in g.lower(x, 2.0).compiled_text
    assert grad(sine_sum.py_func).lower(x, 2.0).compiled_text is None
    assert grad(sine_sum, backend="numpy").lower(x, 2.0).compiled_text is None


def test_so_is_that_of_a_partial_and_of_its_gradient():
    x = normal(3)
    g = grad(functools.partial(sine_sum, k=2.0))
    assert g.lower(x).compiled_text
    np.testing.assert_allclose(g(x), 2 * np.cos(x), rtol=1e-14)
    twice = grad(functools.partial(sine_sum, k=2.0))
    np.testing.assert_allclose(hvp(twice.primal)(x, np.ones(3)), -2 * np.sin(x), rtol=1e-14)


def test_other_derivatives_take_compiled_functions():
    x = normal(3)
    push = pushforward(sine_sum)
    value, tangent = push(x, 2.0, np.ones(3))
    np.testing.assert_allclose([value, tangent], [2 * np.sin(x).sum(), 2 * np.cos(x).sum()], rtol=1e-14)
    assert push.lower(x, 2.0, np.ones(3)).compiled_text
    np.testing.assert_allclose(jacobian(sine_sum)(x, 2.0), 2 * np.cos(x), rtol=1e-14)


def test_a_gradient_of_a_compiled_function_pickles():
    x = normal(3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(grad(sine_sum)))(x, 1.0), grad(sine_sum)(x, 1.0))


def test_a_compiled_function_whose_gradient_numba_cannot_compile_falls_back_with_a_warning():
    @njit
    def groups_in_lists(x):
        found = {}
        for i in range(len(x)):
            key = i % 2
            if key not in found:
                found[key] = [0.0]
            found[key].append(x[i] ** 2)
        return found[0][1] + found[1][1]

    x = normal(4)
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot"):
        got = grad(groups_in_lists)(x)
    np.testing.assert_allclose(got, [2 * x[0], 2 * x[1], 0, 0])


# ---- programs ----


@njit
def lorenz(u, p):
    du = np.empty_like(u)
    du[0] = p[0] * (u[1] - u[0])
    du[1] = u[0] * (p[1] - u[2]) - u[1]
    du[2] = u[0] * u[1] - p[2] * u[2]
    return du


@njit
def runge_kutta(p):
    u = np.array([1.0, 0.5, 0.2])
    for _ in range(20):
        k1 = lorenz(u, p)
        k2 = lorenz(u + 0.5 * STEP * k1, p)
        u += STEP / 2 * (k1 + k2)
    return u[0] * u[1] + u[2]


@njit(parallel=True)
def rows_in_parallel(a):
    out = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] ** 2 * (j + 1)
        out[i] = math.sqrt(row)
    return out.sum()


@njit
def typed_list(x):
    xs = numba.typed.List()
    for i in range(len(x)):
        xs.append(x[i] * x[i])
    total = 0.0
    for v in xs:
        total += math.sqrt(v + 1.0)
    return total


@njit
def a_number_that_becomes_an_array(a):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * i
    return np.sum(total * total)


@njit
def newton(a):
    x = a
    for _ in range(30):
        fx = x * x * x - a
        if abs(fx) < 1e-12:
            break
        x -= fx / (3 * x * x)
    return x


@njit
def gauss_seidel(u, f):
    v = u.copy()
    for _ in range(3):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - f[i, j])
    return np.sum(v**2)


@njit
def swaps_buffers(x):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(4):
        for i in range(1, len(a) - 1):
            b[i] = 0.5 * a[i] + 0.25 * (a[i - 1] + a[i + 1])
        a, b = b, a
    return np.sum(a * a)


@njit
def largest_and_smallest(x):
    low, high = x[0], x[0]
    for v in x:
        low, high = min(low, v), max(high, v)
    return (high - low) ** 2 + x[np.argmin(x)] * x[np.argmax(x)]


@njit
def power_by_halves(x, n):
    if n == 0:
        return 1.0
    if n % 2:
        return x * power_by_halves(x, n - 1)
    half = power_by_halves(x, n // 2)
    return half * half


def sums_of_halves(x):
    def sums(v):
        if len(v) == 1:
            return v[0], v[0] ** 2
        a, b = sums(v[: len(v) // 2])
        c, d = sums(v[len(v) // 2 :])
        return np.sin(a) + c, b * d

    total, product = sums(x)
    return total * product


def insertion_sort(x):
    out = []
    for e in x:
        k = 0
        while k < len(out) and out[k] < e:
            k += 1
        out.insert(k, e)
    return sum((i + 1) * o for i, o in enumerate(out))


def pairs_in_order(x):
    pairs = sorted(enumerate(x), key=lambda p: -p[1])
    return sum((r + 1) * value * (i + 1) for r, (i, value) in enumerate(pairs))


def names_of_layers(x):
    names = [f"layer_{i}" for i in range(len(x))]
    return sum(v * len(name) for name, v in zip(names, x))


def pairs_of_places(x):
    total = math.log(x[0] ** 2 + 2.0, 2)
    for i, j in itertools.combinations(range(len(x)), 2):
        total = total + x[i] * x[j]
    for i, j in np.ndindex(2, 2):
        total = total + x[i] ** 2 * x[j]
    return total


def a_table_of_integers(x):
    squares = [0] * len(x)
    for i in range(len(x)):
        squares[i] = x[i] ** 2
    return squares[0] * squares[-1]


def lists_of_rows(points, t):
    rows = list(points)
    while len(rows) > 1:
        rows = [(1 - t) * a + t * b for a, b in zip(rows[:-1], rows[1:])]
    return rows[0] @ rows[0]


def names_with_numbers(x_1, n):
    x = x_1 * 2.0
    for k in range(n):
        x_2 = x * x_1
        x = x + x_2 * x / (1 + x_2 * x_2)
    return np.sum(x * x_1)


PROGRAMS = {
    pairs_of_places: (normal(4),),
    a_table_of_integers: (normal(3),),
    lists_of_rows: (normal(4, 2), 0.35),
    names_with_numbers: (normal(4), 3),
    runge_kutta: (np.array([10.0, 28.0, 8 / 3]),),
    rows_in_parallel: (normal(4, 3),),
    typed_list: (normal(5),),
    a_number_that_becomes_an_array: (normal(3, 4),),
    newton: (2.0,),
    gauss_seidel: (np.asfortranarray(normal(5, 5)), normal(5, 10)[:, ::2]),
    swaps_buffers: (normal(7),),
    largest_and_smallest: (normal(6),),
    power_by_halves: (1.1, 13),
    sums_of_halves: (normal(5),),
    insertion_sort: (normal(6),),
    pairs_in_order: (normal(5),),
    names_of_layers: (normal(3),),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_has_the_gradient_of_numpy_mode(f):
    args = PROGRAMS[f]
    expected = value_and_grad(getattr(f, "py_func", f), backend="numpy")(*copy.deepcopy(args))
    got = value_and_grad(f, backend="numba")(*copy.deepcopy(args))
    assert largest_difference(got, expected) <= 1


def test_a_loop_that_never_runs_leaves_the_number():
    assert value_and_grad(a_number_that_becomes_an_array)(np.ones((0, 4)))[0] == 0.0


def test_a_recursive_function_that_reads_a_global_is_refused():
    from sourcead.errors import BackendError

    with pytest.raises(BackendError, match="reads the global `SCALE`"):
        grad(scaled_recursively, backend="numba")(1.0, 2)
    with pytest.warns(RuntimeWarning):
        assert grad(scaled_recursively, backend="auto")(1.0, 2) == 9.0


SCALE = [3.0]


def scaled_recursively(x, n):
    return x if n == 0 else SCALE[0] * scaled_recursively(x, n - 1)


FACTOR = 2.0


@njit
def with_a_factor(x):
    return FACTOR * x


def test_a_global_that_changed_after_numba_compiled_the_function_is_refused(monkeypatch):
    outer = lambda x: with_a_factor(x) ** 2  # noqa: E731
    gradients = grad(with_a_factor, backend="numpy"), grad(outer)
    assert (with_a_factor(3.0), *[g(3.0) for g in gradients]) == (6.0, 2.0, 24.0)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    for gradient in gradients:
        with pytest.raises(SourceADError, match=r"Numba keeps the value 2.0 that `FACTOR` had(.|\n)*`with_a_factor.recompile\(\)`"):
            gradient(3.0)
    with_a_factor.recompile()
    assert (with_a_factor(3.0), *[g(3.0) for g in gradients]) == (15.0, 5.0, 150.0)
