"""Minimum cut of a graph with capacities on its nodes, which gives the values to save so that the rest can be rebuilt.

Dinic's algorithm (E. A. Dinic, 1970): blocking flows in the graph of shortest augmenting paths.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise

INFINITE = float("inf")
Room = list[dict[int, float]]  # how much more the edges from each node can take, and those that lead back


def minimum_node_cut(
    capacity: Mapping[Hashable, float],
    edges: Iterable[tuple[Hashable, Hashable]],
    sources: Mapping[Hashable, float],
    sinks: Iterable[Hashable],
) -> set:
    """Return the nodes of least total capacity without which no path leads from a source to a sink.

    Args:
        capacity: of each node.
        edges: pairs (from, to).
        sources: nodes, each with what it is worth to reach no sink from it: if that is less than to cut, paths from it may stay.
        sinks: nodes; a source or sink may itself be cut.

    Returns:
        The cut nodes, those nearest to the sinks among several minimum cuts.

    Example:
        >>> sorted(minimum_node_cut({"a": 2, "b": 1, "c": 3}, [("a", "b"), ("b", "c")], {"a": INFINITE}, ["c"]))
        ['b']
    """
    into = {key: 2 * k for k, key in enumerate(capacity)}  # each node is two, with an edge of its capacity between them
    start, end = 2 * len(into), 2 * len(into) + 1
    room: Room = [{} for _ in range(end + 1)]

    def edge(a: int, b: int, most: float = INFINITE) -> None:
        room[a][b] = most
        room[b].setdefault(a, 0)

    for key, most in capacity.items():
        edge(into[key], into[key] + 1, most)
    for a, b in edges:
        edge(into[a] + 1, into[b])
    for key, most in sources.items():
        edge(start, into[key], most)
    for key in sinks:
        edge(into[key] + 1, end)
    while end in (level := distances(room, start)):
        push(room, level, start, end)
    left = distances(room, end, backward=True)
    return {key for key, k in into.items() if k + 1 in left and k not in left}


def distances(room: Room, origin: int, backward: bool = False) -> dict[int, int]:
    """Return the distance from `origin`, or to it, of each node that is connected with it by edges that can take more."""
    level = {origin: 0}
    found = [origin]
    for a in found:
        for b, most in room[a].items():
            if b not in level and (room[b][a] if backward else most) > 0:
                level[b] = level[a] + 1
                found.append(b)
    return level


def push(room: Room, level: dict[int, int], start: int, end: int) -> None:
    """Push as much as possible from the start to the end along edges that lead one level on."""
    untried = {a: [b for b in room[a] if level.get(b) == level[a] + 1] for a in level}
    path = [start]
    while path:
        a = path[-1]
        while untried[a] and not (room[a][untried[a][-1]] > 0 and untried[a][-1] in level):
            untried[a].pop()
        if a == end:
            flow = min(room[a][b] for a, b in pairwise(path))
            if flow == INFINITE:
                raise ValueError("no finite cut separates the sources from the sinks")
            for a, b in pairwise(path):
                room[a][b] -= flow
                room[b][a] += flow
            path = [start]
        elif untried[a]:
            path.append(untried[a][-1])
        else:
            del level[path.pop()]
