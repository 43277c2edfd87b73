"""What loops over elements save: single elements, and room that is counted before the loops that fill it."""

import math

import numpy as np
import pytest

from sourcead import Numba, Revolve, check_grads, grad, jvp

compiled = pytest.mark.compiled


def orthogonal(a):
    """Columns are made orthogonal in place; each element is read before it is overwritten."""
    m, n = a.shape
    a = a.copy()
    r = np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += a[i, k] * a[i, k]
        norm = math.sqrt(norm)
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += a[i, k] * a[i, j] / norm
            for i in range(m):
                a[i, j] = a[i, j] - a[i, k] * r[k, j] / norm
    return np.sum(r * r) + np.sum(a * a * a)


def pairs(i, n):
    return range(i + 1, n)


def orthogonal_with_helpers(a):
    rows, columns = a.shape
    work = a * 1.0

    def dot(p, q):
        total = 0.0
        for i in range(rows):
            total += work[i, p] * work[i, q]
        return total

    loss = 0.0
    for p in range(columns):
        for q in pairs(p, columns):
            c = dot(p, q) / (1.0 + dot(p, p))
            for i in range(rows):
                work[i, q] -= c * work[i, p]
            loss += c * c
    return loss + np.sum(work**3)


def swept_while(a):
    """A `while` around loops that read the rows before they overwrite them."""
    x = a.copy()
    n = x.shape[0]
    t = 0
    loss = 0.0
    while t < 3:
        for i in range(1, n):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j] * x[i - 1, j]
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] - 0.1 * s * x[i - 1, j]
            loss += s
        t += 1
    return loss * loss + np.sum(x * x)


def under_conditions(a):
    """Loops in arms of branches on indices and on values, which save different amounts."""
    x = a.copy()
    n, m = x.shape
    total = 0.0
    for t in range(3):
        for i in range(n):
            if i > t:
                for j in range(i):
                    if j < m:
                        total += x[i, j] * x[i, j] * x[i - 1, j]
                        x[i, j] = math.sin(x[i, j]) + total * 0.01
            if total > 0.5:
                for j in range(m):
                    x[i, j] *= x[i, j] * 0.5
    return total + np.sum(x)


def stepped(a):
    """Ranges with steps, downward and upward, and one that is empty."""
    x = a.copy()
    n, m = x.shape
    s = 0.0
    for i in range(n - 1, 0, -2):
        for j in range(0, i * 2, 3):
            if j < m:
                s += x[i, j] * x[i - 1, j]
                x[i, j] = x[i, j] * x[i, j] + s
        for j in range(m, 2):
            x[i, j] = 0.0
    return s + np.sum(x)


def left_early(a):
    x = a.copy()
    s = 0.0
    for _ in range(5):
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                s += x[i, j] * x[i - 1, j]
                x[i, j] = x[i, j] * 0.9 + 0.1 * s
        if s > 0.0:
            break
    return s * s + np.sum(x * x)


def shared_row(c, a):
    """The cotangent of `a` gets sums at an element that another statement of the loop adds to, too."""
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[i, k] * a[j, k] * a[i, k]
    return np.sum(c * c)


def shared_element(a, b):
    """As `shared_row`, in loops that may have no iterations, with two such elements and a negative subscript."""
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(i):
            s += a[i, 0] * a[j, 0] * a[-1, 0] - b[i] * b[j] / (2.0 + b[j] * b[j])
    return s * s


def saved_rows(u, steps):
    u = u.copy()
    for _ in range(steps):
        for _ in range(2):
            v = u.copy()
            for i in range(1, len(u) - 1):
                u[i] = v[i] - 0.1 * v[i] * (v[i + 1] - v[i - 1])
    return np.sum(u * u)


def counts_among_floats(x):
    """An integer that is a bound of a slice is also written into an array of floats, which does not give it back."""
    ks = np.array([1.0, 2.0, 3.0])
    out, counts = np.zeros_like(ks), np.zeros_like(ks)
    for i, k in enumerate(ks):
        d = x[int(k):]
        n = min(len(d), len(x) - 2)
        out[i] = np.sum(d[:n] ** 2) / n
        counts[i] = n
    return np.sum(out[counts > 1])


def normal(*shapes):
    rng = np.random.default_rng(3)
    return tuple(rng.normal(size=s) if isinstance(s, tuple) else s for s in shapes)


CASES = {
    "orthogonal": (orthogonal, normal((4, 3))),
    "with helpers": (orthogonal_with_helpers, normal((4, 3))),
    "while": (swept_while, normal((4, 3))),
    "conditions": (under_conditions, normal((5, 4))),
    "steps": (stepped, normal((6, 5))),
    "left early": (left_early, normal((4, 3))),
    "shared row": (shared_row, normal((3, 3), (3, 2))),
    "shared element": (shared_element, normal((4, 1), (4,))),
    "no pairs": (shared_element, normal((1, 1), (1,))),
    "rows": (saved_rows, normal((9,), 3)),
    "counts": (counts_among_floats, normal((6,))),
    "no steps": (saved_rows, normal((9,), 0)),
}


def differences(function, args, wrt, step=1e-6):
    """The derivative along a random direction, by central differences, and the direction."""
    rng = np.random.default_rng(4)
    ways = [rng.normal(size=np.shape(a)) for a in args[:wrt]]
    ends = [function(*(a + sign * step * d for a, d in zip(args, ways)), *args[wrt:]) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step), ways


def arrays_of(args):
    return sum(isinstance(a, np.ndarray) for a in args)


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_and_the_tangent_are_those_of_differences(name):
    function, args = CASES[name]
    n = arrays_of(args)
    expected, ways = differences(function, args, n)
    found = grad(function, wrt=tuple(range(n)))(*args)
    np.testing.assert_allclose(sum(np.sum(g * d) for g, d in zip(found, ways)), expected, rtol=1e-6, atol=1e-8)
    tangents = (*ways, *(None for _ in args[n:])) if n < len(args) else tuple(ways)
    if n == len(args):
        np.testing.assert_allclose(jvp(function, args, tangents)[1], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("policy", ["store", Revolve(2)])
@pytest.mark.parametrize("name", ["orthogonal", "conditions", "rows"])
def test_policies_give_the_same_gradient(name, policy):
    function, args = CASES[name]
    np.testing.assert_allclose(grad(function, checkpoint=policy)(*args), grad(function)(*args), rtol=1e-11, atol=1e-13)


@compiled
@pytest.mark.parametrize("name", CASES)
def test_compiled_gradients_are_those_of_the_text_for_numpy(name):
    function, args = CASES[name]
    wrt = tuple(range(arrays_of(args)))
    for a, b in zip(grad(function, wrt=wrt, backend=Numba(cache=False))(*args), grad(function, wrt=wrt)(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", [orthogonal, orthogonal_with_helpers, swept_while])
def test_elements_that_are_read_are_saved_and_not_the_whole_array(function):
    text = grad(function).lower(np.ones((9, 8))).text
    assert text.count(".copy()") == ("a.copy()" in text), text


@pytest.mark.parametrize("function, args", [(orthogonal, ((9, 8),)), (under_conditions, ((9, 8),)), (saved_rows, ((9,), 3))])
def test_room_is_counted_before_the_outermost_loop(function, args):
    pytest.importorskip("numba", reason="numba is not installed: pip install '.[numba]'")
    text = grad(function, backend=Numba(cache=False)).lower(*normal(*args)).compiled_text
    rooms = [line for line in text.splitlines() if "reserved(" in line or "np.empty((" in line]
    assert rooms and any(line.startswith("    ") and line[4] != " " for line in rooms), text


def test_a_sum_into_an_element_of_a_shared_cotangent_is_kept_in_a_variable():
    pytest.importorskip("numba", reason="numba is not installed: pip install '.[numba]'")
    text = grad(shared_row, wrt=(0, 1), backend=Numba(cache=False)).lower(*normal((9, 9), (9, 8))).compiled_text
    assert "d_a[i, k] += d_a_item" in text and "d_a_item = 0.0" in text


def test_second_derivatives_of_saved_elements():
    check_grads(orthogonal, normal((3, 2)), order=2)
