"""`itertools.tee`: several iterators over the elements of one, which must not change before all have taken them."""

import itertools

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import SourceADError
from tests.semantics import judged_in_all_modes


def neighbours(x):
    p, q = itertools.tee(u**2 for u in x)
    next(q)
    return sum(u * v for u, v in zip(p, q))


def of_a_begun_iterator(x):
    it = iter([x[0], x[1], x[2] ** 2])
    next(it)
    p, q, r = itertools.tee(it, 3)
    return sum(a * b for a, b in itertools.product(p, q)) + max(r) * x[0]


def shares_of_a_generator(x):
    def products():
        t = x[0]
        for u in x:
            t = t * u
            yield t

    p, q = itertools.tee(products())
    most = max(p)
    return sum((u / most) ** 2 for u in q)


@pytest.mark.parametrize("f", [neighbours, of_a_begun_iterator, shares_of_a_generator], ids=lambda f: f.__name__)
def test_each_iterator_gives_all_elements(f):
    assert judged_in_all_modes(f, np.array([0.7, 0.2, 0.4])) == "right"


def list_that_changes(x):
    items = [x[0], x[1]]
    p, q = itertools.tee(items)
    first = next(p)
    items[0] = x[2]
    return first * next(q)


def array_that_changes(x):
    a = x * 1.0
    p, q = itertools.tee(a)
    first = next(p)
    a[0] = x[2]
    return first * next(q)


def variable_that_changes(x):
    k = x[0]
    p, q = itertools.tee(u * k for u in x)
    first = next(p)
    k = x[1]
    return first * next(q) + sum(p) + k


@pytest.mark.parametrize("f", [list_that_changes, array_that_changes, variable_that_changes], ids=lambda f: f.__name__)
def test_what_changes_before_all_have_taken_it_is_refused(f):
    with pytest.raises(SourceADError):
        grad(f)(np.array([0.7, 0.2, 0.4]))
