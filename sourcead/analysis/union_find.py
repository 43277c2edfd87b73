"""Sets of things that belong together, such as the versions of an array."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


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
