"""The table that a benchmark prints: what was measured, its value, its target, and whether the target is met."""

import importlib.metadata
import json
import math
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table; a figure that is only reported has no target, and `ok` is then None."""

    what: str
    value: float
    shown: str
    target: str = ""
    ok: bool | None = None

    def __str__(self):
        verdict = {True: "ok", False: "SHORT", None: ""}[self.ok]
        return f"{self.what:<64} {self.shown:>12}  {self.target:<12} {verdict}".rstrip()


def at_most(what: str, value: float, limit: float, form: str = "{:.2f}") -> Row:
    """A row that is ok if the value is at most the limit."""
    return Row(what, float(value), form.format(value), f"<= {form.format(limit)}", bool(value <= limit))


def at_least(what: str, value: float, limit: float, form: str = "{:.2f}") -> Row:
    """A row that is ok if the value is at least the limit."""
    return Row(what, float(value), form.format(value), f">= {form.format(limit)}", bool(value >= limit))


def below(what: str, value: float, limit: float, form: str = "{:.2f}") -> Row:
    """A row that is ok if the value is less than the limit."""
    return Row(what, float(value), form.format(value), f"< {form.format(limit)}", bool(value < limit))


def between(what: str, value: float, low: float, high: float, form: str = "{:.2f}") -> Row:
    """A row that is ok if the value lies between two limits."""
    return Row(what, float(value), form.format(value), f"{form.format(low)} to {form.format(high)}", bool(low <= value <= high))


def reported(what: str, value: float, form: str = "{:.2f}") -> Row:
    """A row without a target."""
    return Row(what, float(value), form.format(value))


def measure(what: str, rows: Callable[[], Iterable[Row]]) -> list[Row]:
    """The rows that `rows()` gives, each printed as soon as it is there; a failure is a row that falls short."""
    found = []
    try:
        for row in rows():
            found.append(row)
            print(row, flush=True)
    except Exception as error:  # one measurement that fails must not hide the others
        first_line = (str(error).splitlines() or [""])[0]
        found.append(Row(what, math.nan, "failed", f"{type(error).__name__}: {first_line}", False))
        print(found[-1], flush=True)
    return found


def machine() -> dict[str, str]:
    """The processor, the number of cores, Python, and the versions of the packages that matter."""
    packages = ("sourcead", "numpy", "numba", "torch", "jax", "memray")
    return {
        "processor": processor_name(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version for name in packages if (version := installed_version(name))},
    }


def processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
            return next(names, platform.processor())
    except OSError:
        return platform.processor()


def installed_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def write_json(path: str, rows: list[Row], **facts) -> None:
    """Keeps a run: the machine, what it was run on, and the rows."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine(), **facts, "rows": [asdict(row) for row in rows]}, file, indent=1)
        file.write("\n")
