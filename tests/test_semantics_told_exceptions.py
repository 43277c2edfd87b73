"""Arguments of exceptions that no derivative can compute: the text raises the same class, and says that it does not know them."""

import inspect
import sys
import traceback

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad
from tests.semantics import judged

pytestmark = pytest.mark.sampled(3)

X = np.array([0.4, 1.3])


class Invalid(ValueError):
    def __init__(self, what, where="", solution=()):
        self.what, self.where, self.solution = what, where, solution


def check(q):
    if q < 0:
        raise Invalid("not a ratio: " + str(q), where=inspect.stack()[1][3], solution=["exchange them"])


def of_the_caller(x):
    check(x[0])
    return x[0] ** 2 * x[1]


def of_the_frame_by_position(x):
    total = 0.0
    for v in x:
        if v > 5.0:
            raise Invalid(f"{v} is large", inspect.currentframe().f_code.co_name)
        total += v**3
    return total


def of_the_stack_in_a_method(x):
    class Checked:
        def __init__(self, limit):
            self.limit = limit

        def root(self, v):
            if v < self.limit:
                message = Invalid(what=sys._getframe(1).f_lineno)
                raise message if v > 100 else Invalid(what="".join(traceback.format_stack()))
            return np.sqrt(v)

    checked = Checked(0.1)
    return checked.root(x[0]) + checked.root(x[1])


@pytest.mark.parametrize("f", [of_the_caller, of_the_frame_by_position], ids=lambda f: f.__name__)
def test_the_derivative_where_nothing_is_raised(f):
    assert judged(f, X) == "right"


@pytest.mark.parametrize("f, bad", [(of_the_caller, -X), (of_the_frame_by_position, X * 10)], ids=["caller", "position"])
def test_what_is_raised(f, bad):
    with pytest.raises(Invalid):
        grad(f)(bad)
    gradient = grad(f)
    gradient(X)
    with pytest.raises(Invalid) as caught:
        gradient(bad)
    assert "not known" in caught.value.where


def test_what_decides_is_still_refused():
    def f(x):
        where = inspect.stack()[0][3]
        return np.sum(x) if where == "f" else np.sum(x**2)

    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(X)


def test_an_exception_whose_class_is_not_known_is_refused():
    def f(x):
        if x[0] > 3:
            raise inspect.stack()[0]
        return np.sum(x)

    with pytest.raises(UnsupportedSyntaxError):
        grad(f)(X + 3.0)
    np.testing.assert_array_equal(grad(f)(X), np.ones(X.shape))
