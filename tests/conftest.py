"""What holds for all tests: threads of NumPy, random numbers, which cases the default tests take, what the collector visits."""

import gc
import os
from collections import Counter

import pytest

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # more threads spin while they wait, and are no help for small matrices


import numpy as np  # noqa: E402, after what its threads read

gc.disable()  # until all tests are read


FEW, SEVERAL = 8, 12  # cases: of a test with more, all tests together take each second, or each third


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, metavar="N", help="run each N-th of the cases of a test with parameters")


class EachNth:
    """Leaves out all cases of a test with parameters but each n-th, after those that the command does not ask for were left out."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        seen, kept, left = Counter(), [], []
        for item in items:
            key = item.path, getattr(item, "originalname", item.name)
            (left if seen[key] % config.getoption("--every") else kept).append(item)
            seen[key] += 1
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_configure(config):
    config.pluginmanager.register(EachNth())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what is left out of long tables as `long`: of a test with parameters, all cases but each n-th.

    `sampled(n)` says it for a test; of others, part of the cases is left out where all tests are run, not where files are named.
    """
    whole = {os.path.basename(str(arg).rstrip("/")) for arg in config.args} == set(config.getini("testpaths"))
    cases = Counter((item.path, item.originalname) for item in items if hasattr(item, "callspec"))
    seen = Counter()
    for item in items:
        if not hasattr(item, "callspec"):
            continue
        key, mark = (item.path, item.originalname), item.get_closest_marker("sampled")
        count = cases[key] if whole else 0
        nth = mark.args[0] if mark is not None else 3 if count >= SEVERAL else 2 if count >= FEW else 1
        if seen[key] % nth:
            item.add_marker(pytest.mark.long)
        seen[key] += 1


STATES = {}  # of random numbers, by their generator


def pytest_runtest_setup(item):
    """Let the random numbers of a test's module begin anew, so that they are the same whichever tests run before it."""
    for name, found in vars(getattr(item, "module", None) or object).items():
        if isinstance(found, np.random.Generator):
            found.bit_generator.state = STATES.setdefault((item.module, name), found.bit_generator.state)


def pytest_collection_finish():
    """Begin to collect garbage, but among what the tests make: the modules and tests that were read are there until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()
