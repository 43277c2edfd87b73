"""What checkpoint policies cost: the binomial schedule on a long loop, a budget for large states, an Elman network.

    python -m tests.benchmarks checkpoint [--rounds N] [--dimensions 32,64] [--docs FOLDER] [--json FILE]

Griewank and Walther's formula counts the steps forward that a schedule takes.  What it predicts in seconds is made of the
times of the same loop under the policy "states", which takes n steps and their reverse, and of the function itself.
"""

import argparse
import functools
import math
import statistics
import time

import numpy as np

from sourcead import Revolve, grad
from tests.benchmarks import elman, timing
from tests.benchmarks.report import Row, at_least, at_most, below, between, machine, measure, reported, write_json
from tests.benchmarks.workers import peak_bytes

STEPS, SNAPSHOTS = 100_000, 50
WITHIN = 0.2  # of the time that is predicted
FEWER = 500  # times less memory than "store"
COUNTS = (5, 10, 20, 50, 100, 200, 500)  # snapshots, for the plot
SIDE, LARGE_STEPS, BUDGET, ROWS = 1000, 1000, "200MB", 20
THREADS = 1  # of the Elman network: two wait for each other on a busy machine
POLICIES = ("auto", "store", "states", "segments:5", "revolve:5")


def one_sine(a, n):
    h = 0.5
    for _ in range(n):
        h = np.sin(a * h)
    return h


def three_products(a, n):
    h = 0.3
    for _ in range(n):
        h = h + a * h * h * (1 - h)
    return h


def five_lines(a, n):
    x, v = 0.5, 1.0
    for _ in range(n):
        force = -a * np.sin(x) + 0.1 * np.cos(v)
        damping = np.exp(-0.1 * v * v)
        v = v + 0.01 * force * damping
        x = x + 0.01 * v
        x = x + 0.001 * np.tanh(x)
    return x * v


def vector_of_10(a, n):
    x = np.linspace(0.1, 1.0, 10)
    for _ in range(n):
        x = np.tanh(a * x + 0.1)
    return np.sum(x)


BODIES = {"one sine": (one_sine, 1.1), "three products": (three_products, 1e-5), "five lines": (five_lines, 1.1),
          "vector of 10": (vector_of_10, 0.9)}  # fmt: skip


def least_steps(n, s):
    """Steps forward that reversing n steps takes with s snapshots: Griewank and Walther, ACM TOMS 26 (2000), proposition 1."""
    r = next(r for r in range(n + 1) if math.comb(s + r, s) >= n)
    return r * n - math.comb(s + r, s + 1)


def predicted_seconds(function, states, n, s):
    """What the formula predicts of the seconds of a function and of its gradient under "states", which takes n steps forward."""
    step = function / n
    return least_steps(n, s) * step + (states - function)


def seconds_of(body, counts, rounds, n=STEPS):
    """The processor seconds of a function, and of its gradient under "store", "states" and some numbers of snapshots."""
    function, a = body
    policies = {"store": "store", "states": "states", **{s: Revolve(s) for s in counts}}
    tasks = {"function": lambda: function(a, n)}
    tasks.update((name, functools.partial(grad(function, checkpoint=policy), a, n)) for name, policy in policies.items())
    return timing.interleaved_seconds(tasks, rounds, clock=time.process_time)


def against_prediction(seconds, s, n=STEPS):
    """Round by round, the seconds with s snapshots over those that the formula predicts."""
    rows = zip(seconds["function"], seconds["states"], seconds[s])
    return statistics.median(measured / predicted_seconds(f, states, n, s) for f, states, measured in rows)


def schedule_rows(name, rounds, results):
    """A loop of many small steps: time and memory of 50 snapshots against those of "store"."""
    seconds = seconds_of(BODIES[name], (SNAPSHOTS,), rounds)
    predicted = [predicted_seconds(f, s, STEPS, SNAPSHOTS) for f, s in zip(seconds["function"], seconds["states"])]
    store = seconds["store"]
    measured, expected = timing.median_ratio(seconds[SNAPSHOTS], store), timing.median_ratio(predicted, store)
    fits = against_prediction(seconds, SNAPSHOTS)
    function, a = BODIES[name]
    peaks = {p: peak_bytes(functools.partial(grad(function, checkpoint=p), a, STEPS)) for p in ("store", Revolve(SNAPSHOTS))}
    results[name] = {
        "function": statistics.median(seconds["function"]), "store": statistics.median(store), "time": measured,
        "predicted": expected, "fits": fits, "bytes": peaks["store"], "kept": peaks[Revolve(SNAPSHOTS)],
    }  # fmt: skip
    yield reported(f"{name}: milliseconds, function", 1e3 * results[name]["function"], "{:.1f}")
    yield reported(f"{name}: milliseconds, store", 1e3 * results[name]["store"], "{:.1f}")
    yield reported(f"{name}: Revolve({SNAPSHOTS}) / store, time", measured)
    yield reported(f"{name}: the same as the formula predicts", expected)
    yield between(f"{name}: measured / predicted", fits, 1 - WITHIN, 1 + WITHIN)
    yield at_least(f"{name}: store / Revolve({SNAPSHOTS}), peak memory", peaks["store"] / peaks[Revolve(SNAPSHOTS)], FEWER, "{:.0f}")


def count_rows(rounds, results):
    """One sine over numbers of snapshots: what is measured and what is predicted, in multiples of "store"."""
    seconds = seconds_of(BODIES["one sine"], COUNTS, rounds)
    for s in COUNTS:
        measured = timing.median_ratio(seconds[s], seconds["store"])
        results[s] = measured, measured / against_prediction(seconds, s)
        yield reported(f"one sine, Revolve({s}) / store: measured", measured)
        yield reported(f"one sine, Revolve({s}) / store: predicted", results[s][1])


def large(x, a, n):
    """Rows that do not depend on each other, so that some of them tell whether all are right."""
    for _ in range(n):
        x = x + 0.01 * np.sin(a * x)
    return np.sum(x * x)


def large_rows(results):
    """A state of 8 MB, a thousand steps, within a budget."""
    rng = np.random.default_rng(0)
    x, a = rng.normal(size=(SIDE, SIDE)), rng.uniform(0.5, 2.0, size=(SIDE, 1))
    within, store = grad(large, wrt=(0, 1), budget=BUDGET), grad(large, wrt=(0, 1), checkpoint="store")
    found = []
    start = time.perf_counter()
    peak = peak_bytes(lambda: found.append(within(x, a, LARGE_STEPS)))
    seconds = time.perf_counter() - start
    expected = store(x[:ROWS], a[:ROWS], LARGE_STEPS)
    error = max(np.max(np.abs(f[:ROWS] - e) / np.abs(e)) for f, e in zip(found[0], expected))
    start = time.perf_counter()
    large(x, a, LARGE_STEPS)
    results.update(peak=peak, seconds=seconds, error=error, function=time.perf_counter() - start)
    yield at_most(f"{SIDE} x {SIDE}, {LARGE_STEPS} steps, budget {BUDGET}: peak megabytes", peak / 1e6, 200, "{:.1f}")
    yield below(f"the same: error relative to store, of {ROWS} rows", error, 1e-12, "{:.0e}")
    yield reported("the same: seconds", seconds, "{:.1f}")
    yield reported("the function itself: seconds", results["function"], "{:.1f}")


def parser():
    """What the options mean."""
    found = argparse.ArgumentParser(prog="python -m tests.benchmarks checkpoint", description=__doc__.partition("\n")[0])
    found.add_argument("--rounds", type=int, default=15, help="how often each is timed; default: %(default)s")
    found.add_argument("--dimensions", default="32,64,128,256", help="of the Elman network; default: %(default)s")
    found.add_argument("--docs", metavar="FOLDER", help="where to write checkpointing.md and its plot")
    found.add_argument("--json", metavar="FILE", help="keep the rows and the facts of the machine")
    return found


def run(options):
    """Prints the table; returns 1 if a row falls short."""
    print(*(f"{name}: {fact}" for name, fact in machine().items()), "", sep="\n")
    bodies, counts, budget, network = {}, {}, {}, {}
    rows: list[Row] = []
    for name in BODIES:
        rows += measure(name, functools.partial(schedule_rows, name, options.rounds, bodies))
    rows += measure("snapshots", functools.partial(count_rows, max(options.rounds // 3, 1), counts))
    rows += measure("budget", functools.partial(large_rows, budget))
    for d in map(int, options.dimensions.split(",")):
        rows += measure(f"Elman, d = {d}", functools.partial(elman.policy_rows, POLICIES, d, options.rounds, network, THREADS))
    if options.docs:
        from tests.benchmarks.checkpoint_page import write_page

        write_page(options.docs, bodies, counts, budget, network)
    if options.json:
        write_json(options.json, rows)
    short = sum(row.ok is False for row in rows)
    print(f"\n{short} of {sum(row.ok is not None for row in rows)} targets fall short")
    return 1 if short else 0
