"""`python -m tests.benchmarks NAME [options]` runs one benchmark; without a name, lists them."""

import importlib
import sys

NAMES = {"rnn": "rnn", "compile": "compile_time", "elman": "elman", "derivatives": "derivatives"}


def main() -> int:
    name, *options = sys.argv[1:] or [""]
    if name not in NAMES:
        print("python -m tests.benchmarks NAME [--help], with NAME one of:", *NAMES, file=sys.stderr)
        return 2
    return importlib.import_module(f"tests.benchmarks.{NAMES[name]}").main(options)


if __name__ == "__main__":
    sys.exit(main())
