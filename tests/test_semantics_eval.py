"""`eval` of a known text that names something outside of the function."""

import math

import numpy as np
import pytest

from sourcead import check_grads, grad
from sourcead.errors import SourceADError

SCALE = 2.5


class Call:
    def __init__(self, x):
        self.price = np.tanh(x)

    def bumped(self):
        return type(self).__name__


class Put(Call):
    def __init__(self, x):
        self.price = np.exp(-x)

    def again(self, x):
        return eval(self.__class__.__name__)(x).price


def by_name(x):
    return sum(eval(name)(x[k]).price * (k + 1) for k, name in enumerate(["Call", "Put"])) + Put(x[0]).again(x[1] ** 2)


def with_dots(x):
    scaled = eval("math.sin")(x[0]) * eval(" SCALE ")
    return scaled + eval("np.linalg.norm")(x) * (eval("None") or eval("2.5")) + eval("abs")(x[1] - 9.0) * math.pi


@pytest.mark.parametrize("function", [by_name, with_dots])
def test_gradient_is_that_of_differences(function):
    check_grads(function, (np.array([0.4, 1.1]),))


def of_a_local(x):
    y = x * 2.0
    return eval("y") * y


def of_an_enclosing_local(x):
    SCALE = x * x  # noqa: N806

    def inner():
        return eval("SCALE") * x

    return inner() + 0.0 * SCALE


@pytest.mark.parametrize("function", [
    of_a_local, of_an_enclosing_local, lambda x: eval("SCALE * 2.0") * x, lambda x: eval("x") * 2.0,
    lambda x: eval("SCALE", {}, {"SCALE": 1}) * x, lambda x: eval(str(x)),
])  # fmt: skip
def test_other_texts_are_refused(function):
    with pytest.raises(SourceADError):
        grad(function)(1.3)


def test_name_that_is_bound_anew_is_found_anew():
    derivative = grad(lambda x: eval("math.sin")(x) * eval("SCALE"))
    before = derivative(0.3)
    globals()["SCALE"] = 5.0
    try:
        assert derivative(0.3) == pytest.approx(2 * before)
    finally:
        globals()["SCALE"] = 2.5
