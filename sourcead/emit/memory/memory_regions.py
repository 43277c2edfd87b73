"""Regions, which are abstract pieces of memory, and the regions that values and the results of ops reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from sourcead import runtime
from sourcead.analysis.builder import operand_type
from sourcead.emit.memory.sharing import attr_sharing, call_sharing, has_memory, index_sharing, is_container, is_plain
from sourcead.ir.nodes import UNDEFINED, Atom, Attr, Build, Call, Const, Index, Let, Op, Operand, Slice, Var
from sourcead.ir.types import UNKNOWN, Array, DictT, ListT, MapT, TupleT, Type, is_known_container
from sourcead.primitives.table import record_of

FOREIGN = 0  # the region of memory that this function may not write


@dataclass(frozen=True)
class Memory:
    """The regions that a value reaches.

    Attributes:
        own: the regions of the value itself.
        inner: the regions of its elements.
        items: the memory of each element of a tuple or display, where it is known.
        distinct: whether no two elements of a list share memory, though other values may share memory with one of them.
        whole: whether the value is an array that fills its memory, not a part of a larger one; or a list of such arrays.
    """

    own: frozenset[int] = frozenset()
    inner: frozenset[int] = frozenset()
    items: tuple[Memory, ...] | None = None
    distinct: bool = False
    whole: bool = False

    @property
    def all(self) -> frozenset[int]:
        return self.own | self.inner

    def level(self, level: int) -> frozenset[int]:
        return self.own if level == 1 else self.all


NOTHING = Memory()


def copy_call(atom: Atom, t: Type, level: int = 1, optional: bool = False) -> Call:
    """Return the call that copies a value: an array, a list or dict without its elements, or a whole structure; or None if `optional`."""
    if optional:
        return Call(runtime.copy, (atom,))
    if isinstance(t, Array):
        return Call(np.copy, (atom,))
    if level == 1 and isinstance(t, (ListT, DictT, MapT)):
        return Call(list.copy if isinstance(t, ListT) else dict.copy, (atom,))
    return Call(runtime.copy, (atom,))


def union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def fresh_memory(t: Type, new: Callable[[], int]) -> Memory:
    """Return the memory of a value of type `t` that was just made, where `new()` returns a new region."""
    match t:
        case _ if not has_memory(t):
            return NOTHING
        case TupleT(items):
            parts = tuple(fresh_memory(item, new) for item in items)
            return Memory(frozenset(), union(p.all for p in parts), parts)
        case _ if is_plain(t):
            return Memory(frozenset((new(),)), whole=True)
    return Memory(frozenset((new(),)), frozenset((new(),)))


def result_memory(op: Op, t: Type, of: Callable[[Operand], Memory], new: Callable[[], int]) -> Memory:
    """Return the memory of the result, of type `t`, of an op without blocks that writes nothing; `of` gives the memory of an operand."""
    if not has_memory(t):
        return NOTHING
    match op:
        case Call(into=int(position)):
            return of(op.args[position])
        case Call(fn, (base, *_)) if fn in (dict.get, runtime.cotangent_at):
            return element(of(base), operand_type(base))
        case Call(fn, args, kwargs):
            sharing = call_sharing(op)
            operands = args[:1] if sharing == "first" else (*args, *(v for _, v in kwargs))
            regions = union(of(a).all for a in operands)
            if regions and not isinstance(fn, Var) and sharing == "shared" and shows_all(op):
                return Memory(regions, regions, whole=of(args[0]).whole)
        case Let(value):
            return of(value)
        case Attr(base):
            sharing, regions = attr_sharing(op, t), of(base).all
        case Index(base, key):
            sharing = index_sharing(op, t)
            if sharing == "fresh":
                return fresh_memory(t, new)
            if sharing == "shallow":
                return Memory(frozenset((new(),)), of(base).inner)
            if isinstance(operand_type(base), Array):
                return replace(of(base), whole=of(base).whole and takes_all(key))
            return element(of(base), operand_type(base), key)
        case Build(kind, items):
            parts = tuple(map(of, items))
            inner = union(p.all for p in parts)
            own = frozenset() if kind == "tuple" else frozenset((new(),))
            distinct = kind in ("list", "dict") and sum(len(p.all) for p in parts) == len(inner)
            return Memory(own, inner, parts, distinct=distinct, whole=all(p.whole for p in parts))
    if sharing == "fresh":
        return replace(fresh_memory(t, new), distinct=is_known_container(t))
    if sharing == "shallow":
        return Memory(frozenset((new(),)), regions)
    if sharing in ("readonly", "foreign"):
        regions |= {FOREIGN}
    if sharing == "foreign" or is_container(t) or not regions:  # such as the array that a reshape of a number makes
        regions |= {new()}
    return Memory(regions, regions)


def shows_all(op: Call) -> bool:
    """Return whether the result of a call is a view of all elements of its first argument, as of `np.transpose`, or a copy of it."""
    record = record_of(op.fn)
    return record.view == "reshape" and len(op.args) > 1 or record.view in ("always", "shorter") and record.order in ("axes", "keeps")


def takes_all(key: Operand) -> bool:
    """Return whether a subscript surely takes all elements of an array, as `a[:, None]` and `a[::-1]` do."""
    if isinstance(key, tuple):
        return all(map(takes_all, key))
    if isinstance(key, Slice):
        lower, upper, step = (part.value if isinstance(part, Const) else part for part in (key.lower, key.upper, key.step))
        return lower is upper is None and step in (None, 1, -1)
    value = key.value if isinstance(key, Const) else 0
    return value is None or value is ... or isinstance(value, slice) and value in (slice(None), slice(None, None, -1))


def element(memory: Memory, t: Type, key=None) -> Memory:
    """Return the memory of an element of a container of type `t`."""
    if memory.items is not None and isinstance(key, Const) and isinstance(key.value, int):
        if -len(memory.items) <= key.value < len(memory.items):
            return memory.items[key.value]
    regions = memory.inner if is_known_container(t) else memory.all
    return Memory(regions, regions)


def fitted(memory: Memory, t: Type) -> Memory:
    """Return the part of a memory that a value of type `t` can reach."""
    if not has_memory(t):
        return NOTHING
    if is_plain(t):
        return Memory(memory.own | memory.inner, whole=memory.whole) if memory.inner else memory
    if isinstance(t, TupleT) and memory.own:
        return Memory(frozenset(), memory.all, memory.items)
    return memory


def joined_items(a: Memory, b: Memory) -> tuple[Memory, ...] | None:
    """Return the memories of the elements of a value that is one of two values, or None if they are unknown."""
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        return None
    return tuple(Memory(x.own | y.own, x.inner | y.inner, joined_items(x, y)) for x, y in zip(a.items, b.items))


def has_twice(memory: Memory, t: Type) -> bool:
    """Return whether two elements of a tuple or display may share memory."""
    if memory.items is None:
        return isinstance(t, TupleT) and bool(memory.inner) and sum(map(has_memory, t.items)) > 1
    if sum(len(i.all) for i in memory.items) > len(union(i.all for i in memory.items)):
        return True
    types = t.items if isinstance(t, TupleT) else [UNKNOWN] * len(memory.items)
    return any(map(has_twice, memory.items, types))


def may_hold_twice(memory: Memory, t: Type) -> bool:
    """Return whether a write into an element of a list or dict of this type may change another element of it."""
    match t:
        case ListT(item) | MapT(_, item):
            return not memory.distinct and has_memory(item)
        case DictT(items):
            return not memory.distinct and sum(has_memory(v) for _, v in items) > 1
    return False


def is_memory(value) -> bool:
    """Return whether a constant is or holds something that can be written."""
    if value is UNDEFINED.value:
        return False
    if isinstance(value, tuple):
        return any(map(is_memory, value))
    return isinstance(value, (np.ndarray, list, dict, set)) or hasattr(value, "__dict__") and not callable(value)
