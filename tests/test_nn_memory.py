"""Importing `sourcead.nn` takes no memory; `keep_freed_memory` lets a loop reuse the memory of its last round."""

import os
import platform
import subprocess
import sys

import pytest

IMPORTS = """
import tracemalloc
import numpy, sourcead, sourcead.api.transformations
tracemalloc.start()
import sourcead.nn
at_import = tracemalloc.get_traced_memory()[1]
import sourcead.nn.layers, sourcead.nn.recurrent, sourcead.nn.losses, sourcead.nn.optimisers, sourcead.nn.memory
print(at_import, tracemalloc.get_traced_memory()[1])
"""

FAULTS = """
import resource
import numpy as np
from sourcead.nn.memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(1 << 17) for _ in range(8)]  # 1 MB each
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
before = faults()
took = keep_freed_memory()
faults()
print(before, faults(), took)
"""

GLIBC = platform.libc_ver()[0] == "glibc"


def printed(code, **variables):
    environment = {name: value for name, value in os.environ.items() if "MALLOC" not in name and name != "GLIBC_TUNABLES"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment | variables)
    return run.stdout.split()


def test_importing_allocates_nothing_large():
    at_import, with_modules = map(int, printed(IMPORTS))
    assert at_import < 200_000 and with_modules < 2_000_000  # the code of the modules


@pytest.mark.skipif(not GLIBC, reason="the setting is glibc's")
def test_freed_memory_is_reused():
    before, after, took = printed(FAULTS)
    assert took == "True" and int(before) > 10_000 and int(after) < 100


@pytest.mark.skipif(not GLIBC, reason="the setting is glibc's")
def test_a_setting_of_the_environment_stays():
    assert printed(FAULTS, MALLOC_TRIM_THRESHOLD_="131072")[2] == "False"
