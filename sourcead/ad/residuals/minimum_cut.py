"""Minimum cut of a graph with capacities on its nodes, which gives the values to save so that the rest can be rebuilt.

Dinic's algorithm (E. A. Dinic, 1970): blocking flows in the graph of shortest augmenting paths.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping

INFINITE = float("inf")


def minimum_node_cut(
    capacity: Mapping[Hashable, float], edges: Iterable[tuple[Hashable, Hashable]], sources: Iterable, sinks: Iterable
) -> set:
    """Return the nodes of least total capacity without which no path leads from a source to a sink.

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
    flow = Flow()

    def node(key: Hashable) -> int:
        if key not in number:
            number[key] = flow.node()
        return number[key]

    start, end = node("start"), node("end")
    for key, c in capacity.items():
        flow.edge(node(("in", key)), node(("out", key)), c)
    for a, b in edges:
        flow.edge(node(("out", a)), node(("in", b)), INFINITE)
    for key in sources:
        flow.edge(start, node(("in", key)), INFINITE)
    for key in sinks:
        flow.edge(node(("out", key)), end, INFINITE)
    flow.maximise(start, end)
    left = flow.distances(end, back=1)
    return {key for key in capacity if left[number["in", key]] < 0 <= left[number["out", key]]}


class Flow:
    """A flow through a graph; edge `e` leads to node `to[e]`, can take `room[e]` more, and edge `e ^ 1` leads back.

    Attributes:
        heads: the edges that leave each node.
        to, room: of each edge.
    """

    def __init__(self) -> None:
        self.heads: list[list[int]] = []
        self.to: list[int] = []
        self.room: list[float] = []

    def node(self) -> int:
        """Add a node and return its number."""
        self.heads.append([])
        return len(self.heads) - 1

    def edge(self, a: int, b: int, capacity: float) -> None:
        """Add an edge from `a` to `b`."""
        for end, begin, room in ((b, a, capacity), (a, b, 0)):
            self.heads[begin].append(len(self.to))
            self.to.append(end)
            self.room.append(room)

    def maximise(self, start: int, end: int) -> None:
        """Push as much as possible from one node to another."""
        while (level := self.distances(start))[end] >= 0:
            following = [0] * len(self.heads)
            while path := self.path(start, end, level, following):
                flow = min(self.room[e] for e in path)
                if flow == INFINITE:
                    raise ValueError("no finite cut separates the sources from the sinks")
                for e in path:
                    self.room[e] -= flow
                    self.room[e ^ 1] += flow

    def distances(self, start: int, back: int = 0) -> list[int]:
        """Return the distance of each node from `start` along edges that can take more; -1 if it cannot be reached.

        With `back=1`, it is the distance of `start` from each node.
        """
        level = [-1] * len(self.heads)
        level[start] = 0
        queue = deque([start])
        while queue:
            a = queue.popleft()
            for e in self.heads[a]:
                if self.room[e ^ back] > 0 and level[self.to[e]] < 0:
                    level[self.to[e]] = level[a] + 1
                    queue.append(self.to[e])
        return level

    def path(self, start: int, end: int, level: list[int], following: list[int]) -> list[int]:
        """Return the edges of a shortest path that can take more, or an empty list if there is none.

        `following` gives, for each node, the position in its list of edges from which the search continues.
        """
        path: list[int] = []
        a = start
        while a != end:
            if following[a] == len(self.heads[a]):
                if not path:
                    return []
                level[a] = -1
                a = self.to[path.pop() ^ 1]
                following[a] += 1
                continue
            e = self.heads[a][following[a]]
            if self.room[e] > 0 and level[self.to[e]] == level[a] + 1:
                path.append(e)
                a = self.to[e]
            else:
                following[a] += 1
        return path
