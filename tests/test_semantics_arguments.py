"""One array for two parameters: right if neither is written, refused if one of them is, or may be, under any name."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import AliasError

V = np.array([0.1, 0.3, 0.5])


def rebound_in_a_branch(a, b, n):
    c = a.copy()
    if n > 0:
        c = b
    c[0] = 2.0
    return np.sum(a * a)


def swapped_in_a_loop(a, b, n):
    for _ in range(3):
        a *= 0.9
        a, b = b, a
    return np.sum(np.sin(a))


def chosen(a, b, n):
    c = b if n > 0 else a * 1
    c += 1
    return np.sum(a * a)


def item_of_a_list(a, b, n):
    items = [a * 1, b]
    items[n][0] = 3.0
    return np.sum(a * a)


def value_of_a_dict(a, b, n):
    d = {"u": b}
    for k in range(n):
        v = d["u"]
        v[k] = 5.0
        d = {"u": v}
    return np.sum(a * a)


def returned(a, b, n):
    def either(x, y):
        if n > 3:
            return x
        return y

    either(a * 1, b)[0] = 4.0
    return np.sum(a * a)


def item_of_a_tuple(a, b, n):
    t = (a * 1, b) if n > 0 else (b, a * 1)
    t[1][0] = 5.0
    return np.sum(a * a)


def view(a, b, n):
    b[::n][0] = 2.0
    return np.sum(a * a)


def view_in_a_branch(a, b, n):
    c = np.asarray(b)
    c = c.reshape(3, 1) if n else c.reshape(3, 1) * 1.0
    c[0] = 9.0
    return np.sum(a * a)


def kept_in_a_loop(a, b, n):
    best = a * 1.0
    for k in range(n + 1):
        if k == n:
            best = b
    np.add(best, 1.0, out=best)
    return np.sum(a * a)


def only_read(a, b, n):
    c = a if n > 0 else b
    return np.sum(c * b)


WRITING = [
    rebound_in_a_branch, swapped_in_a_loop, chosen, item_of_a_list, value_of_a_dict, returned, item_of_a_tuple, view,
    view_in_a_branch, kept_in_a_loop
]  # fmt: skip


@pytest.mark.parametrize("program", WRITING)
def test_arguments_that_share_what_is_written_are_refused(program):
    a = V.copy()
    with pytest.raises(AliasError, match="share memory"):
        value_and_grad(program, wrt=(0, 1))(a, a, 1)


@pytest.mark.parametrize("program", [*WRITING, only_read])
def test_arguments_apart_are_right(program):
    expected = program(V.copy(), V.copy(), 1)
    value, _ = value_and_grad(program, wrt=(0, 1), verify="gradient")(V.copy(), V.copy(), 1)
    np.testing.assert_allclose(value, expected)


def test_arguments_that_are_one_array_and_only_read_are_right():
    value, (d_a, d_b) = value_and_grad(only_read, wrt=(0, 1))(V, V, 1)
    np.testing.assert_allclose([value, *d_a, *d_b], [np.sum(V * V), *V, *V])
