"""docs/reading.md, run: the blocks of code in order, each followed by the text that it prints.

`python -m tests.test_reading` writes the texts anew.
"""

import tempfile
from pathlib import Path

from tests.test_how_it_works import with_outputs

PAGE = Path(__file__).parent.parent / "docs" / "reading.md"


def test_the_page_shows_the_texts_that_are_generated(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert with_outputs(text, tmp_path, "reading") == text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), temporary, "reading"), encoding="utf-8")
