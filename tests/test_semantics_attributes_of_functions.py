"""Attributes of functions that are defined inside the function being differentiated."""

import functools

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes


def counted(x):
    def g(u):
        g.calls += 1
        return u**2 * g.calls

    g.calls = 0
    return g(x[0]) + g(x[1]) * g.calls


def carried_in_a_loop(x):
    def g(u):
        g.total = g.total * 0.5 + u**2
        return g.total

    g.total = x[0]
    y = 0.0
    for v in x:
        y += g(v)
    return y * g.total


def recursive(x):
    def g(n):
        g.seen.append(n)
        return x[0] if n == 0 else g(n - 1) * x[1] + len(g.seen)

    g.seen = []
    return g(3) * len(g.seen)


def under_two_names(x):
    g = lambda u: u * g.k  # noqa: E731
    g.k = x[0]
    h = g
    h.k = h.k * x[1]
    return g(x[2]) + g.k * hasattr(g, "k")


def one_each(x):
    def make(k):
        def g(u):
            return u * g.k

        g.k = k
        return g

    p, q = make(x[0]), make(x[1])
    q.k = q.k * 2
    return p(x[1]) * q(x[2])


def in_branches(x):
    def g(u):
        return u**2

    if x[0] > 0.5:
        g.k = x[1]
    else:
        g.k = x[2] ** 2
    return g(x[2]) * g.k


PROGRAMS = [counted, carried_in_a_loop, recursive, under_two_names, one_each, in_branches]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_attributes_of_functions_are_data(f):
    for x in (np.array([0.7, 0.2, 0.4]), np.array([0.2, 0.7, 0.45])):
        assert judged_in_all_modes(f, x) == "right"


def test_what_wraps_copies_is_not_taken_for_missing():
    def f(x):
        def g(u):
            return u**2

        g.k = 2.0

        @functools.wraps(g)
        def h(u):
            return g(u) * getattr(h, "k", 1.0)

        return h(x)

    with pytest.raises(SourceADError):
        grad(f)(0.5)


def test_a_broadcast_array_shows_what_its_base_is_given_later():
    def f(x):
        a = x * 1.0
        v = np.broadcast_to(a, (2, 3))
        a[0] = x[1] ** 2
        w = v.sum()
        for k in range(2):
            a[k] = x[0] * v[1, k + 1]
        return w * v[1, 0] + v[0, 2] * x[1]

    assert judged_in_all_modes(f, np.array([0.7, 0.2, 0.4])) == "right"
