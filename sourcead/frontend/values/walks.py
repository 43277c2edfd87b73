"""Watch what a loop runs over, so that a loop that changes it sees what Python would see, or is refused."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from sourcead.frontend import core
from sourcead.frontend.core import (
    VALUE, BoundVal, Cell, ChoiceVal, Flag, FunctionVal, Iterable, Lowering, Meta, MethodVal, OptionalVal, Slots,
    SuperVal, TupleVal, Value, next_birth, roots
)


@dataclass(eq=False)
class Walk:
    """Record the items of a list or dict, in loop order, as they were when the loop began, and what the loop takes of a key and item."""

    cell: Cell
    items: list[tuple[Any, Value]]
    taken: Callable[[Any, Value], Value]
    forward: bool = True

    def stands(self, k: int) -> bool:
        """Tell whether the items from place `k` on are unchanged; a list may have more after them."""
        now, count = self.cell.items, len(self.items)
        same_length = len(now) >= count if self.cell.kind == "list" else len(now) == count
        return same_length and all(now.get(key) is item for key, item in self.items[k:])

    def check(self, lo: Lowering, node) -> None:
        """Refuse a loop that has changed the items."""
        if not self.stands(0) or len(self.cell.items) != len(self.items):
            raise changed_by_loop(lo, node)


def walk(lo: Lowering, cell: Cell, items: list[tuple[Any, Value]], taken=lambda key, item: item, forward: bool = True) -> Iterable:
    """Iterate over the values of a list or dict one by one, or over what `taken` makes of each key and value."""
    made = Walk(cell, items, taken, forward)
    lo.walks.append(made)

    def reverse() -> Iterable:
        if made in lo.walks:  # and not of a call that has returned, such as that of `__iter__`
            lo.walks.remove(made)
        return walk(lo, cell, items[::-1], taken, not forward)

    return Iterable(items=[taken(key, item) for key, item in items], reverse=reverse, walk=made)


@dataclass(frozen=True, eq=False)
class Watched:
    """Record what a loop must not change from the moment it begins.

    That is the length of a list, `what`, or the variables and objects in the set `what`, from which the elements of a generator were
    computed when all of them were taken before the loop.
    """

    what: Cell | set
    resized: int
    mark: int
    birth: int


def watch(lo: Lowering, what: Cell | set) -> None:
    """Record what the loop whose head is being lowered must not change."""
    lo.walks.append(Watched(what, len(lo.resized), lo.journal.mark(), next_birth()))


def may_be_resized(lo: Lowering, value: Value, first: int, leave: Any = None) -> bool:
    """Tell whether a list may have grown or shrunk since `first` lists had, other than right before the flag `leave` ended the loop."""
    return any(
        roots(value) & roots(cell) and not (cell.steps() > value.steps() and cell.root() is value.root())
        for cell, left in lo.resized[first:]
        if leave is None or leave not in left
    )


@contextlib.contextmanager
def unchanged(lo: Lowering, node, leave: Any = None) -> Iterator[list]:
    """Give a list for what the head of a loop, which the flag `leave` may end, watches; refuse a loop that changes it."""
    watched: list = []
    yield watched
    for one in (w for w in watched if isinstance(w, Watched)):
        if isinstance(one.what, Cell):
            if may_be_resized(lo, one.what, one.resized, leave):
                raise changed_by_loop(lo, node)
        elif any(slot in one.what or slot[0] in one.what for slot in lo.journal.changed(one.mark, one.birth)):
            raise core.unsupported(lo, node, "a generator reads what this loop changes", "make a list of it before the loop: `list(...)`")


class Unchanged:
    """Remember the variables and objects that a generator read, all of whose elements were taken before they are asked for."""

    def __init__(self, lo: Lowering, reads: set):
        self.lo = lo
        self.before = [(read, self.now(read)) for read in reads]

    @staticmethod
    def now(read: Slots | tuple) -> dict:
        """Return what a variable or an object is now."""
        return dict(read) if isinstance(read, Slots) else {read[1]: read[0].get(read[1])}

    def check(self, node) -> None:
        """Refuse to take an element if any was changed."""
        for read, before in self.before:
            now = self.now(read)
            if now.keys() != before.keys() or any(now[key] is not old for key, old in before.items()):
                why = "a generator reads what is changed before it goes on"
                raise core.unsupported(self.lo, node, why, "make a list of it: `list(...)`")


class Yielded:
    """Tell whether a generator changes what it has yielded, which then is another one for who takes all elements at once.

        def steps(xs):              Each step gives the same array: `zip(steps(xs), ys)` takes an element before the next one is computed,
            y = np.zeros(2)         `list(steps(xs))` holds one array many times.
            for x in xs:
                y += x
                yield y

    Attributes:
        marks: for the state of each object and function in an element, where the journal stood when it was yielded first.
    """

    def __init__(self, lo: Lowering):
        self.journal = lo.journal
        self.marks: dict[Slots | tuple[Slots, str], int] = {}

    def note(self, element: Value) -> Value:
        """Note an element that is yielded now, and return it."""
        for part in state_of(element, set()):
            self.marks[part] = min(self.journal.mark(), self.marks.get(part, self.journal.mark()))
        return element

    def changed(self) -> bool:
        """Tell whether an element was changed after it was yielded."""
        first = min(self.marks.values(), default=0)
        later = enumerate(itertools.islice(self.journal.entries, first, None), first)
        changes = ((slots, key, at) for at, (slots, key, _, _) in later if not isinstance(key, (Flag, Meta)) or key is VALUE)
        return any(at >= self.marks.get(part, at + 1) for slots, key, at in changes for part in (slots, (slots, key)))


def state_of(value: Value, seen: set[Value]) -> Iterator[Slots | tuple[Slots, str]]:
    """Iterate over what a value depends on: the slots of its objects, and the variables that its functions read, with their scopes."""
    match value:
        case TupleVal():
            inner = value.items
        case OptionalVal(_, held) | MethodVal(held, _) | SuperVal(_, held):
            inner = (held,)
        case BoundVal(function, args, kwargs):
            inner = (function, *args, *kwargs.values())
        case ChoiceVal(_, options, otherwise):
            inner = (*options.values(), otherwise)
        case Cell() if value not in seen:
            seen.add(value)
            yield from (cell.slots for cell in (value, *roots(value)))
            inner = value.items.values() if value.kind != "array" else ()
        case FunctionVal(source, scope, defaults) if value not in seen:
            seen.add(value)
            given = {n for n in gast.walk(source.node.args) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Param)}
            names = {n.id for n in gast.walk(source.node) if isinstance(n, gast.Name)} - {n.id for n in given}
            yield from ((slots, name) for slots in scopes_around(scope) for name in names)
            yield value.attributes
            held = (*value.attributes.values(), *defaults.values())
            inner = [*held, *(slots[name] for slots in scopes_around(scope) for name in names & slots.keys())]
        case Iterable():
            yield value.state
            if value.suspended is not None:
                yield value.suspended.place
                yield from scopes_around(value.suspended.scope)
            inner = value.items or ()
        case _:
            return
    for part in inner:
        yield from state_of(part, seen)


def scopes_around(scope: Any) -> Iterator[Slots]:
    """Iterate over the variables of a function and of those that it is defined in."""
    while scope is not None:
        yield scope.names
        scope = scope.parent


def changed_by_loop(lo: Lowering, node) -> Exception:
    return core.unsupported(lo, node, "what this loop walks over is changed by it", "loop over a copy: `list(...)`")


def check_items(lo: Lowering, walks: list, node) -> None:
    """Refuse a loop of the IR, which took all items of its lists and dicts before it, if it has changed them."""
    for one in (w for w in walks if isinstance(w, Walk)):
        lo.alive(one.cell)
        one.check(lo, node)


MOST_ADDED = 256


def items_added(lo: Lowering, walks: list[Walk], iterable: Iterable, node) -> list[Value]:
    """Return what a loop takes of the items that its iterations have appended to the list that it runs over; refuse other changes."""
    for one in (w for w in walks if isinstance(w, Walk)):
        lo.alive(one.cell)
        now, count = list(one.cell.items.items()), len(one.items)
        if len(now) == count or iterable.walk is one and not one.forward:
            continue
        if iterable.walk is not one or one.cell.depth < lo.depth or not count < len(now) <= MOST_ADDED:
            raise changed_by_loop(lo, node)
        one.items += now[count:]
        return [one.taken(key, item) for key, item in now[count:]]
    return []


def element_now(lo: Lowering, walks: list[Walk], iterable: Iterable, k: int, take: Callable[[], Value], node) -> Value:
    """Return the element that iteration `k` takes, which is `take()` if no item was replaced; refuse a loop that changes others too."""
    for one in (w for w in walks if isinstance(w, Walk)):
        lo.alive(one.cell)
        if one.stands(k):
            continue
        now, (key, _) = one.cell.items, one.items[k] if k < len(one.items) else (None, None)
        if iterable.walk is not one or len(now) != len(one.items) or key not in now:
            raise changed_by_loop(lo, node)
        return one.taken(key, now[key])
    return take()
