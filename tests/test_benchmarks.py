"""The benchmarks themselves: what we compare with is right, and what we count is counted right."""

import argparse
import importlib
import inspect
import json

import numpy as np
import pytest

from sourcead import grad, value_and_grad
from tests import harness
from tests.benchmarks import __main__ as runner, checkpoint, checkpoint_page, generated, numba_cases, report, timing
from tests.benchmarks.by_hand import recurrent as by_hand
from tests.benchmarks.polybench import __main__ as polybench
from tests.benchmarks.rnn import choose_data

pytestmark = pytest.mark.sampled(3)

BY_HAND = (by_hand.rnn_loss_and_gradients, by_hand.rnn_loss_and_gradients_reusing_buffers)


def rnn_arguments(dtype=np.float64):
    rng = np.random.default_rng(0)
    shapes = ((5, 6), (6, 6), (6,), (6, 10), (10,), (4, 3, 5))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes] + [np.array([7, 0, 7])]


def central_differences(f, arguments, at, step=1e-5):
    result = np.empty_like(arguments[at])
    for index in np.ndindex(result.shape):
        values = []
        for sign in (1, -1):
            moved = [np.array(a) for a in arguments]
            moved[at][index] += sign * step
            values.append(f(*moved))
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


@pytest.mark.parametrize("function", BY_HAND)
def test_the_hand_written_gradient_is_that_of_central_differences(function):
    arguments = rnn_arguments()
    _, gradients = function(*arguments)
    for at, gradient in enumerate(gradients):
        numerical = central_differences(lambda *a: function(*a)[0], arguments, at)
        np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("function", BY_HAND)
def test_the_hand_written_value_and_gradient_are_those_generated(function):
    from examples import mnist_rnn

    arguments = rnn_arguments()
    value, gradients = mnist_rnn.loss(*arguments)
    expected_value, expected_gradients = function(*arguments)
    np.testing.assert_allclose(value, expected_value, rtol=1e-13)
    for found, expected in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("function", BY_HAND)
def test_the_hand_written_gradient_leaves_its_arguments_alone_and_stays_in_float32(function):
    arguments = rnn_arguments(np.float32)
    before = [a.copy() for a in arguments]
    value, gradients = function(*arguments)
    assert value.dtype == np.float32 and {g.dtype for g in gradients} == {np.dtype(np.float32)}
    for one, other in zip(arguments, before):
        np.testing.assert_array_equal(one, other)


@pytest.mark.compiled
@pytest.mark.parametrize("name", numba_cases.cases())
def test_the_generated_text_compiles_with_numba_as_it_stands(name):
    numba = pytest.importorskip("numba", reason="numba is not installed: pip install '.[numba]'")
    gradient, arguments = numba_cases.cases()[name]
    expected = gradient(*arguments)
    compiled = numba.njit(generated.function_in(gradient.source))
    for found, wanted in zip(compiled(*arguments), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


TEXT = '''
def helper(x):
    """A docstring is no statement."""
    return x

def gradient(x, n):
    """Nor is this one."""
    d_x = np.zeros_like(x)
    for i in range(n):
        if i:
            d_x += helper(x)
    return d_x
'''


def test_statements_are_counted_at_every_depth_without_docstrings():
    assert generated.statement_count(TEXT) == 6


def test_the_function_of_a_text_is_its_last():
    assert generated.function_in(TEXT)(np.ones(2), 3).tolist() == [2, 2]


def test_tasks_take_turns_in_alternating_order():
    ran = []
    seconds = timing.interleaved_seconds({"a": lambda: ran.append("a"), "b": lambda: ran.append("b")}, rounds=2)
    assert "".join(ran) == "ab" + "ab" + "ba"
    assert {name: len(each) for name, each in seconds.items()} == {"a": 2, "b": 2}


def test_the_ratio_is_the_median_over_the_rounds():
    assert timing.median_ratio([1.0, 4.0, 9.0], [1.0, 2.0, 3.0]) == 2.0


@pytest.mark.parametrize(
    "row, ok",
    [
        (report.at_most("x", 1.15, 1.15), True),
        (report.at_most("x", 1.16, 1.15), False),
        (report.at_least("x", 0.92, 0.92), True),
        (report.at_least("x", float("nan"), 0.92), False),
        (report.below("x", 1.0, 1.0), False),
        (report.between("x", 0.8, 0.8, 1.2), True),
        (report.between("x", 1.21, 0.8, 1.2), False),
        (report.between("x", float("nan"), 0.8, 1.2), False),
        (report.reported("x", 1.0), None),
    ],
)
def test_a_row_says_whether_its_target_is_met(row, ok):
    assert row.ok is ok
    assert ("SHORT" in str(row)) == (ok is False)


def test_a_measurement_that_fails_falls_short_and_keeps_the_rows_before(capsys):
    def rows():
        yield report.reported("first", 1.0)
        raise ValueError("no luck\nat all")

    first, second = report.measure("luck", rows)
    assert first.what == "first"
    assert second.ok is False and "ValueError: no luck" in str(second)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_run_is_kept_as_json(tmp_path):
    path = tmp_path / "run.json"
    report.write_json(path, [report.at_most("x", 1.0, 2.0)], data="digits")
    kept = json.loads(path.read_text())
    assert kept["rows"][0]["value"] == 1.0 and kept["rows"][0]["ok"] is True
    assert kept["data"] == "digits" and "numpy" in kept["machine"]


def test_the_data_asked_for_is_taken():
    assert choose_data("digits") == "digits"


class Pretended:
    """A benchmark that keeps what it is asked for."""

    def __init__(self, code, *options):
        self.code, self.options, self.ran = code, options, []

    def parser(self):
        parser = argparse.ArgumentParser()
        for option in self.options:
            parser.add_argument(option)
        return parser

    def run(self, options):
        self.ran.append(vars(options))
        return self.code


@pytest.fixture
def pretended(monkeypatch):
    found = {"one": Pretended(0, "--rounds", "--json"), "two": Pretended(1, "--dimensions", "--json")}
    monkeypatch.setattr(runner, "NAMES", {name: name for name in found})
    monkeypatch.setattr(runner.importlib, "import_module", lambda path: found[path.rpartition(".")[2]])
    return found


def test_several_benchmarks_run_in_order_with_the_options_that_each_knows(pretended, capsys):
    assert runner.main(["two", "one", "--rounds", "5", "--dimensions", "5", "--json", "a/run.json"]) == 1
    assert pretended["one"].ran == [{"rounds": "5", "json": "a/run-one.json"}]
    assert pretended["two"].ran == [{"dimensions": "5", "json": "a/run-two.json"}]
    assert capsys.readouterr().out.split() == "== two == == one ==".split()


def test_one_benchmark_keeps_the_file_that_it_is_given(pretended):
    assert runner.main(["one", "--json", "run.json"]) == 0
    assert pretended["one"].ran == [{"rounds": None, "json": "run.json"}]


@pytest.mark.parametrize(
    "given, said",
    [
        (["three"], "no benchmark 'three'"),
        ([], "NAME"),
        (["one", "--dimensions", "5"], "unknown options: --dimensions 5"),
        (["one", "two", "--loud", "--rounds", "5"], "unknown options: --loud"),
    ],
)
def test_what_no_benchmark_knows_is_refused_before_any_runs(pretended, capsys, given, said):
    assert runner.main(given) == 2
    assert said in capsys.readouterr().err
    assert not any(each.ran for each in pretended.values())


def test_help_tells_the_options_of_each(pretended, capsys):
    assert runner.main(["one", "two", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--rounds" in shown and "--dimensions" in shown
    assert runner.main(["--help"]) == 0


def test_what_the_formula_predicts_is_the_time_of_states_where_all_of_them_are_kept_but_one():
    """Then it takes as many steps forward, but that of the last iteration."""
    assert checkpoint.predicted_seconds(function=2.0, states=5.0, n=100, s=100) == pytest.approx(5.0 - 2.0 / 100)
    assert checkpoint.predicted_seconds(function=2.0, states=5.0, n=100, s=1) == pytest.approx(3.0 + 2.0 * 99 / 2)


def test_the_bodies_of_the_checkpoint_benchmark_keep_their_derivatives():
    """One that dies out would compare nothing but zeros."""
    for function, a in checkpoint.BODIES.values():
        value, slope = value_and_grad(function)(a, 300)
        step = 1e-6 * a
        assert slope == pytest.approx((function(a + step, 300) - function(a - step, 300)) / (2 * step), rel=1e-4)
        assert np.isfinite(value) and abs(slope) > 1e-3


def test_the_checkpoint_page_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    bodies = {"one": {"function": 1.0, "store": 2.0, "time": 1.5, "predicted": 1.4, "fits": 1.07, "bytes": 5000, "kept": 10}}
    budget = {"peak": 1e8, "seconds": 10.0, "error": 0.0, "function": 3.0}
    network = {d: {"store": (0.1, 1e6), "states": (0.2, 5e5)} for d in (32, 64)}
    checkpoint_page.write_page(str(tmp_path), bodies, {5: (2.0, 1.9), 50: (1.5, 1.4)}, budget, network)
    page = (tmp_path / "checkpointing.md").read_text()
    assert "| one | 1000.0 | 2000.0 | 1.50 | 1.40 | 1.07 | 5,000 | 10 |" in page
    assert "0.50 to 0.50 times the memory, 2.00 to 2.00 times the time" in page
    assert (tmp_path / "checkpointing.svg").stat().st_size > 1000


@pytest.mark.parametrize("name", polybench.kernels(12))
def test_the_kernels_of_polybench_have_the_gradients_of_differences(name):
    function, wrt, args = polybench.kernels(5)[name]
    gradients = grad(function, wrt=wrt)(*args)
    names, rng, step = list(inspect.signature(function).parameters), np.random.default_rng(0), 1e-6
    direction = {name: rng.normal(size=np.shape(args[names.index(name)])) for name in wrt}

    def moved(sign):
        return function(*(a + sign * step * direction[n] if n in direction else a for n, a in zip(names, args)))

    found = sum(np.sum(d * g) for d, g in zip(direction.values(), gradients, strict=True))
    np.testing.assert_allclose(found, (moved(1) - moved(-1)) / (2 * step), rtol=1e-5, atol=1e-8)


def test_what_is_listed_is_a_benchmark_with_options():
    for name, module in runner.NAMES.items():
        if name.startswith("first_call"):
            assert f"tests.benchmarks {name}" in importlib.import_module(f"tests.benchmarks.{module}").parser().prog


def test_a_harness_without_programs_fails(capsys):
    assert harness.main(["-k", "no such program"]) == 2 and "there is no program for -k no such program" in capsys.readouterr().out
