"""The blocks of README.md, pasted in order into a file, a notebook, or Python's prompt, run and print what the page shows."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block.partition("```")[0] for block in PAGE.split("```python\n")[1:]]
PLACE = re.compile(r"\((\S+:\d+|Cell In\[\d+\], line \d+)\)")  # of a function, in the first line of its gradient


def is_shown(block):
    """Whether a block is what the block before prints: it defines only a generated function."""
    return block.startswith("def ") and '"""' in block


CODE = [block for block in BLOCKS if not is_shown(block)]
SHOWN = {k - 1: block for k, block in enumerate(BLOCKS) if is_shown(block)}
"""{the number of a block: what it prints}"""


def without_place(text):
    return PLACE.sub("(model.py:1)", text).strip()


def outputs(run):
    """What each block of code prints, by its number, where `run` runs a block."""
    found = {}
    for k, block in enumerate(BLOCKS):
        if not is_shown(block):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                run(block)
            found[k] = out.getvalue()
    return {k: text for k, text in found.items() if text}


def test_the_page_has_blocks():
    assert len(CODE) >= 6 and len(SHOWN) == 2


def test_pasted_into_a_file(tmp_path, monkeypatch):
    """The places that the page names are right, too."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "model.py"
    file.write_text("".join(CODE), encoding="utf-8")
    space, line = {"__name__": "model"}, 0

    def run(block):
        nonlocal line
        exec(compile("\n" * line + block, str(file), "exec", dont_inherit=True), space)
        line += block.count("\n")

    found = outputs(run)
    assert {k: text.strip() for k, text in found.items()} == {k: text.strip() for k, text in SHOWN.items()}


def test_pasted_into_a_notebook(monkeypatch):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    monkeypatch.chdir(ROOT)
    found = outputs(lambda cell: shell.run_cell(cell, store_history=True).raise_error())
    assert {k: without_place(text) for k, text in found.items()} == {k: without_place(text) for k, text in SHOWN.items()}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Python keeps the source of what is typed from version 3.13 on")
def test_pasted_at_the_prompt():
    typed = "import sys; sys.ps1 = sys.ps2 = ''\n" + "".join(block + "\n" for block in CODE)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": ""}
    run = subprocess.run([sys.executable, "-q", "-i"], input=typed, capture_output=True, text=True, env=environment, timeout=300)
    assert "Error" not in run.stderr
    assert without_place(run.stdout) == without_place("\n\n".join(text.strip("\n") for text in SHOWN.values()))


def test_blocks_of_other_pages_run(tmp_path):
    """The other pages have tests of their own."""
    pages = [p for p in sorted((ROOT / "docs").glob("*.md")) if p.stem not in ("errors", "how-it-works", "adding-a-rule", "reading")]
    blocks = [(p, b.partition("```")[0]) for p in pages for b in p.read_text(encoding="utf-8").split("```python\n")[1:]]
    assert blocks
    for page, block in blocks:
        if "numba" in block:
            pytest.importorskip("numba")
        file = tmp_path / f"{page.stem}.py"
        file.write_text(block, encoding="utf-8")
        exec(compile(block, str(file), "exec", dont_inherit=True), {"__name__": page.stem})
