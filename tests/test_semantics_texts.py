"""Methods of texts: what they are given by name, and messages of errors, with NumPy and with Numba."""

# ruff: noqa: UP031, UP032  (the old ways to put values into a text are what is tested)

import json

import numpy as np
import pytest

from sourcead import UnsupportedSyntaxError, grad
from tests.semantics import judged_in_all_modes

X = np.array([0.5, 1.5, 2.5])
PRICES = {"apple pie": 2.0, "apple-3": 5.0, "a-b c": 0.5}


def named_parts(x):
    key = "{fruit}-{n}".format(fruit="apple", n=len(x))
    return PRICES[key] * x[0]


def parts_of_both_kinds(x):
    return PRICES["{0} {what:s}".format("apple", what="pie")] * x[1] ** len("{:>{width}}".format(len(x), width=3))


def split_once(x):
    first, rest = "a-b c".split(sep="-", maxsplit=1)
    return len(first) * x[0] + len(rest) * x[1] ** 2 + PRICES["-".join([first, rest])]


class Channel(str):
    """A text that also says between which numbers a value lies."""

    def __new__(cls, name, low):
        made = super().__new__(cls, name)
        made.low, made.limit = low, lambda v: max(v, low)
        return made

    def scaled(self, v):
        return self.low * v

    def upper(self):
        return f"{self.low}!"


CHANNELS = (Channel("r", 0.1), Channel("g", 1.7))
LISTED = list(CHANNELS)


def attributes_of_texts(x):
    total = 0.0
    for channel, v in zip(CHANNELS, x):
        total = total + channel.limit(v) * (1.0 + channel.low) + channel.scaled(v) * len(channel.upper() + channel.lower())
    return total + LISTED[-1].limit(x[2]) * LISTED[0].low + dict(zip(CHANNELS, x))["g"] ** 2


@pytest.mark.parametrize("f", [named_parts, parts_of_both_kinds, split_once, attributes_of_texts])
def test_methods_of_texts_take_what_is_given_by_name(f):
    assert judged_in_all_modes(f, X) == "right"


def refused_by_format(x):
    if len(x) != 3:
        raise ValueError("{} elements, of which the first is {first:.2f}".format(len(x), first=x[0]))  # noqa: UP032
    return np.sum(x**2)


def refused_by_percent(x):
    if x.shape[0] != 3:
        raise ValueError("%d elements, of which the first is %.2f" % (len(x), x[0]))  # noqa: UP031
    return np.sum(x**2)


def refused_by_assertion(x):
    text = "{0} elements, of which the first is {1:.2f}"
    assert len(x) == 3, text.format(len(x), x[0])
    return np.sum(x**2)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("numba", marks=pytest.mark.compiled)])
@pytest.mark.parametrize("f", [refused_by_format, refused_by_percent, refused_by_assertion])
def test_errors_have_their_messages(f, backend):
    g = grad(f, backend=backend)
    np.testing.assert_allclose(g(X), 2 * X)
    with pytest.raises((ValueError, AssertionError), match="^2 elements, of which the first is 4.00"):
        g(np.array([4.0, 1.0]))


RATES = [0.1, 0.25, 0.4]


def rounded_by_text(x):
    rates = [float("{:.2f}".format(rate / 3)) for rate in RATES]
    return rates[0] * x[0] ** 2 + float(f"{RATES[1] * 2:.1f}") * x[1] + float("1.5 2.5".split()[len(x) - 2]) * x[2]


def test_digits_of_what_is_not_differentiated_are_numbers():
    assert judged_in_all_modes(rounded_by_text, X) == "right"


@pytest.mark.parametrize("f", [
    lambda x: float("{} {}".format(2.0, x[0]).split()[1]), lambda x: json.loads(str(x[0])) * x[1],
    lambda x: np.float64("%f" % x[0]), lambda x: np.array([str(x[0])]).astype(float)[0], lambda x: float("-".join([str(x[0]), "1"])[:2]),
])  # fmt: skip
def test_no_derivative_passes_through_digits(f):
    with pytest.raises(UnsupportedSyntaxError, match="does not pass through text"):
        grad(f)(X)
