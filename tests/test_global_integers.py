"""Where the number of items decides whether a function can be differentiated, a global integer is relied on, and asked for in each call."""

import numpy as np
import pytest

from sourcead import grad, jvp
from sourcead.frontend.control import long_texts

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


ROWS = [(0.5 + i, np.sin if i % 2 else np.cos, {k: int(k == i) for k in (0, 1, 3)}) for i in range(5)]


def series(x):
    angles, total = [x, x * x, None, 3.0], 0.0
    for factor, function, multipliers in ROWS:
        angle = 0.0
        for k, multiplier in multipliers.items():
            if multiplier != 0:
                angle += angles[k] * multiplier
        total += factor * function(angle)
    return total


def test_a_long_text_relies_on_the_integers_of_a_table(monkeypatch):
    monkeypatch.setattr(long_texts, "LONG", 15)
    d = grad(series)
    assert " if " not in d.lower(0.7).text and "!= 0" not in d.lower(0.7).text
    for change in (lambda: None, lambda: monkeypatch.setitem(ROWS[0][2], 1, 4), lambda: monkeypatch.setitem(ROWS[1][2], 0, 1.5)):
        change()
        assert d(0.7) == pytest.approx((series(0.7 + 1e-6) - series(0.7 - 1e-6)) / 2e-6, rel=1e-7)
