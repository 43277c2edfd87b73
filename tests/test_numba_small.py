"""Small arrays in loops become numbers in the text for Numba; NumPy runs the same IR here, which takes no time to compile."""

import re

import numpy as np
import pytest

pytest.importorskip("numba")

from sourcead import check_grads, grad  # noqa: E402
from sourcead.backends.numba.codegen.small_arrays.rewrite import small_arrays_as_numbers  # noqa: E402
from sourcead.passes import plan  # noqa: E402

RNG = np.random.default_rng(0)
P, V, XS = RNG.normal(size=(5, 3)), RNG.normal(size=3), RNG.normal(size=(4, 2))


def forces(p, v):
    """Rows of a matrix, a sum that begins with zeros, and a saved vector."""
    total = 0.0
    for i in range(len(p)):
        force = np.zeros(3)
        for j in range(len(p)):
            if i != j:
                r = p[j] - p[i]
                force += r * np.exp(-np.dot(r, r))
        total += np.sum(np.sin(force) * v)
    return total


def rotations(p, v):
    """A variant that is a vector, products of all kinds, norms, parts and rows that are written."""
    out = np.zeros_like(p)
    x = v
    for i in range(len(p)):
        w = p[i] / np.linalg.norm(p[i])
        turned = x * np.cos(0.5) + np.cross(w, x) * np.sin(0.5) + w * (np.inner(w, x) * 0.1)
        x = np.stack([turned[2], turned[0], turned[1] + turned[1:].mean()])
        out[i] = np.outer(x, w) @ v + np.array([[0.0, 1.0, x[0]], [w[0], 2.0, 0.0], [1.0, 0.0, 1.0]])[:, 1]
    return np.sum(out * out)


def covariances(xs, a):
    """Matrices of 2 by 2 as variants, their inverses and determinants."""
    total, m = 0.0, np.eye(2)
    for x in xs:
        m = m + np.outer(x, x) * a[0]
        total += np.log(np.linalg.det(m) ** 2 + 1.0) + x @ np.linalg.inv(m) @ x + np.trace(m) + np.sum(np.linalg.solve(m, a[1:]))
        m[0, 1] = m[1, 0] * 0.9
        m[:, 0] += m[1]
    return total + np.sum(m)


def left_early(p, v):
    """Branches with vectors, a choice element by element, and a loop that is left."""
    y = v
    for i in range(20):
        k = i % len(p)
        y = y - 0.1 * p[k] if y[0] > 0 else np.where(y > 0, y, 0.5 * y) + np.maximum(p[k], y)
        if np.max(y) > 3.0:
            break
    return np.sum(y * y)


def until_small(p, v):
    k = 0
    while np.sum(v * v) > 0.1:
        v, k = v * 0.6 + 0.01 * p[k % len(p)], k + 1
    return np.sum(v)


def number_at_first(p, v):
    acc = 0
    for i in range(3):
        acc = acc * 0.5 + p[i] ** 2 * v
    return np.sum(acc)


def filtered(a, h):
    """Matrices of 6 by 6, which stay arrays: their products are loops, and those that are saved lie in one array."""
    m, p, total = np.zeros(6), np.eye(6), 0.0
    for t in range(4):
        m = a @ m + h
        p = np.dot(a @ p, a.T) + np.eye(6)
        gain = p @ h / (h @ p @ h + 1.0)
        m = m + gain * (np.sin(t) - h @ m)
        p = p - np.outer(gain, h @ p)
        total += np.sum(m * m)
    return total + np.sum(p * p)


def swaps(p, v):
    """Rows of an array that is small itself, read by a variable, of which a product with itself is taken."""
    acc = np.zeros((2, 3))
    for i in range(len(p)):
        r = p[i] - acc[i % 2]
        acc[i % 2] += r * v / np.dot(r, r)
        v = v + 0.1 * acc[0]
    return np.sum(acc * acc)


PROGRAMS = [(f, P, V) for f in (forces, rotations, left_early, until_small, number_at_first, swaps)] + [(covariances, XS, np.abs(V))]
MATRICES = (filtered, 0.3 * RNG.normal(size=(6, 6)), RNG.normal(size=6))


def parts_in_numbers(function):
    made = small_arrays_as_numbers(function)
    return function if made is function else plan.simplify(made)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0].__name__)
def test_nothing_in_a_loop_makes_an_array(program, monkeypatch):
    function, *args = program
    monkeypatch.setattr("sourcead.backends.numpy.sum_and_join", parts_in_numbers)
    check_grads(function, args, (0, 1), modes=("reverse",))
    inside = re.findall(r"^ {8,}[^# ].*", grad(function, wrt=(0, 1)).lower(*args).text, re.M)
    assert inside and not [line for line in inside if re.search(r"np\.(empty|zeros|array|dot|cross|linalg|outer|sum|stack)|@", line)]


def by_place(p, v):
    """The elements are chosen by a variable, so the array stays."""
    s = np.zeros(3)
    for i in range(len(p)):
        s[i % 3] += p[i, 0] * v[i % 3]
        v = v + 0.1 * np.array([s[0], s[1] * s[2], p[i, 1]])
    return np.sum(s * v)


def given_away(p, v):
    """What has no form by elements gets an array."""
    total = 0.0
    for i in range(len(p)):
        r = p[i] * v
        total += np.sum(np.sort(r) * v) + np.linalg.det(np.outer(r, r) + np.diag(v) + np.eye(3))
    return total


@pytest.mark.parametrize("function", [by_place, given_away], ids=lambda f: f.__name__)
def test_an_array_that_is_needed_as_one_is_in_both_forms(function, monkeypatch):
    monkeypatch.setattr("sourcead.backends.numpy.sum_and_join", parts_in_numbers)
    check_grads(function, (P, V), (0, 1), modes=("reverse",))


@pytest.mark.compiled
@pytest.mark.parametrize("program", [*PROGRAMS, MATRICES], ids=lambda p: p[0].__name__)
def test_compiled_text_gives_the_same(program):
    function, *args = program
    for got, wanted in zip(grad(function, wrt=(0, 1), backend="numba")(*args), grad(function, wrt=(0, 1))(*args)):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_products_of_small_matrices_call_no_library_and_saved_ones_share_their_memory():
    function, *args = MATRICES
    text = grad(function, wrt=(0, 1), backend="numba").lower(*args).compiled_text
    text = re.sub("#.*", "", text)
    assert " @ " not in text and "np.dot" not in text and ".append(" not in text


@pytest.mark.compiled
def test_a_singular_matrix_is_an_error():
    def inverse(a):
        total = 0.0
        for _ in range(2):
            total += np.sum(np.linalg.inv(a * 1.0))
        return total

    with pytest.raises(np.linalg.LinAlgError):
        grad(inverse, backend="numba")(np.ones((2, 2)))
