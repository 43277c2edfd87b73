"""Where the number of items decides whether a function can be differentiated, a global integer is relied on, and asked for in each call."""

import numpy as np
import pytest

from sourcead import grad, jvp

N = 3


class Link:
    size = 3

    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c

    def value(self):
        return self.a * self.b + self.c


def objects_of_rows(x):
    links = [Link(*row) for row in (np.arange(6.0) * x).reshape((-1, Link.size))]
    return links[0].value() * x + links[1].value() * x * x


def items_of_two_kinds(x):
    items = []
    for i in range(N):
        items.append([x, (x, x)] if i % 2 else x * i)
    return items[-1] + items[1][1][0] * x


@pytest.mark.parametrize("f", [objects_of_rows, items_of_two_kinds])
def test_is_differentiated(f):
    expected = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    assert grad(f)(2.0) == pytest.approx(expected, rel=1e-7)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)


def test_another_integer_is_seen(monkeypatch):
    d = grad(items_of_two_kinds)
    assert d(2.0) == pytest.approx(6.0)
    monkeypatch.setitem(globals(), "N", 5)
    assert d(2.0) == pytest.approx(8.0)
