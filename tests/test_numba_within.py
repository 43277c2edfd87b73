"""Gradients that compiled functions call, and the options of the backend."""

import os
import subprocess
import sys

import numpy as np
import pytest

from sourcead import Numba, grad, value_and_grad
from sourcead.errors import UnsupportedArgumentError

numba = pytest.importorskip("numba")

from numba import njit  # noqa: E402
from numba.core.errors import TypingError  # noqa: E402

pytestmark = pytest.mark.compiled

SCALE = np.array([1.0, 2.0, 3.0])


@njit
def loss(w, x, power=2):
    total = 0.0
    for i in range(len(x)):
        total += (w[i] * x[i] - 1.0) ** power * SCALE[i]
    return total


loss_grad = grad(loss)
both = value_and_grad(loss, ("w", "x"))


@njit
def descend(w, x, steps):
    for _ in range(steps):
        w = w - 0.05 * loss_grad(w, x)
    return w


@njit
def value_and_first(w, x):
    value, (d_w, d_x) = both(w, x, 3)
    return value, d_w[0], d_x[1]


def test_a_compiled_function_calls_a_gradient():
    w, x = np.zeros(3), np.array([1.0, 2.0, 0.5])
    expected = w
    for _ in range(4):
        expected = expected - 0.05 * loss_grad(expected, x)
    np.testing.assert_array_equal(descend(w, x, 4), expected)
    np.testing.assert_array_equal(descend(np.zeros(6)[::2], x[::-1], 1), -0.05 * loss_grad(np.zeros(3), x[::-1]))


def test_it_takes_defaults_and_gives_values_and_tuples():
    w, x = np.ones(3), np.array([1.0, 2.0, 0.5])
    value, (d_w, d_x) = both(w, x, 3)
    np.testing.assert_allclose(value_and_first(w, x), (value, d_w[0], d_x[1]), rtol=1e-14)


def test_the_same_code_takes_arrays_that_broadcast_in_other_ways():
    g = grad(lambda a, b: np.sum((a * b + b) ** 2), (0, 1), backend=Numba(inline="always"))

    @njit
    def call(a, b):
        return g(a, b)

    rng = np.random.default_rng(2)
    for shapes in (((3,), (3,)), ((1,), (3,)), ((3,), (1,)), ((9,), (1,)), ((0,), (1,))):
        a, b = (rng.normal(size=shape) for shape in shapes)
        for got, expected in zip(call(a, b), g(a, b), strict=True):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_what_a_compiled_function_cannot_give_is_an_error():
    def scales(x, w):
        for i in range(len(x)):
            x[i] = x[i] * w[i]
        return np.sum(x)

    g, h = grad(lambda s: s * s, backend="numba"), grad(scales, backend="numba")

    @njit
    def with_an_integer(n):
        return g(n)

    @njit
    def with_shared_memory(x):
        return h(x, x)

    with pytest.raises(TypingError, match="pass a float"):
        with_an_integer(2)
    with pytest.raises(TypingError, match="may share memory"):
        with_shared_memory(np.ones(3))


# ---- options ----


def in_place(x):
    a = x.copy()
    half = len(a) // 2
    a[1:] = a[:-1] * 2.0
    low, high = a[:half], a[half:]
    a[:half] = low + high
    return np.sum(np.sin(a) * np.mean(a)) + np.sum(a[:, None] * a)


def test_threads_leave_writes_in_order():
    x = np.random.default_rng(1).normal(size=8)
    np.testing.assert_allclose(grad(in_place, backend=Numba(parallel=True, cache=False))(x), grad(in_place)(x), rtol=1e-12)


def test_arrays_that_broadcast_are_taken_by_one_thread():
    def f(c, r):
        return np.sum((c + r) ** 2 * r)

    c, r = np.ones((3, 1)), np.arange(4.0)
    np.testing.assert_allclose(grad(f, backend=Numba(parallel=True, cache=False))(c, r), grad(f)(c, r), rtol=1e-12)


def test_there_are_two_ways_to_inline():
    with pytest.raises(UnsupportedArgumentError):
        Numba(inline="perhaps")


def test_processes_share_the_cache(tmp_path):
    script = """
import numpy as np
from sourcead import grad
from tests.test_numba_within import loss
print(grad(loss)(np.ones(3), np.array([1.0, 2.0, 0.5])).tolist())
"""
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    found = [p.communicate(timeout=300) for p in running]
    expected = loss_grad(np.ones(3), np.array([1.0, 2.0, 0.5])).tolist()
    assert [(p.returncode, out) for p, (out, _) in zip(running, found)] == [(0, f"{expected}\n")] * 3, found
    assert len(list((tmp_path / "machine-code").iterdir())) == 1
