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


def differences(found, kinds, jobs=1):
    """The sections of snapshots, made under hash seed 1, that are not those of the digests.

    The digests were written under hash seed 0, so that a text which depends on the order of a set is found.  Where they were
    written with other versions of Python or of a library, the snapshots are made once more under hash seed 0 in their place.
    """
    written_with, expected = store.read_digests()
    if written_with != store.versions():
        again = snapshots(list(found), kinds, jobs, 0)
        expected = {(name, kind): store.digest(s) for name, (text, _) in again.items() for kind, s in store.sections(text).items()}
    sections = {(name, kind): s for name, (text, _) in found.items() for kind, s in store.sections(text).items()}
    return [" ".join(key) for key, section in sections.items() if expected.get(key) != store.digest(section)]


def problems_by_name(job):
    name, kinds, evaluated = job
    program = next(p for p in all_programs() if store.file_name(p) == name)
    return name, problems_of(program, kinds, evaluated)


def looks_between_passes(names, kinds, every_evaluated, jobs):
    """(program, what `problems_of` finds) for each program, made in processes of their own."""
    work = [(name, kinds, k % every_evaluated == 0) for k, name in enumerate(names)]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(problems_by_name, work)
