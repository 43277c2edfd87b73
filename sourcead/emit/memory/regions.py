"""Regions: abstract pieces of memory, and what values reach."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sourcead import runtime
from sourcead.emit.memory.sharing import has_memory, is_known_container, is_plain
from sourcead.ir.nodes import UNDEFINED, Atom, Call, Const
from sourcead.ir.types import UNKNOWN, Array, DictT, ListT, MapT, TupleT, Type

FOREIGN = 0  # the region of memory that is not ours to write


@dataclass(frozen=True)
class Memory:
    """The regions of a value's own memory and of what it holds; `items` holds a tuple's elements where known.

    `distinct`: no two elements of a list share memory, though others may still hold one of them.
    """

    own: frozenset[int] = frozenset()
    inner: frozenset[int] = frozenset()
    items: tuple[Memory, ...] | None = None
    distinct: bool = False

    @property
    def all(self) -> frozenset[int]:
        return self.own | self.inner

    def level(self, level: int) -> frozenset[int]:
        return self.own if level == 1 else self.all


NOTHING = Memory()


def copy_call(atom: Atom, t: Type, level: int) -> Call:
    """A copy of a value: of an array, of a list or dict alone, or of a whole structure."""
    if isinstance(t, Array):
        return Call(np.copy, (atom,))
    if level == 1 and isinstance(t, (ListT, DictT, MapT)):
        return Call(list.copy if isinstance(t, ListT) else dict.copy, (atom,))
    return Call(runtime.copy, (atom,))


def union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def element(memory: Memory, t: Type, key=None) -> Memory:
    """The memory of an element of a container of type `t`."""
    if memory.items is not None and isinstance(key, Const) and isinstance(key.value, int):
        if -len(memory.items) <= key.value < len(memory.items):
            return memory.items[key.value]
    regions = memory.inner if is_known_container(t) else memory.all
    return Memory(regions, regions)


def fitted(memory: Memory, t: Type) -> Memory:
    """The memory as far as a value of type `t` can have it."""
    if not has_memory(t):
        return NOTHING
    if is_plain(t):
        return Memory(memory.own | memory.inner) if memory.inner else memory
    if isinstance(t, TupleT) and memory.own:
        return Memory(frozenset(), memory.all, memory.items)
    return memory


def joined_items(a: Memory, b: Memory):
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        return None
    return tuple(Memory(x.own | y.own, x.inner | y.inner, joined_items(x, y)) for x, y in zip(a.items, b.items))


def has_twice(memory: Memory, t: Type) -> bool:
    """Whether two elements of a tuple or display may share memory."""
    if memory.items is None:
        return isinstance(t, TupleT) and bool(memory.inner) and sum(map(has_memory, t.items)) > 1
    if sum(len(i.all) for i in memory.items) > len(union(i.all for i in memory.items)):
        return True
    types = t.items if isinstance(t, TupleT) else [UNKNOWN] * len(memory.items)
    return any(map(has_twice, memory.items, types))


def may_hold_twice(memory: Memory, t: Type) -> bool:
    """Whether a write into an element of a list or dict of this type may be seen in another element of it."""
    match t:
        case ListT(item) | MapT(_, item):
            return not memory.distinct and has_memory(item)
        case DictT(items):
            return not memory.distinct and sum(has_memory(v) for _, v in items) > 1
    return False


def is_memory(value) -> bool:
    """Whether a constant is or holds something that can be written."""
    if value is UNDEFINED.value:
        return False
    if isinstance(value, tuple):
        return any(map(is_memory, value))
    return isinstance(value, (np.ndarray, list, dict, set)) or hasattr(value, "__dict__") and not callable(value)
