"""Functions and branches that leave an object or None, and programs that ask which."""

import numpy as np
import pytest

from sourcead import SourceADError, UnsupportedSyntaxError, grad, hvp
from tests.semantics import judged, judged_in_all_modes

pytestmark = pytest.mark.sampled(2)

X = np.array([2.0, 1.0])
EVERYWHERE = X, X[::-1], np.array([1.5, 1.5])


class Point:
    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def __eq__(self, other):
        return isinstance(other, self.__class__) and self.x == other.x and self.y == other.y

    def moved(self, by):
        return Point(self.x + by, self.y * by)

    @property
    def length(self):
        return np.sqrt(self.x**2 + self.y**2)


def meeting(a, b):
    between = a - b
    if between == 0:
        return None
    return Point(a / between, b)


def asked_with_is(x):
    p = meeting(x[0], x[1])
    if p is None:
        return 3.0 * x[0]
    return p.x * p.length


def asked_with_is_not(x):
    p = meeting(x[0], x[1])
    total = x[1] ** 2
    if p is not None:
        total += p.moved(x[0]).length
    return total


def asked_by_its_truth(x):
    found = meeting(*x)
    return found.x + found.y if found else x[0]


def asked_with_more(x):
    p, q = meeting(x[0], x[1]), Point(3.0)
    if p is None or p == q or not p.x > -20:
        return x[0] * 2
    return p.x**2


def given_to_another_function(x):
    def measure(p, scale):
        if p == None:  # noqa: E711
            return scale
        return p.length * scale

    return measure(meeting(x[1], x[0]), x[0]) + measure(None, x[1]) + measure(Point(x[0]), 2.0)


def of_two_objects(x):
    best = None
    if x[0] > 1.7:
        best = Point(x[0], 1.0)
    nearest = best if x[1] < 3 else None
    if nearest is None:
        return x[0] * x[1]
    return nearest.length


def bound_anew(x):
    p = meeting(x[0], x[1])
    if p is None:
        p = Point(x[0], x[1])
    return p.length


PROGRAMS = [asked_with_is, asked_with_is_not, asked_by_its_truth, asked_with_more, given_to_another_function, of_two_objects, bound_anew]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_an_object_or_none(f):
    assert judged_in_all_modes(f, X) == "right"
    for x in EVERYWHERE[1:2]:
        assert judged(f, x) == "right"


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_where_it_is_none(f):
    x, step = EVERYWHERE[2], 1e-6
    both = np.ones(2)  # the direction in which it stays None
    expected = (f(x + step * both) - f(x - step * both)) / (2 * step)
    assert np.isclose(np.sum(grad(f)(x)), expected, rtol=1e-7)


def found_in_a_loop(x):
    p = None
    for k in range(4):
        if x[0] * k > 3.2:
            p = Point(x[0] * k, x[1])
    return 0.0 if p is None else p.length


def written_where_it_is_not_none(x):
    p = meeting(x[0], x[1])
    q = p
    if p is not None:
        p.x = x[0]
    return q.x if q is not None else x[1]


def an_object_made_before(x):
    first = Point(x[0], x[1])
    p = first if x[0] > 0.5 else None
    if p is not None:
        p.x = x[1] ** 2
    return first.x + first.y


def read_through_what_was_written(x):
    first = Point(x[0], x[1])
    p = None
    if x[0] > 0.5:
        p = first
    first.x = x[1] ** 2 + x[0]
    return p.x if p is not None else first.y


def asked_whether_it_is_the_same(x):
    first, second = Point(x[0]), Point(x[1])
    p = first if x[0] > 1.2 else None
    if p is first:
        return x[0] ** 2
    return second.x if p is None else x[0]


def kept_in_a_dict(x):
    table = {"p": meeting(x[0], x[1]), "q": None}
    if table["p"] is not None:
        table["q"] = table["p"]
        table["p"].y = x[0] ** 3
    return 0.0 if table["q"] is None else table["q"].y


def in_a_list(x):
    found = [meeting(x[k], x[1 - k]) for k in range(2)]
    return sum(p.length for p in found if p is not None)


NEVER_WRONG = [
    found_in_a_loop, written_where_it_is_not_none, an_object_made_before, read_through_what_was_written,
    asked_whether_it_is_the_same, kept_in_a_dict, in_a_list,
]  # fmt: skip


@pytest.mark.parametrize("f", NEVER_WRONG, ids=lambda f: f.__name__)
def test_never_wrong(f):
    for x in EVERYWHERE[:2]:
        try:
            d_x = grad(f)(x)
        except SourceADError:
            continue
        numbers = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)]
        assert np.allclose(d_x, numbers, rtol=1e-6)


def tuples_by_keys_of_the_run(x, n=3):
    d = {}
    for i, e in enumerate(x):
        d[i % n] = (e, e * e)
    a, b = d[0]
    return a * b + d[1][1]


def test_second_derivatives_of_dicts_of_tuples_are_right_or_refused():
    x, v = np.array([0.5, -0.7, 1.2, 0.3, 0.9]), np.ones(5)
    try:
        found = hvp(tuples_by_keys_of_the_run)(x, 3, v)
    except UnsupportedSyntaxError:
        return
    rows = [grad(tuples_by_keys_of_the_run)(x + h * v, 3) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (rows[0] - rows[1]) / 2e-5, rtol=1e-6)
