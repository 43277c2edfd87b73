"""`python -m tests.benchmarks NAME ... [options]` runs benchmarks, one after the other; without a name, lists them.

Each benchmark is a module with `parser()`, what its options mean, and `run(options)`, which returns 1 if a row falls short.
Of the options after several names, each benchmark takes those that it knows.
"""

import importlib
import itertools
import os
import sys

NAMES = {
    "rnn": "rnn", "compile": "compile_time", "elman": "elman", "checkpoint": "checkpoint", "derivatives": "derivatives",
    "cnn": "cnn", "mlp": "mlp", "autoencoder": "autoencoder", "lstm": "lstm", "gru": "gru", "memory": "freed_memory",
    "table": "table", "first_call": "first_call", "first_call_numba": "first_call_numba",
    "auto": "auto", "distributed": "sharded", "solvers": "solvers",
}  # fmt: skip
USAGE = f"python -m tests.benchmarks NAME ... [options], with NAME of: {', '.join(NAMES)}; NAME --help tells the options"


def main(given: list[str]) -> int:
    """Runs the benchmarks that are named; returns 1 if one falls short, 2 for names and options that there are not."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), given))
    options = given[len(names) :]
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        asked = options in (["--help"], ["-h"]) and not unknown
        print(*(f"there is no benchmark {name!r}" for name in unknown), USAGE, sep="\n", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    benchmarks = {name: importlib.import_module(f"tests.benchmarks.{NAMES[name]}") for name in dict.fromkeys(names)}
    try:
        chosen = options_of({name: benchmark.parser() for name, benchmark in benchmarks.items()}, options)
    except ValueError as error:
        print(error, USAGE, sep="\n", file=sys.stderr)
        return 2
    if chosen is None:
        return 0
    short = []
    for name, benchmark in benchmarks.items():
        if len(benchmarks) > 1:
            print(f"== {name} ==", flush=True)
        short.append(benchmark.run(chosen[name]))
    return max(short)


def options_of(parsers: dict, options: list[str]) -> dict | None:
    """For each benchmark the options that it knows; None if they ask for help, which is printed.

    A file that several would write gets the name of the benchmark: run.json becomes run-elman.json.

    Raises:
        ValueError: no benchmark knows an option.
    """
    if "--help" in options or "-h" in options:
        for parser in parsers.values():
            parser.print_help()
        return None
    found = {name: parser.parse_known_args(options) for name, parser in parsers.items()}
    if strange := [o for o in options if all(o in rest for _, rest in found.values()) and (o[0] == "-" or len(found) == 1)]:
        raise ValueError(f"unknown options: {' '.join(strange)}")
    if len(parsers) > 1:
        for name, (known, _) in found.items():
            if getattr(known, "json", None):
                stem, ending = os.path.splitext(known.json)
                known.json = f"{stem}-{name}{ending}"
    return {name: known for name, (known, _) in found.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
