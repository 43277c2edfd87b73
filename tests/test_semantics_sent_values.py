"""`generator.send(value)`, where the generator stopped at a `yield` whose value it takes."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes


def averager():
    total, n, mean = 0.0, 0, None
    while True:
        value = yield mean
        total += value**2
        n += 1
        mean = total / n


def decaying(level):
    got = yield level
    while got is not None:
        level = level * 0.5 + got**2
        got = yield level
    yield level * 3


def twice(x):
    g = averager()
    next(g)
    first = g.send(x[0])
    return first * g.send(x[1]) + g.send(x[2]) ** 2


def in_a_loop(x):
    g = averager()
    g.send(None)
    total = 0.0
    for v in x:
        total += g.send(v) * x[0]
        if total > 0.6:
            break
    return total


def next_sends_none(x):
    g = decaying(x[1])
    total = next(g) + g.send(x[0]) * 2 + g.send(x[1]) * 3
    return total + next(g) * 5


def rest_in_a_loop(x):
    g = decaying(x[0])
    next(g)
    total = g.send(x[1])
    for level in g:
        total += level * x[2]
    return total


def two_of_one_function(x):
    def accumulate(t):
        while True:
            u = yield t
            t = t * u + x[0]

    g, h = accumulate(x[1]), accumulate(x[2])
    next(g)
    next(h)
    g.send(x[1])
    h.send(x[2] ** 2)
    return g.send(0.3) * h.send(0.5)


def in_both_arms(x):
    g = averager()
    next(g)
    y = g.send(x[0]) if x[0] > 0.5 else g.send(x[1]) * 2
    return y * g.send(x[2])


def until_it_ends(x):
    def two():
        u = yield x[0]
        yield u * 2

    g = two()
    y = next(g) * g.send(x[1])
    try:
        g.send(x[2])
    except StopIteration:
        y *= 2
    return y


PROGRAMS = [twice, in_a_loop, next_sends_none, rest_in_a_loop, two_of_one_function, in_both_arms, until_it_ends]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_sent_values_are_differentiated(f):
    for x in (np.array([0.7, 0.2, 0.4]), np.array([0.2, 0.7, 0.45])):
        assert judged_in_all_modes(f, x) == "right"


def test_send_to_a_generator_that_was_not_begun_is_refused():
    def f(x):
        return averager().send(x)

    with pytest.raises(SourceADError):
        grad(f)(0.5)
