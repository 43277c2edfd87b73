"""What a name can stand for while a function is lowered.

An *atom* (`Var` or `Const`) is a value that cannot change.  A `Cell` is an object that can: an array, a list, a dict.
Names that share an object are bound to the same cell, so that a write is seen under all of them.

State that a branch or a loop may change lives in *slots* (plain dicts): the variables of a scope, the current version of
an array, the items of a list.  `Journal` records each change, so that lowering can try a branch, roll it back, try the
other, and merge what differs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead.ir.nodes import Atom, Const, Slice, Sub, Var, View

_births = itertools.count()


class Meta(str):
    """A slot of a cell that is not an item of it."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


VALUE = Meta("value")  # the variable of the current version
SEEN = Meta("seen")  # of a view: the version of its base that VALUE was derived from
STALE = Meta("stale")  # of a view of a list whose items were replaced: why it cannot be derived again
POISON = Meta("poison")  # why the cell must not be read any more
UNSURE = Meta("unsure")  # of a dict: why it is not known which keys it has
KIND = Meta("kind")  # 'list', 'dict' or 'object' while its items are known one by one
WHOLE = Meta("whole")  # of a list, dict or object that came in as one value: that value, as long as it is unchanged


class Slots(dict):
    """Changeable state; hashable by identity, ordered by birth."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, *args):
        super().__init__(*args)
        self.birth = next(_births)
        self.cell: Cell | None = None  # whose state this is; None for a scope


@dataclass(eq=False)
class Cell:
    """A mutable object.

    kind 'array': the slot VALUE holds its current version (also of anything whose type is not known, and of lists whose
    length is not known while compiling).  kind 'list' or 'dict': the slots are its items, by position or key.  kind
    'object': the slots are the attributes of an instance of `cls`.
    """

    slots: Slots
    name: str = "t"
    base: Cell | None = None  # of a view: what it looks into
    step: Sub | View | None = None  # and how; None if it is the same object
    shares: set[Cell] = field(default_factory=set)  # cells that may be the same memory; a symmetric relation
    holds: set[Cell] = field(default_factory=set)  # of a list that is one IR value: what was put into it
    held_by: set[Cell] = field(default_factory=set)  # the lists that it was put into
    parts_of: set[Cell] = field(default_factory=set)  # of such a list: arrays of which it is taken to hold parts that stay as they are
    doubled: bool = False  # whether the same object may be in this list twice
    viewers: list[Cell] = field(default_factory=list)  # of a list that is one IR value: what was read from it
    depth: int = 0  # how many branches and loops of unknown outcome it was made inside
    frozen: str | None = None  # why it cannot be written
    cls: type | None = None  # of an object
    default: Value | None = None  # of a `defaultdict`: what makes a value that is missing
    stands_for: Cell | None = None  # of a list of known length as one value: that list
    stood_for: list[Cell] = field(default_factory=list)  # and the other way round
    needs: frozenset[Var] = frozenset()  # of a view: the arguments that must be in C order for it to be one
    apart: dict[Cell, frozenset[Var]] = field(default_factory=dict)  # no memory is shared with these if the arguments are so
    first: Atom | None = None  # of an array that is no view: its first version

    def __post_init__(self):
        self.slots.cell = self
        self.first = self.slots.get(VALUE)
        self.share(self.shares)

    def share(self, others: Iterable[Cell]) -> None:
        """Notes that this object and the others may be the same memory."""
        for other in set(others) - {self}:
            self.shares.add(other)
            other.shares.add(self)

    @property
    def kind(self) -> str:
        return self.slots.get(KIND, "array")

    @property
    def items(self) -> dict[Any, Value]:
        """The items of a list or dict of known structure."""
        return {k: v for k, v in self.slots.items() if not isinstance(k, Meta)}

    @property
    def keys(self) -> Iterable:
        """What the items are found under; of an object without order."""
        return self.items if self.kind == "object" else list(self.items)

    def root(self) -> Cell:
        cell = self
        while cell.base is not None:
            cell = cell.base
        return cell


@dataclass(frozen=True, eq=False)
class TupleVal:
    """A tuple whose length is known. `origin`: the variable it was read from, if it came in as one; `cls`: its class,
    if it is a named tuple."""

    items: tuple[Value, ...]
    origin: Var | None = None
    cls: type | None = None

    @property
    def keys(self) -> Iterable:
        return range(len(self.items)) if self.cls is None else self.cls._fields


@dataclass(frozen=True, eq=False)
class OptionalVal:
    """A tuple, or None where `missing` is true: `best = None`, and later `best = (distance, i)`."""

    missing: Atom
    held: TupleVal


@dataclass(frozen=True, eq=False)
class SliceVal:
    lower: Atom | None
    upper: Atom | None
    step: Atom | None

    def operand(self) -> Slice:
        return Slice(self.lower, self.upper, self.step)


@dataclass(frozen=True, eq=False)
class FunctionVal:
    """A function or lambda defined inside the function being lowered."""

    source: Any  # frontend.source.Source
    scope: Any  # the scope it was defined in
    defaults: dict[str, Value]


@dataclass(frozen=True, eq=False)
class MethodVal:
    """`value.name`, not yet called."""

    value: Value
    name: str


@dataclass(frozen=True, eq=False)
class BoundVal:
    """A function with its first arguments: `obj.method`, `partial(f, x, k=y)`. `function`: a value, or a Python object."""

    function: Any
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ChoiceVal:
    """One of several functions: `options[which]`, `otherwise` for what is no option (None: KeyError)."""

    which: Atom
    options: dict[Any, Any]
    otherwise: Any = None


@dataclass(frozen=True, eq=False)
class SuperVal:
    """`super()`: an object, its attributes looked up in the classes after `cls`."""

    cls: type
    value: Value


Value = Var | Const | Cell | TupleVal | OptionalVal | SliceVal | FunctionVal | MethodVal | BoundVal | ChoiceVal | SuperVal

MISSING = object()


class Held(gast.AST):
    """A syntax node that stands for a value at hand."""

    _fields = ()

    def __init__(self, value: Value):
        self.value = value


class Journal:
    """The changes of slots since the beginning, undoable."""

    def __init__(self):
        self.entries: list[tuple[Slots, Any, Any]] = []

    def set(self, slots: Slots, key: Any, value: Any) -> None:
        old = slots.get(key, MISSING)
        if old is value:
            return
        self.entries.append((slots, key, old))
        if value is MISSING:
            slots.pop(key, None)
        else:
            slots[key] = value

    def mark(self) -> int:
        return len(self.entries)

    def rollback(self, mark: int) -> None:
        while len(self.entries) > mark:
            slots, key, old = self.entries.pop()
            if old is MISSING:
                slots.pop(key, None)
            else:
                slots[key] = old

    def changed(self, mark: int, born_before: int) -> dict[tuple[Slots, Any], Any]:
        """Slots changed since the mark, of containers older than it, with their values at the mark."""
        changes: dict[tuple[Slots, Any], Any] = {}
        for slots, key, old in itertools.islice(self.entries, mark, None):
            if slots.birth < born_before:
                changes.setdefault((slots, key), old)
        return changes


def hold(container: Cell, value: Value) -> None:
    """Notes that an object was put into a list."""
    for cell in roots(value):
        container.doubled = container.doubled or cell in container.holds
        container.holds.add(cell)
        cell.held_by.add(container)


def next_birth() -> int:
    """A number above that of every container made so far, and below that of every later one."""
    return next(_births)


def leaves(value: Value) -> Iterator[Value]:
    """The atoms and cells inside a static structure."""
    match value:
        case TupleVal(items):
            for item in items:
                yield from leaves(item)
        case OptionalVal(_, held):
            yield from leaves(held)
        case Cell():
            yield value
            for item in value.items.values():
                yield from leaves(item)
        case BoundVal(_, args, kwargs):
            for item in (*args, *kwargs.values()):
                yield from leaves(item)
        case _:
            yield value


def roots(value: Value) -> set[Cell]:
    """Every cell whose memory the value may share: what it looks into, and what that may be the same as.

    Sharing is not transitive: `c = a if p else b` may be `a` and may be `b`, which are not the same.  What was read from a
    list may be anything that was put into it.
    """
    found: set[Cell] = set()
    for leaf in leaves(value):
        if isinstance(leaf, Cell):
            root = leaf.root()
            todo = [root]
            while todo:
                cell = todo.pop().root()
                if cell in found:
                    continue
                found.add(cell)
                found.update(c.root() for c in cell.shares)
                if leaf.base is not None:
                    todo += cell.holds
    return found


def reach(value: Value) -> set[Cell]:
    """Every cell whose memory something read from a list may share: the list itself, and what was put into it."""
    found: set[Cell] = set()
    held: set[Cell] = set()  # what was looked into
    todo = list(roots(value))
    while todo:
        cell = todo.pop()
        if cell not in found:
            found.add(cell)
            new = cell.holds - held
            held |= new
            todo += {r for h in new for leaf in leaves(h) if isinstance(leaf, Cell) for r in with_shares(leaf.root())} - found
    return found


def with_shares(root: Cell) -> set[Cell]:
    """A cell and those that may be the same memory."""
    return {root, *(c.root() for c in root.shares)}


def cells_of(value: Value) -> list[Cell]:
    """The cells inside a value."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Cell)] if value is not MISSING else []
