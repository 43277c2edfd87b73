"""Checkpoints: what they hold, which runs go on from them, and what is refused."""

import os
from functools import partial

import numpy as np
import pytest

from sourcead.errors import SourceADError
from sourcead.nn import checkpoints, optimisers, schedules, training
from sourcead.nn.optimisers import State, adam, arrays_of, sgd
from sourcead.nn.training import fit
from tests.test_nn_training import blobs, classifier, loss, structure


def test_checkpoints_hold_every_structure_exactly(tmp_path):
    p, state = structure(dtype=np.float32), State()
    for k in range(3):
        adam(p, structure(k + 1, np.float32), state)
    checkpoints.save(tmp_path / "a.npz", p, state, {"note": "x", "n": [1, 2]})
    found = structure(9, np.float32)
    loaded, facts = checkpoints.load(tmp_path / "a.npz", found)
    assert facts == {"note": "x", "n": [1, 2]} and loaded.step == 3
    pairs = zip([*arrays_of(found), *loaded.means, *loaded.squares], [*arrays_of(p), *state.means, *state.squares], strict=True)
    assert all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.npz"]


def test_a_checkpoint_of_other_parameters_is_refused_and_changes_nothing(tmp_path):
    checkpoints.save(tmp_path / "a.npz", {"w": np.ones(3), "b": np.ones(2)})
    for other, message in (
        ({"w": np.zeros(3)}, "other names"),
        ({"w": np.zeros(3), "b": np.zeros(4)}, "shape"),
        ({"w": np.zeros(3), "b": np.zeros(2, "f4")}, "float32"),
    ):
        with pytest.raises(checkpoints.CheckpointError, match=message):
            checkpoints.load(tmp_path / "a.npz", other)
        assert not any(a.any() for a in other.values())


def test_a_damaged_checkpoint_is_named(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK nothing")
    for name in ("a.npz", "none.npz"):
        with pytest.raises(checkpoints.CheckpointError, match=name):
            checkpoints.load(tmp_path / name, {"w": np.zeros(3)})


def test_a_checkpoint_needs_no_pickle(tmp_path):
    checkpoints.save(tmp_path / "a.npz", structure(), optimisers.adam_state(structure()))
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


OTHER_RUNS = {
    "batch": ({"batch": 30}, "batch 25 and not 30"),
    "optimiser": ({"update": sgd}, "update adam and not sgd"),
    "option": ({"epsilon": 1e-6}, "epsilon None and not 1e-06"),
    "rate": ({"rate": 0.5}, "rate 0.02 at step 0 and 0.02 at step 7 and not 0.5 at step 0 and 0.5 at step 7"),
    "schedule": ({"rate": schedules.stepped(0.02, 3)}, ".* and not 0.02 at step 0 and 0.0002"),
    "clip": ({"clip": 1.0}, "clip None and not 1.0"),
    "generator": ({"rng": np.random.Generator(np.random.Philox(1))}, "generator PCG64 and not Philox"),
    "data": ({"arrays": blobs(91)}, r"arrays .*\(90, 4\).* and not .*\(91, 4\)"),
}


@pytest.mark.parametrize("other, trouble", OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_a_run_does_not_go_on_with_other_settings(other, trouble, tmp_path):
    options = {"arrays": blobs(), "batch": 25, "rate": 0.02, "update": adam, "progress": False, "checkpoint": tmp_path / "run.npz"}
    fit(loss, classifier(), epochs=2, **options)
    p, rng = classifier(), other.get("rng")
    state = rng and rng.bit_generator.state["state"]["counter"].tolist()
    with pytest.raises(checkpoints.CheckpointError, match=f"run.npz: it was written by a run with {trouble}"):
        fit(loss, p, epochs=3, **{**options, **other})
    for one, start in zip(arrays_of(p), arrays_of(classifier()), strict=True):
        np.testing.assert_array_equal(one, start)
    assert state == (rng and rng.bit_generator.state["state"]["counter"].tolist())
    fit(loss, p, epochs=3, **options)


def test_optimisers_of_several_parts_are_told_apart_by_their_parts(tmp_path):
    options = {"arrays": blobs(), "batch": 25, "progress": False, "checkpoint": tmp_path / "run.npz"}
    fit(loss, classifier(), epochs=1, update=partial(adam, epsilon=1e-6), **options)
    fit(loss, classifier(), epochs=2, update=partial(adam, epsilon=1e-6), **options)
    with pytest.raises(checkpoints.CheckpointError, match="1e-06.* and not adam with .*1e-07"):
        fit(loss, classifier(), epochs=3, update=partial(adam, epsilon=1e-7), **options)


@pytest.mark.parametrize("place", ["missing/run.npz", "file/run.npz", "folder"])
def test_a_checkpoint_that_cannot_be_written_is_found_before_the_first_step(place, tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    calls = []
    with pytest.raises(SourceADError, match=place):
        fit(lambda *a: calls.append(a) or loss(*a), classifier(), blobs(), checkpoint=tmp_path / place, progress=False)
    assert not calls


def test_a_finished_run_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    options = {"arrays": blobs(), "epochs": 1, "progress": False, "checkpoint": tmp_path / "run.npz"}
    history = fit(loss, classifier(), **options)
    monkeypatch.setattr(os, "replace", None)
    monkeypatch.setattr(training, "check_writable", None)
    assert fit(loss, classifier(), **options).losses == history.losses


def test_a_checkpoint_that_another_program_wrote_is_refused(tmp_path):
    checkpoints.save(tmp_path / "run.npz", classifier(), facts={"mine": 1})
    with pytest.raises(checkpoints.CheckpointError, match="run.npz cannot be read as a checkpoint: 'history'"):
        fit(loss, classifier(), blobs(), checkpoint=tmp_path / "run.npz", progress=False)
