"""The examples on MNIST: they run on the embedded digits, learn, resume, draw, and say what is wrong."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import digits
from sourcead import check_grads
from sourcead.nn.data import Dataset
from sourcead.nn.optimisers import arrays_of

ROOT = Path(__file__).resolve().parents[1]
MODELS = ["mnist_cnn", "mnist_mlp", "mnist_lstm", "mnist_gru"]

pytest.importorskip("sklearn")


def few(count=300):
    data = digits.load("digits")
    return Dataset(data.x_train[:count], data.y_train[:count], data.x_test[:100], data.y_test[:100], "digits", "")


def example(name):
    return importlib.import_module(f"examples.{name}")


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_networks_learn_in_a_few_steps(name):
    model = example(name).MODEL
    _, history = digits.train(model, few(), list(model.rates)[0], epochs=4, progress=False)
    assert len(history.losses) == 12
    assert history.losses[-1] < 0.97 * history.losses[0]


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_every_optimizer_and_a_resumed_run(name, tmp_path):
    model = example(name).MODEL
    for optimizer in model.rates:
        whole, _ = digits.train(model, few(), optimizer, epochs=2, progress=False)
        file = str(tmp_path / f"{optimizer}.npz")
        digits.train(model, few(), optimizer, epochs=1, checkpoint=file, progress=False)
        resumed, _ = digits.train(model, few(), optimizer, epochs=2, checkpoint=file, progress=False)
        for one, other in zip(arrays_of(whole), arrays_of(resumed), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_the_networks_are_numerical_ones(name):
    model = example(name).MODEL
    data = few()
    # With biases of zero the black pixels would lie on the kink of relu.
    rng = np.random.default_rng(0)
    start = model.initial(rng)
    parameters = rebuilt(start, iter([a + 0.1 * rng.normal(size=a.shape) for a in arrays_of(start)]))
    inputs, labels = model.prepare(data.x_train[:3].astype(float)), data.y_train[:3]
    direction = [np.random.default_rng(k).normal(size=a.shape) for k, a in enumerate(arrays_of(parameters))]
    flat = arrays_of(parameters)

    def along(s):
        moved = [a + s * d for a, d in zip(flat, direction)]
        return model.loss.primal(rebuilt(parameters, iter(moved)), inputs, labels)

    _, gradient = model.loss(parameters, inputs, labels)
    slope = sum(np.vdot(g, d) for g, d in zip(arrays_of(gradient), direction))
    h = 1e-6
    np.testing.assert_allclose(slope, (along(h) - along(-h)) / (2 * h), rtol=1e-5)


def rebuilt(structure, arrays):
    """The nested named tuples with other arrays."""
    if isinstance(structure, np.ndarray):
        return next(arrays)
    return type(structure)(*(rebuilt(part, arrays) for part in structure))


def run(name, *arguments):
    """The standard output of `python examples/NAME.py ...` on the embedded digits."""
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "--data", "digits", "--epochs", "1", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_scripts_report_and_draw(name, tmp_path):
    pytest.importorskip("matplotlib")
    output = run(name, "--plot", str(tmp_path / "run.png"), "--show-gradient")
    assert "test accuracy" in output and "seconds per epoch" in output and "def loss_value_and_grad(" in output
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_the_autoencoder_script_draws_inputs_and_reconstructions(tmp_path):
    pytest.importorskip("matplotlib")
    output = run("mnist_autoencoder", "--picture", str(tmp_path / "digits.png"), "--show-gradient")
    assert "test error" in output and "curvature" in output and "d_input" not in output
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")


def small_weights(rng):
    sizes = ((6, 5), (5,), (5, 4), (4,), (4, 6), (6,))
    return tuple(rng.normal(size=size) for size in sizes)


@pytest.mark.parametrize("shape", [(6,), (3, 6)], ids=str)
def test_the_derivatives_of_the_autoencoder_are_numerical_ones(shape):
    from examples.mnist_autoencoder import WEIGHTS, error

    rng = np.random.default_rng(0)
    check_grads(error, (*small_weights(rng), rng.random(shape)), wrt=WEIGHTS)
    check_grads(error, (*small_weights(rng), rng.random(shape)), wrt="wd", order=2)


def test_the_autoencoder_learns_from_batches_and_from_single_images():
    from examples.mnist_autoencoder import cost_of_weights, fit, initial_parameters, mean_error

    images = few().x_train[:60]
    for batch, rate, update in ((20, 0.002, digits.adam), (1, 0.02, digits.sgd)):
        weights = initial_parameters(np.random.default_rng(0))
        before = mean_error(weights, images)
        fit(cost_of_weights, weights, (images,), epochs=2, batch=batch, rate=rate, update=update, progress=False)
        assert mean_error(weights, images) < 0.8 * before


@pytest.mark.parametrize("name", [*MODELS, "mnist_autoencoder"])
def test_a_missing_folder_is_told(name, capsys):
    assert example(name).main(["--data", "/nowhere"]) == 1
    assert f"{name}: /nowhere: no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mnist_mlp", "mnist_autoencoder"])
@pytest.mark.parametrize("option", ["plot", "checkpoint"])
def test_a_missing_folder_of_a_file_to_write_is_told_before_the_training(name, option, capsys):
    with pytest.raises(SystemExit):
        example(name).main(["--data", "digits", f"--{option}", "no/such/file.npz"])
    assert f"--{option}: there is no folder no/such" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mnist_mlp", "mnist_autoencoder"])
def test_a_checkpoint_that_is_none_is_told_without_a_traceback(name, tmp_path, capsys):
    (tmp_path / "run.npz").write_text("something else")
    assert example(name).main(["--data", "digits", "--checkpoint", str(tmp_path / "run.npz")]) == 1
    assert f"{name}: {tmp_path / 'run.npz'} cannot be read as a checkpoint" in capsys.readouterr().err
