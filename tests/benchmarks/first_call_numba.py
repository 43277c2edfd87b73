"""Prints how many seconds the first call of a compiled gradient takes, with an empty cache folder and with a full one.

`python -m tests.benchmarks first_call_numba [--programs NAME ...]`: programs of the corpus, each in two processes of its own, one after
the other.
The time holds the generation of the text, its compilation and the call, not the import of Numba.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

NAMES = (
    "gemm_of_elements", "kalman", "em_mixture", "lstm", "attention", "lorenz_as_an_array", "american_put", "lenet", "nbody",
    "cavity_flow", "vadv",
)  # fmt: skip


def seconds_of_a_first_call(name):
    """What a process of its own measures: by the clock, and of the processor."""
    import numba

    from sourcead import grad
    from sourcead.backends.numba import compile as compiling  # noqa: F401  (the import does not count)
    from tests.programs import all_programs, rng_for

    program = next(p for p in all_programs() if p.name == name)
    numba.njit(lambda x: x + 1.0)(1.0)  # starts LLVM, which is none of our doing
    arguments = program.make_args(rng_for(), 0)
    started = time.perf_counter(), time.process_time()
    grad(program.function, wrt=program.wrt, backend="numba")(*arguments)
    return time.perf_counter() - started[0], time.process_time() - started[1]


def in_a_process(name, folder):
    command = [sys.executable, "-m", "tests.benchmarks.first_call_numba", "--one", name]
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles this package again
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def parser():
    """What the options mean."""
    found = argparse.ArgumentParser(prog="python -m tests.benchmarks first_call_numba", description=__doc__.partition("\n")[0])
    found.add_argument("--programs", nargs="*", metavar="NAME", default=NAMES, help="of the corpus")
    found.add_argument("--one", metavar="NAME", help="print the seconds of one program in this process: by the clock, of the processor")
    return found


def run(options):
    """Prints a row for each program."""
    if options.one:
        print(*seconds_of_a_first_call(options.one))
        return 0
    print(f"{'program':24} {'cold':>6} {'(CPU)':>6} {'warm':>6} {'(CPU)':>6}  seconds")
    for name in options.programs:
        with tempfile.TemporaryDirectory() as folder:
            times = [t for _ in range(2) for t in in_a_process(name, folder)]
        print(f"{name:24}", *(f"{t:6.2f}" for t in times), flush=True)
    return 0


if __name__ == "__main__":
    run(parser().parse_args())
