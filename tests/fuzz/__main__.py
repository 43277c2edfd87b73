"""`python -m tests.fuzz --examples 1000 --seed 0`: random programs, reverse mode against central differences.

`--kind recurrences` and `--kind networks`: loops over one array, and loops of matrix products.
"""

import argparse
import collections
import pathlib
import sys
import tempfile
import time
import traceback

from tests.fuzz import networks, recurrences
from tests.fuzz.check import judge, run, signature, smaller
from tests.fuzz.generate import generate

OUTCOMES = ("right", "split", "refused", "unjudged")
LOOPS = {"recurrences": recurrences, "networks": networks}


def arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--kind", choices=("statements", *LOOPS), default="statements", help="of programs; default: %(default)s")
    parser.add_argument("--examples", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next have seed + 1, ...")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--max-failures", type=int, default=10, help="different failures to show and shrink")
    parser.add_argument(
        "--shrink-seconds", type=float, default=30, help="for each failure; 0 shows the programs as they are"
    )
    parser.add_argument(
        "--show", action="store_true", help="print the program of --seed, its gradient's text and outcome"
    )
    parser.add_argument("--refusals", action="store_true", help="show one small program for each class of refusal")
    return parser.parse_args(argv)


def show(seed):
    """Print one program, the text of its gradient, and what became of it."""
    text = generate(seed)
    print(text)
    outcome, reason = judge(text)
    if outcome is None:
        print(f"# not judged: {reason}")
        return 0
    try:
        from sourcead import grad

        made = grad(outcome.program.function, wrt=outcome.program.wrt)
        made(*outcome.program.make_args(None))
        print(made.source)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    print(f"# {outcome.status}: {outcome.detail}")
    return int(outcome.status not in ("right", "refused"))


def print_failure(seed, text, outcome, options):
    print(f"\n=== seed {seed}: {outcome.status}: {outcome.detail}")
    if options.shrink_seconds:
        text = smaller(text, signature(outcome), options.shrink_seconds)
        outcome = judge(text)[0] or outcome
        print(f"--- smaller: {outcome.status}: {outcome.detail}")
    print(text)
    if outcome.status == "internal":
        lines = traceback.format_exception(outcome.error)
        print("".join(lines[-4:]))
    sys.stdout.flush()


def main(argv=None):
    options = arguments(argv)
    if options.kind in LOOPS:
        return loops(options)
    if options.show:
        return show(options.seed)
    started = time.monotonic()
    seen = collections.Counter()

    def on_failure(seed, text, outcome):
        seen[signature(outcome)] += 1
        if seen[signature(outcome)] == 1 and len(seen) <= options.max_failures:
            print_failure(seed, text, outcome, options)

    until = started + options.seconds if options.seconds else None
    counts, failures = run(range(options.seed, options.seed + options.examples), on_failure, until)
    report(counts, failures, time.monotonic() - started, options)
    if options.refusals:
        show_refusals(options)
    return int(bool(failures))


def loops(options):
    """Programs of a kind that judges itself."""
    kind = LOOPS[options.kind]
    if options.show:
        print(kind.program_text(options.seed))
    counts, until = collections.Counter(), time.monotonic() + (options.seconds or 1e9)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + (1 if options.show else options.examples)):
            outcome = kind.judge(seed, pathlib.Path(folder))
            if outcome not in OUTCOMES:
                print(outcome)
            counts[outcome if outcome in OUTCOMES else "wrong"] += 1
            if time.monotonic() > until:
                break
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.most_common()))
    return int("wrong" in counts)


def show_refusals(options):
    """One shrunk program for each class of refusal."""
    shown = set()
    for seed in range(options.seed, options.seed + options.examples):
        outcome, _ = judge(generate(seed))
        if outcome is not None and outcome.status == "refused" and signature(outcome) not in shown:
            shown.add(signature(outcome))
            print_failure(seed, generate(seed), outcome, options)


def report(counts, failures, elapsed, options):
    judged = sum(n for key, n in counts.items() if key[0] != "unjudged")
    print(f"\n{sum(counts.values())} programs from seed {options.seed} in {elapsed:.0f} s, {judged} judged")
    for key, n in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"{n:7}  {' '.join(key)}")
    if failures:
        print(f"failing seeds: {' '.join(str(seed) for seed, _, _ in failures[:50])}")


if __name__ == "__main__":
    sys.exit(main())
