"""`is` between arrays of which one is there before the call: in globals, in lists and dicts of globals, and given as an argument."""

import numpy as np
import pytest

from sourcead import value_and_grad
from sourcead.errors import SourceADError
from tests.semantics import made


def program(test):
    """A function whose value shows whether the test holds, with globals of which some are one array."""
    w = np.array([2.0, 3.0])
    names = {"np": np, "W": w, "SAME": w, "OTHER": w.copy(), "ITEMS": [w, 1.0], "TABLE": {"a": w}, "MANY": [w + i for i in range(9)] + [w]}
    return made(f"return np.sum(x * x) * (2.0 if {test} else 3.0)", "x, y, k", **names), names


@pytest.mark.parametrize("test", [
    "W is SAME", "W is not SAME", "W is OTHER", "ITEMS[0] is W", "TABLE['a'] is ITEMS[0]", "ITEMS[0] is OTHER", "MANY[k] is W",
    "MANY[k] is OTHER", "(lambda t: t)(W) is SAME", "np.asarray(W) is SAME", "[W][0] is SAME", "W.T is W", "W[:] is W", "W[:] is SAME",
    "W.copy() is W", "y is W", "x is W", "y is TABLE['a']", "y is MANY[k]", "any(y is each for each in ITEMS)",
    "any(each is W for each in MANY)",
])  # fmt: skip
def test_two_names_of_one_array_are_one_object(test):
    f, names = program(test)
    for x in (np.array([0.5, 1.5]), names["W"]):
        for y in (names["W"], names["OTHER"], np.ones(2)):
            for k in (0, 9):
                try:
                    value = value_and_grad(f, verify=False)(x, y, k)[0]
                except SourceADError:
                    continue
                assert value == f(x, y, k), (y, k)


@pytest.mark.parametrize("test", ["W is SAME", "ITEMS[0] is W", "TABLE['a'] is ITEMS[0]", "y is W", "y is SAME"])
def test_names_that_lead_to_other_arrays_later_are_asked_again(test):
    f, names = program(test)
    derivative, x = value_and_grad(f, verify=False), np.array([0.5, 1.5])
    for change in (
        {}, {"SAME": names["OTHER"]}, {"W": names["OTHER"]}, {"ITEMS": [names["OTHER"]]}, {"TABLE": {"a": names["OTHER"]}},
    ):  # fmt: skip
        f.__globals__.update(change)
        for y in (names["OTHER"], names["TABLE"]["a"]):
            assert derivative(x, y, 0)[0] == f(x, y, 0), (change, y)
