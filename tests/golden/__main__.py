"""Writes the golden files: `python -m tests.golden [NAME ...]`."""

import sys

from tests.golden import FOLDER, NAMES, golden_texts, path_of

names = sys.argv[1:]
for name, text in golden_texts(names or NAMES):
    path_of(name).write_text(text, encoding="utf-8")
for path in FOLDER.glob("*.txt"):
    if path.stem not in NAMES:
        path.unlink()
print(f"{len(names or NAMES)} files written")
