"""The table of benchmarks: the gradients that it compares are equal, and what it says of them is what was measured."""

import json

import numpy as np
import pytest

from tests.benchmarks import engines, peers, programs, table, table_page
from tests.benchmarks.by_hand import page as by_hand_page

pytestmark = pytest.mark.sampled(3)

TINY = programs.programs(tiny=True)
EACH_KIND = (
    "lorenz",
    "burgers",
    "cholesky",
    "hidden markov",
    "Gaussian mixture",
    "LSTM of ADBench",
    "MLP on MNIST",
    "Elman, 2 layers",
)


def agree(made, program):
    run = made.program or program
    expected = programs.numbers(peers.numpy_text(run).gradient())
    tolerance = 1e-4 if program.group == programs.NETWORKS else 1e-9
    scale = max(np.abs(b).max() for b in expected)
    for a, b in zip(programs.numbers(made.gradient()), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * scale)
    assert scale > 0


@pytest.mark.parametrize("name", [name for name, program in TINY.items() if program.twin("by hand")])
def test_gradients_by_hand_are_ours(name):
    pytest.importorskip("numba")
    agree(peers.by_hand(TINY[name]), TINY[name])


@pytest.mark.parametrize("name", EACH_KIND)
def test_gradients_of_jax_are_ours(name):
    pytest.importorskip("jax")
    agree(peers.jax_arrays(TINY[name]), TINY[name])


@pytest.mark.parametrize("name", ("lorenz", "burgers", "hidden markov"))
def test_gradients_of_jax_loop_for_loop_are_ours(name):
    pytest.importorskip("jax")
    agree(peers.jax_loops(TINY[name]), TINY[name])


@pytest.mark.parametrize(
    "name", ("pendulum", "garch", "Gaussian mixture", "LSTM of ADBench", "CNN on MNIST", "Elman, 2 layers")
)
def test_gradients_of_pytorch_are_ours(name):
    pytest.importorskip("torch")
    agree(
        peers.eager_torch(programs.programs()[name] if TINY[name].group == programs.LOOPS else TINY[name]), TINY[name]
    )


@pytest.mark.parametrize("name", ("pendulum", "option paths", "RNN on MNIST"))
def test_gradients_of_autograd_are_ours(name):
    pytest.importorskip("autograd")
    agree(peers.autograd(programs.programs()[name] if TINY[name].group == programs.LOOPS else TINY[name]), TINY[name])


def test_an_engine_that_cannot_run_a_program_says_why():
    with pytest.raises(peers.Left, match="writes into arrays"):
        peers.autograd(TINY["burgers"])
    process = engines.Engine(peers.BY_HAND, tiny=True)
    try:
        with pytest.raises(peers.Left, match="not written"):
            process.ask("make", "garch")
    finally:
        process.stop()


def test_a_gradient_that_differs_is_left_out():
    found = {peers.NUMPY: {"shorter": False}, peers.JAX: {"shorter": False}}
    results = {peers.NUMPY: [np.ones(3)], peers.JAX: [np.array([1, 1, 1.1])]}
    table.compare("burgers", found, results)
    assert found[peers.JAX] == {"reason": "gives another gradient"} and found[peers.NUMPY] == {"shorter": False}


class Pretended:
    """An engine whose gradient takes as long as it says."""

    def __init__(self, gradient):
        self.gradient, self.asked = gradient, []

    def ask(self, order, *args):
        self.asked.append((order, *args))
        return 1000 if order == "peak" else {"gradient": self.gradient, "primal": 0.5}[args[0]]


def test_calls_are_timed_in_turns_and_those_of_shorter_programs_multiplied():
    pretended = {peers.NUMPY: Pretended(0.001), peers.TORCH: Pretended(2.0)}
    found = {peers.NUMPY: {"primal": True, "shorter": False}, peers.TORCH: {"primal": False, "shorter": True}}
    table.time_in_turns(found, pretended, rounds=5, rest=0)
    assert found[peers.NUMPY] == {"primal": 0.5, "shorter": False, "gradient": 0.001, "peak": 1000}
    assert found[peers.TORCH]["gradient"] == 2.0 * programs.SHORTER
    assert sum(asked[0] == "seconds" for asked in pretended[peers.TORCH].asked) == 3  # once, and two rounds
    assert ("seconds", "gradient", 10) in pretended[peers.NUMPY].asked


def facts(gradient, primal=None):
    return {"gradient": gradient, "primal": primal, "first call": 1.5, "peak": 2_000_000, "shorter": False}


def test_targets_are_those_of_the_rows():
    rows = {
        "lorenz": {peers.NUMBA: facts(2.0, 1.0), peers.JAX: facts(4.0), peers.JAX_LOOPS: facts(4.0)},
        "garch": {peers.NUMBA: facts(9.0, 1.0), peers.JAX: facts(4.5), peers.JAX_LOOPS: {"reason": "none"}},
        "mixture": {peers.NUMPY: facts(3.0), peers.NUMBA: facts(2.0), peers.JAX: facts(1.6)},
    }
    groups = {"lorenz": programs.LOOPS, "garch": programs.LOOPS, "mixture": programs.ADBENCH}
    reached = {row.what: (row.value, row.ok) for row in table.targets(rows, groups)}
    assert reached["gradient / primal under Numba, geometric mean of 2"] == (pytest.approx(18**0.5), False)
    assert reached["gradient / primal under Numba, largest (garch)"] == (9.0, False)
    assert reached["Numba / jax.jit, geometric mean of 2"] == (pytest.approx(1.0), False)
    assert reached["Numba / jax.jit, loop for loop, largest (lorenz)"] == (0.5, True)
    assert reached["lorenz, Numba / jax.jit"] == (0.5, True)
    assert reached["mixture, the faster engine / jax.jit"] == (1.25, False)


def test_the_page_is_written_with_its_figures(tmp_path):
    pytest.importorskip("matplotlib")
    row = {
        peers.NUMPY: facts(3e-3, 1e-3),
        peers.NUMBA: {"reason": "too hard"},
        peers.JAX: facts(6e-3),
        peers.TORCH: {**facts(1.0), "shorter": True},
    }
    kept = {
        "machine": {"numpy": "2"},
        "programs": {"garch": row},
        "groups": {"garch": programs.LOOPS},
        "targets": [],
        "late": ["lu"],
    }
    table_page.write_page(tmp_path, kept)
    page = (tmp_path / "benchmarks.md").read_text()
    assert (
        "| garch | 1.00 ms | 3.00 ms, NumPy | 3.00 | 1.50 s | 2.00 MB | - | - | 1.00 s * | - | 6.00 ms | - | 0.50 |"
        in page
    )
    assert "- sourcead, Numba: too hard (all others)" in page
    assert page.endswith("Not in this run: lu.\n")
    assert json.loads((tmp_path / "benchmarks.json").read_text())["programs"]["garch"][peers.JAX]["gradient"] == 6e-3
    assert (tmp_path / "benchmarks.svg").stat().st_size > 1000
    by_hand_page.write_section(tmp_path / "benchmarks.md", {})
    beside = (tmp_path / "benchmarks.md").read_text()
    table_page.write_page(tmp_path, kept)
    assert beside == (tmp_path / "benchmarks.md").read_text() != page


@pytest.mark.parametrize(
    "value, text", [(2.5, "2.50 s"), (0.0123, "12.3 ms"), (0.5, "500 ms"), (3.21e-6, "3.21 µs"), (4e-8, "0.04 µs")]
)
def test_times_are_shown_with_their_unit(value, text):
    assert table_page.seconds(value) == text
