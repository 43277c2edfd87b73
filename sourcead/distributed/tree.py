"""Sums in an order that the positions of the terms fix, whoever computes which of them.

Neighbours are added in pairs, then the sums of neighbours, and so on; what has no neighbour goes up as it is:

    0 1 2 3 4 5 6  ->  01 23 45 6  ->  0123 456  ->  0123456

The block of 2^l terms that begins at a multiple of 2^l is therefore a term of its own in the level l, and processes that compute such
blocks get the bits of one process that computes all of them.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

Term = TypeVar("Term")

IDLE = 1.1  # the time that larger blocks may take, as a multiple of the least


def tree_sum(terms: Iterable[Term], add: Callable[[Term, Term], Term]) -> Term:
    """Return the sum of one or more terms; it holds at most one partial sum for each level of the tree.

    Example:
        >>> tree_sum("0123456", lambda a, b: f"({a}{b})")
        '(((01)(23))((45)6))'
    """
    sums: list[tuple[int, Term]] = []
    for term in terms:
        level = 0
        while sums and sums[-1][0] == level:
            term, level = add(sums.pop()[1], term), level + 1
        sums.append((level, term))
    _, total = sums.pop()
    while sums:
        total = add(sums.pop()[1], total)
    return total


def blocks(count: int, workers: int) -> list[range]:
    """Return the blocks of positions that workers compute: terms of one level of the tree, few that keep all workers busy.

    Example:
        >>> blocks(12, 3)
        [range(0, 4), range(4, 8), range(8, 12)]
        >>> blocks(5, 1)
        [range(0, 5)]
    """

    def longest(size: int) -> int:
        """The shards that the busiest worker computes."""
        tasks = -(-count // size)
        return -(-tasks // workers) * min(size, count)

    sizes = [1 << level for level in range(count.bit_length() + 1)]
    size = max(size for size in sizes if longest(size) <= IDLE * min(map(longest, sizes)))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]
