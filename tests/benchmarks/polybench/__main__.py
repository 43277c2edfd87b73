"""The gradient of each kernel against the kernel itself, both compiled by Numba.

    python -m tests.benchmarks.polybench [-k NAME] [--rows N] [--json FILE]

The primal is the kernel under `numba.njit`.  Calls of the two are timed in turns; the medians are compared.
"""

import argparse
import sys

from tests.benchmarks.loops import finish, measure
from tests.benchmarks.polybench import products, solvers, stencils

LIMIT = 5.0  # times the primal, at most


def kernels(n):
    """Name -> (function, wrt, arguments), of all kernels."""
    return {**products.kernels(n), **solvers.kernels(n), **stencils.kernels(n)}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.polybench")
    parser.add_argument("-k", metavar="NAME", default="", help="only the kernels whose name contains this")
    parser.add_argument("--rows", type=int, default=192, metavar="N", help="about the number of rows of a matrix")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rows = []
    print(f"{'kernel':20}{'primal':>12}{'gradient':>12}{'ratio':>8}{'first call':>12}")
    small = kernels(12)
    for name, (function, wrt, args) in kernels(options.rows).items():
        if options.k not in name:
            continue
        rows.append(row := measure(name, function, wrt, args, small[name][-1]))
        times = f"{1e3 * row['primal']:9.2f} ms{1e3 * row['gradient']:9.2f} ms"
        print(f"{name:20}{times}{row['ratio']:8.2f}{row['first call']:10.1f} s", flush=True)
    finish(rows, f"; each at most {LIMIT:g}", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
