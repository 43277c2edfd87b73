"""Runs the corpus with `backend="numba"` and compares with NumPy mode; `python -m tests.harness --backend numba` calls it.

Programs run in worker processes, a few after another in each, so that a crash of the interpreter is seen as one, and costs no
more than its program.  A gradient counts as equal if each of its arrays differs from that of NumPy mode by at most 1e-12 times
its largest element (float32: 3e-5).
"""

import argparse
import collections
import json
import subprocess
import sys
import threading
import time

import numpy as np

from tests.harness import Wrong, check_memory, first_line, last_frame, leaves, quietly, same_bits, short, time_limit
from tests.programs import all_programs, rng_for

EQUAL = {8: 1e-12, 16: 1e-12, 4: 3e-5, 2: 3e-2}  # bytes of an element -> relative difference
STATUSES = ("equal", "refused", "wrong", "internal", "crash", "not taken")


def largest_difference(got, expected):
    """By how much two gradients differ, in units of what is allowed; infinite where they are not alike."""
    found, worst = leaves(got), 0.0
    wanted = leaves(expected)
    if found.keys() != wanted.keys():
        return np.inf
    for path, leaf in wanted.items():
        a, b = np.asarray(found[path]), np.asarray(leaf)
        if a.shape != b.shape or a.dtype != b.dtype or isinstance(found[path], np.ndarray) != isinstance(leaf, np.ndarray):
            return np.inf
        same = (a == b) | ((a != a) & (b != b))
        if same.all():
            continue
        scale = np.abs(b[np.isfinite(b)]).max(initial=0)
        worst = max(worst, float(np.where(same, 0, np.abs(a - b)).max() / (scale or 1) / EQUAL[b.dtype.itemsize]))
    return worst


def outcome(program, seconds=120, **options):
    """(status, detail, seconds of the first call) of one program."""
    from sourcead import Numba, grad
    from sourcead.errors import SourceADError

    def arguments(variant):
        return program.make_args(rng_for(), variant)

    took = 0.0
    try:
        with time_limit(seconds):
            by_numpy = grad(program.function, wrt=program.wrt)
            compiled = grad(program.function, wrt=program.wrt, backend=Numba(cache=False, **options))
            for variant in range(1 + len(program.also)):
                try:
                    with quietly() as printed:
                        expected = by_numpy(*arguments(variant))
                except SourceADError:
                    return "not taken", "", 0.0
                except Exception:
                    if program.raises is None:
                        raise
                    try:
                        with quietly():
                            compiled(*arguments(variant))
                    except program.raises:
                        continue
                    raise Wrong(f"does not raise {program.raises.__name__}") from None
                given = arguments(variant)
                started = time.perf_counter()
                with quietly() as out:
                    got = compiled(*given)
                took = max(took, time.perf_counter() - started)
                if not same_bits(given, arguments(variant)):
                    raise Wrong("changed its arguments")
                worst = largest_difference(got, expected)
                if not worst <= 1:
                    raise Wrong(f"{worst:.1g} times what is allowed: {short(got)} / {short(expected)}")
                if printed.getvalue() != out.getvalue():
                    raise Wrong(f"printed {out.getvalue()!r}, not {printed.getvalue()!r}")
                check_memory(got if isinstance(program.wrt, (tuple, list)) else (got,), given)
    except SourceADError as error:
        return "refused", f"{type(error).__name__}: {first_line(error)}", took
    except Wrong as error:
        return "wrong", str(error), took
    except Exception as error:
        return "internal", f"{type(error).__name__}: {first_line(error)}{last_frame(error)}", took
    return "equal", "", took


def work(names):
    """What a worker does: one line for each program, before it and after it."""
    import numba

    numba.njit(lambda x: x[0])(np.ones(1))  # like people who have used Numba before
    programs = {p.name: p for p in all_programs()}
    for name in names:
        print(json.dumps(["begin", name]), flush=True)
        print(json.dumps(["end", name, *outcome(programs[name])]), flush=True)


def in_workers(names, results, show, each=20):
    """Puts the outcome of each program into `results`."""
    names = list(names)
    while names:
        part, running = names[:each], None
        command = [sys.executable, "-m", "tests.harness_numba", "--work", *part]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as worker:
            for line in worker.stdout:
                what, name, *rest = json.loads(line)
                running = name if what == "begin" else None
                if what == "end":
                    results[name] = tuple(rest)
                    show(name, results[name])
        if running is not None:
            results[running] = "crash", f"exit status {worker.returncode}", 0.0
            show(running, results[running])
        names = [n for n in names if n not in results]


def check_all(programs, jobs=1, every=1, verbose=False, seed=0):
    """Prints one line per program that is not equal, then the counts; whether none is wrong or crashes."""
    programs = [p for p in programs if p.level != "refuse" or p.or_right][seed % every :: every]
    level = {p.name: p.level for p in programs}
    results: dict[str, tuple] = {}
    started = time.perf_counter()

    def show(name, result):
        if verbose or result[0] not in ("equal", "not taken"):
            print(f"{result[0]:9} {level[name]:6} {name} ({result[2]:.1f} s): {result[1]}", flush=True)

    threads = [
        threading.Thread(target=in_workers, args=([p.name for p in programs[k::jobs]], results, show)) for k in range(jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = collections.Counter(status for status, _, _ in results.values())
    taken = len(results) - counts["not taken"]
    print("\n" + ", ".join(f"{counts[s]} {s}" for s in STATUSES) + f"; equal: {counts['equal'] / max(1, taken):.1%} of {taken}")
    times = {name: t for name, (status, _, t) in results.items() if status == "equal"}
    if times:
        slow = ", ".join(f"{n} {times[n]:.0f} s" for n in sorted(times, key=times.get)[-3:])
        print(f"first call: median {np.median([*times.values()]):.1f} s, slowest {slow}; {time.perf_counter() - started:.0f} s in all")
    return not counts["wrong"] + counts["internal"] + counts["crash"]


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.harness_numba")
    parser.add_argument("--work", nargs="*", default=[], metavar="NAME", help="check these here and print JSON")
    parser.add_argument("-k", metavar="NAME")
    parser.add_argument("--level")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="take each n-th program only")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return 0
    return int(not check_all(all_programs(options.level, options.k), options.jobs, options.every, options.v, options.seed))


if __name__ == "__main__":
    sys.exit(main())
