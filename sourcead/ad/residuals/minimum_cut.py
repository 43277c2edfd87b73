"""Minimum cut of a graph with capacities on its nodes: what to save, so that the rest can be rebuilt.

Dinic's algorithm (E. A. Dinic, 1970): blocking flows in the graph of shortest augmenting paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping

INFINITE = float("inf")


def minimum_node_cut(
    capacity: Mapping[Hashable, float], edges: Iterable[tuple[Hashable, Hashable]], sources: Iterable, sinks: Iterable
) -> set:
    """The nodes of least total capacity without which no path leads from a source to a sink.

    Args:
        capacity: of each node.
        edges: pairs (from, to).
        sources, sinks: nodes; a source or sink may itself be cut.

    Returns:
        The cut nodes, those nearest to the sinks among several minimum cuts.

    Example:
        >>> sorted(minimum_node_cut({"a": 2, "b": 1, "c": 3}, [("a", "b"), ("b", "c")], ["a"], ["c"]))
        ['b']
    """
    number: dict = {}
    heads: list[list[int]] = []
    to: list[int] = []
    room: list[float] = []

    def node(key) -> int:
        if key not in number:
            number[key] = len(heads)
            heads.append([])
        return number[key]

    def edge(a: int, b: int, c: float) -> None:
        for end, begin, r in ((b, a, c), (a, b, 0)):
            heads[begin].append(len(to))
            to.append(end)
            room.append(r)

    start, end = node("start"), node("end")
    for key, c in capacity.items():
        edge(node(("in", key)), node(("out", key)), c)
    for a, b in edges:
        edge(node(("out", a)), node(("in", b)), INFINITE)
    for key in sources:
        edge(start, node(("in", key)), INFINITE)
    for key in sinks:
        edge(node(("out", key)), end, INFINITE)

    while True:
        level = _levels(start, heads, to, room)
        if level[end] < 0:
            break
        following = [0] * len(heads)
        while _augment(start, end, level, following, heads, to, room):
            pass
    reaching = _reaching(end, heads, to, room)
    return {key for key in capacity if number[("in", key)] not in reaching and number[("out", key)] in reaching}


def _levels(start: int, heads, to, room) -> list[int]:
    level = [-1] * len(heads)
    level[start] = 0
    queue = deque([start])
    while queue:
        a = queue.popleft()
        for e in heads[a]:
            if room[e] > 0 and level[to[e]] < 0:
                level[to[e]] = level[a] + 1
                queue.append(to[e])
    return level


def _augment(start: int, end: int, level, following, heads, to, room) -> bool:
    """Pushes flow along one path of the level graph; False if there is none."""
    path: list[int] = []
    a = start
    while a != end:
        while following[a] < len(heads[a]):
            e = heads[a][following[a]]
            if room[e] > 0 and level[to[e]] == level[a] + 1:
                break
            following[a] += 1
        else:
            if not path:
                return False
            level[a] = -1
            a = to[path.pop() ^ 1]
            following[a] += 1
            continue
        path.append(e)
        a = to[e]
    flow = min(room[e] for e in path)
    if flow == INFINITE:
        raise ValueError("no finite cut separates the sources from the sinks")
    for e in path:
        room[e] -= flow
        room[e ^ 1] += flow
    return True


def _reaching(end: int, heads, to, room) -> set[int]:
    """The nodes from which the end can still be reached."""
    found = {end}
    todo = [end]
    while todo:
        b = todo.pop()
        for e in heads[b]:
            a = to[e]
            if room[e ^ 1] > 0 and a not in found:
                found.add(a)
                todo.append(a)
    return found
