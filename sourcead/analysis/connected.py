"""Things that are connected: sets of those that belong together, and what can be reached from some of them step by step."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any


def reachable(starts: Iterable[Any], following: Callable[[Any], Iterable[Any]]) -> set[Any]:
    """Return all that can be reached from `starts` in any number of steps, also in none, by `following(one)`."""
    found = set(starts)
    todo = list(found)
    while todo:
        for one in following(todo.pop()):
            if one not in found:
                found.add(one)
                todo.append(one)
    return found


class UnionFind:
    """Disjoint sets, each represented by one of its members; `parent` holds all members in the order in which they were added."""

    def __init__(self):
        self.parent: dict[Any, Any] = {}

    def find(self, member: Hashable) -> Any:
        """Return the representative of the set of a member; whoever was never added is alone in its set."""
        while (up := self.parent.get(member, member)) != member:
            self.parent[member] = member = self.parent[up]
        return member

    def unite(self, *members: Hashable) -> None:
        """Add the members and unite their sets; the representative of the first set remains."""
        for member in members:
            self.parent.setdefault(member, member)
            root, other = self.find(members[0]), self.find(member)
            if other != root:
                self.parent[other] = root
