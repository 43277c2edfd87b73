"""Generated gradients beside those of a careful hand: statements, time and peak memory, as ratios; the first is ours.

Times are medians of calls in turns, in processor time, with one thread of BLAS; memory is the most that a call holds beyond
its arguments, by `tracemalloc`.  Before, one large array is made and dropped: then the C library keeps the memory of arrays that go, and
no call waits for pages of the system, which is decided by what else lies on the heap and not by the text.
"""

import argparse
import functools
import json
import statistics
import time
from pathlib import Path

import numpy as np

from sourcead import grad
from tests.benchmarks.by_hand import count, page
from tests.benchmarks.by_hand.program import Program, arrays_in, named, program_names
from tests.benchmarks.report import machine
from tests.benchmarks.timing import interleaved_seconds, median_ratio
from tests.benchmarks.workers import peak_bytes

DTYPES = (np.float64, np.float32)
TURN, ROUNDS = 0.02, 15  # seconds that one measurement takes at least, and how many there are
HEAP = 31 << 20  # bytes; the GNU C library keeps all memory that was freed up to twice the largest block that it had from the system
TOLERANCES = {np.float64: 1e-9, np.float32: 1e-3}


def difference(found, expected) -> float:
    """The largest difference of two gradients, relative to the largest element of each array.

    Raises:
        ValueError: an array has another shape or dtype.
    """
    worst = 0.0
    largest = max(np.abs(b).max() for b in arrays_in(expected))
    for a, b in zip(arrays_in(found), arrays_in(expected), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise ValueError(f"{a.dtype}{a.shape} where the hand has {b.dtype}{b.shape}")
        worst = max(worst, float(np.abs(a - b).max() / (np.abs(b).max() or largest)))
    return worst


def gradients(program: Program) -> dict:
    """The generated gradient function and the one by hand."""
    return {"ours": grad(program.primal, wrt=program.wrt if len(program.wrt) > 1 else program.wrt[0]), "hand": program.by_hand}


def texts(program: Program) -> tuple[str, str]:
    """The generated gradient, for arrays of float64, and the one by hand."""
    return gradients(program)["ours"].lower(*program.inputs("full", np.float64)).text, program.hand_text


def measured(program: Program, rounds: int) -> dict:
    """The facts of one program: of its texts, and for each dtype of its calls."""
    facts = {}
    for name, text in zip(("ours", "hand"), texts(program), strict=True):
        facts[f"statements {name}"], facts[f"operations {name}"] = count.statements(text), count.operations(text)
    return facts | {dtype.__name__: called(program, dtype, rounds) for dtype in DTYPES}


def called(program: Program, dtype, rounds: int) -> dict:
    """The facts of calls: only how much the gradients differ, if they differ too much."""
    args = program.inputs("full", dtype)
    tasks = {name: functools.partial(gradient, *args) for name, gradient in gradients(program).items()}
    facts = {"difference": difference(*(task() for task in tasks.values()))}
    if facts["difference"] > TOLERANCES[dtype]:
        return facts
    return facts | {f"bytes {name}": peak_bytes(task) for name, task in tasks.items()} | in_turns(tasks, rounds)


def in_turns(tasks: dict, rounds: int) -> dict:
    """The median seconds of each task, and the median ratio of the first and the second."""
    once = interleaved_seconds(tasks, 1)
    calls = max(1, round(TURN / max(seconds[0] for seconds in once.values())))

    def repeated(task):
        def run():
            for _ in range(calls):
                task()

        return run

    seconds = interleaved_seconds({name: repeated(task) for name, task in tasks.items()}, rounds, 0, time.process_time)
    ours, hand = seconds.values()
    return {
        "seconds ours": statistics.median(ours) / calls, "seconds hand": statistics.median(hand) / calls,
        "time": median_ratio(ours, hand),
    }  # fmt: skip


def main(words: list[str]) -> int:
    """Measures the programs; returns 1 if one is refused or gives another gradient than the hand."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.by_hand", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"programs; all, if none is named: {', '.join(program_names())}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is timed")
    parser.add_argument("--texts", action="store_true", help="print the generated gradient and the one by hand, and measure nothing")
    parser.add_argument("--json", metavar="FILE", help="where to keep the figures")
    parser.add_argument("--docs", metavar="FOLDER", help="where benchmarks.md is, whose section of gradients by hand is written anew")
    options = parser.parse_args(words)
    np.empty(HEAP, np.uint8)
    rows = {}
    for name in options.names or program_names():
        program = named(name)
        if options.texts:
            print(*(f"# {name}: {who}\n{text}" for who, text in zip(("generated", "by hand"), texts(program))), sep="\n")
            continue
        try:
            rows[name] = measured(program, options.rounds)
        except Exception as error:  # one that is refused must not hide the others
            rows[name] = {"reason": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"}
        print(*([] if len(rows) > 1 else page.HEAD), page.line(name, rows[name]), sep="\n", flush=True)
    if options.texts:
        return 0
    print(*page.summary(rows), sep="\n")
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    if options.docs:
        page.write_section(Path(options.docs) / "benchmarks.md", rows)
    return int(any(page.failure(row) for row in rows.values()))
