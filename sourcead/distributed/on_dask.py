"""The workers of a Dask cluster as the place where the gradients of shards are computed.

Each worker gets the function once, blocks of shards once, and the other arguments once in each call. The block's part of the sum is one
task; parts are added on the workers, in pairs, until few are left, which come here.

The shards stay here, too (or can be loaded anew): if a worker dies, Dask computes its tasks elsewhere, and what lay on that worker alone is
sent again, after which the call is repeated. The tasks return errors of the user's function as results (`Failure`), so that whatever
Dask raises is a loss of this kind.
"""

import functools
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from sourcead.distributed.parts import Loader, Share, added, kept, part_of
from sourcead.distributed.places import Place
from sourcead.distributed.sending import Boxed, Sent
from sourcead.distributed.tree import blocks, tree_sum
from sourcead.errors import SourceADError

ATTEMPTS = 5
FEW = 4  # parts that are added here
MANY = 8  # workers from which on arguments go from worker to worker
PATIENCE = 60  # seconds to wait for a worker when there is none
NEW_WORKERS = 5  # seconds after which new workers are looked for
_log = logging.getLogger("sourcead")


class LostError(SourceADError, RuntimeError):
    """The workers of a cluster went away again and again while they computed the same gradient, or none came back."""

    label = "What to do"


class OnDask(Place):
    """The workers of a Dask client."""

    def __init__(self, client: Any, function: Callable, shards: Sequence[Any]):
        self.client, self.shards, self.sent = client, shards, Sent.of(function)
        self.workers: list[str] = []
        self.seen = 0.0  # when it was last looked which workers there are

    def place(self) -> None:
        """Send the function and the shards to the workers that there are, unless they are there."""
        if self.workers and time.monotonic() - self.seen < NEW_WORKERS:
            return
        threads = self.present()
        self.seen = time.monotonic()
        workers = [address for address, count in sorted(threads.items()) for _ in range(count)]
        if self.workers and len(workers) <= len(self.workers):
            return  # what a worker that went away had, its loss will tell
        self.workers, self.blocks = workers, blocks(len(self.shards), len(workers))
        self.function = self.client.scatter(self.sent, broadcast=True, hash=False)
        self.held = [self.placed(k) for k in range(len(self.blocks))]

    def present(self) -> dict[str, int]:
        """Return the number of threads of each worker; wait for one where there is none.

        Raises:
            LostError: none came.
        """
        start = time.monotonic()
        while not (threads := self.client.nthreads()):
            if time.monotonic() - start > PATIENCE:
                raise LostError(f"the cluster has no worker, for {PATIENCE} seconds now", instead="start workers")
            time.sleep(0.1)
        return threads

    def placed(self, k: int) -> Any:
        """Send a block of shards to a worker."""
        block, worker = self.blocks[k], [self.workers[k * len(self.workers) // len(self.blocks)]]
        shards = [self.shards[position] for position in block]
        if not any(isinstance(shard, Loader) or is_future(shard) for shard in shards):
            return self.client.scatter(Boxed.of(tuple(shards)), workers=worker, hash=False)
        items = [s if isinstance(s, Loader) or is_future(s) else self.client.scatter(Boxed.of(s), hash=False) for s in shards]
        options = {"workers": worker, "allow_other_workers": True, "pure": False}
        return self.client.submit(collected, items, block.start, **options)

    def total(self, common: tuple, shares: Sequence[Share | None], advance: Callable[[int], Any]) -> Any:
        counted: set[int] = set()

        def done(block: range, future: Any) -> None:
            new = set(block) - counted if future.status == "finished" else set()
            counted.update(new)  # not again after a loss
            advance(len(new))

        for attempt in range(ATTEMPTS):
            try:
                return self.attempt(common, shares, done)
            except (Exception, CancelledError) as error:
                self.after_loss(error, attempt)
        raise AssertionError("the last attempt returns or raises")

    def attempt(self, common: tuple, shares: Sequence[Share | None], done: Callable[[range, Any], Any]) -> Any:
        """Return the sum, unless something is lost on the way."""
        self.place()
        everywhere = len(set(self.workers)) >= MANY
        boxed = self.client.scatter(Boxed.of(common), broadcast=everywhere, hash=False)
        parts = []
        for block, held in zip(self.blocks, self.held):
            own = shares[block.start : block.stop]
            part = self.client.submit(part_in_worker, self.function, boxed, held, block.start, own, pure=False)
            part.add_done_callback(functools.partial(done, block))
            parts.append(part)
        while len(parts) > FEW:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [self.client.submit(both, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs]
        return tree_sum((part.thing() for part in self.client.gather(parts)), added)

    def after_loss(self, error: BaseException, attempt: int) -> None:
        """Forget where the shards were, so that they are sent again; raise an error if that was of no use before."""
        if isinstance(error, LostError):
            raise error
        if attempt + 1 == ATTEMPTS or not is_loss(error):
            what = f"the workers did not compute the gradient: {type(error).__name__}: {error}"
            raise LostError(what, instead="look at the workers' logs: they may have too little memory, or other packages") from error
        _log.warning("a worker was lost (%s); the shards are sent again to those that there are", type(error).__name__)
        self.close()
        time.sleep(0.1 * 2**attempt)  # until the scheduler knows

    def close(self) -> None:
        self.workers, self.held, self.function = [], [], None


def is_future(thing: Any) -> bool:
    """Return whether a thing is data that lies on the workers."""
    return type(thing).__module__.partition(".")[0] == "distributed" and hasattr(thing, "key")


def is_loss(error: BaseException) -> bool:
    """Return whether an error says that a worker, or what lay on it, is gone."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker | CancelledError | OSError | TimeoutError) or "lost" in str(error)


def collected(items: Sequence[Any], first: int) -> Boxed:
    """Return shards that lie on workers, or are loaded now, as one block."""
    return Boxed.of(kept([item.thing() if isinstance(item, Boxed) else item for item in items], first))


def part_in_worker(sent: Sent, common: Boxed, held: Boxed, first: int, shares: Sequence[Share | None]) -> Boxed:
    """Return the part of a sum that a block of shards has."""
    return Boxed.of(part_of(sent.function(), common.thing(), held.thing(), first, shares))


def both(a: Boxed, b: Boxed) -> Boxed:
    """Return the sum of two parts of a sum."""
    return Boxed.of(added(a.thing(), b.thing()))
