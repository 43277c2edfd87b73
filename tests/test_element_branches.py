"""Elements that a loop may leave as they are: a choice between what an element holds and another number."""

import numpy as np
import pytest

from sourcead import Numba, Revolve, grad, hvp, jvp


def paths_of_a_choice(d):
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = d[i, j] if d[i, j] < d[i, k] + d[k, j] else d[i, k] + d[k, j]
    return np.sum(d * d)


def paths_of_a_condition(d):
    d = d.copy()
    k = 0
    while k < len(d):
        for i in range(len(d)):
            for j in range(len(d)):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
        k += 1
    return np.sum(d * d)


def paths_of_a_minimum(d):
    d = d.copy()
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.sum(d * d)


def paths_with_a_helper(d):
    def better(a, b):
        return np.minimum(b, a)

    best = d * 1.0
    for k in range(d.shape[0]):
        for i in range(d.shape[0]):
            for j in range(d.shape[0]):
                best[i][j] = better(best[i][j], best[i][k] + best[k][j])
    return np.sum(best * best)


def both_are_read(d):
    """What is chosen is read again, and the array between the choice and the write."""
    d = d.copy()
    s = 0.0
    for k in range(len(d)):
        for i in range(1, len(d)):
            m = max(d[i, k], d[i - 1, k] * d[k, i])
            s += d[i, 0] * m
            d[i, k] = m
    return s + np.sum(d)


def another_element(d):
    """What is chosen between is not what is overwritten."""
    d = d.copy()
    for i in range(1, len(d)):
        for j in range(1, len(d)):
            d[i, j] = max(d[i - 1, j], d[i, j - 1] * d[i, j])
            d[i - 1, j] = d[i, j] if d[i, j] > d[i, j - 1] else d[i - 1, j]
    return np.sum(d * d)


def an_older_version(d):
    d = d.copy()
    for i in range(1, len(d)):
        old = d[i, 0]
        d[i, 0] = old * d[i - 1, 1]
        d[i, 0] = old if old < d[0, i] else d[i, 0] * d[0, i]
        d[i, 1] = min(old, d[i, 1] * d[i, 0])
    return np.sum(d * d * d)


def a_choice_of_three(d):
    d = d.copy()
    for i in range(len(d)):
        for j in range(len(d) - 1):
            d[i, j] = max(d[i, j], min(d[i, j + 1] * 0.9, d[j, i] + 0.1))
            if d[i, j] > 1.0:
                d[i, j] = d[i, j] * d[j, i] if d[j, i] < 0.5 else d[i, j]
            d[i, -1] = d[i, -1] if d[i, j] < 0 else d[i, -1] * d[i, j]
    return np.sum(d * d)


PROGRAMS = [
    paths_of_a_choice, paths_of_a_condition, paths_of_a_minimum, paths_with_a_helper, both_are_read, another_element, an_older_version,
    a_choice_of_three,
]  # fmt: skip


def drawn(seed=0, n=5):
    return np.random.default_rng(seed).uniform(0.2, 3.0, size=(n, n))


def difference(f, x, way, step=1e-6):
    return (f(x + step * way) - f(x - step * way)) / (2 * step)


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_those_of_differences(f):
    for seed in range(2):
        x, way = drawn(seed), drawn(seed + 10) - 1.0
        expected = difference(f, x, way)
        np.testing.assert_allclose(np.sum(grad(f)(x) * way), expected, rtol=1e-6)
        np.testing.assert_allclose(jvp(f, (x,), (way,))[1], expected, rtol=1e-6)


@pytest.mark.parametrize("f", [paths_of_a_choice, paths_of_a_minimum, a_choice_of_three])
def test_policies_dtypes_and_second_derivatives_agree(f):
    x, way = drawn(n=3), drawn(9, n=3)
    expected = grad(f)(x)
    for policy in ("store", Revolve(2)):
        np.testing.assert_allclose(grad(f, checkpoint=policy)(x), expected, rtol=1e-12)
    single = grad(f)(x.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4)
    np.testing.assert_allclose(hvp(f)(x, way), difference(grad(f), x, way), rtol=1e-5, atol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled_gradients_are_those_of_the_text_for_numpy(f):
    x = drawn()
    np.testing.assert_allclose(grad(f, backend=Numba(cache=False))(x), grad(f)(x), rtol=1e-12)


def greatest_so_far(x, y):
    x = x.copy()
    for i in range(len(x)):
        x[i] = max(x[i], y[i] * 1.0)
    return np.sum(x * np.arange(1.0, len(x) + 1))


def test_equal_numbers_share_the_cotangent():
    x, y = np.array([1.0, 2.0, 2.0]), np.array([1.0, 3.0, 1.0])
    d_x, d_y = grad(greatest_so_far, wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(d_x, [0.5, 0.0, 3.0])
    np.testing.assert_array_equal(d_y, [0.5, 2.0, 0.0])


def writes(text):
    return [line.strip() for line in text.splitlines() if "d[i, j] =" in line and "d_d" not in line and "#" not in line]


def test_what_stays_is_not_written_and_no_zeros_are_added():
    text = grad(paths_of_a_choice).lower(drawn()).text
    assert writes(text) == ["d[i, j] = total"]
    assert " = 0.0\n" not in text.replace("d_d[i, j] = 0.0\n", "")
    text = grad(paths_of_a_minimum).lower(drawn()).text
    assert "wins" in text and len(writes(text)) == 1


def test_beside_what_is_not_a_number_the_first_is_taken_as_python_does():
    x, y = np.array([np.nan, 2.0]), np.array([1.0, np.nan])
    assert np.isnan(max(np.nan, 1.0)) and max(2.0, np.nan) == 2.0
    d_x, d_y = grad(greatest_so_far, wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(d_x, [1.0, 2.0])
    np.testing.assert_array_equal(d_y, [0.0, 0.0])


def warped(x, y):
    c = np.full((len(x) + 1, len(y) + 1), np.inf)
    c[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            c[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(c[i, j], c[i, j + 1], c[i + 1, j])
    return np.sqrt(c[len(x), len(y)])


def warped_by_branches(x, y):
    c = np.full((len(x) + 1, len(y) + 1), 1e9)
    c[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if c[i - 1, j - 1] <= c[i - 1, j] and c[i - 1, j - 1] <= c[i, j - 1]:
                best = c[i - 1, j - 1]
            elif c[i - 1, j] <= c[i, j - 1]:
                best = c[i - 1, j]
            else:
                best = c[i, j - 1]
            c[i, j] = np.abs(x[i - 1] - y[j - 1]) ** 3 + best
    return np.sqrt(c[len(x), len(y)])


@pytest.mark.parametrize("f", [warped, warped_by_branches])
def test_the_reverse_of_a_least_path_leaves_out_what_is_not_on_it(f):
    rng = np.random.default_rng(3)
    x, y, way = rng.normal(size=8), rng.normal(size=9), rng.normal(size=8)
    gradient = grad(f, wrt=(0, 1))
    assert "!= 0.0:" in gradient.lower(x, y).text
    d_x, d_y = gradient(x, y)
    np.testing.assert_allclose(d_x @ way, difference(lambda x: f(x, y), x, way), rtol=1e-6)
    np.testing.assert_allclose(d_y[:8] @ way, difference(lambda z: f(x, np.append(z, y[8])), y[:8].copy(), way), rtol=1e-6)
    expected = difference(lambda x: grad(f)(x, y), x, way)
    np.testing.assert_allclose(hvp(f)(x, y, way), expected, rtol=1e-5, atol=1e-7)


def smooth(x, y):
    c = np.zeros(len(x) + 1)
    for i in range(len(x)):
        c[i + 1] = np.tanh(c[i]) * y[i] + x[i] * (1 + c[i] * y[i]) / 2
    return c[len(x)]


def test_no_cotangent_is_tested_that_is_zero_by_chance_alone():
    assert "!= 0.0" not in grad(smooth).lower(np.ones(9), np.ones(9)).text
