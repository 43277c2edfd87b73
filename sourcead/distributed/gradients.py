"""The value and the gradient of a loss that is a sum over shards of the data, computed by the workers of a client."""

import concurrent.futures
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sourcead.compile.gradient import Gradient
from sourcead.distributed.on_dask import OnDask, is_future
from sourcead.distributed.parts import Failure, Loader, Share
from sourcead.distributed.places import Here, InPool, Place
from sourcead.errors import ArgumentError
from sourcead.language.progress import PATIENCE, bar
from sourcead.language.tracebacks import folded


class GradientOver:
    """What `grad_over` returns: called with the parameters, it returns the value and the gradient, summed over the shards."""

    def __init__(self, place: Place, shares: Sequence[Share], name: str, progress: bool):
        self._place, self._shares, self._name, self._progress = place, list(shares), name, progress

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return f"<value and gradient of {self._name}, summed over {len(self)} shards>"

    @folded
    def __call__(self, *parameters: Any) -> tuple[Any, Any]:
        """Return the value and the gradient at the parameters, which are the first arguments of the loss.

        Raises:
            LostError: the workers went away again and again, or none came back.
            Exception: what the loss raised in a worker; its cause has the number of the shard and the worker's traceback.
        """
        return total(self._place, parameters, self._shares, self._name if self._progress else None)

    def close(self) -> None:
        """Let the workers go of the shards; a `with` block does it at its end."""
        self._place.close()

    def __enter__(self) -> "GradientOver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@folded
def grad_over(
    loss_and_grad: Callable, shards: Sequence[Any], client: Any = None, *, weights: Sequence[float] | None = None, progress: bool = True
) -> GradientOver:
    """Return a function that computes the value and the gradient of a loss, summed over shards of the data, by the workers of a client.

    The order of the sum is fixed by the positions of the shards: the result has the same bits whatever the number of workers, also with
    `client=None`, as long as the workers' processors and libraries compute the same (the threads of NumPy's products may not).

    Args:
        loss_and_grad: `value_and_grad` of a loss that takes the parameters first, then the arguments of a shard.
        shards: for each shard its arguments as a tuple, or one argument that is no tuple; or a function without arguments that returns
            these, which the workers call once; or a future of Dask. They are sent once, and kept here to be sent again if a worker dies.
        client: a `distributed.Client`; an executor of `concurrent.futures`; None for this process.
        weights: for each shard what its value and gradient are multiplied by; 1 without them.
        progress: whether to show the progress of calls that last, on a terminal or in a notebook.

    Returns:
        A function of the parameters that returns `(value, gradient)`; the gradient has the structure that `loss_and_grad` gives it.

    Raises:
        ArgumentError: the function, the shards, the weights or the client are of another kind.
        UnsupportedValueError: the function cannot be sent.

    Example:
        >>> from sourcead import value_and_grad
        >>> @value_and_grad
        ... def loss(p, x, y):
        ...     return np.sum((x @ p["w"] - y) ** 2)
        >>> x, y, p = np.eye(4), np.arange(4.0), {"w": np.zeros(4)}
        >>> total = grad_over(loss, [(x[:2], y[:2]), (x[2:], y[2:])], client=None)
        >>> total(p)
        (np.float64(14.0), {'w': array([ 0., -2., -4., -6.])})
    """
    shards = checked_shards(shards)
    weights = [1.0] * len(shards) if weights is None else [float(w) for w in weights]
    if len(weights) != len(shards):
        raise ArgumentError(f"there are {len(weights)} weights for {len(shards)} shards", instead="one weight for each shard")
    check_function(loss_and_grad)
    name = getattr(loss_and_grad, "__name__", type(loss_and_grad).__name__)
    return GradientOver(place_of(client, loss_and_grad, shards), [Share(w) for w in weights], name, progress)


def total(place: Place, common: tuple, shares: Sequence[Share | None], name: str | None) -> Any:
    """Return the value and the gradient that a place computes, with a bar under a name if it lasts; raise the first error of a shard."""
    options = {"total": sum(share is not None for share in shares), "unit": "shard", "delay": PATIENCE, "leave": False}
    shown = None if name is None else bar(name, **options)
    try:
        found = place.total(common, shares, (lambda count: None) if shown is None else shown.update)
    finally:
        if shown is not None:
            shown.close()
    if isinstance(found, Failure):
        raise found.raised()
    return found


def place_of(client: Any, function: Callable, shards: Sequence[Any]) -> Place:
    """Return the place that a client stands for, with the function and the shards."""
    if client is None and any(map(is_future, shards)):
        raise ArgumentError("the shards are futures of Dask, and there is no client", instead="grad_over(f, shards, client)")
    if client is None:
        return Here(function, shards)
    dask = sys.modules.get("distributed")
    if dask is not None and isinstance(client, dask.Client):
        if client.asynchronous:
            raise ArgumentError("the client is asynchronous, and this function waits for its result", instead="`Client(address)`")
        return OnDask(client, function, shards)
    if isinstance(client, concurrent.futures.Executor):
        if any(map(is_future, shards)):
            what = "the shards are futures of Dask, and the client is none of Dask"
            raise ArgumentError(what, instead="the data, or functions that load it")
        return InPool(client, function, shards)
    what = f"`client` is a {type(client).__name__}, and neither a client of Dask nor an executor"
    raise ArgumentError(what, instead="client=distributed.Client(cluster), client=ProcessPoolExecutor() or client=None")


def checked_shards(shards: Any) -> list[Any]:
    """Return the shards as a list, with their functions as loaders; refuse what is no sequence of shards."""
    if isinstance(shards, str | bytes | dict | np.ndarray) or not hasattr(shards, "__iter__"):
        instead = "[(x[:100], y[:100]), (x[100:], y[100:])], one tuple of arguments for each shard"
        raise ArgumentError(f"the shards are a {type(shards).__name__}, and not a list of them", instead=instead)
    found = [Loader(shard) if callable(shard) and not is_future(shard) else shard for shard in shards]
    if not found:
        raise ArgumentError("there are no shards, and so no gradient", instead="one tuple of arguments for each shard")
    return found


def check_function(function: Any) -> None:
    """Refuse what is no function of a value and a gradient, as far as that is known before it is called."""
    if not callable(function):
        raise ArgumentError(f"`loss_and_grad` is a {type(function).__name__} and no function", instead="value_and_grad(loss)")
    if isinstance(function, Gradient) and function._kind != "value_and_grad":
        raise ArgumentError(f"`loss_and_grad` is `{function._kind}`, without the value", instead=f"value_and_grad({function.__name__})")
    if isinstance(function, Gradient) and function._has_aux:
        raise ArgumentError("the function returns auxiliary data, which has no sum", instead="value_and_grad(loss) without has_aux")
