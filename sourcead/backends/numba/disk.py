"""Machine code on disk: Numba's own cache, beside a copy of the text in the user's cache folder.

Numba finds machine code by the file, the function and the types of a call.  It does not see what the text calls, so the name of the folder
is a hash of all that the machine code depends on: the text with its outlined functions, the options, the versions, and the sources of this
package that are compiled into it.  Files are written under a temporary name and renamed, so processes may share them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np

from sourcead import runtime
from sourcead.backends.numba.internals import TOOLCHAIN


def folder() -> Path:
    """Return the folder in which machine code is kept."""
    if given := os.environ.get("SOURCEAD_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "sourcead" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sourcead"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sourcead"


@functools.lru_cache(maxsize=1)
def versions() -> str:
    """Return a string of all that machine code depends on besides the text and the options."""
    here = Path(__file__).parent
    files = sorted([*here.rglob("*.py"), *Path(runtime.__file__).parent.glob("*.py")])
    stamps = [(f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files]
    return repr((sys.version, numba.__version__, np.__version__, TOOLCHAIN.name, stamps))


def file_of(name: str, text: str, with_callees: str, options: object) -> str | None:
    """Return a file with the text of a function, beside which Numba keeps its machine code; None if it cannot be written.

    Args:
        name: the name of the function.
        text: its text.
        with_callees: the text with the functions that it calls.
        options: the options of the compilation.
    """
    key = hashlib.sha256(f"{with_callees}\0{options!r} {versions()}".encode()).hexdigest()[:32]
    file = folder() / key / f"{name}.py"
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            os.replace(temporary, file)
    except OSError:
        return None
    return str(file)
