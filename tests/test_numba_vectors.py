"""Statements on vectors become loops over their elements under Numba, and give what NumPy gives."""

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from sourcead import grad, value_and_grad  # noqa: E402

pytestmark = pytest.mark.compiled

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(0.5, 1.5, 12), RNG.uniform(0.5, 1.5, 12)
W = RNG.normal(size=(3, 12))


def gates(w, x, c):
    """An LSTM's cell: parts of one vector, rows of a matrix, and vectors that are saved in each iteration."""
    n = len(c)
    for _ in range(3):
        z = np.concatenate((x, c)) * w[0, 0] + np.concatenate((c, x))
        f = 1 / (1 + np.exp(-z[:n]))
        i = np.tanh(z[n : 2 * n])
        c = c * f + i * x
        x = np.tanh(c) * f
    return np.sum(c * c) + np.sum(w[1] * x)


def rows_added_to(w, x, y):
    """Rows of a matrix, the last of which is written twice."""
    out = np.zeros((3, len(x)))
    for k in range(3):
        a = np.sin(x) * w[k]
        b = a / y + x
        out[k] += a * b
        out[-1] -= b
    return np.sum(out * out)


def rows_read_while_written(w, x, y):
    """A row is a view: what is read of it later is what was written."""
    m = w.copy()
    for k in range(2):
        row = m[k]
        new = row * x + y
        m[k] = new * new
        m[k + 1] += row - np.sqrt(new * new + 1)
    return np.sum(m * m)


def overlapping_parts(w, x, y):
    a = x.copy()
    for k in range(1, 3):
        u = np.sin(y[1:] * k)
        v = u * y[:-1]
        a[1:] = u * v
        a[:-1] += v - u
        a[1:] *= u
        a[-5:] = v[:5] * u[:5]
    return np.sum(a * a)


def parts_from_the_end(w, x, y):
    total = 0.0
    for k in range(-4, -2):
        a = np.zeros(len(x))
        p = x[:4] * y[:4]
        q = p + y[4:8]
        a[k : k + 4] = (p * q)[: len(a[k : k + 4])]
        a[-4:] = p * q
        a[0:4] += q
        total += np.sum(a * y)
    return total


def lengths_that_differ(w, x, y):
    """Two lengths in the same block, which never meet."""
    total = 0.0
    for k in range(3):
        a, b = np.sin(x * k), np.exp(y[3:])
        a, b = a * x + 1, b * y[3:] + 2
        total += np.sum(a * a) * np.sum(b / (1 + b))
    return total


def none_at_all(w, x, y):
    total = 0.0
    for k in range(2):
        z = x[:k]
        a = np.exp(z) * z
        total += np.sum(a) + np.sum(x * y * x)
    return total


def with_numbers(w, x, y):
    k, s, total = 3, 0.5, 0.0
    for i in range(2):
        a = x**k + s * y
        b = np.maximum(a, 1.5) / 2 - a**0.5 * i
        total += np.sum(np.abs(b - s) * (1 - b))
    return total


def starts_as_a_number(w, x, y):
    """The types tell of a vector, and at first there is a number."""
    total = 0.0
    for k in range(3):
        step = np.tanh(x * y) * k
        total = total + step * w[k]
        x = x + step
    return np.sum(total * x)


def saved_in_branches(w, x, y):
    for i in range(4):
        if i % 2:
            x = np.tanh(x * y)
        else:
            x = x + np.exp(-x) * y
    return np.sum(x)


def saved_with_other_lengths(w, x, y):
    """Vectors of one list that are not equally long."""
    total = 0.0
    for i in range(1, 5):
        part = np.exp(x[i:] * y[i:])
        total += np.sum(part * np.sin(part))
    return total


PROGRAMS = (
    gates, rows_added_to, rows_read_while_written, overlapping_parts, parts_from_the_end, lengths_that_differ, none_at_all, with_numbers,
    saved_in_branches, saved_with_other_lengths, starts_as_a_number,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_numpy(program):
    compiled, plain = (grad(program, wrt=(0, 1, 2), backend=backend) for backend in ("numba", "numpy"))
    for a, b in zip(compiled(W, X, Y), plain(W, X, Y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())


def repeated(x, y, n):
    total = 0.0
    for _ in range(2):
        a = x[:n] * y
        b = a + np.sin(x[:n])
        total += np.sum(b * b)
    return total


def test_a_vector_of_one_element_is_repeated():
    """Its length is known only at the call; the compiled text takes it for as long as the others."""
    compiled, plain = (grad(repeated, wrt=(0, 1), backend=backend) for backend in ("numba", "numpy"))
    for n in (12, 1, 12):
        for a, b in zip(compiled(X, Y, n), plain(X, Y, n), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_lengths_that_do_not_fit_are_an_error_as_in_numpy():
    with pytest.raises(ValueError, match="broadcast"):
        grad(repeated, wrt=(0, 1), backend="numba")(X, Y, 5)


def printing(x, y, n):
    total = 0.0
    for k in range(2):
        a = x[:n] * y
        print(k)
        b = a + np.sin(x[:n])
        total += np.sum(b * b)
    return total


def test_a_call_that_prints_is_not_begun_again(capsys):
    found = grad(printing, wrt=(0, 1), backend="numba")(X, Y, 1)
    assert capsys.readouterr().out == "0\n1\n"
    for a, b in zip(found, grad(repeated, wrt=(0, 1))(X, Y, 1), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_vectors_that_meet_are_one_loop_and_what_is_saved_lies_in_a_matrix():
    text = grad(saved_in_branches, wrt=(0, 1, 2), backend="numba").lower(W, X, Y).compiled_text
    assert ".append(" not in text and "with_room(" in text
    text = value_and_grad(saved_with_other_lengths, wrt=(1, 2), backend="numba").lower(W, X, Y).compiled_text
    assert ".append(" in text
