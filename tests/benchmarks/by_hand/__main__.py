"""`python -m tests.benchmarks.by_hand [NAME ...]`: how far generated gradients are from what an expert writes by hand."""

import importlib
import os
import sys

from tests.benchmarks.timing import THREAD_VARIABLES

if __name__ == "__main__":
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # which NumPy reads when it is imported
    sys.exit(importlib.import_module("tests.benchmarks.by_hand.compare").main(sys.argv[1:]))
