"""What a name can stand for while a function is lowered.

An *atom* (`Var` or `Const`) is a value that cannot change. A `Cell` is an object that can: an array, a list, a dict. Names that share an
object are bound to the same cell, so that a write is seen under all of them.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from sourcead.frontend.core.journal import KIND, MISSING, POISON, VALUE, Meta, Slots
from sourcead.ir.nodes import UNDEFINED, Atom, Const, Policy, Range, Slice, Sub, Var, View


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

    @property
    def kind(self) -> str:
        return self.slots.get(KIND, "array")

    @property
    def items(self) -> dict[Any, Value]:
        """The items of a list or dict of known structure."""
        return {k: v for k, v in self.slots.items() if not isinstance(k, Meta)}

    @property
    def keys(self) -> abc.Iterable:
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
    def keys(self) -> abc.Iterable:
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


@dataclass(frozen=True, eq=False)
class Iterable:
    """Something to iterate over.

    items: the elements, if they are known one by one; else
    domain(): the range that the index runs over, element(index): the element;
    length(), nth(k): the same counted from 0, for `enumerate` and `zip`; count: how many there are, if that is known.
    """

    items: list[Value] | None = None
    domain: Callable[[], Range] | None = None
    element: Callable[[Atom], Value] | None = None
    length: Callable[[], Atom] | None = None
    nth: Callable[[Atom], Value] | None = None
    count: int | None = None
    index_name: str | None = None
    reverse: Callable[[], Iterable] | None = None
    value: Callable[[], Atom] | None = None  # as an operand (`a[range(n), labels]`)
    drive: Callable | None = None  # of a generator: does something with each element (`generators.py`)
    endless: bool = False  # whether it has no last element, or may have none
    walk: Any = None  # of the items of one list or dict: what they were (`walks.py`)
    once: bool = False  # whether it is an iterator, which is empty when it was walked through
    state: Slots = field(default_factory=Slots)  # of an iterator: whether it was
    policy: Policy | None = None  # what a loop over it saves (`checkpoint`)


Value = Var | Const | Cell | TupleVal | OptionalVal | SliceVal | FunctionVal | MethodVal | BoundVal | ChoiceVal | SuperVal | Iterable


class Held(gast.AST):
    """A syntax node that stands for a value at hand."""

    _fields = ()

    def __init__(self, value: Value):
        self.value = value


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


def unreadable(name: str, why: str) -> Cell:
    """What a name holds that must be assigned before it is read."""
    return Cell(Slots({VALUE: UNDEFINED, POISON: why}), name)


def is_text(atom: Atom) -> bool:
    """Whether an atom is a string or truth value known while compiling."""
    return isinstance(atom, Const) and not atom.live and isinstance(atom.value, (str, bool))
