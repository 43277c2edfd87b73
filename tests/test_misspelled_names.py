"""A name or an attribute that there is not: the caret stands below the expression, and the message says what may be meant."""

import numpy as np
import pytest

from sourcead import grad
from sourcead.errors import ProgramError


class Model:
    weights = 2.0

    def loss(self, x):
        return np.sum(x) * self.weigths


def variable(x):
    total = np.sum(x)  # noqa: F841
    return totl * 2.0  # noqa: F821


def of_another_function(x):
    return np.sum(x) + Modell.weights  # noqa: F821


def of_numpy(x):
    return np.sum(square(x))  # noqa: F821


def number_of_numpy(x):
    return np.sum(x) * pi  # noqa: F821


def module(x):
    return np.sum(x) * fractions.Fraction(1, 2)  # noqa: F821


def nothing_similar(x):
    return np.sum(quux * x)  # noqa: F821


def unassigned(x):
    y = np.sum(late * x)  # noqa: F821
    late = 2.0
    return y * late


def method(x):
    return 2.0 * (x * x).summ()


@pytest.mark.parametrize("function, marked, hint", [
    (variable, "totl", "`total`"), (of_another_function, "Modell", "`Model`"), (of_numpy, "square", "`np.square(...)`"),
    (number_of_numpy, "pi", "`np.pi`"), (module, "fractions", "`import fractions` at the beginning of the module"),
    (nothing_similar, "quux", None), (unassigned, "late", None), (method, "(x * x).summ", "`sum`"),
    (Model().loss, "self.weigths", "`weights`"),
], ids=lambda case: getattr(case, "__name__", None))  # fmt: skip
def test_the_caret_stands_below_the_name_and_the_message_says_what_may_be_meant(function, marked, hint):
    with pytest.raises(ProgramError) as raised:
        grad(function)(np.ones(3))
    _, line, carets, *instead = str(raised.value).splitlines()
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked
    assert instead == ([f"Write instead: {hint}"] if hint else [])
