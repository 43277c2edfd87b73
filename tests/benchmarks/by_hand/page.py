"""The table of gradients beside those of a careful hand, and its section of docs/benchmarks.md."""

import statistics
from pathlib import Path

from tests.benchmarks.report import machine

HEADING = "## Beside gradients written by hand"
RATIOS = ("statements", "operations", "time, float64", "time, float32", "memory, float64", "memory, float32")
HEAD = [
    f"|  | {' | '.join(RATIOS)} | by hand |",
    f"| --- | {'--- | ' * len(RATIOS)}--- |",
]
INTRODUCTION = """\
Written by `python -m tests.benchmarks.by_hand --docs docs` ({machine}). The programs, each with its gradient as a careful hand writes
it in NumPy, are in `tests/benchmarks/by_hand/programs`; the gradients by hand were written before the generated ones were seen.
Each figure is that of the generated gradient divided by that of the hand: statements and operations (calls and operators) of the text,
time of a call (medians of calls in turns, one thread), and the most memory that a call holds beyond its arguments. The last
column has the hand's statements, time and memory in float64.
"""


def ratios(row: dict) -> dict[str, float]:
    found = {what: row[f"{what} ours"] / row[f"{what} hand"] for what in ("statements", "operations")}
    for dtype in ("float64", "float32"):
        if "time" in row[dtype]:
            found[f"time, {dtype}"] = row[dtype]["time"]
            found[f"memory, {dtype}"] = row[dtype]["bytes ours"] / row[dtype]["bytes hand"]
    return found


def failure(row: dict) -> str | None:
    """Why a row has no figures, or not all."""
    if "reason" in row:
        return row["reason"]
    wrong = [f"{dtype}: differs by {row[dtype]['difference']:.0e}" for dtype in ("float64", "float32") if "time" not in row[dtype]]
    return "; ".join(wrong) or None


def line(name: str, row: dict) -> str:
    title = name.replace("_", " ")
    if "reason" in row:
        return f"| {title} | {row['reason']} |" + " |" * len(RATIOS)
    found = ratios(row)
    figures = " | ".join(f"{found[what]:.2f}" if what in found else "-" for what in RATIOS)
    hand = failure(row) or "{} statements, {:.2f} ms, {:.2f} MB".format(
        row["statements hand"], 1e3 * row["float64"]["seconds hand"], row["float64"]["bytes hand"] / 1e6
    )
    return f"| {title} | {figures} | {hand} |"


def summary(rows: dict[str, dict]) -> list[str]:
    """The geometric means over the programs, and the worst of each column."""
    found = {name: ratios(row) for name, row in rows.items() if "reason" not in row}
    columns = {what: {name: r[what] for name, r in found.items() if what in r} for what in RATIOS}
    if not all(columns.values()):
        return []
    means = " | ".join(f"**{statistics.geometric_mean(column.values()):.2f}**" for column in columns.values())
    worst = (max(column, key=column.get) for column in columns.values())
    largest = " | ".join(f"{columns[what][name]:.2f}, {name.replace('_', ' ')}" for what, name in zip(RATIOS, worst))
    return [f"| geometric mean of {len(found)} | {means} | |", f"| largest | {largest} | |"]


def by_hand_section(path: Path) -> str:
    """The section as it stands on the page, empty if there is none."""
    return "".join(path.read_text(encoding="utf-8").partition(HEADING)[1:]) if path.exists() else ""


def write_section(path: Path, rows: dict[str, dict]) -> None:
    """Writes the section, the last of the page, anew."""
    before = path.read_text(encoding="utf-8").removesuffix(by_hand_section(path)).rstrip()
    facts = ", ".join(f"{name} {value}" for name, value in machine().items() if name in ("processor", "python", "numpy"))
    lines = [line(name, row) for name, row in rows.items()]
    text = "\n".join([before, "", HEADING, "", INTRODUCTION.format(machine=facts), *HEAD, *lines, *summary(rows)])
    path.write_text(text + "\n", encoding="utf-8")
