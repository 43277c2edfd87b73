"""A mistake that Python reports is an error of Python's class: found while compiling if the line surely runs, else when it runs."""

import pickle
import sys
import traceback

import numpy as np
import pytest

from sourcead import ProgramError, Revolve, SourceADError, grad, hessian, jvp, value_and_grad, vjp

P = {"a": 1.0}


class Empty:
    pass


EMPTY, NOTHING = Empty(), None

SURE = {
    "key": (KeyError, lambda x: x * P["b"]), "attribute": (AttributeError, lambda x: x * EMPTY.w),
    "of a module": (AttributeError, lambda x: np.sni(x)), "name": (NameError, lambda x: x * quux),  # noqa: F821
    "item": (IndexError, lambda x: [x, x][2]), "unpacking": (ValueError, lambda x: (lambda a, b: a)(*[x, x][:2]) + first_of(x)),
    "no function": (TypeError, lambda x: NOTHING(x)), "no items": (TypeError, lambda x: sum(v * x for v in None)),
}  # fmt: skip


def first_of(x):
    a, b = x, x, x
    return a + b


@pytest.mark.parametrize("python, f", SURE.values(), ids=SURE)
def test_a_mistake_is_of_the_class_that_python_raises(python, f):
    with pytest.raises(python):
        f(2.0)
    with pytest.raises(python, match="test_mistakes_python_reports.py:") as caught:
        grad(f)(2.0)
    error = caught.value
    assert isinstance(error, ProgramError) and type(error).__name__ == python.__name__
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.reason == error.reason


def in_a_loop(x, n):
    for _ in range(n):
        x = x * P["b"]
    return x


def in_a_while_loop(x, n):
    while n > 0:
        x = x * quux  # noqa: F821
        n -= 1
    return x


def in_a_loop_in_a_loop(x, n):
    for i in range(n):
        for _ in range(i + 1):
            x = x * EMPTY.w
    return x


def of_lists(x, n):
    y = [x]
    while n > 0:
        y.append(x)
        y[0] = y[0] * P["b"]
        n -= 1
    return y[0]


def in_an_arm(x, n):
    if n > 0:
        x = x * P["b"]
    return x


def by_raise(x, n):
    for i in range(n):
        x = x * 2
        raise ValueError(f"in {i}")
    return x


@pytest.mark.parametrize("f", [in_a_loop, in_a_while_loop, in_a_loop_in_a_loop, of_lists, in_an_arm, by_raise], ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", [
    grad, lambda f: lambda x, n: value_and_grad(f)(x, n)[1], lambda f: lambda x, n: vjp(f, x, n, wrt=0)[1](1.0),
    lambda f: lambda x, n: jvp(f, (x, n), (1.0, None))[1], lambda f: grad(f, checkpoint=Revolve(2)),
], ids=["grad", "value_and_grad", "vjp", "jvp", "revolve"])  # fmt: skip
def test_a_line_that_may_never_run_is_an_error_only_when_it_runs(f, way):
    assert way(f)(3.0, 0) == 1.0
    with pytest.raises(Exception) as expected:
        f(3.0, 2)
    with pytest.raises(expected.type) as caught:
        way(f)(3.0, 2)
    assert not isinstance(caught.value, SourceADError)
    raised_at = traceback.extract_tb(expected.value.__traceback__)[-1].lineno
    lines = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert lines[-1] == raised_at


def test_the_error_of_the_run_has_the_hint_too():
    with pytest.raises(AttributeError, match="`np` has no attribute `sqrtt`: write `sqrt`"):
        grad(lambda x, n: sum([np.sqrtt(x) for _ in range(n)]))(1.0, 3)


def only_raises(x):
    raise ValueError("not here")


def calls_what_only_raises(x):
    return only_raises(x)


@pytest.mark.parametrize("f", [only_raises, calls_what_only_raises])
@pytest.mark.parametrize("way", [grad, value_and_grad, hessian, lambda f: lambda x: vjp(f, x), lambda f: lambda x: jvp(f, (x,), (x,))])
def test_a_function_that_only_raises_does_so(f, way):
    with pytest.raises(ValueError, match="^not here$"):
        way(f)(2.0)


def product_in_the_last_line(w, x):
    y = w * 2
    return np.sum(y @ x)


def two_in_one_loop(w, x):
    total = 0.0
    for row in w:
        total = total + np.sum(
            np.tanh(row)
        )
        total = total * x[5]
    return total


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows the line of an error, but not the expression")
@pytest.mark.parametrize("f", [product_in_the_last_line, two_in_one_loop], ids=lambda f: f.__name__)
def test_the_traceback_shows_the_line_whose_expression_failed(f):
    args = np.ones((2, 3)), np.ones(4)
    with pytest.raises((ValueError, IndexError)) as expected:
        f(*args)
    with pytest.raises(expected.type) as caught:
        grad(f)(*args)
    raised_at = [frame.lineno for frame in traceback.extract_tb(expected.value.__traceback__) if frame.filename == __file__][-1]
    assert [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__][-1] == raised_at


def returns_on_one_path(x):
    if x > 0:
        return x


def test_the_traceback_names_the_function_that_returns_nothing():
    with pytest.raises(TypeError, match="`returns_on_one_path` returns None for these arguments") as caught:
        grad(returns_on_one_path)(-1.0)
    lines = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert lines[-1] == returns_on_one_path.__code__.co_firstlineno
