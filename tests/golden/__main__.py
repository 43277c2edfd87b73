"""Writes the golden files: `python -m tests.golden [NAME ...]`."""

import sys

from tests.golden import FOLDER, golden_texts, path_of

names = sys.argv[1:]
written = {path_of(name) for name, text in golden_texts(*[names] * bool(names)) if path_of(name).write_text(text)}
if not names:
    for left in set(FOLDER.glob("*.txt")) - written:
        left.unlink()
print(f"{len(written)} files written")
