"""Calls in compiled gradients: as loops, by the interpreter, and the errors that they raise."""

import gc
import logging
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sourcead import Numba, grad
from sourcead.errors import BackendError
from sourcead.ir.types import FLOAT, Str, TupleT

numba = pytest.importorskip("numba")

from numba.core import config  # noqa: E402
from numba.core.codegen import CPUCodegen  # noqa: E402

from sourcead.backends.numba import calls_to_python as interpreted  # noqa: E402
from sourcead.backends.numba.codegen.loop_nests import sum_along  # noqa: E402
from sourcead.backends.numba.internals.parts_replaced import optimisation_for, short_shape_errors  # noqa: E402
from sourcead.backends.numba.overloads.outlined import kept  # noqa: E402
from tests.programs.statistics import robust_location  # noqa: E402
from tests.semantics import exec_with_source  # noqa: E402

pytestmark = pytest.mark.compiled

RNG = np.random.default_rng(4)
NORMAL = RNG.normal(size=(3, 4))


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """Machine code of these tests goes into a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def sums(x):
    rows, columns = np.sum(x, axis=1), np.sum(x, axis=-2, keepdims=True)
    return np.sum(np.sum(x, axis=0) ** 2) + np.sum(rows**3) + np.sum(columns * np.sum(x, axis=1, keepdims=True))


@pytest.mark.parametrize(
    "x",
    [NORMAL, RNG.normal(size=(4, 6))[:, ::2].T, NORMAL.astype(np.float32), np.zeros((0, 4)), np.zeros((3, 0))],
    ids=["float64", "strides", "float32", "no rows", "no columns"],
)
def test_sums_along_an_axis(x):
    got, expected = grad(sums, backend="numba")(x), grad(sums)(x)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5 if x.dtype == np.float32 else 1e-13)


def outer_and_solve(a, b):
    m = np.outer(a, b) + np.outer(a, a) + 2.0 * np.eye(3)
    return np.sum(np.linalg.solve(m, b)) + np.log(np.linalg.det(m)) + np.sort(a)[0]


def test_products_and_solvers():
    a, b = np.array([0.5, 1.5, -0.2]), np.array([1.0, 0.3, 0.7])
    for got, expected in zip(grad(outer_and_solve, (0, 1), backend="numba")(a, b), grad(outer_and_solve, (0, 1))(a, b)):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_an_error_in_a_call_of_the_interpreter_is_raised():
    def inverse(a):
        return np.sum(np.linalg.inv(a))

    g = grad(inverse, backend="numba")
    with pytest.raises(np.linalg.LinAlgError):
        g(np.zeros((2, 2)))
    np.testing.assert_allclose(g(np.eye(2)), grad(inverse)(np.eye(2)))


def receiving(function, args, result):
    """A compiled function that has the interpreter call one."""
    return numba.njit(interpreted.call(function, ["a", "b"][: len(args)], args, result))


def test_what_cannot_be_pickled_is_called_all_the_same():
    lock, seen = threading.Lock(), []

    def counts(a):
        with lock:
            seen.append(a)
        return a + 1.0

    f = receiving(counts, [numba.float64], numba.float64)
    assert f(2.0) == 3.0 and seen == [2.0]


def test_calls_of_the_interpreter_leave_no_references_behind():
    def doubled(a, b):
        return a * 2.0

    array = numba.types.Array(numba.float64, 1, "C")
    f = receiving(doubled, [array, numba.float64], array)
    x = np.ones(3)
    f(x, 1.0)
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(100):
        np.testing.assert_array_equal(f(x, 1.0), [2.0, 2.0, 2.0])
    assert sys.getrefcount(x) == before


def test_a_result_of_another_type_is_an_error():
    array = numba.types.Array(numba.float64, 1, "C")
    f = receiving(lambda a: np.ones((2, 2)), [numba.float64], array)
    with pytest.raises((TypeError, ValueError)):
        f(1.0)


def test_what_is_no_text_is_not_taken_for_one():
    assert kept(("a", 1.0), TupleT((Str(), FLOAT))) == ("a", 1.0)
    with pytest.raises(BackendError, match="a NoneType was computed where a text was expected"):
        kept((None, 1.0), TupleT((Str(), FLOAT)))


def sorted_by_name(x):
    d = {"b": x[0], "a": x[1]}
    s = 0.0
    for k, (n, v) in enumerate(sorted(d.items())):
        s += (k + 1) * v if n < "b" else v**3
    return s


def test_texts_beside_numbers_have_no_cotangents():
    x = np.array([2.0, 5.0])
    np.testing.assert_array_equal(grad(sorted_by_name, backend=Numba(cache=False))(x), grad(sorted_by_name)(x))


def test_subscripts_of_ours_are_known_where_numba_was_used_before():
    script = """
import numba, numpy as np
numba.njit(lambda x: x[0])(np.ones(3))
from sourcead import grad, Numba
from tests.test_numba_calls import mask_of_a_matrix
x = np.array([[1.0, -2.0], [3.0, 0.0]])
assert (grad(mask_of_a_matrix, backend=Numba(cache=False))(x) == [[2.0, 0.0], [6.0, 0.0]]).all()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def mask_of_a_matrix(x):
    return np.sum(x[x > 0] ** 2)


def test_long_texts_are_compiled_with_less_effort_and_others_as_before():
    before = config.OPT, CPUCodegen._function_pass_manager
    long = "    y = x * 2\n" * 300
    for text, level in (("    y = x * 2\n", 3), ("    # y = x * 2\n" * 300, 3), (long, 2)):
        with optimisation_for(text):
            assert level == config.OPT
        assert before == (config.OPT, CPUCodegen._function_pass_manager)
    with pytest.raises(ZeroDivisionError), optimisation_for(long):
        raise ZeroDivisionError
    assert before == (config.OPT, CPUCodegen._function_pass_manager)


def reshaped_to_a_shape_of_the_call(x, y):
    return np.sum(np.reshape(np.sum(x), y.shape) * y) + np.sum(np.reshape(x, np.shape(y * 2)) * y[0])


def test_a_number_may_be_reshaped():
    x, y = np.array([[3.0]]), np.array([2.0])
    np.testing.assert_array_equal(
        grad(reshaped_to_a_shape_of_the_call, backend=Numba(cache=False))(x, y), grad(reshaped_to_a_shape_of_the_call)(x, y)
    )


def reshaped_in_column_order(x, y):
    z = x * 2.0
    return np.sum(np.sin(z.T.reshape(-1)) * y) + z.T.reshape(2, -1)[1, 0]


def test_a_transposed_array_may_be_reshaped():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(6.0)
    np.testing.assert_allclose(grad(reshaped_in_column_order, backend=Numba(cache=False))(x, y), grad(reshaped_in_column_order)(x, y))


def pops_from_behind(x):
    l = [e * 2 for e in x]
    return l.pop(1) * l.pop(-2) + sum(l)


def adds_to_all(x):
    m = np.zeros((2, 3))
    m[:] = x
    m[...] += x * x
    m[...] -= m[0, 0]
    return np.sum(m**2)


def removes_a_key(x):
    d = {"b": x[1], "a": x[0]}
    if x[0] > 0:
        d.pop("a")
    return len(d) * x[0]


def repeats(x):
    return np.sum(np.repeat(x, 2, axis=0) ** 2 * np.tile(x, (2, 1)))


@pytest.mark.parametrize(
    ("f", "x"), [(pops_from_behind, NORMAL[0]), (adds_to_all, NORMAL[0, :3]), (removes_a_key, NORMAL[0]), (repeats, NORMAL)]
)
def test_forms_that_numba_does_not_know(f, x):
    for v in (x, np.abs(x)):
        np.testing.assert_allclose(grad(f, backend=Numba(cache=False))(v), grad(f)(v), rtol=1e-12)


def test_an_index_outside_of_a_range_is_an_error():
    def member(x, k):
        return x[range(1, 7, 2)[k]] ** 2

    g, x = grad(member, backend=Numba(cache=False)), np.arange(8.0)
    for k in (-3, 2):
        np.testing.assert_array_equal(g(x, k), grad(member)(x, k))
    for k in (-4, 3):
        with pytest.raises(IndexError):
            g(x, k)


def test_the_cotangent_of_an_array_that_a_loop_assigns():
    x = np.abs(RNG.normal(size=8))
    compiled = grad(robust_location, (0, 1), backend=Numba(cache=False))(x, 1.5)
    for got, expected in zip(compiled, grad(robust_location, (0, 1))(x, 1.5), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("axis, rank", [(axis, rank) for rank in (2, 3) for axis in range(rank)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_the_loops_of_sums_along_each_axis(axis, rank, keepdims):
    namespace = {"np": np}
    exec(f"def f(a):\n{sum_along(axis, rank, keepdims)}", namespace)
    x = RNG.normal(size=(3, 2, 4)[:rank])
    np.testing.assert_allclose(namespace["f"](x), np.sum(x, axis, keepdims=keepdims), rtol=1e-13)


def test_sums_along_axes_of_three():
    def f(x):
        return np.sum(np.sin(np.sum(x * x, axis=1))) + np.sum(np.cos(np.sum(x, axis=-1, keepdims=True)) * x)

    x = RNG.normal(size=(3, 2, 4))
    np.testing.assert_allclose(grad(f, backend=Numba(cache=False))(x), grad(f)(x), rtol=1e-12)


def test_sums_with_results_of_many_axes_run_no_loops_in_python():
    def f(x):
        return np.sum(np.sum(x * x, axis=1, keepdims=True) * x)

    text = grad(f, backend=Numba(cache=False)).lower(np.ones((2, 3, 4))).compiled_text
    assert "np.sum(a, axis=1, keepdims=True)" in text and "for " not in text


def test_reductions_of_an_array_given_by_name():
    def f(x):
        return np.max(a=x) + np.sum(a=x * x) + np.sum(a=x * x, axis=0) + np.mean(x * x, axis=-1)

    x = RNG.normal(size=5)
    np.testing.assert_allclose(grad(f, backend=Numba(cache=False))(x), grad(f)(x), rtol=1e-12)
    np.testing.assert_allclose(grad(f)(x), (x == x.max()) + 4 * x + 2 * x / 5, rtol=1e-12)


def test_shapes_that_do_not_fit_are_an_error():
    def assigns(x, v):
        y = x.copy()
        y[1:] = v
        return np.sum(y * y)

    with pytest.raises(ValueError):
        grad(assigns, backend=Numba(cache=False))(np.ones(9), np.ones(12))


def test_the_error_of_other_compiled_functions_keeps_its_text():
    @numba.njit
    def assigns(x, v):
        x[1:] = v

    with short_shape_errors():
        pass
    with pytest.raises(ValueError, match=r"\(4,\)"):
        assigns(np.ones(3), np.ones(4))


def none_at_first(x):
    before, total = None, 0.0
    for v in x:
        if before is not None:
            a, b = before
            total += a * v + b
        before = (v, v * v)
    return total


def number_or_none(x):
    before, total = None, 0.0
    for v in x:
        if before is not None:
            total += v * before
        before = v * v
    return total


def row_powers(x, places):
    total = 0.0
    for i in places:
        total += np.sum(x**i) ** (1 / (i + 1))
    return total


def inserted(x):
    x = np.delete(np.insert(x, 0, 1.5), 2)
    return np.sum(np.cumsum(x) * np.arange(len(x)))


SMALL = [(none_at_first, ()), (number_or_none, ()), (row_powers, (np.array([0, 1, 3]),)), (inserted, ())]


@pytest.mark.parametrize(("f", "args"), SMALL, ids=[f.__name__ for f, _ in SMALL])
def test_gradient_is_that_of_numpy_mode(f, args):
    x = np.array([0.5, 0.7, 1.2, 0.2])
    np.testing.assert_allclose(grad(f, backend="numba")(x, *args), grad(f)(x, *args), rtol=1e-13)


def weighted(x, ws):
    return sum(w * x[k] for k, w in enumerate(ws)) + ws[-1]


def of_shape(x, shape):
    return np.sum(np.zeros(shape) + x[0])


@pytest.mark.parametrize("f, item, texts", [(weighted, 1.5, 2), (of_shape, 2, 4)], ids=["any length", "each length"])
def test_lists_of_numbers_share_machine_code_if_they_can(f, item, texts):
    gradient = grad(f, backend="numba", verify=False)
    for length in (2, 3, 4, 5):
        got = gradient(np.arange(6.0), [item] * length)
        np.testing.assert_array_equal(got, grad(f)(np.arange(6.0), [item] * length))
    assert len(gradient._texts) == texts


MEASURED = SimpleNamespace(log=logging.getLogger("measured"), factor=2.0)


def test_what_only_tells_the_user_something_is_told_by_the_interpreter(caplog):
    log = logging.getLogger("measured")

    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            if x[0] > 0.4:
                warnings.warn(f"{len(x)} values, the first of {x[0]:.1f}", UserWarning, stacklevel=1)
                log.warning("%d rows", len(x))
            return np.sum(x**2)

    def g(x):
        MEASURED.log.warning("the first is %.1f", x[0])
        return np.sum(x**2) * MEASURED.factor

    assert grad(g, backend="numba")(np.array([0.5, 0.7])).tolist() == [2.0, 2.8] and "the first is 0.5" in caplog.text
    with pytest.warns(UserWarning, match="2 values, the first of 0.5"):
        found = grad(f, backend="numba")(np.array([0.5, 0.7]))
    assert found.tolist() == [1.0, 1.4] and "2 rows" in caplog.text
    assert grad(f, backend="numba")(np.array([0.3, 0.7])).tolist() == [0.6, 1.4]


COUNTS = {"calls": 0}


def test_an_error_of_numba_is_told_without_colours():
    def f(x):
        COUNTS["calls"] += 1
        return np.sum(x**2)

    with pytest.raises(BackendError, match="Numba cannot compile") as error:
        grad(f, backend="numba")(np.ones(2))
    assert "\x1b" not in str(error.value)


def test_the_block_of_the_page_runs():
    page = (Path(__file__).parents[1] / "docs" / "numba.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec_with_source(block, names)
    np.testing.assert_allclose(names["descend"](np.ones(3), np.ones(3), 2), np.ones(3))
