"""Makes snapshots of many programs, in worker processes under one hash seed."""

import multiprocessing
import os
import sys

from tests.programs import all_programs
from tests.snapshots import store
from tests.snapshots.passes import problems_of
from tests.snapshots.texts import snapshot_of


def snapshot_by_name(job):
    name, kinds = job
    program = next(p for p in all_programs() if store.file_name(p) == name)
    return name, snapshot_of(program, kinds)


def snapshots(names, kinds, jobs, hash_seed):
    """{program: (text, seconds)}, made in processes of their own under one hash seed."""
    os.environ["PYTHONHASHSEED"] = str(hash_seed)
    work = [(name, kinds) for name in names]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        found = {}
        for name, result in pool.imap_unordered(snapshot_by_name, work):
            found[name] = result
            if sys.stderr.isatty():
                print(f"\r{len(found)}/{len(names)}", end="", file=sys.stderr, flush=True)
    return dict(sorted(found.items()))


def problems_by_name(job):
    name, kinds, evaluated = job
    program = next(p for p in all_programs() if store.file_name(p) == name)
    return name, problems_of(program, kinds, evaluated)


def looks_between_passes(names, kinds, every_evaluated, jobs):
    """(program, what `problems_of` finds) for each program, made in processes of their own."""
    work = [(name, kinds, k % every_evaluated == 0) for k, name in enumerate(names)]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(problems_by_name, work)
