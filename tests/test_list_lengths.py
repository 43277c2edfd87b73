"""Lists in arguments: one text for lists of any length whose items are alike, unless the function needs the length."""

import numpy as np
import pytest

from sourcead import grad, jvp, vjp
from tests.semantics import differences

RANDOM = np.random.default_rng(0)


def weighted(x, ns):
    total = 0.0
    for n in ns:
        total = total + x * n
    return total


def gathered(x, ns):
    return np.sum(x[ns] ** 2)


def in_dict(x, p):
    return sum(x * n for n in p["ns"]) * p["rate"]


def nested(x, rows):
    return sum(x * sum(row) * len(row) for row in rows)


def arrays(x, ws):
    return x * sum(np.sum(w) * w.size for w in ws)


def neighbours(x, ws):
    return x * sum(np.sum(ws[i]) * np.zeros(ws[i - 1].shape).size for i in range(len(ws)))


def ones(*shape):
    return np.ones(shape)


X = np.arange(12.0)
ALIKE = [
    (weighted, 2.0, lambda n: list(range(n))),
    (weighted, 2.0, lambda n: [0.5] * n),
    (weighted, 2.0, lambda n: [n > 1] * n),
    (gathered, X, lambda n: list(range(n))),
    (in_dict, 2.0, lambda n: {"ns": list(range(n)), "rate": 0.5}),
    (nested, 2.0, lambda n: [[i] * (i + 1) for i in range(n)]),
    (arrays, 2.0, lambda n: [ones(9 + i) for i in range(n)]),
    (neighbours, 2.0, lambda n: [ones(9 + i) for i in range(n)]),
]


@pytest.mark.parametrize(("f", "x", "listed"), ALIKE)
def test_two_texts_serve_all_lengths(f, x, listed):
    derivative = grad(f, verify=False)
    for n in (2, 3, 5, 9, 20, 1):
        n = min(n, 9) if f is gathered else n
        np.testing.assert_allclose(derivative(x, listed(n)), differences(f, (x, listed(n))), rtol=1e-6, atol=1e-6)
    assert len(derivative._texts) == 2


@pytest.mark.parametrize("listed", [lambda n: np.ones((n, 9)).tolist(), lambda n: [0.5] * n])
def test_the_text_for_many_items_serves_all_lengths_from_the_first_call_on(listed):
    derivative = grad(lambda rows: np.sum(np.array(rows) ** 2), verify=False)
    for n in (70, 80, 2):
        np.testing.assert_allclose(derivative(listed(n)), 2 * np.array(listed(n)))
    assert len(derivative._texts) == 1


def test_what_needs_the_length_gets_a_text_for_each():
    def first(a, b=1, *rest):
        return a + b * len(rest)

    derivative = grad(lambda x, ns: x * first(*ns), verify=False)
    for n in (2, 3, 4):
        assert derivative(2.0, list(range(n))) == n - 2
    assert len(derivative._texts) == 3


def test_items_that_differ_are_not_of_one_list():
    derivative = grad(weighted, verify=False)
    for ns in ([1, 2], [1, 2.0], [1, 2.0, 3], [1, np.float32(2.0), 3.0], [ones(1)[0], 1]):
        np.testing.assert_allclose(derivative(2.0, ns), sum(ns))


def test_derivatives_that_are_made_anew_share_the_text():
    def loss(x, ns):
        return sum(x * n for n in ns)

    for n in (1, 2, 3, 4):
        ns = list(range(n))
        assert vjp(loss, 2.0, ns, wrt=0, verify=False)[1](1.0) == jvp(loss, (2.0, ns), (1.0, None), verify=False)[1] == sum(ns)


def test_the_gradient_of_a_list_has_its_length():
    derivative = grad(lambda ws: sum(np.sum(w**2) for w in ws), verify=False)
    for n in (1, 2, 3, 4):
        found = derivative([ones(2, 3) * (i + 1) for i in range(n)])
        assert len(found) == n and all(np.all(d == 2 * (i + 1)) for i, d in enumerate(found))


def test_the_notes_and_the_text_are_those_of_the_call():
    def squares(x, ns):
        for n in ns:
            x = np.sin(x) * n
        return np.sum(x)

    derivative = grad(squares, verify=False)
    for n in (2, 3, 4):
        derivative(X, [1.0] * n)
        assert derivative.lower(X, [1.0] * n).text == derivative.source
        assert derivative.lower(X, [1.0] * n).notes
