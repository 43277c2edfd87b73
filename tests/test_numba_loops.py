"""Loops as `backend="numba"` runs them: in registers, upward, apart; the same numbers as with NumPy, whatever meets whatever."""

import numpy as np
import pytest

pytest.importorskip("numba")

from sourcead import grad, runtime, value_and_grad
from sourcead.backends.numba import functions
from tests.fuzz.compiled_loops import judge

pytestmark = pytest.mark.compiled

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


def test_additions_that_meet_in_different_iterations_are_gathered():
    text = reverse_part(blur, ROW, 3)
    assert "d_a[i - 1] += d_b[i - 2] * 0.3 + d_b[i - 1] * 0.3 + d_b[i] * 0.3" in text and ", -1)" not in text
    check(blur, ROW, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6])
def test_few_or_no_iterations(n):
    check(blur, ROW[:n], 2)


def carried(a, speed):
    a = a.copy()
    b = a.copy()
    for i in range(2, a.shape[0] - 1):
        for j in range(a.shape[1] - 2, 1, -1):
            b[i, j] = a[i, j] * a[i - 1, j] - a[i, j - 2] * a[i + 1, j + 1] + speed * np.sin(a[i, j + 1]) * a[i, j]
    return np.sum(b * b)


@pytest.mark.parametrize("shape", [(4, 3), (4, 4), (5, 5), (5, 6), (9, 8), (9, 12)])
def test_nonlinear_stencils_on_rows_of_any_length(shape):
    args, namespace = (ROWS[: shape[0], : shape[1]].copy(), 0.7), {**vars(runtime), **vars(functions)}
    exec(compiled_text(carried, *args), namespace)
    np.testing.assert_allclose(namespace["carried_grad"](*args), grad(carried)(*args), atol=1e-12)


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


# ---- statements on parts of arrays ----


def three_points(a, steps):
    a = a.copy()
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = b[:-2] * b[2:]
    return np.sum(a * a)


def in_place(a):
    a = a.copy()
    a[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
    return np.sum(a * a)


def in_place_upward(a):
    a = a.copy()
    a[:-1] = a[:-1] * a[1:]
    return np.sum(a * a)


def in_place_downward(a):
    a = a.copy()
    a[2:] += a[:-2] * a[2:]
    return np.sum(a * a)


def steps_backward(a):
    b = a.copy()
    b[::-1] += 2 * a
    b[::2] *= a[::2]
    b[1:] -= a[::-1][1:]
    return np.sum(b * b)


def a_number_for_all(a):
    b = a.copy()
    b[2:5] = a[0] * a[1]
    b[5:] = 0.5
    b[:-3] *= a[3]
    return np.sum(b * b)


def needed_later(a):
    b = a.copy()
    old = b[1:] * 2.0
    b[:-1] = old
    b[1:] += old
    part = b[:-2]
    b[2:] -= part
    return np.sum(b * old[0]) + np.sum(part * part)


def chained(a):
    b = a * a
    t = 0.5 * (b[1:] + b[:-1])
    u = t[1:] - t[:-1]
    b[1:-1] += 0.1 * u
    b[:-1] *= t
    return np.sum(b)


def up_to_a_number(a, n=4):
    b = a.copy()
    for k in range(n):
        b[k:n] += a[k] * a[: n - k]
        b[:k] -= b[k] * a[:k]
    return np.sum(b * b)


def longer_than_the_array(a):
    b = a.copy()
    b[2:500] *= a[2:500]
    b[:500] += a
    return np.sum(b * b)


def with_functions(a):
    b = a.copy()
    b[1:-1] = np.exp(-(a[:-2] ** 2)) * np.maximum(a[2:], 0.1) + np.where(a[1:-1] > 0, a[1:-1], 0.5)
    return np.sum(b * b)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
@pytest.mark.parametrize(
    "function",
    [in_place, in_place_upward, in_place_downward, steps_backward, needed_later, chained, longer_than_the_array, with_functions],
    ids=lambda f: f.__name__,
)
def test_parts_of_arrays(function, n):
    if n > 2 or function is not needed_later:
        check(function, ROW[:n])


@pytest.mark.parametrize("function", [a_number_for_all, up_to_a_number], ids=lambda f: f.__name__)
def test_parts_and_numbers(function):
    check(function, ROW)


def test_parts_of_single_precision():
    text = compiled_text(three_points, ROW.astype(np.float32), 2)
    assert "d_a[i] += d_b[i] / np.float32(3.0)" in text
    check(three_points, ROW.astype(np.float32), 2, tolerance=3e-6)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 12])
def test_parts_in_loops(n):
    check(three_points, ROW[:n], 3)


def plate(u, v, steps):
    u = u.copy()
    for t in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1]) * v[1:-1, :-2]
        u[0, :] = v[t, :]
        u[1:, 1] -= v[:-1, t] * u[t, 0]
        u[:, 2:] *= 0.9
    return np.sum(u * u)


def test_parts_of_matrices():
    text = compiled_text(plate, ROWS, ROWS + 1, 3)
    assert "for j in range(1," in text
    check(plate, ROWS, ROWS + 1, 3)


def row_for_all(u, v):
    u = u.copy()
    u[1:, :] += v * u[:-1, :]
    u[:, 1:] *= v[1:]
    return np.sum(u * u)


def test_a_row_is_broadcast():
    check(row_for_all, ROWS, ROW)
    check(row_for_all, ROWS[:, :1], ROW[:1])


def two_arrays(x, y):
    x = x.copy()
    x[1:] += y[:-1]
    return np.sum(x * x)


def test_parts_of_different_lengths_are_an_error():
    gradient = grad(two_arrays, backend="numba")
    np.testing.assert_allclose(gradient(ROW, ROW), grad(two_arrays)(ROW, ROW), rtol=1e-12)
    with pytest.raises(ValueError, match="broadcast"):
        gradient(ROW, ROWS[0][:-1])
    check(two_arrays, ROW, ROW[:2])


def integers_and_truth_values(a):
    places = np.arange(12)
    b = a.copy()
    b[1:] *= places[1:]
    b[:-1] += a[:-1] * (a[:-1] > a[1:])
    return np.sum(b * b)


def test_parts_of_other_dtypes():
    check(integers_and_truth_values, ROW)


def test_sums_of_cotangents_go_in_any_order_and_those_of_the_user_do_not():
    def compensated(w, xs):
        total, lost = 0.0, 0.0
        for x in xs:
            y = w * x - lost
            t = total + y
            lost = (t - total) - y
            total = t
        return total

    xs = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.random.default_rng(1).integers(-8, 8, 1000)
    compiled, plain = (value_and_grad(compensated, backend=backend) for backend in ("numba", "numpy"))
    assert compiled(1.1, xs)[0] == plain(1.1, xs)[0]
    np.testing.assert_allclose(compiled(1.1, xs)[1], plain(1.1, xs)[1], rtol=1e-12)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_sums_in_any_order_keep_what_is_not_finite(special):
    def scaled(w, v, xs):
        total = 0.0
        for i in range(len(xs)):
            total += w * xs[i] - v * xs[i] ** 2
        return total

    xs = np.arange(40.0)
    xs[17] = special
    for dtype in (np.float64, np.float32):
        args = dtype(0.5), dtype(0.25), xs.astype(dtype)
        for got, expected in zip(grad(scaled, wrt=(0, 1), backend="numba")(*args), grad(scaled, wrt=(0, 1))(*args)):
            np.testing.assert_equal(got, expected)


def test_the_shares_of_a_tie_are_weights():
    def path(x, gap):
        best, before = 0.0, 0.0
        for i in range(len(x)):
            best, before = max(best - gap, x[i] + before), min(best, before + x[i] * 0.5)
        return best + before

    for x in (ROW, np.zeros(5), np.round(ROW)):
        check(path, x, 0.5)
    assert " / 2" not in reverse_part(path, ROW, 0.5)


def test_nothing_is_copied_for_the_shape_of_its_first_version():
    def table(x):
        t = np.zeros((len(x), len(x)))
        for i in range(1, len(x)):
            for j in range(1, len(x)):
                t[i, j] = max(t[i - 1, j] + x[i], t[i, j - 1] * x[j])
        return t[-1, -1]

    check(table, ROW)
    assert "copy" not in compiled_text(table, ROW) and "t_1" not in compiled_text(table, ROW)
