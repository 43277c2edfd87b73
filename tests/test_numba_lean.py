"""Functions compiled with our forms of elements, ranges and counts of references do what Python does, and free what they hold."""

import os
import subprocess
import sys

import numpy as np
import pytest

numba = pytest.importorskip("numba")
from numba.core.runtime import _nrt_python, rtsys  # noqa: E402

from sourcead import grad  # noqa: E402
from sourcead.backends.numba.internals.compiler import GradientCompiler  # noqa: E402
from sourcead.backends.numba.internals.parts_replaced import inner_functions_linked, optimisation_for  # noqa: E402
from tests.test_numba import CASES  # noqa: E402

pytestmark = pytest.mark.sampled(3)

A = np.arange(12.0).reshape(3, 4)


def steps(a, n):
    out = [0.0]
    for i in range(n):
        out.append(1.0 * i)
    for i in range(2, n):
        out.append(2.0 * i)
    for i in range(n, -1, -1):
        out.append(3.0 * i)
    for i in range(0, n, 2):
        out.append(4.0 * i)
    for i in range(n, -5, -3):
        out.append(5.0 * i)
    for step in (1, 2, -1):
        for i in range(n, n + 4 * step, step):
            out.append(6.0 * i)
    return out


def last_values(a, n):
    i = k = -7
    for i in range(n):
        for k in range(i):
            if k == 2:
                break
        else:
            continue
        break
    return [i, k]


def ranges_as_values(a, n):
    r = range(1, n)
    out = [len(r), r.stop]
    for _ in range(2):
        for i in r:
            out.append(i)
    for place, i in enumerate(range(n)):
        out.append(place * i)
    for i, k in zip(range(n), range(n, -1, -1)):
        out.append(i * k)
    return out


def elements(a, n):
    b = a.copy()
    t = a.T
    b[-1, n] = a[0, -n]
    b[n - 3, np.uint8(1)] += t[np.int32(3), -1]
    for i in range(len(b)):
        b[i, i] = i
        b[~i, 0] -= t[i, -i]
    mask = b > 3
    mask[0, 0] = 5
    count = np.zeros(2, np.int32)
    count[0] = 7.9
    flat = b.ravel()
    flat[-2] = mask[1, 1]
    return [b.sum(), flat[5], count[0], mask.sum(), b[(1, 2)]]


def rebound(a, n):
    b = a
    total = 0.0
    for i in range(n):
        c = b * 2.0
        if i % 2 == 0:
            b = c + i
            d = b[1:]
            total += d[0, 0]
        elif i == 3:
            c = a
        total += c[0, 1]
        a = c
    if total > 1e9:
        e = a
    else:
        e = b
    return [total, e.sum(), a.sum(), b.sum()]


def several_results(a, n):
    kept = []
    for i in range(n):
        row = a[i % 3]
        kept.append(row * row)
        if i == 2:
            continue
        kept[0] = row
    pair = (a, kept[0])
    if n > 100:
        return [pair[0].sum()]
    return [k.sum() for k in kept] + [pair[1].sum()]


def parts_in_loops(a, n):
    total = 0.0
    b = a
    for i in range(n):
        row = b[i % 3]
        b = b + 1.0
        total += row.sum()
    kept = []
    c = a * 2.0
    for i in range(n):
        part = c[i % 3, 1:]
        again = part
        kept.append(part)
        column = c[:, i % 4]
        for k in range(2):
            inner = column[k:]
            total += inner[0] * again[0]
        if total > 1e3:
            d = part * 1.0
            break
        d = part
        c[i % 3, 0] += 1.0
    else:
        d = a[0]
    last = c[0]
    for i in range(n):
        e = a * i
        row = e[i % 3]
        mask = e[row[0] < e[:, 0]]
        last = row
        total += mask.sum()
    return [total, d.sum(), last.sum(), c.sum()] + [k.sum() for k in kept]


FUNCTIONS = (parts_in_loops, steps, last_values, ranges_as_values, elements, rebound, several_results)


def compiled(f, text=""):
    made = numba.njit(pipeline_class=GradientCompiler, boundscheck=True)(f)
    with optimisation_for(text), inner_functions_linked():
        made.compile((numba.typeof(A), numba.int64))
    return made


@pytest.mark.compiled
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_it_does_what_python_does(f, n):
    if f in (elements, several_results) and n == 0:
        n = 2
    n = min(n, 3) if f is elements else n
    np.testing.assert_array_equal(compiled(f)(A, n), f(A, n))


@pytest.fixture
def held():
    """How many arrays of Numba are alive."""
    _nrt_python.memsys_enable_stats()

    def count():
        found = rtsys.get_allocation_stats()
        return found.mi_alloc - found.mi_free

    yield count
    _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_held_is_freed(f, held):
    made = compiled(f)
    made(A, 3)
    before = held()
    for _ in range(5):
        made(A, 3)
    assert held() == before


@pytest.mark.compiled
@pytest.mark.parametrize("name", CASES)
def test_gradients_free_what_they_hold(name, held):
    f, args = CASES[name]
    made = grad(f, wrt=0, backend="numba")
    made(*args)
    before = held()
    for _ in range(5):
        made(*args)
    assert held() == before


@pytest.mark.parametrize("place", [(3, 0), (0, 4), (-4, 0), (0, -5)])
@pytest.mark.parametrize("writes", [False, True])
def test_a_subscript_out_of_bounds_is_an_error_and_nothing_is_written(place, writes):
    def read(a, i, k):
        return a[i, k]

    def write(a, i, k):
        a[i, k] = 1.0
        return a[0, 0]

    made = numba.njit(pipeline_class=GradientCompiler, boundscheck=True)(write if writes else read)
    with pytest.raises(IndexError, match="out of bounds"):
        made(A.copy(), *place)


def test_a_step_of_zero_is_an_error():
    def count(n, step):
        total = 0
        for i in range(0, n, step):
            total += i
        return total

    made = numba.njit(pipeline_class=GradientCompiler)(count)
    assert made(10, 3) == 18
    with pytest.raises(ValueError, match="zero"):
        made(10, 0)


def test_a_function_that_a_gradient_had_compiled_may_be_called():
    """Numba makes a ufunc's loops of functions without wrappers for Python."""

    @numba.vectorize
    def shifted(x):
        return x * 2.0 + 1.0

    @numba.njit
    def plain(x):
        return x + 1.0

    def program(a):
        return shifted(a).sum() + plain(a[0, 0])

    made = numba.njit(pipeline_class=GradientCompiler)(program)
    with optimisation_for(""), inner_functions_linked():
        made.compile((numba.typeof(A),))
    assert made(A) == np.sum(A * 2 + 1) + 1
    np.testing.assert_array_equal(shifted(A), A * 2 + 1)
    assert plain(2.0) == 3.0


@pytest.mark.compiled
def test_a_library_gets_machine_code_when_its_address_is_asked_for():
    from numba.core.codegen import JITCodeLibrary

    linked = []
    with inner_functions_linked():
        finalize = JITCodeLibrary._finalize_final_module

        def noted(self):
            finalize(self)
            linked.append(self)

        JITCodeLibrary._finalize_final_module = noted
        numba.njit(pipeline_class=GradientCompiler)(lambda a: np.cumsum(a)[-1]).compile((numba.types.float64[:],))
    found = [library for library in linked if "get_pointer_to_function" in vars(library)]
    assert found
    for library in found:
        name = next(f.name for f in library.get_defined_functions())
        assert library.get_pointer_to_function(name)
        assert library.get_pointer_to_function(name)


IN_A_FRESH_PROCESS = """
import numpy as np
from sourcead import grad


def fft(re, im):
    n = len(re)
    if n == 1:
        return re, im
    er, ei = fft(re[::2], im[::2])
    odd_r, odd_i = fft(re[1::2], im[1::2])
    angle = -2 * np.pi * np.arange(n // 2) / n
    c, s = np.cos(angle), np.sin(angle)
    tr, ti = c * odd_r - s * odd_i, s * odd_r + c * odd_i
    return np.concatenate((er + tr, er - tr)), np.concatenate((ei + ti, ei - ti))


def power(x):
    re, im = fft(x, np.zeros(len(x)))
    return np.sum((re**2 + im**2) ** 1.5)


x = np.arange(1.0, 9.0)
np.testing.assert_allclose(grad(power, backend="numba")(x), grad(power)(x))
"""


@pytest.mark.compiled
def test_recursion_is_compiled_in_a_process_that_compiled_nothing_before(tmp_path):
    (tmp_path / "fresh.py").write_text(IN_A_FRESH_PROCESS)
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(tmp_path / "fresh.py")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_was_linked_is_whole_for_functions_that_numba_compiles_itself():
    def program(a):
        b = np.zeros_like(a)
        for i in range(len(a)):
            b[i] = np.sum(a[: i + 1])
        return np.sum(b * np.cumsum(a))

    a = A.ravel().copy()
    g = grad(program, backend="numba")(a)
    np.testing.assert_allclose(numba.njit(program)(a), program(a))
    np.testing.assert_allclose(g, grad(program)(a))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (-1, 0, -2), (2, 1, 0)])
def test_axes_in_another_order(order):
    namespace = {}
    exec(f"def f(a):\n    b = np.transpose(a, {order})\n    b[0, 1, 0] = 7.0\n    return b", {"np": np}, namespace)
    x = np.arange(24.0).reshape(2, 3, 4)
    y = x.copy()
    made = numba.njit(namespace["f"])
    for a, b in ((x, y), (x[:, ::-1], y[:, ::-1]), (np.asfortranarray(x), np.asfortranarray(y))):
        found, expected = made(a), namespace["f"](b)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(a, b)
        assert found.strides == expected.strides
