"""The networks of `examples/elman.py`: right against PyTorch, under every policy, and as a script."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import elman
from sourcead import Revolve, Segments, check_grads, grad, value_and_grad
from tests.benchmarks.by_hand import recurrent as by_hand

pytestmark = pytest.mark.sampled(3)

ROOT = Path(__file__).resolve().parents[1]
POLICIES = ["states", "store", "recompute", Segments(2), Revolve(2)]


def network(model, sizes, seed=0, dtype=np.float64):
    """Layers whose weights and biases are all drawn."""
    rng = np.random.default_rng(seed)
    layers = elman.initial_layers(rng, model, sizes, dtype)
    return [type(layer)(*(rng.normal(size=a.shape).astype(dtype) / 2 for a in layer)) for layer in layers]


def series(steps, batch, columns, outputs, dtype=np.float64):
    """A series, or a batch of them, and what comes next."""
    rng = np.random.default_rng(1)
    rows = () if batch is None else (batch,)
    return rng.normal(size=(steps, *rows, columns)).astype(dtype), rng.normal(size=(*rows, outputs)).astype(dtype)


def assert_same_layers(found, expected, tolerance):
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        for name in one._fields:
            a, b = getattr(one, name), getattr(other, name)
            assert a.shape == b.shape and a.dtype == b.dtype
            assert np.max(np.abs(a - b)) <= tolerance * np.max(np.abs(b)), name


@pytest.mark.parametrize("layers", [1, 3, 20])
@pytest.mark.parametrize("batch", [None, 1, 5])
@pytest.mark.parametrize("model", elman.MODELS)
def test_values_and_gradients_are_those_of_pytorch(model, batch, layers):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install '.[peers]'")
    from tests.benchmarks import torch_networks

    weights = network(model, [3, *[4] * layers])
    xs, y = series(7, batch, 3, 4)
    expected_value, expected = torch_networks.loss_and_gradients(model, weights, xs, y)
    value, gradient = value_and_grad(elman.MODELS[model].loss)(weights, xs, y)
    assert abs(value - expected_value) <= 1e-9 * abs(expected_value)
    assert_same_layers(gradient, expected, 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("model", elman.MODELS)
def test_gradients_are_those_of_central_differences(model, batch):
    xs, y = series(4, batch, 3, 2)
    check_grads(elman.MODELS[model].loss, (network(model, [3, 4, 2]), xs, y))


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("sizes", [[3, 4, 4, 4], [3, 4, 2]], ids=str)
@pytest.mark.parametrize("model", elman.MODELS)
def test_every_policy_gives_the_same_gradient(model, sizes, policy):
    weights = network(model, sizes)
    xs, y = series(6, 2, 3, sizes[-1])
    loss = elman.MODELS[model].loss
    assert_same_layers(grad(loss, checkpoint=policy)(weights, xs, y), grad(loss)(weights, xs, y), 1e-12)


@pytest.mark.parametrize("model", elman.MODELS)
def test_float32_stays_float32_and_arguments_stay_as_they_are(model):
    weights = network(model, [3, 4, 4], dtype=np.float32)
    xs, y = series(6, 2, 3, 4, np.float32)
    before = [a.copy() for a in [*elman.arrays_of(weights), xs, y]]
    value, gradient = value_and_grad(elman.MODELS[model].loss)(weights, xs, y)
    assert value.dtype == np.float32 and {a.dtype for a in elman.arrays_of(gradient)} == {np.dtype(np.float32)}
    for now, then in zip([*elman.arrays_of(weights), xs, y], before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("model", elman.MODELS)
def test_no_input_leaves_no_gradient(model):
    weights = network(model, [3, 4, 4])
    xs, y = series(0, 2, 3, 4)
    value, gradient = value_and_grad(elman.MODELS[model].loss)(weights, xs, y)
    assert value == np.mean(y**2)
    assert not any(a.any() for a in elman.arrays_of(gradient))


@pytest.mark.parametrize("batch", [None, 4])
def test_the_hand_written_gradient_of_the_benchmark_is_that_generated(batch):
    weights = network("elman", [3, 4, 4])
    xs, y = series(6, batch, 3, 4)
    value, gradient = value_and_grad(elman.elman_loss)(weights, xs, y)
    if batch is None:
        xs, y = xs[:, None], y[None]
    expected_value, expected = by_hand.elman_loss_and_gradients(weights, xs, y)
    np.testing.assert_allclose(value, expected_value, rtol=1e-13)
    assert_same_layers(gradient, [elman.Elman(*layer) for layer in expected], 1e-12)


def test_twenty_layers_are_a_loop_in_the_text():
    gradient = grad(elman.elman_loss)
    lengths = set()
    for layers in (3, 20):
        gradient(network("elman", [4] * (layers + 1)), *series(5, 2, 4, 4))
        lengths.add(len(gradient.source.splitlines()))
    assert len(lengths) == 1 and lengths.pop() < 75


# The example


def run(*arguments):
    """The standard output of `python examples/elman.py ...`."""
    command = [sys.executable, str(ROOT / "examples" / "elman.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_networks_train_as_a_script(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[examples]'")
    prices, picture = tmp_path / "prices.csv", tmp_path / "training.png"
    rows = [f"2024-{k},{a},{b}" for k, (a, b) in enumerate(elman.random_walk(200, 2))]
    prices.write_text("\n".join(["day,open,close", *rows]))
    out = run("--csv", str(prices), "--columns", "close", "--model", "lstm", "--epochs", "2", "--steps", "10",
              "--checkpoint", "revolve:3", "--plot", str(picture), "--show-gradient")  # fmt: skip
    assert "200 days, 1 columns" in out and "152 windows to train on, 37 to test with" in out
    assert "epoch 2/2: loss" in out and "seconds per epoch" in out and "def lstm_loss_value_and_grad" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
@pytest.mark.parametrize("model", elman.MODELS)
def test_training_foretells_better_than_no_change(model):
    to_train, to_test = elman.windows(elman.random_walk(), elman.STEPS)
    layers, losses, _ = elman.train(to_train, model, epochs=15)
    assert losses[-1] < losses[0]
    assert elman.error_of(model, layers, to_test) < 0.8 * np.mean(to_test.ys**2)


def test_a_seed_and_a_policy_repeat_a_training():
    data, _ = elman.windows(elman.random_walk(300), 8)
    first, _, _ = elman.train(data, epochs=2, seed=3)
    second, _, _ = elman.train(data, epochs=2, seed=3, checkpoint=Segments(3))
    assert_same_layers(first, second, 1e-4)


def test_a_window_is_followed_by_its_target():
    prices = np.exp(np.cumsum(np.arange(12.0)))[:, None]
    to_train, to_test = elman.windows(prices, 3)
    changes = np.concatenate([to_train.xs[0, :, 0], to_train.ys[:, 0], to_test.ys[:, 0]])
    np.testing.assert_allclose(changes / changes[0], np.arange(1, 12), rtol=1e-5)
    np.testing.assert_array_equal(to_test.xs[0, -1], to_train.ys[-1])


CSV = "day,open,close\n1,10.5,11\n2,12,-3\n3,9,12\n"


@pytest.mark.parametrize(
    "text, arguments, trouble",
    [
        (CSV, ["--columns", "high"], "no column 'high'; there are day, open, close"),
        (CSV, ["--columns", "open,close"], "row 3: '-3' in column 'close' is no positive number"),
        (CSV, ["--columns", "open"], "3 prices are too few for windows of 25 steps; at least 28 are needed"),
        ("a,b\n1,2\n3\n", [], "row 3 does not have the 2 columns"),
        ("name\nx\n", [], "no column holds prices"),
        ("name\n", [], "no column holds prices"),
        ("", [], "the file is empty"),
        (CSV, ["--checkpoint", "segments:0"], "'segments:0' is not auto"),
        (CSV, ["--layers", "0"], "'0' is not at least 1"),
        (CSV, ["--model", "tree"], "invalid choice"),
        (None, [], "No such file"),
    ],
)
def test_wrong_options_and_files_are_explained(text, arguments, trouble, tmp_path, capsys):
    path = tmp_path / "prices.csv"
    if text is not None:
        path.write_text(text)
    try:
        code = elman.main(["--csv", str(path), *arguments])
    except SystemExit as stop:
        code = stop.code
    assert code != 0
    assert trouble in capsys.readouterr().err


def test_columns_need_a_file(capsys):
    with pytest.raises(SystemExit):
        elman.main(["--columns", "open"])
    assert "--columns: only with --csv" in capsys.readouterr().err


def test_without_columns_all_that_hold_prices_are_read(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(CSV)
    np.testing.assert_array_equal(elman.read_csv(str(path)), [[1, 10.5], [2, 12], [3, 9]])


# The benchmark


@pytest.mark.parametrize("peer, package", [("torch.nn.RNN", "torch"), ("eager PyTorch", "torch"), ("jax.jit", "jax")])
def test_the_peers_of_the_benchmark_compute_the_same(peer, package):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[peers]'")
    from tests.benchmarks import elman as benchmark

    given = benchmark.arguments(8, layers=3)
    module, name = benchmark.PEERS[peer]
    value, gradients = getattr(importlib.import_module(module), name)(*given)()
    expected_value, expected = by_hand.elman_loss_and_gradients(*given)
    np.testing.assert_allclose(value, expected_value, rtol=1e-5)
    for one, other in zip(gradients, [a for layer in expected for a in layer], strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-3, atol=1e-6)


@pytest.mark.long
def test_the_benchmark_prints_rows_and_writes_a_page(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[examples]'")
    from tests.benchmarks import elman as benchmark

    monkeypatch.setattr(benchmark, "PEERS", {})
    options = ["--dimensions", "4", "--policies", "states,revolve:2", "--rounds", "1", "--docs", str(tmp_path)]
    benchmark.run(benchmark.parser().parse_args(options))
    out = capsys.readouterr().out
    assert "d = 4, generated / hand-written" in out and "d = 4, peak megabytes, checkpoint revolve:2" in out
    page = (tmp_path / "elman.md").read_text()
    assert "| d | generated | hand-written |" in page and "| d | states | revolve:2 |" in page
    assert (tmp_path / "elman.svg").stat().st_size > 1000
