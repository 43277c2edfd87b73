"""Writes through `reshape`, `ravel` and `flat`: views where arrays lie in C order."""

import numpy as np
import pytest

from sourcead import AliasError, UnsupportedArgumentError, check_grads, grad

X = np.array([[0.7, -0.4, 0.3], [0.9, 1.2, -0.6], [0.2, 0.5, -1.1]])


def flat_elements(x):
    a = x * 2.0
    a.flat[1] = x[1, 1] ** 2
    for i in range(a.size):
        a.flat[i] = a.flat[i - 1] * 0.5 + x.flat[i]
    return np.sum(a * a * x)


def flat_slice(x):
    a = x * 2.0
    a.flat[::4] *= x[0]
    np.fill_diagonal(a, a[0] * x[1])
    return np.sum(a * a * x)


def both_names_are_read(x):
    a = np.cos(x)
    m = a.reshape(9)
    m[4] = x[0, 0] ** 2
    a[0] *= 3.0
    return np.sum(a * x) + np.sum(m * np.arange(9.0))


def row_reshaped_in_a_loop(x):
    a = np.zeros((3, 3))
    for i in range(3):
        r = a[i].reshape(3, 1)
        r[:, 0] = x[i] ** 2
        r[0] *= 2.0
    return np.sum(a * a * x)


def callee_ravels(x):
    def fill(v):
        flat = v.ravel()
        flat[1:] += flat[:-1] * 0.5

    a = x * 1.0
    fill(a)
    fill(a[1])
    fill(a[1:])
    return np.sum(a * a)


def base_written_after(x):
    a = x * 1.0
    w = a.reshape(-1)
    a[:] += 0.5
    a[1, 1] = 0.0
    return np.sum(w * w)


def only_in_one_arm(x):
    a = x * 1.0
    if np.sum(a) > 0:
        w = a.ravel()
        w[1] /= 1.5
    else:
        a = a * 1.0
    return np.sum(a * a)


def transposed_twice(x):
    a = x * 1.0
    w = a.T.T.reshape(-1)
    w[3] = x[0, 0] * x[1, 1]
    return np.sum(a * a)


def ravel_of_a_transpose_is_a_copy(x):
    a = x * 1.0
    r = a.T.ravel()
    r[:] = 0.0
    a[0] = 2.0 * x[1]
    return np.sum(a * a) + np.sum(r)


def fresh_arrays_only(x):
    a = np.zeros((3, 3))
    w = a.ravel()
    w[::2] = x[0, 0] ** 2
    w += x.sum()
    return np.sum(a * x)


def sorted_in_place(x):
    a = x * 1.0
    a.reshape(-1).sort()
    return np.sum(a * np.arange(9.0).reshape(3, 3))


PROGRAMS = [
    flat_elements, flat_slice, both_names_are_read, row_reshaped_in_a_loop, callee_ravels, base_written_after, only_in_one_arm,
    transposed_twice, ravel_of_a_transpose_is_a_copy, fresh_arrays_only, sorted_in_place,
]  # fmt: skip
ASK_FOR_THE_LAYOUT = {both_names_are_read, callee_ravels, base_written_after, only_in_one_arm, ravel_of_a_transpose_is_a_copy,
                      sorted_in_place, transposed_twice}  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_is_right(f):
    before = X.copy()
    check_grads(f, (X,))
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_other_layouts_are_right_or_refused(f):
    for x in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        if f in ASK_FOR_THE_LAYOUT:
            with pytest.raises(UnsupportedArgumentError, match="`x` is not in C order"):
                grad(f)(x)
        else:
            check_grads(f, (x,))


def test_a_layout_that_is_not_known_is_refused():
    def f(x, y):
        a = x.T + y  # in neither order
        w = a.ravel()
        w[0] = 1.0
        return np.sum(a)

    with pytest.raises(AliasError):
        grad(f)(X, X)


def test_reading_asks_for_no_layout():
    def f(x):
        w = (x * 2.0).ravel()
        return np.sum(w[1:] * w[:-1])

    check_grads(f, (np.asfortranarray(X),))


def kept_by_the_callee(x):
    keep = []

    def zeros(n):
        z = x[:n] * 0.0
        keep.append(z)
        return z

    r = zeros(3).reshape(-1)
    r[0] = 5.0 * x[0, 0]
    return np.sum(keep[0] ** 2) + np.sum(r)


def arrays_just_made(x):
    a = np.arange(6.0).reshape(2, 3)
    a[0] += x[0]
    b = (x[1] * 2).reshape(3, 1).T
    b[0, 1] = x[0, 0] ** 2
    c = np.zeros((3, 2)).T
    c[1] = x[2]
    d = np.reshape(np.outer(x[0], x[1]), -1)
    d[::4] = 0.0
    return np.sum(a * a) + np.sum(b * b) + np.sum(c[1] ** 3) + d @ d


@pytest.mark.parametrize("f", [kept_by_the_callee, arrays_just_made])
def test_what_has_just_been_made_is_nobody_elses(f):
    check_grads(f, (X,))
