"""Draw programs and judge them: `python -m tests.random_python --seed 0 --count 300 --jobs 2`."""

import argparse
import os
import sys
import time
from collections import Counter

from tests.random_python import VERSION
from tests.random_python.generate import draw
from tests.random_python.judge import judge
from tests.random_python.modes import SHARE, chosen
from tests.random_python.pool import generator, results
from tests.random_python.shrink import shrink_all


def main(arguments=None):
    """Run the command; the exit status says whether a result was wrong."""
    options = _options(arguments)
    if options.show is not None:
        print(draw(options.show).source)
        return 0
    started = time.monotonic()
    table = Table(options)
    seeds = range(options.seed, options.seed + options.count)
    for seed, verdict in results(seeds, lambda seed, folder: _task(seed, folder, options), options.jobs):
        table.add(seed, verdict)
    table.show(time.monotonic() - started)
    if options.shrink:
        table.shrink()
    return 1 if table.failed else 0


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.random_python", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--count", type=int, default=100, help="how many programs")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    others = ",".join(SHARE)
    parser.add_argument("--modes", help=f"besides value and grad, with commas: {others}; default: some by chance")
    parser.add_argument("--numba", action="store_true", help="compile each gradient with Numba too")
    parser.add_argument("--shrink", action="store_true", help="make failing programs smaller")
    parser.add_argument("--out", help="a folder for the failing programs")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed")
    return parser.parse_args(arguments)


def _task(seed, folder, options):
    """Draw and judge one program."""
    wanted = options.modes.split(",") if options.modes is not None else None
    return judge(draw(seed).source, seed, chosen(generator(seed), wanted, options.numba), folder)


class Table:
    """The counts of a run, and its failing programs as files."""

    def __init__(self, options):
        self.options = options
        self.counts, self.modes, self.discarded, self.refused = Counter(), Counter(), Counter(), {}
        self.causes, self.failed, self.files, self.failures = {}, 0, {}, []

    def add(self, seed, verdict):
        """Count one program."""
        if verdict is None:
            self.counts["hung or died"] += 1
            return self._failed(seed, [("hung", "", "the process hung or died")])
        if verdict.discarded:
            self.counts["discarded"] += 1
            self.discarded[verdict.discarded] += 1
            return None
        self.counts["judged"] += 1
        kinds = {o.kind for o in verdict.outcomes}
        for outcome in verdict.outcomes:
            self.modes[outcome.mode, outcome.kind] += 1
            if outcome.kind == "refused":
                self.refused.setdefault(outcome.message, []).append(seed)
        worst = next((k for k in ("wrong", "internal", "timeout", "refused") if k in kinds), "ok")
        self.counts[worst] += 1
        return self._failed(seed, [(o.kind, o.mode, o.message) for o in verdict.failures()])

    def _failed(self, seed, failures):
        for kind, mode, message in failures:
            self.failed += 1
            seen = self.causes.setdefault((kind, mode, message if kind == "internal" else ""), [])
            seen.append(seed)
            if len(seen) < 20:
                self.failures.append((seed, kind, mode, message))
            print(f"seed {seed} {kind} {mode} {message[:300]}", flush=True)
            if self.options.out and len(seen) < 20:
                self._write((seed, kind, mode, message), draw(seed).source)

    def _write(self, failure, source):
        seed, kind, mode, message = failure
        self.files[failure] = os.path.join(self.options.out, f"{kind}_{mode}_{seed}.py")
        os.makedirs(self.options.out, exist_ok=True)
        with open(self.files[failure], "w") as file:
            file.write(f'"""Version {VERSION}, seed {seed}: {kind} in {mode}.\n\n{message}\n"""\n\n{source}')

    def shrink(self):
        """Print each failing program made smaller, and put it into its file."""
        found = {key: (draw(key[0]).source, key[1:], key[0]) for key in self.failures if key[1] != "hung"}
        for key, text in shrink_all(found, self.options.jobs):
            print(f"\n# seed {key[0]} {' '.join(key[1:])[:500]}\n{text}", flush=True)
            if self.options.out:
                self._write(key, text + "\n")

    def show(self, seconds):
        """Print the summary."""
        judged = max(self.counts["judged"], 1)
        print(f"version {VERSION}, {seconds:.0f} seconds: " + ", ".join(f"{k} {v}" for k, v in self.counts.items()))
        print(f"refused: {100 * self.counts['refused'] / judged:.0f} % of those judged")
        print("modes: " + ", ".join(f"{m} {k} {n}" for (m, k), n in sorted(self.modes.items())))
        print("discarded: " + ", ".join(f"{k} {n}" for k, n in self.discarded.most_common()))
        for message, seeds in sorted(self.refused.items(), key=lambda item: -len(item[1])):
            print(f"{len(seeds):5d} refused  {message}: seeds {seeds[:3]}")
        for cause, seeds in sorted(self.causes.items(), key=lambda item: -len(item[1])):
            print(f"{len(seeds):5d} {' '.join(cause)[:200]}: seeds {seeds[:6]}")


if __name__ == "__main__":
    sys.exit(main())
