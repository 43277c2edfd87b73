"""One table of all: gradients of loops, objectives and networks by sourcead, by hand, and by other libraries.

    python -m tests.benchmarks table [-k NAME] [--engines A,B] [--quick] [--docs FOLDER] [--json FILE]

Each engine runs in a process of its own; calls are timed in turns, and medians are shown.  What takes PyTorch or autograd seconds they
run with a twentieth of the steps, and the time is multiplied.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from tests.benchmarks import peers, table_page
from tests.benchmarks.engines import Engine
from tests.benchmarks.programs import ADBENCH, LOOPS, NETWORKS, SHORTER, numbers, programs, shorter
from tests.benchmarks.report import Row, at_most, machine
from tests.benchmarks.timing import SPINNING

TURN, ROUNDS = 0.01, 11  # seconds that one measurement takes at least, and how many there are
QUICK = (peers.NUMPY, peers.NUMBA, peers.BY_HAND)


def measured(name: str, engines: dict[str, Engine], rounds: int) -> dict[str, dict]:
    """For each engine what it took, or the reason why it is left out."""
    found: dict[str, dict] = {}
    results: dict[str, list] = {}
    for engine, process in engines.items():
        try:
            found[engine] = process.ask("make", name)
            results[engine] = found[engine].pop("result")
        except peers.Left as left:
            found[engine] = {"reason": str(left)}
    compare(name, found, results)
    time_in_turns(found, engines, rounds, rest=0.0 if programs()[name].group == LOOPS else SPINNING)
    return found


def compare(name: str, found: dict[str, dict], results: dict[str, list]) -> None:
    """Leaves out what gives another gradient than ours for NumPy; a shorter program is compared with its own."""
    program = programs()[name]
    tolerance = 1e-3 if program.group == NETWORKS else 1e-8
    for engine, result in results.items():
        run = shorter(program) if found[engine]["shorter"] else program
        expected = results.get(peers.NUMPY)
        if expected is None or run is not program:
            expected = numbers(peers.numpy_text(run).gradient())
        scale = max(np.abs(b).max() for b in expected)
        if not all(
            np.shape(a) == b.shape and np.abs(a - b).max() <= tolerance * scale
            for a, b in zip(result, expected, strict=True)
        ):
            found[engine] = {"reason": "gives another gradient"}


def time_in_turns(found: dict[str, dict], engines: dict[str, Engine], rounds: int, rest: float) -> None:
    """Adds the seconds of gradient and primal, and the peak memory; rests for some seconds before each turn."""
    tasks = [
        (e, which)
        for e, row in found.items()
        if "reason" not in row
        for which in ("gradient", "primal")
        if which == "gradient" or row["primal"]
    ]
    once = {task: engines[task[0]].ask("seconds", task[1], 1) for task in tasks}
    times: dict[tuple, list[float]] = {task: [] for task in tasks}
    for k in range(rounds):
        for task in tasks if k % 2 else tasks[::-1]:
            if once[task] * k > 3:  # of a slow one a few rounds will do
                continue
            calls = max(1, round(TURN / max(once[task], 1e-7)))
            time.sleep(rest)
            times[task].append(engines[task[0]].ask("seconds", task[1], calls))
    for engine, row in found.items():
        if "reason" not in row:
            factor = SHORTER if row["shorter"] else 1
            row["gradient"] = factor * statistics.median(times[engine, "gradient"])
            row["primal"] = factor * statistics.median(times[engine, "primal"]) if row["primal"] else None
            row["peak"] = engines[engine].ask("peak")


def ratio(row: dict[str, dict], ours: tuple[str, ...], others: tuple[str, ...]) -> float | None:
    """The time of our gradient, the faster one of several, to that of the fastest of others; None if one is missing."""
    a = [row[e]["gradient"] for e in ours if "gradient" in row.get(e, ())]
    b = [row[e]["gradient"] for e in others if "gradient" in row.get(e, ())]
    return min(a) / min(b) if a and b else None


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.mean(map(math.log, values)))


def targets(rows: dict[str, dict], groups: dict[str, str]) -> list[Row]:
    """What the rows reach of what was aimed at."""
    found = []
    loops = {name: row for name, row in rows.items() if groups[name] == LOOPS}
    costs = {
        n: r[peers.NUMBA]["gradient"] / r[peers.NUMBA]["primal"]
        for n, r in loops.items()
        if r.get(peers.NUMBA, {}).get("primal")
    }
    if costs:
        worst = max(costs, key=costs.get)
        found.append(
            at_most(
                f"gradient / primal under Numba, geometric mean of {len(costs)}",
                geometric_mean(list(costs.values())),
                3.0,
            )
        )
        found.append(at_most(f"gradient / primal under Numba, largest ({worst})", costs[worst], 8.0))
    for peer in (peers.JAX_LOOPS, peers.JAX):
        against = {n: q for n, r in loops.items() if (q := ratio(r, (peers.NUMBA,), (peer,)))}
        if against:
            worst = max(against, key=against.get)
            found.append(
                at_most(
                    f"Numba / {peer}, geometric mean of {len(against)}", geometric_mean(list(against.values())), 0.2
                )
            )
            found.append(at_most(f"Numba / {peer}, largest ({worst})", against[worst], 1.0))
    if q := ratio(rows.get("lorenz", {}), (peers.NUMBA,), (peers.BY_HAND,)):
        found.append(at_most("lorenz, Numba / by hand", q, 1.1))
    if q := ratio(rows.get("lorenz", {}), (peers.NUMBA,), (peers.JAX,)):
        found.append(at_most("lorenz, Numba / jax.jit", q, 0.5))
    for name in rows:
        if groups[name] == ADBENCH and (q := ratio(rows[name], peers.OURS, (peers.JAX,))):
            found.append(at_most(f"{name}, the faster engine / jax.jit", q, 1.0))
    return found


def shown(name: str, row: dict[str, dict]) -> str:
    """A line for each engine."""
    lines = [name]
    for engine, facts in row.items():
        if "reason" in facts:
            lines.append(f"  {engine:24} - {facts['reason']}")
            continue
        primal = table_page.seconds(facts["primal"]) if facts["primal"] else ""
        cost = f"{facts['gradient'] / facts['primal']:.2f}" if facts["primal"] else ""
        best = ratio(row, (engine,), tuple(e for e in row if e not in peers.OURS))
        mark = f"  (a {SHORTER}th of the steps, times {SHORTER})" if facts["shorter"] else ""
        lines.append(
            f"  {engine:24}{primal:>10}{table_page.seconds(facts['gradient']):>10}{cost:>7}{facts['first call']:>8.2f} s"
            f"{table_page.bytes_of(facts['peak']):>10}{'' if best is None else f'{best:.2f}':>8}{mark}"
        )
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """What the options mean."""
    found = argparse.ArgumentParser(prog="python -m tests.benchmarks table", description=__doc__.partition("\n")[0])
    found.add_argument("-k", metavar="NAME", default="", help="programs whose names contain this")
    found.add_argument("--engines", help=f"some of: {'; '.join(peers.ENGINES)} (parted by semicolons); default: all")
    found.add_argument(
        "--quick", action="store_true", help="ours and what is written by hand, on tiny arguments, three rounds"
    )
    found.add_argument("--minutes", type=float, default=math.inf, help="begin no program after that; default: no limit")
    found.add_argument("--docs", metavar="FOLDER", help="where to write benchmarks.md, its plot and its figures")
    found.add_argument("--json", metavar="FILE", help="keep the figures and the facts of the machine")
    return found


def run(options: argparse.Namespace) -> int:
    """Prints the table; returns 1 if a target is missed."""
    names = options.engines.split(";") if options.engines else QUICK if options.quick else tuple(peers.ENGINES)
    if unknown := [name for name in names if name not in peers.ENGINES]:
        print(f"there is no engine {unknown[0]!r}", file=sys.stderr)
        return 2
    facts = (
        {**machine(), "load average before": f"{os.getloadavg()[0]:.1f}"} if hasattr(os, "getloadavg") else machine()
    )
    print(*(f"{fact}: {value}" for fact, value in facts.items()), "", sep="\n")
    print(f"{'':26}{'primal':>10}{'gradient':>10}{'cost':>7}{'first call':>10}{'peak':>10}{'/ best peer':>8}")
    chosen = {name: program for name, program in programs(options.quick).items() if options.k.lower() in name.lower()}
    engines = {name: Engine(name, options.quick) for name in names}
    rows, began = {}, time.monotonic()
    try:
        for name in chosen:
            if time.monotonic() - began > 60 * options.minutes:
                break
            rows[name] = measured(name, engines, 3 if options.quick else ROUNDS)
            print(shown(name, rows[name]), flush=True)
    finally:
        for engine in engines.values():
            engine.stop()
    groups = {name: program.group for name, program in chosen.items() if name in rows}
    reached = [] if options.quick else targets(rows, groups)
    print("", *reached, sep="\n")
    late = [name for name in chosen if name not in rows]
    if late:
        print(f"left out for want of time: {', '.join(late)}")
    kept = {
        "machine": facts,
        "groups": groups,
        "programs": rows,
        "targets": [vars(row) for row in reached],
        "late": late,
    }
    if options.docs:
        table_page.write_page(Path(options.docs), kept)
    if options.json:
        Path(options.json).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row.ok is False for row in reached) else 0
