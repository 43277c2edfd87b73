"""What this machine has: versions, engines, caches, threads, and what is missing for what."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator

import sourcead
from sourcead.files.caches import VARIABLES, cache_folder
from sourcead.nn.threads import available_cores, blas_threads, conflict

NEEDED = ("numpy", "gast", "astor")
OPTIONAL = {  # what each is for, and the extra that installs it
    "numba": ("gradients as machine code, `backend=\"numba\"`", "numba"),
    "scipy": ("derivatives of `scipy.special`, `scipy.linalg` and kin, where your functions call them", "examples"),
    "pygments": ("colours in this command line", "cli"),
    "tqdm": ("progress bars of `fit` and the examples", "examples"),
    "matplotlib": ("the plots of the examples", "examples"),
    "scikit-learn": ("the small digits on which the examples train without a network connection", "examples"),
    "threadpoolctl": ("the number of threads that NumPy's products use (without it, what the environment says)", "examples"),
}
ENVIRONMENT = ("SOURCEAD_CACHE_DIR", "SOURCEAD_VERIFY", "SOURCEAD_TRACEBACK", "SOURCEAD_NUMBA_INTERNALS")

Row = tuple[str, str]


def sections() -> Iterator[tuple[str, list[Row]]]:
    """Yield the sections of the report: a title, and rows of a name and what is known of it."""
    yield "Versions", [
        ("sourcead", f"{sourcead.__version__}, in {os.path.dirname(sourcead.__file__)}"),
        ("Python", f"{platform.python_version()}, {sys.executable}"),
        *[(name, version(name) or "missing: sourcead needs it") for name in NEEDED],
    ]
    yield "Optional packages", [
        (name, version(name) or f'missing, for {purpose}; the extra "{extra}" installs it') for name, (purpose, extra) in OPTIONAL.items()
    ]
    yield "Engines", [("numpy", "works"), ("numba", numba_engine())]
    yield "Cache", cache()
    yield "Threads", threads()
    yield "Environment", [(name, os.environ.get(name, "not set")) for name in ENVIRONMENT]


def version(name: str) -> str | None:
    """Return the version of an installed package, None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def numba_engine() -> str:
    """Return whether gradients can be compiled, and how."""
    if version("numba") is None:
        return "missing"
    try:
        from sourcead.backends.numba.internals import reason_against
    except Exception as error:
        return f"does not load: {type(error).__name__}: {error}"
    why = reason_against(version("numba"))
    return "works" if why is None else f"works slowly, by Numba's public interface alone: {why}"


def cache() -> list[Row]:
    """Return where machine code and data are kept, and how much there is."""
    try:
        folder = cache_folder()
    except OSError as error:
        return [("folder", f"cannot be used: {error}; {VARIABLES[0]} names another")]
    rows = [("folder", str(folder))]
    kept = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for path in kept:
        files = [file for file in path.rglob("*") if file.is_file()]
        rows.append((path.name, f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB"))
    return rows if kept else [*rows, ("content", "nothing yet")]


def threads() -> list[Row]:
    """Return the cores and threads, and whether they fight."""
    count, cores = blas_threads(), available_cores()
    rows = [("cores that this process may use", str(cores)), ("threads of NumPy's products", str(count))]
    why = conflict(count, cores, None)
    return [*rows, ("advice", f"{why}: set OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 before Python starts")] if why else rows
