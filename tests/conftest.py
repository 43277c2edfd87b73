"""What holds for all tests: threads of NumPy, which cases of long tables the default tests take, and what the collector visits."""

import gc
import os
from collections import Counter

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # more threads spin while they wait, and are no help for small matrices


gc.disable()  # until all tests are read


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what `sampled(n)` leaves out as `long`: of each test with parameters, all cases but each n-th."""
    seen = Counter()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is not None and hasattr(item, "callspec"):
            key = item.path, item.originalname
            if seen[key] % mark.args[0]:
                item.add_marker(pytest.mark.long)
            seen[key] += 1


def pytest_collection_finish():
    """Begin to collect garbage, but among what the tests make: the modules and tests that were read are there until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()
