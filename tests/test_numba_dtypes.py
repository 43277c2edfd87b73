"""Dtypes that NumPy has and Numba has not: "auto" falls back with a warning, and "numba" names the argument, the dtype and what to do."""

import os
import subprocess
import sys

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from sourcead import grad, hvp, jvp, value_and_grad, vjp  # noqa: E402
from sourcead.errors import BackendError  # noqa: E402

V = np.array([1.0, 2.0, 3.0])
LACKING = ["longdouble", ">f8", ">f4", "float16", "object"]


def squares(x):
    return np.sum(x * x)


def weighted(w, x):
    return np.sum(w * w) * len(x)


def of_a_dict(p):
    return np.sum(p["w"] * p["w"])


@pytest.mark.parametrize("dtype", LACKING)
@pytest.mark.parametrize("made", [grad(squares, backend="auto"), grad(numba.njit(squares))], ids=["auto", "njit"])
def test_numpy_runs_a_gradient_by_what_numba_lacks(dtype, made):
    x = V.astype(dtype)
    with pytest.warns(RuntimeWarning, match=r"the argument `x` has the dtype \S+ ?.*, which Numba lacks") as told:
        found = made(x)
    assert found.dtype == x.dtype and list(found) == [2, 4, 6]
    assert 'backend="auto"' not in str(told[0].message)  # it is what the user took


@pytest.mark.parametrize("dtype", [*LACKING, "clongdouble", ">c16", "V4"])
def test_the_refusal_names_the_argument_and_the_dtype(dtype):
    with pytest.raises(BackendError) as raised:
        grad(weighted, backend="numba")(V, np.zeros(2, dtype))
    assert "the argument `x` has the dtype " + str(np.dtype(dtype)) in str(raised.value)
    assert 'backend="auto"' in str(raised.value)


@pytest.mark.parametrize(("dtype", "instead"), [
    ("float16", "`x.astype(np.float32)`"), (">f8", "`x.astype('float64')`"), ("longdouble", "`x.astype(float)`"),
])  # fmt: skip
def test_the_refusal_says_how_to_convert_and_the_conversion_helps(dtype, instead):
    x = V.astype(dtype)
    with pytest.raises(BackendError) as raised:
        grad(squares, backend="numba")(x)
    assert instead in str(raised.value)
    assert list(grad(squares, backend="numba")(eval(instead.strip("`"), {"x": x, "np": np}))) == [2, 4, 6]


def test_the_refusal_names_the_part_of_an_argument():
    with pytest.raises(BackendError, match=r"the argument `p\['w'\]` has the dtype float16"):
        grad(of_a_dict, backend="numba")({"w": V.astype("f2")})
    with pytest.raises(BackendError, match=r"the argument `x` has the dtype float16"):
        grad(squares, backend="numba")(np.float16(2.0))


@pytest.mark.compiled
def test_lists_of_numbers_of_different_classes_are_compiled():
    def summed(x, weights):
        total = 0.0
        for w in weights:
            total = total + w * x
        return total

    g = grad(summed, backend="numba")
    assert [g(2.0, [1.0, np.float64(2.0), 3.0]), g(2.0, [1.0, np.float64(2.0)]), g(2.0, [np.float64(2.0), 1.0, 1.5, 2.0])] == [6, 3, 6.5]


SCALES = V.astype(">f8")


def test_the_refusal_names_global_data_and_lines():
    def scaled(x):
        return np.sum(x * SCALES)

    def halved(x):
        return np.sum(x.astype(np.float16) ** 2)

    with pytest.raises(BackendError, match="the global `SCALES` has the dtype >f8"):
        grad(scaled, backend="numba")(V)
    with pytest.raises(BackendError, match="this computes values of the dtype float16") as raised:
        grad(halved, backend="numba")(V)
    assert "return np.sum(x.astype(np.float16) ** 2)" in str(raised.value)


@numba.njit
def helper(x):
    return np.sum(x * x)


def calls_a_compiled_function(x):
    return 2 * helper(x)


@pytest.mark.parametrize("dtype", LACKING)
def test_a_compiled_function_that_cannot_run_these_arguments_has_a_gradient(dtype):
    x = V.astype(dtype)
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot"):
        assert list(grad(calls_a_compiled_function, backend="auto")(x)) == [4, 8, 12]
    with pytest.warns(RuntimeWarning, match="NumPy runs what Numba cannot"):
        assert list(grad(numba.njit(calls_a_compiled_function), verify="gradient")(x)) == [4, 8, 12]


@pytest.mark.filterwarnings("ignore:NumPy runs")
def test_every_transformation_of_a_compiled_function_takes_these_dtypes():
    f, x = numba.njit(squares), V.astype("longdouble")
    assert list(vjp(f, x)[1](np.longdouble(1))) == list(value_and_grad(f)(x)[1]) == list(hvp(f)(x, x)) == [2, 4, 6]
    assert jvp(f, (x,), (x,)) == (14, 28)


def given(name, folder):
    """An array as it may come from a file, a buffer or another language."""
    read_only = V.copy()
    read_only.flags.writeable = False
    mapped = np.memmap(folder / "v.bin", dtype=float, mode="w+", shape=3)
    mapped[:] = V
    return {
        "read only": read_only, "a memory map": mapped, "in steps": np.repeat(V, 2)[::2], "backwards": V[::-1].copy()[::-1],
        "misaligned": np.frombuffer(b"\0" + V.tobytes(), "u1")[1:].view(float), "columns first": np.asfortranarray(V[None]),
        "without axes": np.array(2.0), "without elements": np.ones(0), "single precision": V.astype("f4"),
    }[name]  # fmt: skip


@pytest.mark.compiled
@pytest.mark.parametrize("name", [
    "read only", "a memory map", "in steps", "backwards", "misaligned", "columns first", "without axes", "without elements",
    "single precision",
])  # fmt: skip
def test_numba_runs_what_numpy_runs(name, tmp_path):
    x = given(name, tmp_path)
    found = grad(squares, backend="numba")(x)
    np.testing.assert_array_equal(found, 2 * np.asarray(x))
    assert found.dtype == x.dtype


@pytest.mark.compiled
def test_by_the_public_interface_of_numba_too():
    code = "import tests.test_numba_dtypes as t; t.test_the_refusal_names_the_argument_and_the_dtype('float16')\n" + (
        "from sourcead.backends.numba.compile import TOOLCHAIN as tools, compile_or_refuse; from sourcead.emit import Emitted\n"
        "call = tools.first_calls(t.numba.njit(t.squares), lambda f: compile_or_refuse(f, Emitted('', {}), 'm.py', 'm.py:1'))\n"
        "try:\n    call(t.V.astype('>f8'))\nexcept t.BackendError:\n    print('refused')"
    )
    environment = {**os.environ, "SOURCEAD_NUMBA_INTERNALS": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "refused\n", done.stderr
