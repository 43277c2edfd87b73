"""`backend="auto"` beside both engines: how long a call takes after ten calls, and how far that is behind the faster engine."""

import argparse
import time

import numpy as np

from sourcead import grad
from tests.loops_to_break import APART, DEPENDENT

BEHIND = 1.05  # the most that a call may take, in units of the faster engine
ROUNDS, SECONDS = 100, 0.002


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("-k", default="", metavar="NAME", help="programs whose names contain this")
    return made


def cases() -> dict:
    """Programs, by name, each with its arguments and the positions of those that are differentiated."""
    rng = np.random.default_rng(0)
    many, w = rng.normal(size=20_000), rng.normal(size=(200, 200))
    longer = {name: (f, args) for name, (f, args) in {**DEPENDENT, **APART}.items() if name in ("carried_number", "nested", "scatter")}
    return {
        **longer,
        "carried_number, long": (DEPENDENT["carried_number"][0], (many, 0.3)),
        "products": (lambda w, x: np.sum(np.tanh(w @ x)), (w, w)),
        "elementwise, long": (lambda x: np.sum(np.exp(-x) * np.sin(x)), (many,)),
        "elementwise, short": (lambda x: np.sum(np.exp(-x) * np.sin(x)), (many[:10],)),
    }


def run(options: argparse.Namespace) -> int:
    """Print one line for each program; returns 1 if one falls short."""
    short = 0
    chosen = {name: case for name, case in cases().items() if options.k in name}
    for name, (f, args) in chosen.items():
        engines = {backend: grad(f, backend=backend) for backend in ("numpy", "numba", "auto")}
        for g in engines.values():
            for _ in range(10):
                g(*args)
        times = interleaved({backend: lambda g=g, args=args: g(*args) for backend, g in engines.items()})
        behind = times["auto"] / min(times["numpy"], times["numba"])
        short |= behind > BEHIND
        shown = "  ".join(f"{backend} {seconds * 1e6:9.1f} µs" for backend, seconds in times.items())
        print(f"{name:22} {shown}  behind {behind:.3f}  {engines['auto'].lower(*args).notes[-1]}", flush=True)
    return int(short)


def interleaved(calls: dict) -> dict:
    """Seconds per call of each: the least of rounds in which all take turns, since other processes only add."""
    counts = {name: max(1, int(SECONDS / timed(call, 3))) for name, call in calls.items()}
    rounds = [{name: timed(call, counts[name]) for name, call in calls.items()} for _ in range(ROUNDS)]
    return {name: min(r[name] for r in rounds) for name in calls}


def timed(call, count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count
