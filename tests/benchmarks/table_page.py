"""The page of the table: benchmarks.md, its plot, and its figures as JSON."""

import json
from pathlib import Path

from tests.benchmarks import peers
from tests.benchmarks.by_hand.page import by_hand_section
from tests.benchmarks.elman import table

COMMAND = "python -m tests.benchmarks table --docs docs"


def seconds(value: float | None) -> str:
    """A time with three digits and its unit."""
    if value is None:
        return ""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            digits = 2 if value * factor < 10 else 1 if value * factor < 100 else 0
            return f"{value * factor:,.{digits}f} {unit}"
    raise AssertionError


def bytes_of(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:.2f} MB"


def fastest(row: dict, names) -> str | None:
    """The engine whose gradient takes the least time."""
    timed = {e: row[e]["gradient"] for e in names if "gradient" in row.get(e, {})}
    return min(timed, key=timed.get) if timed else None


def cell(facts: dict | None) -> str:
    """The time of a gradient; a dash where there is none."""
    if not facts or "reason" in facts:
        return "-"
    return seconds(facts["gradient"]) + (" *" if facts["shorter"] else "")


def times(rows: dict) -> list[str]:
    """A line for each program: primal, gradient, what it costs, and the gradients of others."""
    others = [e for e in peers.ENGINES if e not in peers.OURS]
    head = ["", "primal", "gradient", "gradient / primal", "first call", "peak memory", *others, "/ best peer"]
    lines = []
    for name, row in rows.items():
        ours, best = fastest(row, peers.OURS), fastest(row, others)
        mine = row.get(ours, {})
        primal = mine.get("primal")
        lines.append([
            name, seconds(primal), f"{cell(mine)}, {ours.partition(', ')[2]}" if ours else "-",
            f"{mine['gradient'] / primal:.2f}" if primal else "", f"{mine['first call']:.2f} s" if ours else "",
            bytes_of(mine.get("peak")), *(cell(row.get(e)) for e in others),
            f"{mine['gradient'] / row[best]['gradient']:.2f}" if ours and best else "",
        ])  # fmt: skip
    return table(head, lines)


def both(rows: dict) -> list[str]:
    """Our two engines beside each other, primal and gradient."""
    head = [
        "",
        *(
            f"{what}, {e.partition(', ')[2]}"
            for what in ("primal", "gradient", "first call", "peak memory")
            for e in peers.OURS
        ),
    ]
    lines = []
    for name, row in rows.items():
        facts = [row.get(e, {}) for e in peers.OURS]
        lines.append([
            name, *(seconds(f.get("primal")) for f in facts), *(cell(f) for f in facts),
            *(f"{f['first call']:.2f} s" if "first call" in f else "" for f in facts), *(bytes_of(f.get("peak")) for f in facts),
        ])  # fmt: skip
    return table(head, lines)


def of_peers(rows: dict, what: str, show) -> list[str]:
    """One figure of all engines."""
    lines = [
        [name, *(show(row[e].get(what)) if row.get(e, {}).get(what) is not None else "-" for e in peers.ENGINES)]
        for name, row in rows.items()
    ]
    return table(["", *peers.ENGINES], lines)


def reasons(rows: dict) -> list[str]:
    """Why engines are left out, the programs with the same reason together."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, row in rows.items():
        for engine, facts in row.items():
            if "reason" in facts:
                found.setdefault((engine, facts["reason"]), []).append(name)
    whole = len(rows)
    lines = [
        f"- {e}: {reason.replace('|', '/')} ({'all others' if len(n) > whole // 2 else ', '.join(n)})"
        for (e, reason), n in found.items()
    ]
    return [*lines, ""]


def plot(path: Path, rows: dict) -> None:
    """The gradients of peers, as multiples of the time of ours."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    others = [e for e in peers.ENGINES if e not in peers.OURS]
    names = [name for name, row in rows.items() if fastest(row, peers.OURS)][::-1]
    figure, axes = plt.subplots(figsize=(9, 0.26 * len(names) + 1.4), layout="constrained")
    for engine, marker in zip(others, "o^v<>s", strict=True):
        points = [
            (rows[n][engine]["gradient"] / rows[n][fastest(rows[n], peers.OURS)]["gradient"], k)
            for k, n in enumerate(names)
            if "gradient" in rows[n].get(engine, {})
        ]
        if points:
            axes.scatter(*zip(*points), marker=marker, label=engine, s=26)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel("time of a gradient, divided by that of sourcead (right of the line: slower)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write_page(folder: Path, kept: dict) -> None:
    """Writes the page, its plot and its figures; the section that `by_hand` wrote at its end stays."""
    rows, facts = kept["programs"], kept["machine"]
    plot(folder / "benchmarks.svg", rows)
    (folder / "benchmarks.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    reached = [
        [t["what"], t["shown"], t["target"], {True: "yes", False: "**no**"}.get(t["ok"], "")] for t in kept["targets"]
    ]
    lines = [
        "# Benchmarks",
        "",
        f"Written by `{COMMAND}` ({', '.join(f'{k} {v}' for k, v in facts.items())}): each engine has its own",
        "process, all ran in the same run and took turns, and the figures are medians. [benchmarks.json](benchmarks.json) has all of them.",
        "The gradients of all engines were compared before they were timed.",
        "",
        "![times of gradients of other libraries, divided by those of sourcead](benchmarks.svg)",
        "",
        *table(["", "measured", "target", ""], reached),
        "## Gradients",
        "",
        "The gradient of the faster engine of sourcead, NumPy or Numba, its primal in the same engine, and the gradients of other",
        "libraries. The programs are in `tests/benchmarks/programs.py`. For `jax.jit`, loops over time are scans and other loops are",
        "operations on whole arrays; \"loop for loop\" has the loops of the kernel. `*`: run with a twentieth of the steps, and",
        "multiplied.",
        "",
        *times(rows),
        "## NumPy and Numba",
        "",
        *both(rows),
        "## First calls, compilation included",
        "",
        *of_peers(rows, "first call", lambda s: f"{s:.2f} s"),
        "## Peak memory of a gradient",
        "",
        *of_peers(rows, "peak", bytes_of),
        "## Left out, and why",
        "",
        *reasons(rows),
        *([f"Not in this run: {', '.join(kept['late'])}."] if kept["late"] else []),
    ]  # fmt: skip
    path = folder / "benchmarks.md"
    beside = by_hand_section(path)
    path.write_text("\n".join(lines).rstrip() + "\n" + (f"\n{beside}" if beside else ""), encoding="utf-8")
