"""Saves a training run in one `.npz` file, without pickle: parameters, the optimiser's state, the generator and the history.

Each array is stored under its place in the structure, everything else as one text of JSON. The file is written under another name and
then renamed, so that a file of the final name is always complete.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from sourcead.api.extending import leaves
from sourcead.errors import SourceADError
from sourcead.nn.optimisers import State, arrays_of


class CheckpointError(SourceADError, ValueError):
    """A checkpoint cannot be read, or belongs to other parameters; the message names the file and what differs."""


def save(path: str | os.PathLike, parameters: Any, state: State | None = None, facts: dict | None = None) -> None:
    """Write the parameters, and everything else that a run needs to continue, to a file.

    Args:
        path: the file; `.npz` is not added.
        parameters: any structure of arrays.
        state: the state of the optimiser.
        facts: any structure that JSON can hold; arrays become lists.

    Raises:
        OSError: the file cannot be written.

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
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            np.savez(file, **arrays, run=np.array(text))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike, parameters: Any) -> tuple[State, dict]:
    """Read a checkpoint into the given parameters, in place, and return the optimiser's state and the facts.

    Raises:
        CheckpointError: the file cannot be read, or its parameters have other names, shapes or dtypes. The given parameters are
            unchanged then.
    """
    names = [f"parameters{where}" for where in places(parameters)]
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
        run = json.loads(str(stored["run"]))
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise CheckpointError(f"{path}: cannot be read as a checkpoint: {error}") from error
    theirs = {name for name in stored if name.startswith("parameters")}
    if theirs != set(names):
        raise CheckpointError(f"{path}: the parameters have other names: {', '.join(sorted(theirs ^ set(names)))}")
    targets = arrays_of(parameters)
    for name, array in zip(names, targets, strict=True):
        found = stored[name]
        if found.shape != array.shape or found.dtype != array.dtype:
            form = f"{array.dtype} of shape {array.shape}"
            raise CheckpointError(f"{path}: {name} is {found.dtype} of shape {found.shape}, and the network's {form}")
    for name, array in zip(names, targets, strict=True):
        array[...] = stored[name]
    return State(run["step"], rows_of(stored, "means"), rows_of(stored, "squares")), run["facts"]


def places(parameters: Any) -> list[str]:
    """Return the place of each array as the user would write it: `.hidden.w`, `[0]`, `['w']`."""
    return [where for where, _ in leaves(parameters)]


def rows_of(stored: dict, name: str) -> list[np.ndarray]:
    count = sum(key.startswith(f"{name}[") for key in stored)
    return [stored[f"{name}[{k}]"] for k in range(count)]
