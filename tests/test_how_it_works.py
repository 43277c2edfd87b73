"""docs/how-it-works.md, run: the blocks of code in order, each followed by what it prints.

`python -m tests.test_how_it_works` writes the outputs anew.
"""

import contextlib
import io
import re
import tempfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "how-it-works.md"
BLOCK = re.compile(r"```(python|text)\n(.*?)```\n", re.S)


def outputs(text, folder, name="how_it_works"):
    """What each block of code prints, when all of them stand in one file; a block that prints nothing gives an empty text."""
    file = Path(folder) / f"{name}.py"
    codes = [body for kind, body in BLOCK.findall(text) if kind == "python"]
    file.write_text("".join(codes), encoding="utf-8")
    space, line = {"__name__": name}, 0
    for code in codes:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile("\n" * line + code, str(file), "exec", dont_inherit=True), space)
        line += code.count("\n")
        yield out.getvalue()


def with_outputs(text, folder, name="how_it_works"):
    """The page, in which the text that follows a block of code is what that block prints."""
    printed = outputs(text, folder, name)
    last = ""

    def block(found):
        nonlocal last
        if found[1] == "python":
            assert not last, f"the page does not show what is printed: {last}"
            last = next(printed)
            return found[0]
        shown, last = last, ""
        return f"```text\n{shown.rstrip()}\n```\n"

    return BLOCK.sub(block, text)


def test_the_page_shows_what_its_code_prints(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    assert with_outputs(text, tmp_path) == text


@pytest.mark.parametrize(
    "body, what",
    [
        ("y = x\n    k = k * x[0]", "`x`"),
        ("x[1:3] = 0.0", "`1:3`"),
        ("x[int(x[0])] = 0.0", "`int(x[0])`"),
        ("while k > 0.0:\n        k = k - 1.0", "`while k > 0.0:"),
        ("for i in range(3):\n        for i in range(3):\n            k = k * x[i]", "`for i in range(3):"),
        ("s_1 = k", "`s_1`"),
    ],
)
def test_the_small_compiler_refuses_what_it_does_not_know(body, what, tmp_path):
    space = {"__name__": "how_it_works"}
    file = tmp_path / "how_it_works.py"
    codes = [code for kind, code in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if kind == "python"]
    with contextlib.redirect_stdout(io.StringIO()):
        code = "".join(codes[:4])
        file.write_text(code, encoding="utf-8")
        exec(compile(code, str(file), "exec", dont_inherit=True), space)
    file = tmp_path / "refused.py"
    file.write_text(f"def refused(x, k):\n    {body}\n    return k\n", encoding="utf-8")
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), space)
    with pytest.raises(NotImplementedError, match=re.escape(what)):
        space["lower"](space["refused"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        PAGE.write_text(with_outputs(PAGE.read_text(encoding="utf-8"), temporary), encoding="utf-8")
