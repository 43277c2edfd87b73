"""`while` loops that count are loops over ranges; others stay as they are."""

import numpy as np
import pytest

from sourcead import check_grads, grad

X = np.linspace(0.3, 1.7, 12)
STEP = 2


def up(x, n):
    k, s = 0, x[0]
    while k < n:
        s = np.sin(s * x[k]) + 0.1 * k
        k += 1
    return s


def up_to(x, n):
    k, s = 1, x[0]
    while n - 1 >= k:
        s = np.sin(s * x[k]) + 0.1 * k * s
        k = 2 + k
    return s


def down_and_read_behind(x, n):
    k, s = n - 1, x[0]
    while 0 <= k:
        s = np.sin(s * x[k]) + 0.1 * k * s
        k -= 3
    return s + x[k]


def changed_before_it_is_read(x, n):
    k, s = n, x[0]
    while k > 1:
        k = k - 1
        s = np.sin(s * x[k]) + 0.1 * k * s
    return s * x[k]


def left(x, n):
    k, s = 0, x[0]
    while k < n:
        s = np.sin(s * x[k]) + 0.1 * k * s
        k += 1
        if s > 1.2:
            break
    else:
        s = s * 2
    return s * x[k - 1]


def nested(x, n):
    i, s = 0, x[0]
    while i < min(n, len(x)):
        j = i
        while j > 0:
            s = np.sin(s + x[j] * x[i])
            j -= 1
        i += 1
    return s


def never(x, n):
    k, s = 5, x[0]
    while k < n - 100:
        s = s * x[k]
        k += 1
    return s * k


@pytest.mark.parametrize("f", [up, up_to, down_and_read_behind, changed_before_it_is_read, left, nested, never])
def test_a_loop_that_counts_is_a_loop_over_a_range(f):
    assert "    while " not in grad(f, wrt="x").lower(X, 7).text
    for n in (7, 10, 1, 0):
        check_grads(f, (X, n), wrt="x")


def bound_moves(x, n):
    k, s = 0, x[0]
    while k < n:
        s = np.sin(s * x[k]) + 0.1 * k * s
        k += 1
        if k == 3:
            n = n - 2
    return s


def grows(x, n):
    k, s, xs = 0, 0.0, [x[0]]
    while k < len(xs):
        s = s + xs[k] ** 2
        if k < n:
            xs.append(np.sin(xs[k]))
        k += 1
    return s


def bound_is_a_float(x, n):
    k, s = 0, x[0]
    while k < n - 0.5:
        s = np.sin(s) * x[k]
        k += 1
    return s


def of_numpy(x, n):
    k, s = np.int64(0), x[0]
    while k < n:
        s = np.sin(s * x[k]) + 0.1 * k
        k += 1
    return s


def by_a_global(x, n):
    k, s = 0, x[0]
    while k < n:
        s = np.sin(s * x[k])
        k += STEP
    return s


def by_turns(x, n):
    k, s = 0, x[0]
    while k < n:
        s = np.sin(s * x[k])
        k = k + 1 if s > 0.5 else k + 2
    return s


def away_from_the_bound(x, n):
    k, s = n, x[0]
    while k < 3:
        s = np.sin(s * x[k])
        k -= 1
        if k < 0:
            break
    return s


@pytest.mark.parametrize("f", [bound_moves, grows, bound_is_a_float, of_numpy, by_a_global, by_turns, away_from_the_bound])
def test_other_loops_stay(f):
    assert "    while " in grad(f, wrt="x").lower(X, 7).text
    for n in (7, 1, 0):
        check_grads(f, (X, n), wrt="x")


def test_an_error_is_raised_in_the_same_iteration():
    def f(x, n):
        k, s = 0, x[0]
        while k < n:
            s = s * x[k]
            k += 1
        return s

    with pytest.raises(IndexError):
        grad(f, wrt="x")(X, 20)
