"""docs/adding-a-rule.md, run: the error, the entry, the generated text and the check are what the page shows.

`python -m tests.test_adding_a_rule` writes the outputs anew.
"""

import tempfile
from pathlib import Path

import pytest
from numpy.polynomial.polynomial import polyvalfromroots

from sourcead.primitives import registry
from tests.test_how_it_works import with_outputs

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-rule.md"


@pytest.fixture
def for_this_test_alone():
    """The record that the page enters is removed again."""
    yield
    registry.FACTS.pop(polyvalfromroots)
    registry.RECORDS.pop(polyvalfromroots)


def test_the_page_shows_what_its_code_prints(tmp_path, for_this_test_alone):
    text = PAGE.read_text(encoding="utf-8")
    assert with_outputs(text, tmp_path, "fit") == text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), folder, "fit"), encoding="utf-8")
