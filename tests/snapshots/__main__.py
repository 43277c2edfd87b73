"""`python -m tests.snapshots write | compare | check | digests | verify`: see the package's docstring."""

import argparse
import difflib
import sys
import time
from pathlib import Path

from tests.programs import all_programs
from tests.snapshots import store
from tests.snapshots.texts import KINDS
from tests.snapshots.work import differences, looks_between_passes, snapshots


def compare(found, folder, show):
    """Prints what differs from a written snapshot, and how the times of compilation compare; the number of sections that differ."""
    differ, lines, before, after = [], 0, 0.0, 0.0
    times = store.read_times(folder)
    for name, (text, seconds) in found.items():
        old = store.read_text(name, folder)
        old, new = store.sections(old or ""), store.sections(text)
        for kind in new:
            if old.get(kind) != new[kind]:
                differ.append(f"{name} {kind}")
                a, b = (old.get(kind) or "").splitlines(), new[kind].splitlines()
                lines += len(b) - len(a)
                if len(differ) <= show:
                    print("\n".join(difflib.unified_diff(a, b, f"{name} {kind}", f"{name} {kind}", lineterm="", n=2)))
            if kind in times.get(name, {}):
                before, after = before + times[name][kind], after + seconds[kind]
    print(f"{sum(len(store.sections(text)) for text, _ in found.values())} sections, {len(differ)} differ ({lines:+} lines)")
    for one in differ[:40]:
        print("  ", one)
    if before:
        print(f"time of compilation: {after:.1f} s, {before:.1f} s when it was written")
    return len(differ)


def verify(names, kinds, every_evaluated, jobs):
    """Prints what is wrong after the passes; whether there is anything."""
    wrong = passes = compared = 0
    for name, (problems, ran, results) in looks_between_passes(names, kinds, every_evaluated, jobs):
        passes, compared, wrong = passes + ran, compared + results, wrong + bool(problems)
        for problem in problems:
            print(f"{name} {problem}", flush=True)
    print(f"{len(names)} programs, {passes} runs of passes, {compared} of them evaluated before and after, {wrong} programs with problems")
    return int(wrong > 0)


def check(found, kinds, jobs):
    """Prints what differs from the digests, or, for other versions than theirs, from a second run under another hash seed."""
    differ = differences(found, kinds, jobs)
    print(f"{len(differ)} sections differ", *differ[:40], sep="\n   ")
    return len(differ) > 0


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.snapshots", description=__doc__)
    parser.add_argument("what", choices=("write", "compare", "check", "digests", "verify"))
    parser.add_argument("-k", metavar="NAME", help="programs whose name contains this, or with this tag or module")
    parser.add_argument("--every", type=int, default=1, help="take each n-th program only")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which kinds of derivative, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--hash-seed", type=int, help="default: 0 to write, 1 to compare")
    parser.add_argument("--folder", type=Path, default=store.FOLDER)
    parser.add_argument("--every-evaluated", type=int, default=10, metavar="N", help="verify: evaluate each n-th program")
    parser.add_argument("--show", type=int, default=5, help="how many differences are shown line by line")
    options = parser.parse_args()
    if options.what == "digests":
        store.write_digests(options.folder)
        return 0
    started = time.perf_counter()
    names = sorted(store.file_name(p) for p in all_programs(name=options.k))[:: options.every]
    seed = options.hash_seed if options.hash_seed is not None else int(options.what != "write")
    if options.what == "verify":
        return verify(names, tuple(options.kinds.split(",")), options.every_evaluated, options.jobs)
    found = snapshots(names, tuple(options.kinds.split(",")), options.jobs, seed)
    print(f"{len(found)} programs in {time.perf_counter() - started:.0f} s")
    internal = [(name, kind) for name, (text, _) in found.items() for kind, s in store.sections(text).items() if s.startswith("INTERNAL")]
    print(f"{len(internal)} internal errors", *(" ".join(pair) for pair in internal[:20]), sep="\n   ")
    if options.what == "check":
        return int(check(found, tuple(options.kinds.split(",")), options.jobs))
    if options.what == "compare":
        return int(compare(found, options.folder, options.show) > 0)
    store.write_texts(found, options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
