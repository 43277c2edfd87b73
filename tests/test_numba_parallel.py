"""Loops that run in parallel; most tests run their text in the interpreter, in another order (`shuffled_loops.py`)."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("numba")

from sourcead import Numba, grad
from sourcead.backends.numba.codegen.parallel import work
from sourcead.backends.numba.codegen.recursion import ParallelLoop
from sourcead.backends.numba.overloads import threads
from tests.harness import quietly
from tests.harness_numba import largest_difference
from tests.loops_to_break import APART, DEPENDENT, OTHER, SOME
from tests.programs import all_programs, rng_for
from tests.random_loops import judged
from tests.shuffled_loops import shuffled

ALL = {**DEPENDENT, **APART, **OTHER}
PARALLEL = Numba(cache=False, parallel=True)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Every loop that may run in parallel does, however little it calculates."""
    monkeypatch.setattr(work, "LEAST", 0)
    monkeypatch.setattr(work, "EACH", 0)



def wrt(args):
    return tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind in "fc")


@pytest.mark.parametrize("name", ALL)
def test_the_order_of_iterations_that_run_in_parallel_does_not_matter(name):
    f, args = ALL[name]
    found: list[ParallelLoop] = []
    with shuffled(found=found):
        got = grad(f, wrt(args), backend=PARALLEL, verify=False)(*args)
    assert largest_difference(got, grad(f, wrt(args), verify=False)(*args)) <= 1
    assert found or name not in APART


@pytest.mark.parametrize("name", ["scatter", "nested", "counted"])
def test_a_loop_may_be_divided_into_any_number_of_parts(name):
    f, args = ALL[name]
    for parts in (2, 3, 5):
        with shuffled(parts, parts):
            got = grad(f, wrt(args), backend=PARALLEL, verify=False)(*args)
        assert largest_difference(got, grad(f, wrt(args), verify=False)(*args)) <= 1


@pytest.mark.parametrize("name", DEPENDENT)
def test_loops_whose_iterations_depend_on_each_other_are_in_the_notes(name):
    f, args = DEPENDENT[name]
    notes = grad(f, wrt(args), backend=PARALLEL).lower(*args).notes
    assert any(note.startswith("on one thread: ") and "the loop in line " in note for note in notes)


def test_the_notes_say_which_loops_run_in_parallel():
    f, args = APART["scatter"]
    line = next(k for k, text in enumerate(open(f.__code__.co_filename), 1) if "h[some[i]] += " in text) - 1
    (told,) = (n for n in grad(f, backend=PARALLEL).lower(*args).notes if n.startswith("in parallel"))
    assert told == (
        f"in parallel, if there is enough work: the loop in line {line} (one `h` for each thread); the reverse of the loop in line {line}"
    )
    assert not any("parallel" in n for n in grad(f, backend=Numba(cache=False)).lower(*args).notes)


def test_an_error_of_an_iteration_is_the_error_of_the_loop():
    with shuffled(), pytest.raises(IndexError, match="out of bounds"):
        grad(APART["scatter"][0], backend=PARALLEL, verify=False)(np.ones(12), SOME + 1)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_the_corpus_in_any_order(part):
    failed = {}
    for program in [p for p in all_programs() if p.raises is None][part::8]:
        args = lambda program=program: program.make_args(rng_for(), 0)

        def run(program=program, args=args, **options):
            with quietly(), shuffled(part):
                return grad(program.function, wrt=program.wrt, backend=Numba(cache=False, **options), verify=False)(*args())

        try:
            expected = run()
        except Exception:  # not taken, or text that the interpreter cannot run
            continue
        difference = largest_difference(run(parallel=True), expected)
        if not difference <= 1:
            failed[program.name] = difference
    assert not failed


# ---- in threads ----


def test_a_loop_that_is_known_to_be_short_is_no_function(monkeypatch):
    def short(x):
        a = np.zeros(5)
        for i in range(5):
            a[i] = np.sin(x[i])
        return np.sum(a * a)

    monkeypatch.setattr(work, "LEAST", 100_000)
    assert not any("parallel" in n for n in grad(short, backend=PARALLEL).lower(np.ones(9)).notes)


def test_little_work_runs_on_one_thread(monkeypatch):
    monkeypatch.setattr(work, "LEAST", 1_000_000)
    count = threads.threads.py_func
    monkeypatch.setattr(threads.numba, "get_num_threads", lambda: 4)
    assert count(100, 1e5, 0, work.LEAST) == 1 == count(1, 1e9, 0, work.LEAST)
    assert count(100, 1e7, 0, work.LEAST) == 4 and count(3, 1e7, 0, work.LEAST) == 3
    assert count(100, 1e7, 4 * 10**7, work.LEAST) == 1  # each thread would have a sum of its own, of so many elements


@pytest.mark.parametrize("seed", [*range(10), 786])
def test_random_loops(seed):
    assert judged(seed)[0] in ("equal", "refused")


@pytest.mark.long
def test_more_random_loops():
    assert not [seed for seed in range(1000, 1300) if judged(seed)[0] not in ("equal", "refused")]


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["scatter", "single_precision", "counted", "in_branches", "lower_triangle", "nested", "row_before"])
def test_threads_give_the_same_bits_in_every_run(name):
    f, args = ALL[name]
    expected = grad(f, wrt(args), backend=Numba(cache=False))(*args)
    g = grad(f, wrt(args), backend=PARALLEL)
    first = g(*args)
    assert largest_difference(first, expected) <= 1
    for _ in range(30):
        for a, b in zip(g(*args), first):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.compiled
def test_errors_in_threads_are_raised_in_the_caller():
    with pytest.raises(IndexError, match="out of bounds"):
        grad(APART["scatter"][0], backend=PARALLEL, verify=False)(np.ones(12), SOME + 1)


@pytest.mark.compiled
def test_several_python_threads_may_call_a_gradient_that_runs_in_parallel():
    f, args = APART["nested"]
    g, wrong = grad(f, (0, 1), backend=PARALLEL), []
    expected = g(*args)

    def calls():
        for _ in range(50):
            wrong.extend(1 for a, b in zip(g(*args), expected) if a.tobytes() != b.tobytes())

    callers = [threading.Thread(target=calls) for _ in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert not wrong


@pytest.mark.compiled
@pytest.mark.parametrize("layer", ["workqueue", "default"])
def test_machine_code_from_the_disk_finds_threads(layer, tmp_path):
    script = """
import threading
import numpy as np
from sourcead import Numba, grad
from sourcead.backends.numba.codegen.parallel import work
from tests.loops_to_break import APART
work.LEAST = work.EACH = 0
f, args = APART["scatter"]
g = grad(f, backend=Numba(parallel=True))
first = g(*args)
threads = [threading.Thread(target=lambda: [g(*args) for _ in range(50)]) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
print(first.tobytes().hex())
"""
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": str(tmp_path), "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    run = lambda: subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True).stdout
    assert run() == run()
