"""The examples run as their users run them, on data that needs no network."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples import mnist_rnn
from sourcead.nn.data import load

ROOT = Path(__file__).resolve().parents[1]
DIGITS = load("digits")


def run(*arguments):
    """The standard output of `python examples/mnist_rnn.py ...`."""
    command = [sys.executable, str(ROOT / "examples" / "mnist_rnn.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_recurrent_network_trains_as_a_script(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[examples]'")
    picture = tmp_path / "training.png"
    out = run("--data", "digits", "--epochs", "2", "--optimizer", "adam", "--plot", str(picture), "--show-gradient")
    assert "1,442 images to train on, 355 to test with" in out
    assert "test accuracy" in out and "seconds per epoch" in out and "MB peak memory" in out
    assert "def loss" in out and "d_wx" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
@pytest.mark.parametrize("optimizer, epochs, expected", [("sgd", 30, 0.75), ("adam", 10, 0.9)])
def test_training_reaches_a_good_accuracy_on_digits(optimizer, epochs, expected):
    parameters, history, seconds = mnist_rnn.train(DIGITS, optimizer, epochs, seed=0)
    assert mnist_rnn.accuracy(parameters, mnist_rnn.as_steps(DIGITS.x_test), DIGITS.y_test) >= expected
    assert len(seconds) == epochs
    assert history[-1][0] == epochs * 15 and history[-1][1] < history[0][1]


def test_a_seed_repeats_a_training():
    first, second = (mnist_rnn.train(DIGITS, epochs=1, seed=3)[0] for _ in range(2))
    for one, other in zip(first, second):
        np.testing.assert_array_equal(one, other)


def test_an_image_is_four_steps_of_seven_rows():
    image = np.arange(784)[None]
    np.testing.assert_array_equal(mnist_rnn.as_steps(image)[2, 0], np.arange(392, 588))


@pytest.mark.long
def test_progress_is_a_line_per_epoch_without_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    mnist_rnn.train(DIGITS, epochs=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]
    assert "loss" in lines[0] and "accuracy" in lines[0]


@pytest.mark.parametrize(
    "arguments, trouble",
    [
        (["--data", "/no/such/folder"], "/no/such/folder: no such folder"),
        (["--epochs", "0"], "--epochs: at least 1"),
        (["--optimizer", "magic"], "invalid choice"),
        (["--plot", "no/such/folder.png"], "--plot: there is no folder no/such"),
    ],
)
def test_wrong_options_are_explained(arguments, trouble, capsys):
    try:
        code = mnist_rnn.main(arguments)
    except SystemExit as stop:
        code = stop.code
    assert code != 0
    assert trouble in capsys.readouterr().err


def test_the_running_mean_takes_what_there_is_at_the_ends():
    np.testing.assert_allclose(mnist_rnn.running_mean((1.0, 3.0, 5.0, 10.0), reach=1), [2, 3, 6, 7.5])


@pytest.mark.parametrize("common", ["digits", "comparison"])
def test_the_common_part_of_the_examples_says_that_it_is_none(common):
    path, environment = ROOT / "examples" / f"{common}.py", {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 1 and "no example: run one of them" in done.stderr
