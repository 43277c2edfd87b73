"""Writes docs/checkpointing.md and its plot from what `checkpoint.py` measures."""

import os

import numpy as np

from tests.benchmarks import checkpoint as measured
from tests.benchmarks.elman import LAYERS, SERIES, STEPS, table
from tests.benchmarks.report import machine

POLICIES = [
    ("`\"auto\"`", "what a minimum cut of the body chooses", "cheap values: subscripts, views, arithmetic", "a few values", "n"),
    ("`\"store\"`", "every value that the reverse sweep reads", "nothing", "the values that are read", "n"),
    ("`\"states\"`", "the loop variants at each entry", "the rest of the body", "a state", "2 n"),
    ("`Segments(k)`", "the loop variants every k iterations", "a segment at a time", "1/k of a state, and a segment", "2 n"),
    ("`Revolve(s)`", "at most s states at a time", "as the binomial schedule says", "nothing: s + 1 states in all", "n + t(n, s)"),
    ("`\"recompute\"`", "nothing", "each iteration from the start", "nothing", "n²/2"),
    ("`\"auto\"`, `budget=`", "as many states as fit", "as the binomial schedule says", "nothing: the budget in all", "n + t(n, s)"),
]  # fmt: skip

BEFORE = """\
# Checkpointing

The reverse sweep of a loop visits the iterations last first, and reads values of each. The *policy* of the loop says which of these
values the forward sweep keeps, and which are computed again. `grad(f, checkpoint=...)` sets it for all loops of a function,
`for t in checkpoint(range(n), ...)` for one loop. The *state* of a loop is the values that one iteration passes to the next and on which
the derivative depends.
"""

CHOOSING = """\
A step forward is an iteration without its reverse. The last column counts these steps for n iterations: those of the forward sweep,
those that reach a state again, and those that compute an iteration again for its reverse. t(n, s), see below, is the number of steps of the
first two kinds. `grad(f, checkpoint=...).lower(*args).notes` says what each loop keeps for these arguments, with shapes and bytes.

## How to choose

- Keep `"auto"` as long as there is enough memory. It keeps values that are expensive to compute and computes cheap ones again, and is
  the fastest policy or close to it.
- Choose `"states"` if an iteration has many intermediate values and a small state: one state is kept for each iteration.
- Choose `budget="200MB"` if you know how much memory there is: all states are kept if they fit, else as many as fit.
- Choose `Revolve(s)` or `Segments(k)` if one state for each iteration does not fit. `Segments(k)` with k near the square root of n runs
  each iteration once more, and keeps about 2 √n states. `Revolve(s)` takes the fewest steps that s states allow: with s = 50, t(n, s) is
  {few:.2f} n for n = 1,000 and {many:.2f} n for n = 100,000.
- Choose `"recompute"` only for short loops with large states.

States are not copied, unless the loop writes into them in place. In nested loops each loop has its own policy. The length of a `while`
loop, or of a loop with `break`, is not known before it has run: under `Revolve` its forward sweep keeps only the state on entry and counts
the iterations, and the schedule starts from there, which takes n more steps.
"""


def plot(path, counts, network):
    """Elman: time and memory of the policies over the dimension; one sine: time over the number of snapshots."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import ScalarFormatter

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for name in next(iter(network.values()), ()):
        for side, (part, unit) in zip(axes, ((0, 1e3), (1, 1e-6))):
            side.plot(list(network), [unit * row[name][part] for row in network.values()], marker="o", label=name)
    for k, label in enumerate(("measured", "predicted by the formula")):
        axes[2].plot(list(counts), [row[k] for row in counts.values()], marker="o", linestyle=("-", "--")[k], label=label)
    titles = ("Elman network: milliseconds", "Elman network: peak megabytes", "Revolve, one sine, 100,000 steps: time / store")
    for side, title, axis in zip(axes, titles, ("dimension", "dimension", "snapshots")):
        side.set_title(title, fontsize=10)
        side.set_xlabel(axis)
        side.set_xscale("log")
        places = list(counts if axis == "snapshots" else network)
        side.set_xticks(places, list(map(str, places)))
        side.minorticks_off()
        side.grid(alpha=0.3)
        if side.lines:
            side.legend(fontsize=8)
    for side in axes[:2]:
        side.set_yscale("log")
        side.yaxis.set_major_formatter(ScalarFormatter())
        side.yaxis.set_minor_formatter(ScalarFormatter())
    axes[2].set_ylim(bottom=0)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def schedule_section(bodies, counts):
    """The figures of the long loops."""
    n, s = measured.STEPS, measured.SNAPSHOTS
    t = measured.least_steps(n, s)
    lines = [
        f"## {n:,} steps of a small state, `Revolve({s})`",
        "",
        f"With s = {s} snapshots, the states of {n:,} iterations take t = {t:,} steps forward: r n - C(s + r, s + 1) for the least r",
        "with C(s + r, s) >= n (A. Griewank and A. Walther, Algorithm 799, ACM TOMS 26, 2000, proposition 1). The predicted time is",
        't f / n + (g - f), where f is the time of the function itself (n steps), and g that of its gradient under `"states"`',
        "(n steps, each saved, and the reverse of n iterations). All were measured in the same run, in turns; the table has medians of",
        "processor time. The schedule itself takes about 60 nanoseconds for each iteration. The formula leaves them out, so they show",
        "where an iteration takes no longer than that.",
        "",
    ]
    head = ["body", "ms, function", "ms, store", "Revolve / store", "predicted", "measured / predicted", "bytes, store", "bytes, Revolve"]
    rows = (
        [name, f"{1e3 * r['function']:.1f}", f"{1e3 * r['store']:.1f}", f"{r['time']:.2f}", f"{r['predicted']:.2f}", f"{r['fits']:.2f}",
         f"{r['bytes']:,}", f"{r['kept']:,}"]
        for name, r in bodies.items()
    )  # fmt: skip
    lines += table(head, rows)
    lines += ["One sine over the number of snapshots, times of `\"store\"`:", ""]
    return lines + table(["snapshots", *map(str, counts)], (
        [label, *(f"{row[k]:.2f}" for row in counts.values())] for k, label in enumerate(("measured", "predicted"))
    ))  # fmt: skip


def budget_section(found):
    """The figures of the large state."""
    side, n = measured.SIDE, measured.LARGE_STEPS
    differs = f"is within a relative {found['error']:.0e} of" if found["error"] else "is exactly"
    return [
        "## A large state within a budget",
        "",
        f"The state is an array of {side:,} x {side:,} numbers, 8 MB; the loop takes {n:,} steps `x = x + 0.01 * np.sin(a * x)`;",
        f"`budget=\"{measured.BUDGET}\"`. All states would take {side * side * 8 * n / 1e9:.0f} GB. The peak of what the gradient holds is",
        f"{found['peak'] / 1e6:.1f} MB. It takes {found['seconds']:.1f} seconds, the function itself {found['function']:.1f}."
        f" On {measured.ROWS} of the rows, which do not depend",
        f"on the others, the gradient {differs} that under `\"store\"`.",
        "",
    ]  # fmt: skip


def network_section(network):
    """The figures of the Elman network."""
    names = list(next(iter(network.values())))
    lines = [
        "## The Elman network",
        "",
        f"The loss of `examples/elman.py` and its gradient: {LAYERS} layers, {SERIES} series of length {STEPS}, float32, one",
        "thread, milliseconds and peak megabytes by dimension.",
        "",
    ]
    rows = ([str(d), *(f"{1e3 * row[p][0]:.1f}, {row[p][1] / 1e6:.1f}" for p in names)] for d, row in network.items())
    lines += table(["d", *names], rows)
    time, memory = (np.array([row["states"][k] / row["store"][k] for row in network.values()]) for k in (0, 1))
    return [
        *lines,
        f"`\"states\"` against `\"store\"`: {memory.min():.2f} to {memory.max():.2f} times the memory,"
        f" {time.min():.2f} to {time.max():.2f} times the time.",
        "What the reverse sweep of this network reads are the states of its layers themselves, so both keep about the same.",
    ]  # fmt: skip


def write_page(folder, bodies, counts, budget, network):
    """Writes checkpointing.md and checkpointing.svg."""
    plot(os.path.join(folder, "checkpointing.svg"), counts, network)
    facts = machine()
    lines = [BEFORE]
    lines += table(["policy", "keeps", "computes again", "memory for each iteration", "steps forward"], POLICIES)
    lines += [
        CHOOSING.format(few=measured.least_steps(1000, 50) / 1000, many=measured.least_steps(100_000, 50) / 100_000),
        "![time and memory](checkpointing.svg)",
        "",
        f"The figures below were written by `python -m tests.benchmarks checkpoint --docs docs` ({facts['processor']},",
        f"{facts['cores']} cores, Python {facts['python']}, NumPy {facts['numpy']}).",
        "",
        *schedule_section(bodies, counts),
        *budget_section(budget),
        *network_section(network),
    ]
    with open(os.path.join(folder, "checkpointing.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
