"""What surprised a first user who brought programs of another day's work, each as they wrote it."""

import decimal
import fractions
import pdb
import subprocess
import sys

import numpy as np
import pytest

from sourcead import SourceADError, grad
from sourcead.errors import UnsupportedSyntaxError, UnsupportedValueError, WrtError


def test_an_item_of_an_attribute_of_what_a_library_returned_is_refused_with_what_to_write():
    optimize = pytest.importorskip("scipy.optimize")

    def f(k):
        return optimize.milp([k], bounds=optimize.Bounds(1, 2)).x[0]

    with pytest.raises(UnsupportedSyntaxError, match=r"whether `x` is a method or an attribute(.|\n)*register a rule"):
        grad(f)(1.0)


def test_a_method_that_is_not_called_is_refused_as_before():
    with pytest.raises(UnsupportedSyntaxError, match="the method or attribute `sum` is used as a value"):
        grad(lambda x: np.sin(x).sum)(np.ones(3))


@pytest.mark.parametrize("x", [fractions.Fraction(1, 2), decimal.Decimal("1.5"), "1.5", np.array(["1", "2"])])
def test_what_is_a_number_of_another_kind_is_refused_with_how_to_convert_it(x):
    with pytest.raises(WrtError, match=r"Write instead: `(float\(x\)|x.astype\(float\))`"):
        grad(lambda x: np.sum(x**2))(x)


@pytest.mark.parametrize("x", [True, "one", None])
def test_what_is_no_number_is_not_to_be_converted(x):
    with pytest.raises(WrtError, match="name in wrt the parameters that are numbers"):
        grad(lambda x: np.sum(x**2))(x)


def test_a_data_frame_is_refused_with_the_array_and_with_its_columns():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(UnsupportedValueError, match=r"`df.to_numpy\(\)` for one array; for single columns `\{k: df\[k\].to_numpy\(\) for"):
        grad(lambda w, df: np.sum(df.values @ w))(np.ones(2), pandas.DataFrame({"a": [1.0], "b": [2.0]}))


def test_a_decimal_of_a_text_is_refused_with_what_to_write():
    with pytest.raises(SourceADError, match=r"whose digits are exact\n.*\n.*\nWrite instead: `float\(text\)`"):
        grad(lambda x: x * float(decimal.Decimal("1.5")))(2.0)


def stopped(x):
    y = np.sin(x)
    pdb.set_trace()
    return y**2


def test_set_trace_stops_in_the_generated_text_as_breakpoint_does():
    code = f"from {__name__} import grad, stopped; print('found', grad(stopped, verify=False)(2.0))"
    run = subprocess.run([sys.executable, "-c", code], input="p y\nc\n", capture_output=True, text=True)
    assert f"{np.sin(2.0)}" in run.stdout and f"found {np.sin(4.0):.6}" in run.stdout, run.stderr
