"""A training loop: shuffled batches, progress, a history, checkpoints that resume bit for bit, and a stop at the first NaN."""

import difflib
import inspect
import io
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sourcead.errors import ArgumentError, SourceADError
from sourcead.files.whole import check_writable, write
from sourcead.language.progress import bar, is_watched
from sourcead.language.tracebacks import folded
from sourcead.nn import checkpoints
from sourcead.nn.batches import DIVISIONS, OnBatches, OverShards, all_rows
from sourcead.nn.data import minibatches
from sourcead.nn.memory import keep_freed_memory
from sourcead.nn.optimisers import State, adam, arrays_of, clip_by_norm
from sourcead.nn.threads import advise_on_threads


class NotFiniteError(SourceADError, ArithmeticError):
    """The loss, a gradient or a parameter became infinite or NaN while training.

    Attributes:
        step: the number of the step, counted from 1.
        parameter: the first parameter that is not finite, or whose gradient is not; None if only the loss is not finite.
    """

    label = "What to do"

    def __init__(self, reason: str, step: int, parameter: str | None):
        super().__init__(reason, None, "lower the rate, clip the gradient (`clip=`), or look for NaN in the data")
        self.args = (reason, step, parameter)
        self.step, self.parameter = step, parameter


@dataclass
class History:
    """The loss of each step, and for each epoch its seconds and the result of `evaluate`."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    results: list[dict[str, float]] = field(default_factory=list)

    @folded
    def plot(self, path: str | os.PathLike | None = None, reach: int = 50) -> Any:
        """Draw the loss of the steps, its running mean, and the results of `evaluate` over the epochs.

        Args:
            path: the file to write, in the format of its ending, which is `.png` if there is none; None writes nothing.
            reach: the number of steps of the running mean.

        Returns:
            The figure, which a notebook shows.

        Raises:
            ImportError: matplotlib is not installed; the extra `examples` brings it.
            FileError: the file cannot be written.
        """
        from matplotlib.figure import Figure

        class Curves(Figure):
            def _repr_png_(self) -> bytes:
                self.savefig(image := io.BytesIO(), format="png")
                return image.getvalue()

        names = list(self.results[0]) if self.results else []
        figure = Curves(figsize=(7, 3 + 2 * len(names)), layout="constrained")
        first, *others = figure.subplots(1 + len(names), 1, squeeze=False)[:, 0]
        losses = np.array(self.losses)
        sums = np.concatenate([[0.0], np.cumsum(losses)])
        ends = np.arange(1, len(losses) + 1)
        starts = np.maximum(0, ends - reach)
        first.plot(ends, losses, color="tab:blue", alpha=0.3, linewidth=0.8, label="each step")
        first.plot(ends, (sums[ends] - sums[starts]) / (ends - starts), color="tab:blue", label=f"mean of the last {reach} steps")
        first.set(xlabel="steps", ylabel="loss")
        first.legend()
        for axes, name in zip(others, names):
            axes.plot(range(1, len(self.results) + 1), [result[name] for result in self.results], "o-", color="tab:green")
            axes.set(xlabel="epochs", ylabel=name)
            axes.xaxis.get_major_locator().set_params(integer=True)
        for axes in (first, *others):
            axes.grid(alpha=0.3)
        if path is not None:
            image, path = io.BytesIO(), Path(path)
            figure.savefig(image, dpi=120, format=path.suffix[1:] or "png")
            write(path if path.suffix else path.with_suffix(".png"), image.getvalue(), private=False)
        return figure


@folded
def fit(
    loss_and_gradient: Callable, parameters: Any, arrays: Sequence[np.ndarray], *, epochs: int = 5, batch: int = 100,
    update: Callable = adam, rate: float | Callable[[int], float] = 0.001, clip: float | None = None,
    rng: np.random.Generator | int = 0, evaluate: Callable[[Any], dict[str, float]] | None = None,
    checkpoint: str | os.PathLike | None = None, prepare: Callable = all_rows, progress: bool = True,
    client: Any = None, shards: int | None = None, **options: Any,
) -> History:  # fmt: skip
    """Train parameters in place.

    It sets how much freed memory this process keeps (`sourcead.nn.memory.keep_freed_memory`), so that each batch reuses that of the last,
    and writes a line to the log if the threads of NumPy's products slow each other down (`sourcead.nn.threads.advise_on_threads`).

    Args:
        loss_and_gradient: `value_and_grad` of a loss that takes the parameters first, then the rows of a batch.
        parameters: any structure of floating-point arrays; overwritten.
        arrays: the training data: arrays of one length, from which each batch takes the same rows.
        epochs: passes over all rows, including those before a run was resumed.
        batch: rows per step; the last batch of an epoch may be smaller.
        update: an optimiser of `sourcead.nn.optimisers`; it is given `options`.
        rate: the learning rate, or a function of the step, counted from 0 (`sourcead.nn.schedules`).
        clip: the largest norm of the gradient, taken over all parameters together.
        rng: a generator, or its seed; each epoch draws its order from it.
        evaluate: a function of the parameters whose result is recorded after each epoch.
        checkpoint: a file that is written after each epoch. If it exists, the run continues from it; it must have been written with the
            same `batch`, `update`, `rate`, `clip`, `options`, kind of generator, and shapes and dtypes of `arrays` (functions go by name).
        prepare: a function from the arrays of a batch to a tuple, which the loss takes in their place.
        progress: whether to show the progress, on a terminal or in a notebook.
        client: a `distributed.Client` or an executor of `concurrent.futures`, whose workers compute the gradients of parts of each batch
            (`sourcead.distributed.grad_over`); None for this process. The loss must be a mean or a sum over the rows, which the
            first batch is tried for.
        shards: the number of parts that the rows of the data are divided into, each of which a worker keeps; the result depends on it in
            rounding, and not on the number of workers. None is 8 with a client, and whole batches without one.

    Returns:
        The history, which for a resumed run begins with its first start.

    Raises:
        NotFiniteError: the loss or a gradient is infinite or NaN. The parameters are those of the last step whose loss,
            gradients and parameters were finite.
        CheckpointError: the checkpoint is damaged, or belongs to other parameters or another run. The parameters are unchanged then.
        FileError: the checkpoint cannot be written, which is found before the first epoch.
        ArgumentError: the data, `batch` or `update` is of another kind, `loss_and_gradient` returns no value and gradient, or the loss
            of a batch is neither the mean nor the sum of those of its parts, and there are shards.

    Example:
        >>> from sourcead import value_and_grad
        >>> @value_and_grad
        ... def loss(p, x, y):
        ...     return np.mean((x @ p["w"] - y) ** 2)
        >>> p, x = {"w": np.zeros(2)}, np.random.default_rng(0).normal(size=(50, 2))
        >>> history = fit(loss, p, (x, x @ [1.0, 2.0]), epochs=50, batch=10, rate=0.05, progress=False)
        >>> p["w"].round(2), len(history.losses)
        (array([1., 2.]), 250)
    """
    check_arguments(arrays, epochs, batch, update, shards, options)
    arrays = tuple(map(np.asarray, arrays))
    keep_freed_memory()
    advise_on_threads(largest_product(parameters, batch))
    rng = np.random.default_rng(rng)
    rate_at = rate if callable(rate) else lambda step: rate
    state, history, done = State(), History(), 0

    forms = [f"{array.dtype} of shape {array.shape}" for array in arrays]
    if shards is not None or client is not None:
        shards = DIVISIONS if shards is None else shards
        gradient_of = OverShards(loss_and_gradient, prepare, arrays, shards, client)
        options_and_shards = {**options, "shards": len(gradient_of)}
    else:
        gradient_of = OnBatches(loss_and_gradient, prepare, arrays)
        options_and_shards = options
    kind = type(rng.bit_generator)
    settings = partial(settings_of, rate_at, update=update, batch=batch, clip=clip, generator=kind, arrays=forms, **options_and_shards)

    def go_on(facts: dict) -> None:
        nonlocal history, done
        history, done = History(**facts["history"]), int(facts["epochs"])
        checkpoints.check_settings(facts["settings"], settings(history))
        rng.bit_generator.state = facts["generator"]

    if checkpoint is not None and os.path.lexists(checkpoint):
        state, _ = checkpoints.load(checkpoint, parameters, go_on)
    if checkpoint is not None and done < epochs:
        check_writable(checkpoint)
    targets, watch = arrays_of(parameters), Watch(parameters)
    steps = -(-len(arrays[0]) // batch)
    for epoch in range(done, epochs):
        start = time.perf_counter()
        with Progress(f"epoch {epoch + 1}/{epochs}", steps, progress) as shown:
            for (rows,) in minibatches(rng, batch, np.arange(len(arrays[0]))):
                value, gradient = gradient_of(parameters, rows)
                gradient = arrays_of(gradient)
                watch.check(len(history.losses) + 1, value, gradient)
                if clip is not None:
                    clip_by_norm(gradient, clip)
                update(targets, gradient, state=state, rate=rate_at(len(history.losses)), **options)
                history.losses.append(float(value))
                shown.advance(f"loss {history.losses[-1]:{'.4f' if abs(value) < 1e6 else '.4g'}}")
            watch.check(len(history.losses), 0.0, ())
            history.seconds.append(time.perf_counter() - start)
            history.results.append({k: float(v) for k, v in evaluate(parameters).items()} if evaluate else {})
            shown.close(", ".join(f"{k} {v:.4g}" for k, v in history.results[-1].items()))
        if checkpoint is not None:
            facts = {"generator": rng.bit_generator.state, "history": asdict(history), "epochs": epoch + 1, "settings": settings(history)}
            checkpoints.save(checkpoint, parameters, state, facts)
    return history


def check_arguments(arrays: Any, epochs: Any, batch: Any, update: Any, shards: Any, options: dict[str, Any]) -> None:
    """Refuse what is no data, no number of epochs, no size of a batch or no optimiser, and options that the optimiser does not take."""
    if not isinstance(arrays, tuple | list):
        raise ArgumentError(f"fit takes the data as a tuple of arrays, and not as a {type(arrays).__name__}", instead="fit(f, p, (x, y))")
    lengths = [np.shape(array)[:1] for array in arrays]
    if len(set(lengths)) > 1:
        what = f"the arrays of the data have different lengths: {', '.join(str(*n) or 'none' for n in lengths)}"
        raise ArgumentError(what, instead="fit(f, p, (x, y)) with as many rows in x as in y")
    if not isinstance(batch, int | np.integer) or batch < 1:
        raise ArgumentError(f"batch is {batch!r}, and each step takes a number of rows", instead="batch=100")
    if not isinstance(epochs, int | np.integer):
        raise ArgumentError(f"epochs is {epochs!r}, which is no number of passes over the rows", instead="epochs=5")
    if shards is not None and (not isinstance(shards, int | np.integer) or shards < 1):
        raise ArgumentError(f"shards is {shards!r}, which is no number of parts of the data", instead="shards=8")
    if not callable(update):
        raise ArgumentError(f"update is {update!r}, which is no function", instead="update=adam, of `sourcead.nn.optimisers`")
    taken = inspect.signature(update).parameters
    own = [name for name, p in inspect.signature(fit).parameters.items() if p.kind is p.KEYWORD_ONLY]
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return
    for name in options.keys() - taken.keys():
        near = difflib.get_close_matches(name, [*own, *taken], 1)
        called = getattr(update, "__name__", "the optimiser")
        raise ArgumentError(f"neither fit nor {called} takes an option {name!r}", instead=f"{near[0]}=..." if near else None)


def largest_product(parameters: Any, batch: int) -> int | None:
    """Return the number of multiplications in the largest product of a batch and a matrix; None if there are arrays of other ranks."""
    arrays = arrays_of(parameters)
    return batch * max((array.size for array in arrays), default=0) if all(array.ndim < 3 for array in arrays) else None


def settings_of(rate_at: Callable[[int], float], history: History, **values: Any) -> dict[str, str]:
    """Return what decides a run, as text; functions by their names, the rate by its first value and that of the last step so far."""

    def shown(value: Any) -> str:
        if isinstance(value, partial):
            return f"{shown(value.func)} with {value.args} and {value.keywords}"
        return getattr(value, "__qualname__", type(value).__qualname__) if callable(value) else str(value)

    last = max(len(history.losses) - 1, 0)
    values["rate"] = f"{float(rate_at(0))} at step 0 and {float(rate_at(last))} at step {last}"
    return {name: shown(value) for name, value in values.items()}


class Progress:
    """Shows the progress of an epoch with a short text, in a `with` block: a bar of tqdm, or one line where tqdm is not installed.

    Args:
        title: the text before the bar.
        steps: the number of steps.
        shown: whether to show anything; nothing is shown where nobody sees it, as in a pipe.
    """

    def __init__(self, title: str, steps: int, shown: bool = True):
        self.title, self.start, self.text, self.bar = title, time.perf_counter(), "", None
        self.shown = shown and is_watched()
        if self.shown:
            self.bar = bar(title, total=steps, unit="batch")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        elif self.shown:
            print(f"{self.title}: {self.text}, {time.perf_counter() - self.start:.2f} s")

    def advance(self, text: str):
        """Count one more step."""
        self.text = text
        if self.bar is not None:
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.update(1)

    def close(self, text: str):
        """Append a text to the last one, to be shown at the end of the epoch."""
        self.text = f"{self.text}, {text}" if text else self.text
        if self.bar is not None:
            self.bar.set_postfix_str(self.text)


class Watch:
    """Keeps the parameters of the last finite step, and finds the first array that is not finite."""

    def __init__(self, parameters: Any):
        self.names = [where.lstrip(".") or "parameters" for where in checkpoints.places(parameters)]
        self.arrays = arrays_of(parameters)
        self.kept = [array.copy() for array in self.arrays]

    def check(self, step: int, value: float, gradients: Sequence[np.ndarray]) -> None:
        """Keep the parameters if they, the loss and the gradients are finite; otherwise restore the kept ones and raise an error."""
        worst = self.first_not_finite(self.arrays) or self.first_not_finite(gradients)
        if worst is None and np.isfinite(value):
            for kept, array in zip(self.kept, self.arrays):
                np.copyto(kept, array)
            return
        what = f"the loss is {float(value)}" if not np.isfinite(value) else "a gradient or a parameter is not finite"
        where = f"; it appeared first in the parameter {worst} or its gradient" if worst else "; no parameter and no gradient has it"
        for kept, array in zip(self.kept, self.arrays):
            np.copyto(array, kept)
        raise NotFiniteError(f"step {step}: {what}{where}; the parameters are those of the last good step", step, worst)

    def first_not_finite(self, arrays: Sequence[np.ndarray]) -> str | None:
        for name, array in zip(self.names, arrays):
            # A finite sum has finite terms, but the sum of finite terms may overflow.
            if not np.isfinite(np.sum(array)) and not np.all(np.isfinite(array)):
                return name
        return None
