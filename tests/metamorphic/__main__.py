"""`python -m tests.metamorphic`: see the package's docstring."""

import argparse
import collections
import json
import random
import sys
import time
from pathlib import Path

from tests.metamorphic.judge import STATUSES, template
from tests.metamorphic.rewrites import REWRITES
from tests.metamorphic.work import work
from tests.programs import all_programs

SHOWN = ("wrong", "internal", "slow", "unjudged")


def arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.metamorphic", description=__doc__)
    parser.add_argument("--rewrites", metavar="A,B", help="the rewritings to try; default: all")
    parser.add_argument("-k", metavar="NAME", help="programs whose name contains this, or with this tag or module")
    parser.add_argument("--seed", type=int, default=0, help="of what rewritings choose at random")
    parser.add_argument("--count", type=int, help="how many pairs to try at most, chosen at random")
    parser.add_argument("--rounds", type=int, default=1, help="how many random rewritings one program gets, one after the other")
    parser.add_argument("--random", type=int, metavar="N", help="N random programs from --seed on, in place of the corpus")
    parser.add_argument("--jobs", type=int, default=1, help="child processes")
    parser.add_argument("--seconds", type=float, help="begin no further program after so long")
    parser.add_argument("--write", type=Path, metavar="FILE", help="append each pair that is not the same to a file of JSON lines")
    parser.add_argument("--list", action="store_true", help="list the rewritings")
    return parser.parse_args(argv)


def choices_of(options, rng, names):
    """The rewritings to try on one program: each alone, or as many random rows of several."""
    if options.rounds == 1:
        return [(n,) for n in names]
    return [tuple(rng.choice(names) for _ in range(options.rounds)) for _ in range(max(4, len(names) // options.rounds))]


def jobs_of(options, programs):
    """(program, choices, seed) for each program, in random order."""
    rng = random.Random(options.seed)
    names = options.rewrites.split(",") if options.rewrites else sorted(REWRITES)
    every = [(p, choice) for p in programs for choice in choices_of(options, rng, names)]
    if options.count:
        every = rng.sample(every, min(options.count, len(every)))
    by_program = collections.defaultdict(list)
    for program, choice in every:
        by_program[program].append(choice)
    order = list(by_program.items())
    rng.shuffle(order)
    return [(program, choices, options.seed) for program, choices in order]


def until(jobs, seconds):
    """The jobs that begin before the time is over."""
    end = time.monotonic() + (seconds or 1e9)
    for job in jobs:
        if time.monotonic() > end:
            return
        yield job


class Report:
    """Counts the pairs by rewriting and status, and prints what failed as it comes."""

    def __init__(self, path):
        self.counts, self.path, self.refusals, self.known = collections.Counter(), path, collections.Counter(), set()

    def __call__(self, pair):
        for one in set(pair.rewrites):
            self.counts[one, pair.status] += 1
        self.counts["", pair.status] += 1
        if pair.status == "both wrong" and pair.program not in self.known:
            self.known.add(pair.program)
            print(f"both wrong: {pair.program} (seed {pair.seed}): {pair.detail[:300]}", flush=True)
        if pair.status in SHOWN:
            print(f"{pair.status}: {pair.program} {'+'.join(pair.rewrites)} (seed {pair.seed}): {pair.detail[:300]}", flush=True)
        if pair.status == "refused more":
            self.refusals[template(pair.detail)] += 1
        if self.path and pair.status not in ("same", "unlike", "both refused", "both wrong"):
            with self.path.open("a", encoding="utf-8") as file:
                print(json.dumps(vars(pair)), file=file)

    def table(self):
        names = sorted({n for n, _ in self.counts if n})
        print(f"\n{'':28}{'pairs':>7}" + "".join(f"{s:>13}" for s in STATUSES))
        for one in [*names, ""]:
            row = [self.counts[one, s] for s in STATUSES]
            print(f"{one or 'all':28}{sum(row):7}" + "".join(f"{n or '':>13}" for n in row))
        for text, count in self.refusals.most_common(40):
            print(f"{count:6}  {text}")


def main(argv=None):
    options = arguments(argv)
    if options.list:
        for one, function in sorted(REWRITES.items()):
            print(f"{one:28}{function.__doc__}")
        return 0
    programs = [p.name for p in all_programs(name=options.k)]
    if options.random:
        programs = [f"random_{options.seed + k}" for k in range(options.random)]
    report, started = Report(options.write), time.monotonic()
    work(until(jobs_of(options, programs), options.seconds), report, options.jobs)
    report.table()
    print(f"{time.monotonic() - started:.0f} s")
    return int(any(report.counts["", s] for s in ("wrong", "both wrong", "internal")))


if __name__ == "__main__":
    sys.exit(main())
