"""Where snapshots lie: a folder with the texts, and a file of digests that is part of the repository."""

import hashlib
import importlib.metadata
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".snapshots"
DIGESTS = Path(__file__).parent / "digests.txt"


def versions():
    """What a snapshot depends on besides the compiler."""
    names = ("numpy", "gast", "astor", "scipy", "numba")
    return " ".join([f"python {sys.version_info[0]}.{sys.version_info[1]}", *(f"{n} {importlib.metadata.version(n)}" for n in names)])


def file_name(program):
    return f"{program.theme}.{program.name}"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_texts(found, folder=FOLDER):
    """Writes snapshots, {name: (text, seconds of each kind)}, to a folder; those of other programs stay."""
    folder.mkdir(exist_ok=True)
    for name, (text, _) in found.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    times = read_times(folder)
    times.update({name: seconds for name, (_, seconds) in found.items()})
    (folder / "seconds.json").write_text(json.dumps(dict(sorted(times.items())), indent=0), encoding="utf-8")


def read_times(folder=FOLDER):
    path = folder / "seconds.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def read_text(name, folder=FOLDER):
    path = folder / f"{name}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else None


def sections(text):
    """The sections of a snapshot by kind."""
    parts = text.split("==== ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def write_digests(folder=FOLDER):
    """Writes one line for each section of the snapshot in a folder: program, kind, digest."""
    lines = [versions()]
    for path in sorted(folder.glob("*.txt")):
        found = sections(path.read_text(encoding="utf-8"))
        lines += [f"{path.stem} {kind.replace(' ', '.')} {digest(text)}" for kind, text in found.items()]
    DIGESTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_digests():
    """The versions that the digests were written with, and {(program, kind): digest}."""
    first, *lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines]
    return first, {(name, kind.replace(".", " ")): found for name, kind, found in rows}
