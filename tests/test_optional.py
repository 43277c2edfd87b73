"""Tuples that may be None: what a loop has found so far."""

from typing import NamedTuple

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.errors import SourceADError

X = np.array([1.2, 0.7, 1.9, 1.53, 0.45])


def closest_pair(x):
    best, pair = np.inf, None
    for i in range(len(x)):
        for j in range(i):
            d = (x[i] - x[j]) ** 2
            if d < best:
                best, pair = d, (i, j)
    i, j = pair
    return best + x[i] * x[j]


def largest_so_far(x):
    best = None
    for i in range(len(x)):
        d = (x[i] - 1.4) ** 2
        if best is None or d > best[0]:
            best = (d, i)
    return best[0] * x[best[1]]


def last_above(x, limit=1.4):
    found = None
    for v in x:
        if v > limit:
            found = v, v**2
    if found is None:
        return x[0] * 3
    a, b = found
    return a * b


def none_above(x):
    return last_above(x, 100.0)


def row_before(x):
    before, total = None, 0.0
    for k in range(len(x)):
        row = x[k] * np.arange(3.0)
        if before is not None:
            other, weight = before
            total = total + weight * np.sum(row * other)
        before = (row, x[k] ** 2)
    return total


class Match(NamedTuple):
    score: float
    place: int


def first_match(x, limit):
    for i, v in enumerate(x):
        if v > limit:
            return Match(v * v, i)
    return None


def named(x):
    match, missed = first_match(x, 1.4), first_match(x, 9)
    total = 0.0 if missed is not None else x[0]
    if match != None:  # noqa: E711
        total += match.score * x[match.place]
    return total


def reset(x):
    held, total = None, 0.0
    for v in x:
        if held is None:
            held = (v, 2 * v)
        else:
            total = total + held[0] * v + held[1]
            held = None
    return total if held is None else total * held[1]


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return float(self.degrees)

    def __rmul__(self, factor):
        return Angle(factor * self.degrees)


def angle_of(x):
    return Angle(x[0] ** 2 * x[1]) if x[2] > 1.0 else None


def number_of_an_object_or_none(x):
    return float(angle_of(x)) + (x[1] * angle_of(x)).degrees


PROGRAMS = [closest_pair, largest_so_far, last_above, none_above, row_before, named, reset, number_of_an_object_or_none]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative(f):
    check_grads(f, (X,), order=2)


def test_the_text_says_what_is_missing():
    text = grad(largest_so_far).lower(X).text
    assert "best_missing = True" in text and "best_missing or d > best" in text and "best_missing = False" in text


def test_what_may_be_none_is_no_data():
    def f(x):
        found = None
        for v in x:
            if v > 1.0:
                found = (v, v)
        return np.sum(np.array(found))

    with pytest.raises(SourceADError, match="None"):
        grad(f)(X)


def test_what_python_raises_for_none_is_raised():
    with pytest.raises(TypeError, match="NoneType"):
        grad(number_of_an_object_or_none)(np.zeros(5))
