"""A dict or deque that a function makes is of its class in the result too, and derivatives pass through it."""

from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from sourcead import grad, jvp, vjp

X = np.array([1.0, 2.0, 3.0])


def nothing():
    return 0.0


def ordered(x):
    made = OrderedDict()
    made["z"], made["a"] = 2.0 * x, np.sum(x**2)
    return made


def with_default(x):
    made = defaultdict(nothing, b=x[1] ** 2)
    made["a"] += x[0]
    return made


def keys_of_the_run(x):
    made = defaultdict(float)
    for k, v in enumerate(x):
        made[k % 2] += v**2
    return made


def grown_in_a_loop(x):
    made = defaultdict(list)
    for v in x:
        made["all"].append(v)
    return made


def last_two(x):
    made = deque(maxlen=2)
    for v in x:
        made.append(v)
    return made


@pytest.mark.parametrize("f", [ordered, with_default, keys_of_the_run, grown_in_a_loop, last_two], ids=lambda f: f.__name__)
def test_an_auxiliary_result_has_the_class_that_it_is_made_of(f):
    expected = f(X)
    _, (found, number) = grad(lambda x: (np.sum(x), (f(x), 1.0)), has_aux=True)(X)
    assert type(found) is type(expected) and repr(found) == repr(expected) and number == 1.0
    if isinstance(found, defaultdict):
        assert found["new"] == expected["new"]


def test_a_derivative_passes_through_a_result_of_such_a_class():
    value, pullback = vjp(ordered, X)
    assert type(value) is OrderedDict
    for cotangent in (OrderedDict(z=np.ones(3), a=1.0), {"z": np.ones(3), "a": 1.0}):
        np.testing.assert_allclose(pullback(cotangent), 2.0 + 2.0 * X)
    np.testing.assert_allclose(jvp(with_default, (X,), (np.ones(3),))[1]["b"], 4.0)
    np.testing.assert_allclose(vjp(keys_of_the_run, X)[1]({0: 1.0, 1: 0.0}), [2.0, 0.0, 6.0])
