"""The pages in docs/ name files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
FOLDERS = {path.name for path in (ROOT / "sourcead").iterdir() if path.is_dir()}


def named_files(text):
    """The paths in backticks that begin with a folder of the package or of the repository."""
    for path in re.findall(r"`((?:\w+/)+[\w.]*)`", text):
        first = path.partition("/")[0]
        if first in FOLDERS:
            yield ROOT / "sourcead" / path
        elif first in ("sourcead", "tests", "docs", "examples"):
            yield ROOT / path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    linked = [page.parent / target for target in re.findall(r"\]\(([\w./-]+)\)", text)]
    assert not [str(path.relative_to(ROOT)) for path in (*named_files(text), *linked) if not path.exists()]


def test_the_pages_name_files():
    assert sum(len(list(named_files(page.read_text(encoding="utf-8")))) for page in PAGES) > 40


SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
TESTS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").glob("test_*.py")))


def test_the_page_of_threats_names_tests_that_exist():
    named = set(re.findall(r"`(test_\w+)`", SECURITY))
    assert len(named) > 5 and not [name for name in sorted(named) if f"def {name}(" not in TESTS]
