"""Damaged files of every kind that is read: no wrong number, no error of another library, no crash of the interpreter.

Each kind has its share of 2,000 variations, which `pytest -m long` takes; the default tests take some of each.
"""

import copy
import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sourcead import Numba
from sourcead.emit import Emitted
from sourcead.files import caches
from sourcead.files.caches import Cache, cache_folder
from sourcead.files.whole import write
from sourcead.nn import checkpoints, data
from sourcead.nn.checkpoints import CheckpointError
from sourcead.nn.data import DataError, read_idx
from sourcead.nn.optimisers import State, adam
from tests.damage import damaged
from tests.test_data import cache, idx_bytes, mirror, small_mnist  # noqa: F401  (fixtures)

FEW = range(0, 400, 57)
MANY = [number for number in range(400) if number not in FEW]
shares = pytest.mark.parametrize("numbers", [FEW, pytest.param(MANY, marks=pytest.mark.long)], ids=["few", "many"])
"""The variations of one of the five kinds of files, 400 in all."""


def variations(content, numbers):
    return [made for made in (damaged(content, number) for number in numbers) if made != content]


@shares
def test_a_damaged_checkpoint_is_refused_and_changes_nothing(tmp_path, numbers):
    parameters, state, path = {"w": np.arange(12.0).reshape(3, 4), "b": np.zeros(4, np.float32)}, State(), tmp_path / "run.npz"
    adam(parameters, copy.deepcopy(parameters), state)
    checkpoints.save(path, parameters, state, {"epochs": 3})
    good = path.read_bytes()
    for made in variations(good, numbers):
        path.write_bytes(made)
        found = {"w": np.ones((3, 4)), "b": np.ones(4, np.float32)}
        with pytest.raises(CheckpointError, match="run.npz cannot be read as a checkpoint: it is .*\nWhat to do: start anew"):
            checkpoints.load(path, found)
        assert all((array == 1).all() for array in found.values())


@shares
def test_a_damaged_checkpoint_with_a_checksum_that_fits_is_one_error_too(tmp_path, numbers):
    path = tmp_path / "run.npz"
    checkpoints.save(path, {"w": np.arange(12.0).reshape(3, 4)}, facts={"epochs": 3})
    content = bytes(checkpoints.read(path, checkpoints.KIND))
    for made in variations(content, numbers):
        write(path, made, checkpoints.KIND)
        found = {"w": np.full((3, 4), 7.0)}
        try:
            checkpoints.load(path, found)
        except CheckpointError:
            np.testing.assert_array_equal(found["w"], 7.0)


@shares
def test_damaged_images_are_refused_or_read_as_what_they_say(tmp_path, numbers):
    path = tmp_path / "file"
    images = idx_bytes(np.arange(2 * 28 * 28, dtype=np.uint8).reshape(2, 28, 28))
    labels = idx_bytes(np.arange(90, dtype=np.uint8) % 10)
    for number in numbers:
        content, packed = (images, labels)[number // 10 % 2], number // 20 % 2
        made = damaged(gzip.compress(content) if packed else content, number)
        path.write_bytes(made)
        try:
            found = read_idx(path)
        except DataError:
            continue
        if packed:  # what changed is the time or a comment
            np.testing.assert_array_equal(found.ravel(), np.frombuffer(content, np.uint8)[4 + 4 * content[3] :])
        else:  # the format has no checksum
            assert found.astype(data.IDX_DTYPES[made[2]]).tobytes() == made[4 + 4 * made[3] :]


@shares
def test_damaged_downloads_are_downloaded_again(cache, mirror, numbers):  # noqa: F811
    good, names = data.load("mnist"), list(data.MNIST_SHA256)
    for number in numbers:
        path = cache / "mnist" / f"{names[number // 10 % 4]}.gz"
        path.write_bytes(damaged(path.read_bytes(), number))
        found = data.load("mnist")
        np.testing.assert_array_equal(found.x_train, good.x_train)
        np.testing.assert_array_equal(found.y_test, good.y_test)


TEXT = """
def f(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += 0.1 * y[i - 1] ** 2
    return y
"""


def run_compiled():
    """What compiled code returns, which is found on disk or compiled."""
    compile = pytest.importorskip("sourcead.backends.numba.compile")
    return compile.compiled(Emitted(TEXT, {"np": np}), "f", "here", Numba())(np.linspace(0.0, 1.0, 7)).tolist()


IN_A_CHILD = """
import sys
from tests.test_damaged_files import cache_folder, damaged, run_compiled

expected = run_compiled()
(path,) = (cache_folder() / "machine-code").iterdir()
for number in range(*map(int, sys.argv[1:])):
    print("variation", number, flush=True)
    path.write_bytes(damaged(path.read_bytes(), number))
    assert run_compiled() == expected
    again = path.read_bytes()
    assert run_compiled() == expected and path.read_bytes() == again  # found: not compiled anew
    assert len(list(path.parent.iterdir())) == 1
print("end")
"""


@pytest.mark.parametrize("first, last", [(0, 6), *(pytest.param(k, k + 197, marks=pytest.mark.long) for k in (6, 203))])
def test_damaged_machine_code_is_compiled_anew(tmp_path, first, last):
    pytest.importorskip("numba")
    environment = {**os.environ, "SOURCEAD_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", IN_A_CHILD, str(first), str(last)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], env=environment, capture_output=True, text=True, timeout=3000)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "end"), (done.stdout[-100:], done.stderr)
    assert done.stderr.count("\n") == done.stderr.count("sourcead does not use machine-code/") > 0  # nothing else


class Planted:
    """A pickle of it, when it is read, makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no modes")
@pytest.mark.parametrize("sealed", [False, True], ids=["raw", "with a checksum"])
@pytest.mark.parametrize("place", ["", "machine-code"])
def test_a_pickle_planted_in_a_folder_that_others_can_write_is_not_run(tmp_path, place, sealed, monkeypatch, caplog):
    pytest.importorskip("numba")
    caches._log.cache_clear()
    folder, ran = tmp_path / "caches", tmp_path / "ran"
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(folder))
    expected = run_compiled()
    (path,) = (folder / "machine-code").iterdir()
    planted = pickle.dumps(Planted(ran))
    write(path, planted, f"machine-code/{path.name}" if sealed else None)
    (folder / place).chmod(0o777)
    assert run_compiled() == expected and not ran.exists()
    assert "others can write it" in caplog.text and len(caplog.messages) == 1
    assert path.read_bytes().startswith(planted)  # the folder is left as it is
    (folder / place).chmod(0o700)
    assert run_compiled() == expected
    assert ran.exists() == sealed  # so it would have run, had its user written it


def test_a_checkpoint_that_unpacks_to_more_than_its_size_is_refused(tmp_path):
    path, file = tmp_path / "run.npz", tmp_path / "large.npz"
    np.savez_compressed(file, **{"parameters['w']": np.zeros(2**20)}, run=np.array(json.dumps({"step": 0, "facts": {}})))
    write(path, file.read_bytes(), checkpoints.KIND)
    with pytest.raises(CheckpointError, match="compressed"):
        checkpoints.load(path, {"w": np.zeros(2**20)})


def test_a_checkpoint_is_read_by_numpy_too(tmp_path):
    checkpoints.save(tmp_path / "run.npz", {"w": np.arange(3.0)})
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["parameters['w']"], np.arange(3.0))


def test_files_of_caches_are_found_damaged_before_their_content_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCEAD_CACHE_DIR", str(tmp_path))
    files = Cache("things", 10_000)
    files.write("key", b"content" * 20)
    path = cache_folder() / "things" / "key"
    good = path.read_bytes()
    for made in variations(good, range(400)):
        path.write_bytes(made)
        assert files.read("key") is None
