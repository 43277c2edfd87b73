"""Where the gradients of shards are computed: here, or by an executor of `concurrent.futures`.

A place has the function and the shards, and computes the sum for arguments that all shards share. The sum is that of the tree of
`sourcead/distributed/tree.py` in every place.
"""

import concurrent.futures
import itertools
import os
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from sourcead.distributed.parts import Share, added, kept, part_of
from sourcead.distributed.sending import Sent, dumped, loaded
from sourcead.distributed.tree import blocks, tree_sum


class Place(ABC):
    """Where the gradients of shards are computed."""

    @abstractmethod
    def total(self, common: tuple, shares: Sequence[Share | None], advance: Callable[[int], Any]) -> Any:
        """Return the sum of the values and gradients of all shards, or a `Failure`; None if no share asks for any.

        Args:
            common: the first arguments of the function.
            shares: for each shard its weight and the arguments in between; None leaves a shard out.
            advance: called with the number of shards whenever some are done.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the shards."""


class Here(Place):
    """This process."""

    def __init__(self, function: Callable, shards: Sequence[Any]):
        self.function, self.shards = function, kept(shards, 0)

    def total(self, common: tuple, shares: Sequence[Share | None], advance: Callable[[int], Any]) -> Any:
        def counted(*args: Any) -> Any:
            result = self.function(*args)
            advance(1)
            return result

        return part_of(counted, common, self.shards, 0, shares)

    def close(self) -> None:
        self.shards = ()


class InPool(Place):
    """An executor: its threads share the shards; its processes get each block of shards once, and keep it."""

    def __init__(self, executor: concurrent.futures.Executor, function: Callable, shards: Sequence[Any]):
        self.executor, self.blocks = executor, blocks(len(shards), getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
        self.shares_memory = isinstance(executor, concurrent.futures.ThreadPoolExecutor)
        self.function, self.shards, self.run = function, shards, uuid.uuid4().hex
        self.sent: list[bytes | None] = []
        if self.shares_memory:
            self.shards = kept(shards, 0)
        else:
            sent = Sent.of(function)
            self.sent = [dumped((sent, [shards[k] for k in block])) for block in self.blocks]
        self.placed: set[int] = set()

    def total(self, common: tuple, shares: Sequence[Share | None], advance: Callable[[int], Any]) -> Any:
        content = b"" if self.shares_memory else dumped(common)

        def asked(k: int, with_block: bool) -> concurrent.futures.Future:
            block = self.blocks[k]
            own = shares[block.start : block.stop]
            if self.shares_memory:
                shards = self.shards[block.start : block.stop]
                future = self.executor.submit(part_of, self.function, common, shards, block.start, own)
            else:
                sent = self.sent[k] if with_block else None
                future = self.executor.submit(part_in_process, self.run, k, sent, content, dumped((block.start, own)))
            return future

        futures = [asked(k, k not in self.placed) for k in range(len(self.blocks))]
        parts: list[Any] = []
        for k, block in enumerate(self.blocks):
            found = futures[k].result()
            if not self.shares_memory:
                if found is None:  # this process has not met the block
                    found = asked(k, True).result()
                found = loaded(found)
                self.placed.add(k)
            parts.append(found)
            advance(len(block))
        return tree_sum(parts, added)

    def close(self) -> None:
        self.shards, self.sent = (), []


RUNS = 4  # whose blocks a process keeps
_lock = threading.Lock()
_blocks: dict[str, dict[int, tuple]] = {}


def part_in_process(run: str, k: int, sent: bytes | None, common: bytes, asked: bytes) -> bytes | None:
    """Return a part of a sum, pickled; None if this process has not met the block of shards and it is not given."""
    first, shares = loaded(asked)
    with _lock:
        own = _blocks.setdefault(run, {})
        for old in list(itertools.islice(_blocks, max(0, len(_blocks) - RUNS))):
            del _blocks[old]
        if k not in own:
            if sent is None:
                return None
            function, shards = loaded(sent)
            own[k] = function.function(), kept(shards, first)
        function, shards = own[k]
    return dumped(part_of(function, loaded(common), shards, first, shares))
