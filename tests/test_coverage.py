"""docs/coverage.md covers the installed namespaces, and says what is so."""

import numpy as np
import pytest

import sourcead
from sourcead.errors import SourceADError
from tests import coverage_table
from tests.entered_rules import own_rules


def test_every_public_name_is_in_a_class():
    unknown = [f"{home}.{name}" for home, names in coverage_table.table().items() for name, kind in names.items() if kind is None]
    assert not unknown, "say what becomes of these: a rule, sourcead/primitives/constants.py or sourcead/primitives/refusals.py"


def test_the_document_is_that_of_the_table():
    text = coverage_table.DOCUMENT.read_text()
    if coverage_table.versions() not in text:
        pytest.skip("the document is of other versions")
    assert text == coverage_table.document(), "run `python -m tests.coverage_table`"


def test_every_rule_is_of_both_modes():
    assert [f for f in own_rules() if not all(coverage_table.modes_of(f))] == []


def test_a_refused_function_says_why():
    with pytest.raises(SourceADError, match="order one"):
        sourcead.grad(lambda x: np.i0(x))(1.0)


def test_what_is_refused_is_fine_where_no_derivative_passes():
    assert sourcead.grad(lambda x: x * np.i0(0))(2.0) == 1.0


X = np.random.default_rng(0).uniform(0.3, 2, (3, 4))

SILENT = [
    lambda h: np.sum(np.gradient(X[0], h)),
    lambda h: np.linalg.norm(X[0], h + 2),
    lambda h: np.sum(np.histogram2d(X[0] * h, X[1])[0]),
]


@pytest.mark.parametrize("f", SILENT, ids=range(len(SILENT)))
def test_arguments_without_a_derivative_rule_are_not_constants(f):
    with pytest.raises(SourceADError):
        sourcead.grad(f)(0.5)
