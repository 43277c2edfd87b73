"""Saves a training run in one `.npz` file, without pickle: parameters, the optimiser's state, the generator and the history.

Each array is stored under its place in the structure, everything else as one text of JSON. The file is written as a whole and ends in a
checksum (`sourcead/files/whole.py`), which `np.load` does not mind.
"""

import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from sourcead.api.extending import leaves
from sourcead.errors import SourceADError
from sourcead.files.whole import NotUsable, read, write
from sourcead.nn.optimisers import State, arrays_of

KIND = "checkpoint"


class CheckpointError(SourceADError, ValueError):
    """A checkpoint is damaged, or belongs to other parameters or another run; the message names the file and what differs."""

    label = "What to do"


def save(path: str | os.PathLike, parameters: Any, state: State | None = None, facts: dict | None = None) -> None:
    """Write the parameters, and everything else that a run needs to continue, to a file.

    Args:
        path: the file; `.npz` is not added.
        parameters: any structure of arrays.
        state: the state of the optimiser.
        facts: any structure that JSON can hold; arrays become lists.

    Raises:
        FileError: the file cannot be written; a file that was there is as it was.

    Example:
        >>> import tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = os.path.join(folder, "run.npz")
        ...     save(file, {"w": np.arange(3.0)}, facts={"epoch": 2})
        ...     w = {"w": np.zeros(3)}
        ...     state, facts = load(file, w)
        >>> w, facts
        ({'w': array([0., 1., 2.])}, {'epoch': 2})
    """
    state = State() if state is None else state
    arrays = {f"parameters{where}": array for where, array in zip(places(parameters), arrays_of(parameters), strict=True)}
    arrays |= {f"means[{k}]": array for k, array in enumerate(state.means)}
    arrays |= {f"squares[{k}]": array for k, array in enumerate(state.squares)}
    text = json.dumps({"step": state.step, "facts": facts or {}}, default=np.ndarray.tolist)
    file = io.BytesIO()
    np.savez(file, **arrays, run=np.array(text))
    with file.getbuffer() as content:
        write(path, content, KIND)


def load(path: str | os.PathLike, parameters: Any, accept: Callable[[dict], Any] = lambda facts: None) -> tuple[State, dict]:
    """Read a checkpoint into the given parameters, in place, and return the optimiser's state and the facts.

    Args:
        path: the file.
        parameters: the structure of arrays that was saved, with any values.
        accept: called with the facts before anything is overwritten; raises an error if they belong to another run.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or its parameters have other names, shapes or dtypes. The given
            parameters are unchanged then.
    """
    names, targets = [f"parameters{where}" for where in places(parameters)], arrays_of(parameters)
    try:
        stored = stored_in(path)
        run = json.loads(str(stored.pop("run")))
        state, facts = State(int(run["step"]), rows_of(stored, "means"), rows_of(stored, "squares")), dict(run["facts"])
        check_forms(stored, dict(zip(names, targets, strict=True)))
        accept(facts)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error.reason}", instead=error.instead) from None
    except Exception as error:  # of the system, or one of many classes if somebody made the content by hand
        raise CheckpointError(
            f"{path} cannot be read as a checkpoint: {error}", instead="start anew with another file, or from an earlier copy of this one"
        ) from error
    for name, array in zip(names, targets, strict=True):
        array[...] = stored[name]
    return state, facts


def stored_in(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Return the arrays of a file by their names."""
    content = io.BytesIO(read(path, KIND))
    if any(member.compress_type != zipfile.ZIP_STORED for member in zipfile.ZipFile(content).infolist()):
        raise NotUsable("its content is compressed, and may be of any size")
    content.seek(0)
    with np.load(content, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def check_forms(stored: dict[str, np.ndarray], targets: dict[str, np.ndarray]) -> None:
    """Raise an error unless the parameters that are stored have the names, shapes and dtypes of those that they are for."""
    instead = "load it into the network that it was saved from"
    if theirs := {name for name in stored if name.startswith("parameters")} ^ set(targets):
        raise CheckpointError(f"the parameters have other names: {', '.join(sorted(theirs))}", instead=instead)
    for name, array in targets.items():
        found = stored[name]
        if found.shape != array.shape or found.dtype != array.dtype:
            form = f"{array.dtype} of shape {array.shape}"
            raise CheckpointError(f"{name} is {found.dtype} of shape {found.shape}, and the network's {form}", instead=instead)


def check_settings(theirs: dict[str, str], ours: dict[str, str]) -> None:
    """Raise an error unless the settings of two runs agree, which names both where they differ."""
    differ = [name for name in sorted({*theirs, *ours}) if theirs.get(name) != ours.get(name)]
    if differ:
        shown = ", ".join(f"{name} {theirs.get(name)} and not {ours.get(name)}" for name in differ)
        instead = "give that run's arguments, or another file; `checkpoints.load` reads the parameters alone, for a new run to start from"
        raise CheckpointError(f"it was written by a run with {shown}", instead=instead)


def places(parameters: Any) -> list[str]:
    """Return the place of each array as the user would write it: `.hidden.w`, `[0]`, `['w']`."""
    return [where for where, _ in leaves(parameters)]


def rows_of(stored: dict, name: str) -> list[np.ndarray]:
    count = sum(key.startswith(f"{name}[") for key in stored)
    return [stored[f"{name}[{k}]"] for k in range(count)]
