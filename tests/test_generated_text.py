"""The generated texts are what was read and found good: those of `tests/golden`, which `python -m tests.golden` writes."""

import difflib

import pytest

from tests.golden import FOLDER, NAMES, golden_texts, path_of

pytestmark = pytest.mark.sampled(2)


@pytest.mark.parametrize("name", NAMES)
def test_generated_text_is_the_one_that_was_read(name):
    ((_, text),) = golden_texts((name,))
    before = path_of(name).read_text(encoding="utf-8")
    lines = difflib.unified_diff(before.splitlines(), text.splitlines(), "golden", "generated", lineterm="")
    assert text == before, "\n".join(["to accept: python -m tests.golden", *lines])


def test_every_golden_file_belongs_to_a_program():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(NAMES)
