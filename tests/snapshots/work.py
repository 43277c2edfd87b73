"""Makes snapshots of many programs, in worker processes under one hash seed."""

import multiprocessing
import os
import sys

from tests.programs import all_programs
from tests.snapshots import store
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
