"""The pages in docs/ name files that exist."""

import re
from pathlib import Path

import numpy as np
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


README = [block.partition("```")[0] for block in (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]]


def run(code, folder):
    file = folder / "model.py"
    file.write_text(code, encoding="utf-8")
    space = {"__name__": "model"}
    exec(compile(code, str(file), "exec", dont_inherit=True), space)
    return space


def test_the_readme_shows_the_gradient_that_is_generated(tmp_path):
    code, shown = README[:2]
    call = "d_w, d_u, d_b = loss(w, u, b, xs, y)\n"
    assert code.endswith(call)
    rng = np.random.default_rng(0)
    space = run(code.removesuffix(call), tmp_path)
    space["loss"](rng.random((9, 8)), rng.random((9, 9)), rng.random(9), rng.random((10, 8)), rng.random(9))
    assert space["loss"].source.strip() == shown.strip()


@pytest.mark.parametrize("word", ["Segments(10)", "sourcead.scan", "with adjoint_of"])
def test_the_examples_of_the_readme_run(word, tmp_path):
    (code,) = [block for block in README if word in block and "import numpy" in block]
    run(code, tmp_path)
