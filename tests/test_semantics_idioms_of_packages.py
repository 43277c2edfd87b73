"""Idioms of public packages: the one item of a set, arrays that may not be written, `locals()`, objects that are unpacked."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError


class Flags:
    writeable = 1.0


class Own:
    def __init__(self, x):
        self.flags, self.x = Flags(), x


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def combined(a, b, c):
    return a * b + c


def summed(a, b=2.0, c=3.0):
    given, total = locals(), 0.0
    for name in list(given):
        total += given.pop(name) * (1.0 + len(given))
    return total


def replaced(a, b=2.0):
    given = locals()
    given["b"] = a * a
    given["c"] = a
    return given["b"] * given["c"] * b


def length_of_all(x):
    lengths = {len(v) for v in (np.array([x, 1.0]), np.array([1.0, x]))}
    return x * lengths.pop() + len(lengths)


def left_over(x):
    places = {1: x, 2: 2 * x}
    return places[(set(places) - {2}).pop()]


def added_again(x):
    numbers = {int(x), int(x) + 0}
    first = numbers.pop()
    numbers.add(5)
    return x * first * numbers.pop()


def kept_from_writing(x):
    a = np.array([x, 2.0])
    b = a[1:]
    for array in (a, b):
        array.flags.writeable = False
    return np.sum(a) * b[0] + x


def flags_of_its_own(x):
    own = Own(x)
    own.flags.writeable = x * 2
    return own.flags.writeable * own.x


def errors_as_before(x):
    before = np.geterr()
    np.seterr(all="ignore")
    y = x * x * (2.0 if before["divide"] == "warn" else 3.0)
    np.seterr(**before)
    np.seterr(**np.geterr())
    return y


def unpacked(x):
    a, b, c = Rows(np.array([x, 2.0, x * x]))
    d, *e = Rows([x, 3.0, x])
    return combined(*Rows(np.array([x, 2.0, x * x]))) + a * b * c + d * e[0] * e[1]


RIGHT = [
    lambda x: summed(x), lambda x: replaced(x), length_of_all, left_over, added_again, kept_from_writing, flags_of_its_own,
    errors_as_before, unpacked,
]  # fmt: skip


def one_of_several(x):
    numbers = {1, 2, 3}
    numbers.pop()
    return x * len(numbers)


def until_there_is_none(x):
    numbers, total = {1, 2}, 0.0
    while numbers:
        total += numbers.pop() * x
    return total


REFUSED = [one_of_several, until_there_is_none]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_idioms(f):
    value, slope = value_and_grad(f, verify=False)(1.7)
    assert value == pytest.approx(f(1.7), rel=1e-12)
    assert slope == pytest.approx((f(1.7 + 1e-6) - f(1.7 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_an_item_of_a_set_of_several_is_refused(f):
    with pytest.raises(SourceADError, match="of which it takes any"):
        value_and_grad(f, verify=False)(1.7)


def test_an_empty_set_has_no_item():
    def f(x):
        numbers = {int(x)}
        numbers.pop()
        return x * numbers.pop()

    with pytest.raises(KeyError):
        value_and_grad(f, verify=False)(1.7)
