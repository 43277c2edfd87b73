"""Rounding is a step, by `round` and through a text alike; what keeps all digits of a float is the number itself (docs/conventions.md)."""

import numpy as np
import pytest

from sourcead import grad, jvp, value_and_grad
from sourcead.errors import SourceADError

STEPS = [
    lambda x: round(x, 3), lambda x: np.round(x, 3), lambda x: float(f"{x:.3f}"), lambda x: float("{:.3f}".format(x)),  # noqa: UP032
    lambda x: float("%.3f" % x), lambda x: float(format(x, ".3f")), lambda x: float(f"{x:8.4g}"), lambda x: float("%.2e" % x),  # noqa: UP031
    lambda x: float(str(round(x, 3))),
]  # fmt: skip
WHOLE = [
    lambda x: round(x, 17), lambda x: np.round(x, 16), lambda x: float(f"{x:.18f}"), lambda x: float("{0:.18f}".format(x)),  # noqa: UP030, UP032
    lambda x: float("%.17g" % x), lambda x: float(format(x, ".16e")), lambda x: float(str(x)), lambda x: float(repr(x)),  # noqa: UP031
    lambda x: float(f"{x}"),
]  # fmt: skip
REFUSED = [lambda x: float(f"1{x:.1f}"), lambda x: float("%.3s" % x), lambda x: float(f"{x:.3f}"[:3])]  # noqa: UP031


@pytest.mark.parametrize("k", range(len(STEPS)))
def test_rounding_is_a_step(k):
    f = STEPS[k]
    assert value_and_grad(lambda x: f(x) * x)(1.234567) == (f(1.234567) * 1.234567, f(1.234567))
    assert jvp(lambda x: f(x) * x, (1.234567,), (2.0,))[1] == 2 * f(1.234567)


@pytest.mark.parametrize("k", range(len(WHOLE)))
def test_what_keeps_all_digits_is_the_number(k):
    f = WHOLE[k]
    assert value_and_grad(lambda x: f(x) * x)(1.234567) == (f(1.234567) * 1.234567, 2 * 1.234567)
    assert jvp(lambda x: f(x) * x, (1.234567,), (2.0,))[1] == 4 * 1.234567


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_other_texts_are_refused(k):
    with pytest.raises(SourceADError, match="a number that was read from a text"):
        grad(REFUSED[k])(1.2)
