"""Programs that once went wrong."""

import math

import numpy as np
import pytest

from sourcead import UnsupportedArgumentError, UnsupportedSyntaxError, check_grads, grad

X = np.array([0.7, -0.4, 1.3, 0.2])


def central(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def sum_of_display(x):
    return np.sum([x[0] * x[1], x[2] ** 2])


def mean_of_built_list(x):
    return np.mean([np.sum(x * i) ** 2 for i in range(3)])


def max_of_nested_display(x):
    return np.max([[x[0], x[1]], [x[2] ** 2, x[3]]])


def sum_of_tuple(x):
    return np.sum((x, x**2))


def ufunc_of_display(x):
    return np.sum(np.maximum([x[0], x[1]], 0.1))


def exponents_in_a_list(x):
    return np.sum(np.abs(x[:2]) ** [2, 3])


def matrix_in_a_list(x):
    return np.sum(np.matmul([[1, 2.0], [3, 4]], x[:2]) ** 2)


def solve_of_displays(x):
    return np.linalg.solve([[x[0], 1.0], [2.0, x[1]]], [x[2], x[3]]).sum()


def weights_in_a_list(x):
    return np.average([x[0], x[1] ** 2], weights=[1, 3]) + np.average(x[:2], weights=[x[2], 2.0])


def reduced_display(x):
    return np.sum(np.maximum.reduce([x, x[::-1], x * x]))


def fabs_of_elements(x):
    return math.fabs(x[1]) + math.copysign(x[0], x[1])


def astype_of_a_scalar(x):
    return (x**2).sum().astype(np.float64)


@pytest.mark.parametrize(
    "f",
    [
        sum_of_display, mean_of_built_list, max_of_nested_display, sum_of_tuple, ufunc_of_display, exponents_in_a_list,
        matrix_in_a_list, solve_of_displays, weights_in_a_list, reduced_display, fabs_of_elements, astype_of_a_scalar,
    ],
)  # fmt: skip
def test_gradient(f):
    np.testing.assert_allclose(grad(f)(X.copy()), central(f, X), rtol=1e-6, atol=1e-8)


def squares_of_items(ws):
    return 1e-3 * sum(np.sum(w * w) for w, _ in ws)


def correlation(image, w):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = np.sum(image[i : i + 2, j : j + 2] * w)
    return np.sum(out)


def centred(x):
    c = x - np.mean(x)
    return np.sum(c**3)


def recurrence(r):
    n = len(r)
    s = np.empty(n)
    s[0] = 1.0
    for t in range(1, n):
        s[t] = 0.3 + 0.5 * s[t - 1] * r[t]
    return np.sum(r**2 / s)


def gram(q, k):
    return np.sum((q @ k.T) ** 2)


def spectrum(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


def squared_distance(x, y):
    d = x - y
    return np.sqrt(d @ d)


SHAPES = [(np.ones((2, 3)), np.ones(3)), (np.ones((3, 4)), np.ones(4)), (np.ones((4, 2)), np.ones(2))]


@pytest.mark.parametrize(
    "f, args, wrt, written, unwritten",
    [
        (squares_of_items, (SHAPES,), 0, "0.002 * w", "broadcast_to"),  # no broadcast to the shape of w * w, no d += d
        (correlation, (np.eye(4), np.ones((2, 2))), 1, "d_w += d_out[i, j] * ", "d_out[i, j] = 0.0"),
        (centred, (X,), 0, "-= np.sum(", "np.sum(-"),
        (recurrence, (X,), 0, "", "unbroadcast"),  # len(r) is the size of s
        (gram, (np.ones((3, 2)), np.ones((4, 2))), 1, "(k @ q.T) @ q", ".T @ q)"),
        (spectrum, (X,), 0, "np.fft.fft(", "norm=None"),
        (squared_distance, (X, X**2), 0, "", "+= "),  # neither d += d nor 1 / (2 * sqrt) * 2
    ],
)
def test_text(f, args, wrt, written, unwritten):
    g = grad(f, wrt=wrt)
    g(*args)
    assert written in g.source and unwritten not in g.source, g.source


def test_what_the_rule_of_lstsq_does_not_cover_is_refused():
    def uses_residuals(a, b):
        x, residuals, rank, singular = np.linalg.lstsq(a, b, rcond=None)
        return np.sum(x**2) + residuals[0]

    rng = np.random.default_rng(0)
    with pytest.raises(UnsupportedArgumentError, match="first result"):
        grad(uses_residuals)(rng.normal(size=(9, 3)), rng.normal(size=9))


def test_sign_of_complex_numbers_is_refused():
    with pytest.raises(UnsupportedSyntaxError, match="complex"):
        grad(lambda x: np.real(np.sign(x * 1j + 0.3)).sum())(np.ones(3))


class TooLarge(ValueError):
    """An error that keeps what was too large."""

    def __init__(self, message, value):
        super().__init__(message)
        self.value = value


def test_an_error_may_hold_what_is_differentiated():
    def f(x):
        if np.sum(x) > 10:
            raise TooLarge("too large", x)
        return np.sum(x**2)

    np.testing.assert_array_equal(grad(f)(np.ones(3)), 2 * np.ones(3))
    with pytest.raises(TooLarge, match="too large") as caught:
        grad(f)(10 * np.ones(3))
    np.testing.assert_array_equal(caught.value.value, 10 * np.ones(3))


def test_a_tuple_of_unknown_structure_is_unpacked():
    def f(x, n):
        shapes = [x, np.stack([x, x * x])]
        found = np.gradient(shapes[n], 0.5)
        rows, columns = found
        return np.sum(rows * columns)

    x = np.array([0.7, -0.4, 1.3, 0.2])
    check_grads(f, (x, 1))


def test_grids_and_their_slopes_are_known_arrays():
    def f(x):
        u, v = np.meshgrid(x[:3], x[1:])
        rows, columns = np.gradient(np.sin(u * v), 0.5, 0.25)
        w, z = np.meshgrid(x, x[:2], indexing="ij")
        return np.sum(rows * columns**2) + np.sum(w**2 * z)

    check_grads(f, (X,))
    assert "unbroadcast" not in grad(f).lower(X).text and "zeros_like(" not in grad(f).lower(X).text.replace("np.zeros_like(", "")


def test_a_cotangent_that_is_added_to_itself_is_left_alone():
    def f(x, z):
        for i in range(len(x)):
            x[i] = x[i] + z[i]
        return np.sum(x**2)

    gradient = grad(f, wrt=(0, 1))
    text = gradient.lower(np.ones(3), np.ones(3)).text
    assert "d_x[i] = d_x[i]" not in text and "d_x[i] = 0.0" not in text
    for got in gradient(np.arange(3.0), np.ones(3)):
        np.testing.assert_array_equal(got, 2 * (np.arange(3.0) + 1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_list_that_loses_an_item_in_a_branch_has_a_cotangent_of_its_own_length(n):
    def last(items, n):
        if n == 1:
            return 0.3
        items.pop()
        return np.sum(items[-1])

    def first_and_rest(items, n):
        if n != 1:
            del items[n - 2]
        return np.sum(items[0]) * sum(np.sum(x) for x in items)

    for program in (last, first_and_rest):
        check_grads(program, ([np.array([-1.5, 2.0]), np.array([0.5, 0.25]), np.array([3.0, 1.0])], n))
