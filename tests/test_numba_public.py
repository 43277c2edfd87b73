"""Numba by its public interface alone, as for a version that the tests did not run: the same text, the same results."""

import json
import os
import subprocess
import sys

import pytest

numba = pytest.importorskip("numba")

from sourcead.backends.numba import internals  # noqa: E402
from sourcead.backends.numba.public_toolchain import Toolchain  # noqa: E402
from sourcead.errors import BackendError  # noqa: E402

pytestmark = pytest.mark.compiled

CORPUS = """
import json
from tests.harness_numba import outcome
from tests.programs import all_programs
print(json.dumps({p.name: outcome(p)[:2] for p in list(all_programs())[::31]}))
"""

def run(code, **variables):
    """What a program prints, and the log, in a process without the internals of Numba."""
    environment = {**os.environ, internals.VARIABLE: "0", **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=1800)


def test_the_programs_of_the_corpus_compile_to_the_same_results(tmp_path):
    done = run(CORPUS)
    found = json.loads(done.stdout.splitlines()[-1])
    assert {status for status, _ in found.values()} <= {"equal", "refused", "not taken"}, found
    assert sum(status == "equal" for status, _ in found.values()) > len(found) * 0.7
    assert done.stderr.count("by Numba's public interface alone") == 1


def test_no_machine_code_is_kept_on_disk(tmp_path):
    code = "from sourcead import grad\nfrom tests.test_numba_within import loss_grad, np\nprint(loss_grad(np.ones(2), np.ones(2)).tolist())"
    folders = {"SOURCEAD_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = run(code, **folders).stdout, run(code, **folders).stdout
    assert first == second and first.startswith("[") and not list(tmp_path.iterdir())


def test_a_write_that_would_lose_digits_is_refused_here_too():
    def writes(x):
        counts = [0, 1]
        counts[1] = x
        return counts[1]

    with Toolchain().compiling(""), pytest.raises(BackendError, match="float64 is written into a list of int64"):
        numba.njit(writes).compile((numba.float64,))
    assert numba.njit(writes)(2.5) == 2  # elsewhere Numba does as it does


def test_the_internals_are_off_for_versions_that_the_tests_did_not_run(monkeypatch):
    assert "0.99" in internals.reason_against("0.99.0")
    assert internals.reason_against(f"{internals.TESTED[-1]}.7") is None
    monkeypatch.setenv(internals.VARIABLE, "0")
    assert internals.VARIABLE in internals.reason_against(f"{internals.TESTED[-1]}.0")
