"""docs/errors.md, run: each failing snippet raises its class with the message that is printed, each mended one runs.

`python -m tests.test_errors_doc` writes the messages anew.
"""

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import pytest

from sourcead import errors
from sourcead.primitives import registry

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"
ENTRY = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.M | re.S)
SNIPPET = re.compile(r"```(python|text)\n(.*?)```", re.S)


def entries():
    """For each class: its name, the failing snippet, the message, the mended snippet."""
    for name, body in ENTRY.findall(PAGE.read_text(encoding="utf-8")):
        (_, failing), (_, message), (_, mended) = SNIPPET.findall(body)
        yield name, failing, message, mended


def run(snippet, folder):
    """Runs a snippet as the file model.py of a folder."""
    path = Path(folder) / "model.py"
    path.write_text(snippet, encoding="utf-8")
    from linecache import checkcache

    checkcache(str(path))
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(snippet, str(path), "exec", dont_inherit=True), {"__name__": "model", "__file__": str(path)})
    finally:
        os.chdir(before)


def message_of(error, folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        return f"{type(error).__name__}: {error}\n".replace(f"{folder}{os.sep}", "")
    finally:
        os.chdir(before)


ENTRIES = list(entries())


@pytest.fixture(autouse=True)
def forget_rules():
    """Rules that a snippet registers hold for the snippet alone."""
    yield
    for primal, facts in list(registry.USERS.items()):
        if facts.get("adjoint", entries).__module__ == "model":
            registry.forget_users(primal)


@pytest.mark.parametrize("name, failing, message, mended", ENTRIES, ids=[e[0] for e in ENTRIES])
def test_failing_snippet_raises_the_message_printed(name, failing, message, mended, tmp_path):
    if name == "BackendError":
        pytest.importorskip("numba")
    with pytest.raises(getattr(errors, name)) as raised:
        run(failing, tmp_path)
    assert message_of(raised.value, tmp_path) == message


@pytest.mark.parametrize("name, failing, message, mended", ENTRIES, ids=[e[0] for e in ENTRIES])
def test_mended_snippet_runs(name, failing, message, mended, tmp_path):
    run(mended, tmp_path)


def write_messages():
    """Puts the messages that are raised now into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, failing, message, _ in entries():
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(failing, folder)
                print(f"{name}: nothing raised")
            except Exception as error:
                if not isinstance(error, getattr(errors, name)):
                    print(f"{name}: raised {type(error).__name__}: {error}")
                    continue
                text = text.replace(f"```text\n{message}```", f"```text\n{message_of(error, folder)}```", 1)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_messages()
