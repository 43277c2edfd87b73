"""Loops over elements under Numba: the gradient against the function itself, and against a gradient written by hand.

    python -m tests.benchmarks.loops [-k NAME] [--json FILE]

The primal is the user's function under `numba.njit`.  Calls of the two are timed in turns; the medians are compared.
"""

import argparse
import json
import math
import statistics
import sys
import time

import numba
import numpy as np

from sourcead import grad
from tests.benchmarks.by_hand import loops as by_hand_loops
from tests.benchmarks.loop_kernels import kernels
from tests.benchmarks.report import machine

ROUNDS, AT_LEAST = 15, 0.02  # measurements of each function, seconds that one takes at least


BY_HAND = {"lorenz": by_hand_loops.lorenz}


def medians(calls):
    """The median time of each of several calls, taken in turns."""
    counts = []
    for call in calls:
        started, n = time.perf_counter(), 0
        while time.perf_counter() - started < AT_LEAST:
            call()
            n += 1
        counts.append(n)
    times = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, n, found in zip(calls, counts, times):
            started = time.perf_counter()
            for _ in range(n):
                call()
            found.append((time.perf_counter() - started) / n)
    return list(map(statistics.median, times))


def measure(name, function, wrt, args, checked_with=None):
    """One row of the table; the gradient is checked with smaller arguments if they are given."""
    primal, gradient = numba.njit(function), grad(function, wrt=wrt, backend="numba")
    primal(*args)
    started = time.perf_counter()
    got = gradient(*args)
    first = time.perf_counter() - started
    if checked_with is not None:
        got = gradient(*checked_with)
    expected = grad(function, wrt=wrt)(*(args if checked_with is None else checked_with))
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())
    calls = [lambda: primal(*args), lambda: gradient(*args)]
    if name in BY_HAND:
        BY_HAND[name](*args)
        calls.append(lambda: BY_HAND[name](*args))
    p, g, *hand = medians(calls)
    return {"name": name, "primal": p, "gradient": g, "ratio": g / p, "first call": first, "by hand": g / hand[0] if hand else None}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.loops")
    parser.add_argument("-k", metavar="NAME", default="")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = []
    print(f"{'kernel':24}{'primal':>10}{'gradient':>10}{'ratio':>7}{'by hand':>9}{'first call':>12}")
    for name, (function, wrt, args) in kernels().items():
        if options.k not in name:
            continue
        row = measure(name, function, wrt, args)
        rows.append(row)
        hand = f"{row['by hand']:9.2f}" if row["by hand"] else " " * 9
        print(
            f"{name:24}{1e6 * row['primal']:7.0f} µs{1e6 * row['gradient']:7.0f} µs{row['ratio']:7.2f}{hand}{row['first call']:10.1f} s",
            flush=True,
        )
    finish(rows, "; at most 3 and 8", options.json)
    return 0


def finish(rows, limits, path):
    """Prints how the ratios lie, with what they may be at most, and what was run on; keeps the run in a file if a path is given."""
    mean, worst = math.exp(statistics.mean(math.log(r["ratio"]) for r in rows)), max(rows, key=lambda r: r["ratio"])
    print(f"\ngradient/primal: geometric mean {mean:.2f}, largest {worst['ratio']:.2f} ({worst['name']}){limits}")
    print(", ".join(f"{k} {v}" for k, v in machine().items()))
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "rows": rows, "geometric mean": mean}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
