"""Loops as `backend="numba"` runs them: in registers, upward, apart; the same numbers as with NumPy, whatever meets whatever."""

import numpy as np
import pytest

pytest.importorskip("numba")

from sourcead import grad
from tests.fuzz.compiled_loops import judge

RNG = np.random.default_rng(1)
ROW, ROWS = RNG.normal(size=12), RNG.normal(size=(12, 12))


def compiled_text(function, *args):
    return grad(function, backend="numba").lower(*args).compiled_text


def reverse_part(function, *args):
    """The statements of the reverse sweep."""
    lines = compiled_text(function, *args).split("# reverse")[1].splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


def check(function, *args, tolerance=1e-12):
    expected = grad(function)(*args)
    got = grad(function, backend="numba")(*args)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max(initial=1))


def blur(a, steps):
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = 0.3 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, len(a) - 1):
            a[i] = b[i] * b[i]
    return np.sum(a * a)


def test_additions_that_meet_in_different_iterations_go_apart():
    text = reverse_part(blur, ROW, 3)
    assert text.count("for i in range(1,") == 4 and ", -1)" not in text
    check(blur, ROW, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_or_no_iterations(n):
    check(blur, ROW[:n], 2)


def test_single_precision():
    check(blur, ROW.astype(np.float32), 2, tolerance=3e-6)


def smoothed_in_place(a):
    a = a.copy()
    for i in range(1, len(a) - 1):
        a[i] = 0.3 * (a[i - 1] + a[i] + a[i + 1])
    return np.sum(a * a)


def test_iterations_that_need_each_other_keep_their_order():
    assert "range(n - 2, 0, -1)" in reverse_part(smoothed_in_place, ROW)
    check(smoothed_in_place, ROW)


def recurrence(a):
    y = 0.0
    out = np.zeros(len(a))
    for i in range(len(a)):
        y = 0.5 * y + a[i]
        out[i] = y
    return np.sum(out * out)


def test_numbers_that_go_from_iteration_to_iteration_keep_their_order():
    check(recurrence, ROW)


def product(a, b):
    c = np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(len(a)):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


def test_an_element_that_each_iteration_adds_to_is_a_variable():
    text = compiled_text(product, ROWS, ROWS)
    assert "c_item += a[i, k] * b[k, j]" in text and "d_c_part * b[k, j]" in text
    check(product, ROWS, ROWS)


def reads_beyond_the_end_in_no_iteration(a, n):
    b = np.zeros(len(a))
    for i in range(len(a)):
        for k in range(n):
            b[i] += a[k] * a[len(a) + 5]
    return np.sum(a * a) + np.sum(b)


def test_nothing_is_read_that_no_iteration_reads():
    check(reads_beyond_the_end_in_no_iteration, ROW, 0)
    with pytest.raises(IndexError):
        grad(reads_beyond_the_end_in_no_iteration, backend="numba")(ROW, 1)


def the_same_element(a):
    b = a.copy()
    for i in range(len(a)):
        for k in range(len(a)):
            b[i] += a[k] * b[k]
    return np.sum(b)


def from_the_end(a):
    b = a.copy()
    for i in range(3, len(a)):
        for k in range(len(a)):
            b[-1] += a[k] * b[i - 3]
            b[i - k] -= 0.1 * a[i]
    return np.sum(b * b)


def written_in_a_branch(a):
    b = a.copy()
    for i in range(len(a)):
        for k in range(len(a)):
            b[i] += a[k] if b[k] > 0 else 0.5 * a[i]
    return np.sum(b * b)


def elements_by_a_table(a, places=(3, 1, 1, 0)):
    b = a.copy()
    for k in range(len(places)):
        b[places[k]] += a[k] * a[0]
        b[k] = b[k] * 0.5
    return np.sum(b * b)


@pytest.mark.parametrize("function", [the_same_element, from_the_end, written_in_a_branch, elements_by_a_table], ids=lambda f: f.__name__)
def test_elements_that_may_be_the_same(function):
    check(function, ROW)


def two_sums(a, n):
    b = a.copy()
    s = t = 0.0
    for i in range(1, len(a) - 1):
        s += a[i] * b[i + 1]
        b[i - 1] += a[i]
        b[i] -= a[i + 1]
        t -= a[i] * s
    return np.sum(b * b) + s * n + t


def test_sums_beside_additions_to_elements():
    check(two_sums, ROW, 2.0)


@pytest.mark.parametrize("seed", range(60))
def test_random_loops(seed, tmp_path):
    assert judge(seed, tmp_path) in ("equal", "refused", "unjudged")
